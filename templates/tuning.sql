-- tunings/NAME.html: what `tracker tune` found for one problem on one backend; ?1 is the result.

-- pages:
SELECT p.id, 'tunings/' || file || '.html', 'Tuning of ' || clip(backend, 60) || ' · ' || clip(q.title, 120)
FROM page_tuning p JOIN problem q ON q.id = p.problem_id ORDER BY p.place

-- .:
SELECT * FROM page_tuning_row WHERE tuning_id = ?1

-- .:
SELECT clip(t.backend, 60) AS backend, clip(m.name || '/' || d.slug, 80) AS device,
  clip(d.name, 80) AS device_name, clip(t.mode, 40) AS mode, clip(t.options, 100) AS options,
  clip(t.upstream, 60) AS upstream, clip(t.revision, 12) AS revision, clip(t.artifact_key, 12) AS build,
  ifnull((SELECT '../series/' || p.file || '.html' FROM page_tuned u JOIN page_series p ON p.id = u.series_id
    WHERE u.tuning_id = t.id AND p.is_suite_time ORDER BY p.place LIMIT 1), '') AS series_href,
  EXISTS (SELECT 1 FROM page_tuning_parameter WHERE tuning_id = t.id AND rank = 2) AS "map?",
  EXISTS (SELECT 1 FROM page_tuning_parameter WHERE tuning_id = t.id AND rank = 3) AS "others?"
FROM tuning t JOIN device d ON d.id = t.device_id JOIN machine m ON m.id = d.machine_id WHERE t.id = ?1

-- The two parameters that matter most; columns are those of the one with more values.
-- .:
SELECT clip(r.name, 40) AS row_name, clip(c.name, 40) AS column_name
FROM page_tuning_axis r JOIN page_tuning_axis c USING (tuning_id)
WHERE tuning_id = ?1 AND NOT r.is_column AND c.is_column

-- map_columns:
SELECT ifnull(l.value, 'none') AS column FROM page_tuning_axis a JOIN page_tuning_level l USING (tuning_id, name)
WHERE tuning_id = ?1 AND is_column ORDER BY l.value IS NULL, l.value

-- map_rows:
SELECT l.rowid AS "id-", ifnull(l.value, 'none') AS "row"
FROM page_tuning_axis a JOIN page_tuning_level l USING (tuning_id, name)
WHERE tuning_id = ?1 AND NOT is_column ORDER BY l.value IS NULL, l.value

-- map_rows/cells:
WITH r AS (SELECT * FROM page_tuning_level WHERE rowid = ?1),
b AS (SELECT c.value AS column, c.*, row_number() OVER (PARTITION BY c.value ORDER BY c.median_ns, c.place) AS i
  FROM r JOIN page_tuning_axis a USING (tuning_id)
    JOIN page_tuning_value v ON v.tuning_id = r.tuning_id AND v.name = r.name AND v.value IS r.value
    JOIN page_tuning_value c ON c.tuning_id = r.tuning_id AND c.name = a.name AND c.place = v.place
  WHERE a.is_column AND c.median_ns)
SELECT b.place IS NOT NULL AS "any?", (slower > 0.005) + (slower > 0.02) + (slower > 0.05) + (slower > 0.1)
    + (slower > 0.25) AS level, iif(slower > 0, change(slower), 'best') AS slower,
  quantity(median_ns, 'ns') AS time, clip(config, 80) AS config
FROM r JOIN page_tuning_axis a USING (tuning_id)
  JOIN page_tuning_level l ON l.tuning_id = a.tuning_id AND l.name = a.name
  LEFT JOIN b ON b.column IS l.value AND b.i = 1
WHERE a.is_column ORDER BY l.value IS NULL, l.value

-- parameters:
SELECT clip(p.name, 40) AS parameter, p.levels AS "values", ifnull(l.value, 'none') AS value,
  row_number() OVER (PARTITION BY p.name ORDER BY l.value IS NULL, l.value) = 1 AS "is_first?",
  b.place IS NOT NULL AS "any?", iif(slower > 0, change(slower), 'best') AS slower,
  quantity(median_ns, 'ns') AS time, clip(config, 80) AS config, 1 / (1 + slower) AS "bar+"
FROM page_tuning_parameter p JOIN page_tuning_level l USING (tuning_id, name)
  LEFT JOIN (SELECT *, row_number() OVER (PARTITION BY name, value ORDER BY median_ns, place) AS i
    FROM page_tuning_value WHERE tuning_id = ?1 AND median_ns) b
    ON b.name = p.name AND b.value IS l.value AND b.i = 1
WHERE p.tuning_id = ?1 ORDER BY p.rank, l.value IS NULL, l.value

-- results:
SELECT o.* FROM page_tuning_result o JOIN tuning a ON a.id = "id-" JOIN tuning t ON t.id = ?1
  AND t.problem_id = a.problem_id AND t.device_id = a.device_id AND t.backend = a.backend
  AND t.upstream = a.upstream AND t.mode = a.mode AND t.options = a.options
ORDER BY a.started_s DESC, a.id DESC LIMIT 20

-- candidates:
SELECT clip(c.config, 100) AS config, c.place = 1 AS "is_default?", c.config = t.config AS "is_chosen?",
  quantity(median_ns, 'ns') AS time,
  iif(is_timed AND of_winner > 0 AND lo + hi, change(of_winner), '') AS slower,
  iif(is_timed AND of_winner > 0 AND lo + hi, change_range(of_winner, lo, hi), '') AS "range",
  iif(evaluations IS NULL, '–', printf('%.15g', evaluations)) AS runs,
  iif(is_timed OR outcome = 'skipped', '', outcome) AS outcome, tone('outcome', outcome) AS outcome_tone,
  CASE WHEN outcome = 'skipped' THEN 'not measured' WHEN is_dropped THEN 'dropped' ELSE '' END AS "left",
  iif(is_timed, '', clip(message, 160)) AS message, iif(is_timed, 1 / (1 + c.slower), NULL) AS "bar+"
FROM page_candidate c JOIN tuning t ON t.id = tuning_id
WHERE tuning_id = ?1 ORDER BY median_ns IS NULL, median_ns, place LIMIT 60

-- .:
SELECT iif(count(*) > 60, counted(count(*) - 60), '') AS more FROM page_candidate WHERE tuning_id = ?1
