-- The cells of kernel.sql, when its rows are made: ?2 is whether there are charts.

-- What all tables can be ranked by.
-- .:
SELECT trim(iif(max(p95 > 0), 'p50 p95', '') || iif(max(?2 AND x.n >= 20 AND
    EXISTS (SELECT 1 FROM sample m WHERE m.run_id = x.run_id AND m.series_id = x.id)), ' p99', '') ||
  iif(max(energy > 0), ' energy', '') || iif(max(workspace >= 0), ' workspace', '') ||
  iif(max(memory > 0), ' memory', '') || iif(max(launch > 0), ' launch', '') ||
  iif(max(build > 0), ' build', '')) AS metrics
FROM page_kernel_cell x WHERE op_id = ?1 AND ?3 IN (0, device_id) AND time

-- In the order of kernel.js: more, p99, costs.
-- devices/rows/cells:
SELECT x.id AS "id-", x.id IS NOT NULL AS "is_there?", time IS NOT NULL AS "measured?",
  '../series/' || x.file || '.html' AS href, iif(outcome = '', 'not measured', outcome) AS outcome,
  iif(outcome = '', 'quiet', tone('outcome', outcome)) AS tone, quantity(time, 'ns') AS value,
  iif(rate, quantity(rate, rate_unit), '') AS rate, is_clear AND x.id = p.best_id AS "best?",
  ratio IS NOT NULL AS "ranked?", CASE WHEN is_clear AND x.id = p.best_id THEN 'best'
    WHEN time < p.best * (1 + tie) THEN 'tie' ELSE printf('%.2f×', ratio) END AS ratio,
  2 * CAST(round(50 / ratio) AS INTEGER) AS width,
  iif(?2 AND rate, printf('%.4g %.4g %.4g', rate, ifnull(rate * value / hi, rate),
    ifnull(rate * value / lo, rate)), '') AS data,
  iif(p95 > 0 OR energy > 0 OR workspace >= 0 OR memory > 0 OR launch > 0 OR build > 0,
    iif(p95 > 0, printf('%.4g %.4g', value, p95), '- -'), '') AS more, iif(?2 AND n >= 20, run_id, 0) AS "p99+",
  iif(energy > 0, printf('%.4g', energy), '-') || iif(workspace >= 0, printf(' %.4g', workspace), ' -') ||
    iif(memory > 0, printf(' %.4g', memory), ' -') || iif(launch > 0, printf(' %.4g', launch), ' -') ||
    iif(build > 0, printf(' %.4g', build), ' -') AS costs
FROM page_site, page_kernel_problem p JOIN page_kernel_column k USING (table_id)
  LEFT JOIN page_kernel_cell x ON x.problem_key = ?1 AND x.c = k.c
WHERE p.rowid = ?1 ORDER BY k.c

-- The best backend, or all that tie with it, and for each backend its time and the ends of its interval as
-- distances in steps of 0.01 %.
-- devices/maps/rows/cells/.:
SELECT 1 AS "any?", '../series/' || (SELECT file FROM page_series WHERE id = best_id) || '.html' AS href,
  iif(apart, 'map-tie', 'map-' || min(best_c, 4) || '-' || CASE WHEN lead < 1.1 THEN lead > 1.02
    WHEN lead < 1.5 THEN 2 WHEN lead THEN 3 ELSE 0 END) AS class,
  iif(apart = 1, 'tie', (SELECT clip(variant, 40) FROM page_series WHERE id = best_id)) AS best,
  CASE WHEN apart = 1 THEN (SELECT group_concat(iif(i <= 2, variant, NULL), ', ') ||
      iif(count(*) > 2, ' and ' || (count(*) - 2) || ' more', '')
    FROM (SELECT clip(variant, 40) AS variant, row_number() OVER (ORDER BY c) AS i FROM page_kernel_cell x
      WHERE x.problem_key = p.rowid AND time AND (x.apart = 1 OR x.id = p.best_id)))
    WHEN lead THEN printf('%.2f×', lead) || iif(apart, ', no interval', '') ELSE 'alone' END AS lead,
  (SELECT group_concat(iif(time, printf('%.5g', time), '-'), ' ') FROM page_kernel_column k
    LEFT JOIN page_kernel_cell x ON x.problem_key = ?1 AND x.c = k.c WHERE k.table_id = p.table_id) AS times,
  (SELECT group_concat(iif(time AND has_interval, printf('%.0f,%.0f', max(-1e6, min(1e4 - 1e4 * lo / time, 1e6)),
      max(-1e6, min(1e4 * hi / time - 1e4, 1e6))), '-'), ' ') FROM page_kernel_column k
    LEFT JOIN page_kernel_cell x ON x.problem_key = ?1 AND x.c = k.c WHERE k.table_id = p.table_id) AS ends
FROM page_kernel_problem p WHERE p.rowid = ?1
