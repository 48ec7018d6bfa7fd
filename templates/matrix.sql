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
WITH s AS (SELECT p.op_id, p.tone, p.is_unplanned, p.is_skipped, p.is_unsupported, p.fails, p.efficiency,
    p.tone = 'bad' AND v.status = 'missing' AS is_missing,
    v.before_value >= 0 AS is_compared,
    row_number() OVER (PARTITION BY p.op_id ORDER BY efficiency IS NULL, efficiency) AS at,
    count(efficiency) OVER (PARTITION BY p.op_id) AS known
  FROM page_series p LEFT JOIN verdict v ON v.night_id = p.verdict_night_id AND v.series_id = p.id
  WHERE p.device_id = ?1 AND p.has_result),
c AS (SELECT op_id, count(*) AS n, sum(tone = 'bad' AND NOT is_missing) AS worse,
    sum(is_missing) AS missing, sum(tone = 'good') AS better, sum(is_unplanned) AS unplanned,
    sum(is_skipped) AS skipped, sum(fails AND NOT is_skipped AND NOT is_unsupported) AS failing,
    sum(is_compared) AS compared,
    avg(efficiency) FILTER (WHERE at IN ((known + 1) / 2, known / 2 + 1)) AS efficiency
  FROM s GROUP BY op_id)
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
  LEFT JOIN c ON c.op_id = o.op_id
ORDER BY o.op_id
