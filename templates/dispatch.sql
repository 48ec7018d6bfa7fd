-- The dispatch table of a kernel: ?1 is the device, ?2 the operation, ?3 whether its rows are shown.

-- .:
SELECT count(*) AS dispatch_problems, count(*) = 1 AS "dispatch_only?", max(contenders) > 1 AS "dispatch?",
  count(DISTINCT variant) > 1 AS "dispatch_several?", iif(max(contenders) > 1,
    '../dispatch/' || max(op_file) || '@' || (SELECT file FROM page_device WHERE id = ?1), '') AS dispatch_href
FROM page_dispatch WHERE device_id = ?1 AND problem_op = ?2

-- The backend to use if there can be only one: has the most problems, then the least time.
-- .:
SELECT clip(variant, 60) AS single, count(*) AS single_count,
  printf('%.1f %%', 100 * (exp(avg(ln(value / best))) - 1)) AS single_cost
FROM page_standing WHERE device_id = ?1 AND problem_op = ?2
GROUP BY variant ORDER BY count(*) DESC, sum(ln(value / best)), min(place) LIMIT 1

-- dispatch_rows:
SELECT clip(q.title, 110) AS problem, clip(d.variant, 60) AS backend,
  '../series/' || d.file || '.html' AS href, d.style AS "mark+", quantity(d.value, 'ns') AS value,
  quantity(d.rate, d.rate_unit) AS rate, ifnull(percent(d.datasheet_share), '–') AS share,
  ifnull((SELECT group_concat(variant, ', ') FROM (SELECT clip(variant, 40) AS variant FROM page_standing s
    WHERE s.problem_id = d.problem_id AND s.device_id = ?1 AND s.is_first AND s.id <> d.id
    ORDER BY s.rank LIMIT 3)), '') ||
    iif(d.first_count > 4, ' and ' || (d.first_count - 4) || ' more', '') AS tied,
  clip(ifnull(d.next, ''), 40) AS next, CASE WHEN d.lead < 1.1 THEN printf('%.1f %% slower', 100 * d.lead - 100)
    WHEN d.lead < 2 THEN printf('%.0f %% slower', 100 * d.lead - 100)
    WHEN d.lead THEN printf('%.2g× slower', d.lead) ELSE '' END AS lead, d.contenders = 1 AS "alone?"
FROM page_dispatch d JOIN problem q ON q.id = d.problem_id
WHERE ?3 AND d.device_id = ?1 AND d.problem_op = ?2 ORDER BY d.place
