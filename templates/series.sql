-- series/NAME.html.

-- .: of all pages
SELECT p.id AS "page-", ifnull(versions_href, '') AS versions_href, clip(s.problem, 300) AS problem_text,
  clip(s.source, 300) AS source, clip(s.device_name, 80) AS device_name,
  '../machines/' || slug(s.machine) || '.html' AS machine_href, p.is_suite_time AS "has_op_page?",
  '../kernels/' || p.op_file || '.html' AS op_href, clip(p.op, 40) AS op_name,
  clip(public_url(s.upstream_url), 200) AS upstream_url, s.mode AS mode, s.role AS role,
  iif(s.better = 'unknown', 'better direction not known', s.better || ' is better') AS better,
  iif(s.flops > 0, printf('%.4g GFLOP', s.flops / 1e9), '') || iif(s.flops > 0 AND s.bytes > 0, ', ', '') ||
    iif(s.bytes > 0, quantity(s.bytes, 'bytes') || ' compulsory', '') AS work,
  iif(s.flops > 0 AND s.bytes > 0, printf(iif(s.flops / s.bytes < 9.95, '%.1f', '%.0f'), s.flops / s.bytes), '')
    AS intensity,
  p.night_s IS NOT NULL AS "measured?", minute(p.night_s) AS newest, p.n AS samples,
  iif(s.rotate_nights > 1, s.rotate_nights, '') AS rotation, p.fails AS "failed?", p.outcome AS failure_word,
  ifnull(clauses(v.reason, 400), '') AS reason, b.revision_id AS "revision+"
FROM page_series p CROSS JOIN series_v s USING (id) LEFT JOIN page_versions USING (upstream_id)
  LEFT JOIN build b ON b.id = p.build_id
  LEFT JOIN page_said v ON v.series_id = p.id AND v.night_id = p.verdict_night_id
ORDER BY p.place

-- kernel_trace: of all pages
SELECT p.id AS "page-", r.*, 'traces/' || t.file || '.html' AS trace_path
FROM page_inside i JOIN page_trace_row r USING (trace_id) JOIN page_trace t ON t.id = i.trace_id
  JOIN page_series p ON p.id = i.series_id
ORDER BY p.place

-- tuning: of all pages
SELECT p.id AS "page-", r.*
FROM page_tuned t JOIN page_tuning_row r USING (tuning_id) JOIN page_series p ON p.id = t.series_id
ORDER BY p.place

-- profile: of all pages
SELECT id AS "page-", name, CASE level WHEN 0 THEN percent(n) WHEN 4 THEN minute(n)
  ELSE quantity(n, 'bytes') || iif(flops > 0, ', ' ||
    printf(iif(flops / n < 9.95, '%.1f', '%.0f'), flops / n) || ' FLOP/B', '') END AS value
FROM (SELECT p.id, p.place, f.flops, column1 AS level, column2 AS name,
    CASE column1 WHEN 0 THEN tensor_share WHEN 1 THEN dram WHEN 2 THEN l2 WHEN 3 THEN l1 ELSE started_s END AS n
  FROM page_profile f JOIN page_series p ON p.id = f.series_id JOIN (VALUES (0, 'Tensor cores work'),
    (1, 'DRAM'), (2, 'L2'), (3, 'L1'), (4, 'Counted')))
WHERE level = 4 OR iif(level, n >= 1, n BETWEEN 0 AND 1)
ORDER BY place, level

-- The newest builds with machine code, each compared with the one before: of the newest 64 points.
-- code_builds: of all pages
WITH m AS (SELECT p.id, p.place, s.backend, m.build_id, max(m.as_of_s) AS as_of_s, max(m.run_id) AS run_id
  FROM page_coded CROSS JOIN series s USING (backend) CROSS JOIN page_series p ON p.id = s.id
    CROSS JOIN measurement m ON m.series_id = s.id AND m.as_of_s >= ifnull((SELECT as_of_s FROM measurement
      WHERE series_id = s.id ORDER BY as_of_s DESC, run_id DESC LIMIT 1 OFFSET 63), 0)
  GROUP BY p.id, m.build_id),
newest AS (SELECT m.*, b.revision_id, k.code_hash, row_number() OVER (PARTITION BY m.id
    ORDER BY m.as_of_s DESC, m.run_id DESC) AS nth
  FROM m JOIN kernel k ON k.build_id = m.build_id AND k.backend = m.backend AND k.name = ''
    JOIN build b ON b.id = m.build_id)
SELECT id AS "page-", revision_id AS "revision+", clip(code_hash, 10) AS code, CASE WHEN older IS NULL THEN ''
  WHEN older = code_hash THEN 'unchanged' ELSE 'changed' END AS what
FROM (SELECT *, lead(code_hash) OVER (PARTITION BY id ORDER BY nth) AS older FROM newest WHERE nth <= 6)
ORDER BY place, nth
