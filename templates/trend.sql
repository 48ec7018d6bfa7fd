-- trends/OP.html: ?1 is the operation.

-- pages:
SELECT op_id, 'trends/' || op_file || '.html', clip(op, 150) || ': trends' FROM page_series WHERE is_ranked
GROUP BY op_id ORDER BY op_id

-- .:
SELECT clip(op, 60) AS op, op_file,
  op || ': how the speed of each type and backend changed over the nights, and why.' AS description
FROM page_series WHERE op_id = ?1 LIMIT 1
