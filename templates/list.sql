-- lists/: the series of device ?2 and operation ?3; 0: of all.

-- pages:
SELECT 0, 'lists/index.html', 'Series', 0, -1 WHERE (SELECT count(*) FROM page_series) <= 1000
UNION ALL SELECT * FROM (SELECT 0, 'lists/' || slug(m.name || '.' || d.slug) || '.' || op_file || '.html',
    clip(op, 40) || ' on ' || clip(m.name || '/' || d.slug, 80), d.id, op_id
  FROM page_series p JOIN device d ON d.id = device_id JOIN machine m ON m.id = machine_id
  WHERE has_result AND (SELECT count(*) FROM page_series) > 1000
  GROUP BY d.id, op_id ORDER BY m.id, d.slug, op_id)

-- groups:
SELECT op_id AS "id-", clip(op, 40) AS name, sum(is_chosen) AS count, sum(is_chosen) > 0 AS "any?",
  nullif(sum(is_chosen AND at > 100), 0) AS rest,
  max(is_chosen AND has_rate) AS "has_rate?", max(has_result AND is_suite_time) AS "page?",
  '../kernels/' || op_file || '.html' AS group_href
FROM (SELECT *, row_number() OVER (PARTITION BY is_chosen ORDER BY op_id) AS at FROM (SELECT *,
  has_result AND ?2 IN (0, device_id) AND ?3 IN (-1, op_id) AS is_chosen FROM page_series))
GROUP BY op_id ORDER BY op_id

-- groups/rows:
SELECT p.id AS "series+", 0 AS "spark+", at + row_number() OVER urgent > 100 AS "late?",
  clip(q.dtype, 20) AS dtype, clip(variant, 60) AS backend,
  CASE waiting_nights WHEN 0 THEN '' WHEN 1 THEN 'measured 1 night ago'
    ELSE 'measured ' || waiting_nights || ' nights ago' END AS waiting,
  iif(s.role = 'suite', '', s.role) AS role
FROM (SELECT count(*) AS at FROM page_series
    WHERE op_id < ?1 AND has_result AND ?2 IN (0, device_id) AND ?3 IN (-1, op_id)),
  page_series p JOIN series s ON s.id = p.id JOIN problem q ON q.id = s.problem_id
WHERE op_id = ?1 AND has_result AND ?2 IN (0, p.device_id) AND ?3 IN (-1, op_id)
WINDOW urgent AS (ORDER BY CASE tone WHEN 'bad' THEN 0 WHEN 'good' THEN 1 ELSE 2 END, place)
ORDER BY row_number() OVER urgent

-- .:
SELECT counted(count(*)) AS count, ?2 <> 0 AS "part?"
FROM page_series WHERE has_result AND ?2 IN (0, device_id) AND ?3 IN (-1, op_id)
