-- The devices of machine ?1, or all for 0, by operation: counts, roofline efficiency, addresses.

-- matrix_heads:
SELECT clip(op, 40) AS name,
  iif(max(is_suite_time AND has_result), 'kernels/' || op_file || '.html', '') AS kernel_href
FROM page_series GROUP BY op_id ORDER BY op_id

-- matrix:
SELECT d.id AS "id-", clip(m.name || '/' || d.slug, 60) AS device, clip(d.name, 60) AS device_name,
  'machines/' || slug(m.name) || '.html' AS machine_href
FROM device d JOIN machine m ON m.id = d.machine_id WHERE ?1 IN (0, m.id) ORDER BY m.id, d.slug

-- matrix/cells:
SELECT n > 0 AS "any?", counted(n) AS count, worse, iif(missing, missing, '') AS missing, better, failing,
  worse > 0 AS "any_worse?", better > 0 AS "any_better?", failing > 0 AS "any_failing?",
  iif(skipped, skipped || ' skipped ', '') || iif(unplanned, unplanned || ' not due tonight', '') ||
    CASE WHEN worse OR missing OR better OR failing OR skipped OR unplanned THEN ''
      WHEN compared THEN 'no change' ELSE 'not compared' END AS unchanged,
  percent(efficiency) AS efficiency, 'roofline/' || slug(m.name || '.' || d.slug) || '.html' AS roofline_href,
  iif((SELECT count(*) FROM series) > 1000,
    'lists/' || slug(m.name || '.' || d.slug) || '.' || o.op_file || '.html',
    'lists/index.html#op=' || in_url(o.op) || '&device=' || in_url(m.name || '/' || d.slug)) AS href
FROM (SELECT op_id, op, op_file FROM page_series GROUP BY op_id) o
  JOIN device d ON d.id = ?1 JOIN machine m ON m.id = d.machine_id
  LEFT JOIN page_matrix_cell c ON c.device_id = d.id AND c.op_id = o.op_id
ORDER BY o.op_id
