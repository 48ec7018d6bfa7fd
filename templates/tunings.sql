-- tunings/index.html

-- pages:
SELECT 0, 'tunings/index.html', 'Tuning' WHERE EXISTS (SELECT 1 FROM page_tuning)

-- groups:
SELECT group_number AS "id-", clip(t.backend, 60) AS backend,
  iif(t.upstream = t.backend, '', clip(t.upstream, 60)) AS upstream, clip(m.name || '/' || d.slug, 80) AS device,
  clip(d.name, 80) AS device_name, clip(t.mode, 40) AS mode, clip(t.options, 100) AS options
FROM (SELECT *, min(place) FROM page_tuning GROUP BY group_number) JOIN tuning t USING (id)
  JOIN device d ON d.id = t.device_id JOIN machine m ON m.id = d.machine_id
ORDER BY group_number

-- groups/rows:
SELECT r.*, clip(q.title, 120) AS problem, p.file || '.html' AS href
FROM page_tuning p JOIN page_tuning_row r ON r.tuning_id = p.id JOIN problem q ON q.id = p.problem_id
WHERE group_number = ?1 ORDER BY p.place

-- groups/rules:
SELECT clip(sweep, 160) AS sweep, rule FROM page_tuning_rule WHERE group_number = ?1 AND NOT is_of_backends
ORDER BY id

-- Which tuned backend, on each device and in each mode that several were tuned in.
-- places:
SELECT group_number AS "id-", clip(m.name || '/' || d.slug, 80) AS device, clip(p.mode, 40) AS mode
FROM page_tuning p JOIN device d ON d.id = p.device_id JOIN machine m ON m.id = d.machine_id
WHERE group_number IN (SELECT group_number FROM page_tuning_rule WHERE is_of_backends)
GROUP BY group_number ORDER BY group_number

-- places/rules:
SELECT clip(sweep, 160) AS sweep, rule FROM page_tuning_rule WHERE group_number = ?1 AND is_of_backends
ORDER BY id
