-- kernels/OP.html and kernels/OP@DEVICE.html: ?1 is the first place of the operation, ?2 its file, ?3 the
-- device; 0: all, of each at most 96 problems of a table.

-- pages:
SELECT op_id, 'kernels/' || op_file || '.html', op, op_file, 0 FROM page_series
WHERE is_suite_time GROUP BY op_id
UNION ALL SELECT t.op_id, 'kernels/' || op_file || '@' || d.file || '.html', op, op_file, t.device_id
FROM page_kernel_table t JOIN page_device d ON d.id = t.device_id JOIN page_series p ON p.place = t.table_id
WHERE problems > 96 GROUP BY t.op_id, t.device_id

-- .:
SELECT (SELECT iif(count(*), count(*), '') FROM page_trace WHERE op = q.op) AS traced,
  (SELECT iif(count(*), count(*), '') FROM page_tuning WHERE op = q.op) AS tuned,
  ?3 AS "id-", ?3 <> 0 AS "whole?", ?2 || '.html' AS op_href, printf('%g', tie) AS tie, percent(tie) AS tie_text
FROM page_site, page_series p JOIN series s USING (id) JOIN problem q ON q.id = s.problem_id WHERE place = ?1

-- .:
SELECT op || ': the rate of every backend over the problem size, and which one to use for which problem.'
  AS description FROM page_series WHERE place = ?1 AND NOT ?3

-- tabs:
SELECT clip(op, 40) AS name, op_file = ?2 AS "current?", op_file || '.html' AS href
FROM page_series WHERE is_suite_time GROUP BY op_id ORDER BY op_id

-- The default mode of a device first.
-- devices:
SELECT t.table_id AS "id-", clip(d.device, 80) AS device, clip(d.model, 80) AS device_name,
  iif(is_ranked, '', mode) AS mode, d.file || iif(is_ranked, '', '.' || mode) AS anchor, last_c > 11 AS "cut?",
  problems, problems > 60 AS "long?", 96 AS rows_max,
  iif(problems > 96 AND NOT ?3, '../kernels/' || ?2 || '@' || d.file || '.html', '') AS all_href
FROM page_kernel_table t JOIN page_device d ON d.id = t.device_id
WHERE t.op_id = ?1 AND ?3 IN (0, t.device_id)
ORDER BY d.line, NOT is_ranked, place('mode', mode) IS NULL, place('mode', mode), t.table_id

-- devices/heads:
SELECT clip(variant, 60) AS name, style, count(ratio) > 0 AS "mean?",
  printf('%.2f×', exp(avg(ln(ratio)))) AS geomean, count(ratio) AS shared,
  sum(p.is_clear AND x.id = p.best_id) AS wins
FROM page_kernel_problem p JOIN page_kernel_cell x USING (problem_key) WHERE p.table_id = ?1
GROUP BY x.c ORDER BY x.c

-- Where several backends are in several groups.
-- devices/group_rows:
SELECT group_id AS "id-", kind AS group_kind, clip(name, 60) AS group_name, count(*) AS group_problems
FROM page_kernel_group WHERE table_id = ?1 AND (SELECT max(last_c) FROM page_kernel_table WHERE table_id = ?1)
  AND (SELECT count(DISTINCT group_id) FROM page_kernel_group WHERE table_id = ?1) > 1
GROUP BY group_id HAVING max(known) > 1 ORDER BY group_id

-- The best of a group has all its problems, and is faster than all others by more than a tie.
-- devices/group_rows/group_cells:
SELECT ifnull(g.shared, 0) > 0 AS "group_known?", printf('%.2f×', g.mean) AS group_ratio, g.wins AS group_wins,
  g.shared AS group_shared, g.is_whole AND NOT EXISTS (SELECT 1 FROM page_kernel_group_cell o, page_site
    WHERE o.group_id = ?1 AND o.c <> g.c AND NOT (o.mean > g.mean * (1 + tie))) AS "group_best?"
FROM page_kernel_column k LEFT JOIN page_kernel_group_cell g ON g.group_id = ?1 AND g.c = k.c
WHERE k.table_id = (SELECT table_id FROM page_kernel_group WHERE group_id = ?1) ORDER BY k.c
