-- kernels/OP.html: ?1 is the operation, ?2 its file.

-- .:
SELECT (SELECT iif(count(*), count(*), '') FROM page_trace WHERE op = ?1) AS traced,
  (SELECT iif(count(*), count(*), '') FROM page_tuning WHERE op = ?1) AS tuned

-- tabs:
SELECT clip(op, 40) AS name, op_file = ?2 AS "current?", op_file || '.html' AS href
FROM page_series WHERE is_suite_time GROUP BY op_id ORDER BY op_id
