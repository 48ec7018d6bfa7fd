-- roofline/DEVICE.html: ?1 is the device.

-- pages:
SELECT id, 'roofline/' || file || '.html', 'Roofline of ' || clip(device, 100) FROM page_device
ORDER BY machine_id, slug

-- tabs:
SELECT clip(device, 60) AS name, file || '.html' AS href, id = ?1 AS "current?" FROM page_device
ORDER BY machine_id, slug

-- .:
SELECT clip(d.model, 100) AS device_name, minute(n.as_of_s) AS night, 'data/roofline-' || d.file || '.js' AS data
FROM page_device d LEFT JOIN page_machine m ON m.id = d.machine_id LEFT JOIN night n ON n.id = m.last_night_id
WHERE d.id = ?1

-- .:
SELECT count(*) > 0 AS "any?", ifnull(max(is_old), 0) AS "any_older?", ifnull(max(is_measured), 0) AS "any_measured?",
  iif(count(*) > 400, count(*) - 200, '') AS rows_left,
  ifnull((SELECT max(is_cache) FROM page_ceiling WHERE device_id = ?1), 0) AS "caches?"
FROM page_roofline WHERE device_id = ?1

-- marks:
SELECT clip(label, 60) AS label, style AS "mark+" FROM page_roofline
WHERE device_id = ?1 AND (SELECT max(mark) FROM page_roofline WHERE device_id = ?1) GROUP BY mark ORDER BY mark

-- ceilings:
SELECT clip(name, 40) AS name, source, quantity(value, unit) AS value FROM page_ceiling WHERE device_id = ?1
ORDER BY rowid

-- Of more than 400 the nearest and the farthest. The trail begins where the drawings of trends do.
-- rows:
SELECT '../series/' || file || '.html' AS href, clip(title, 110) AS title, clip(label, 60) AS label, dtype AS type,
  op AS op, iif(is_old, day(night_s), '') AS old, printf(iif(intensity < 9.95, '%.1f', '%.0f'), intensity) AS intensity,
  iif(dram, printf(iif(dram < 9.95, '%.1f', '%.0f'), dram), '–') AS measured,
  iif(l2, printf(iif(l2 < 9.95, 'L2 %.1f', 'L2 %.0f'), l2), '') || iif(l2 AND l1, ', ', '') ||
    iif(l1, printf(iif(l1 < 9.95, 'L1 %.1f', 'L1 %.0f'), l1), '') AS measured_caches,
  limited_by AS under, quantity(rate, 'gflop_per_s') AS rate, ifnull(percent(efficiency), '–') AS efficiency,
  ifnull(percent(peak), '–') AS peak, peak > 1.02 AS "over_peak?", efficiency > 1.02 AS "over?", efficiency AS "bar+",
  iif(first > 0 AND since_s < night_s, change(first / value - 1), '') AS trail_change, day(since_s) AS since
FROM (SELECT *, (SELECT value FROM measurement m WHERE m.series_id = t.id AND m.as_of_s = since_s
    ORDER BY run_id LIMIT 1) AS first
  FROM (SELECT *, (SELECT min(as_of_s) FROM (SELECT as_of_s FROM measurement m WHERE m.series_id = r.id
      ORDER BY as_of_s DESC LIMIT 64)) AS since_s
    FROM page_roofline r WHERE device_id = ?1 AND (n <= 400 OR nth <= 100 OR nth > n - 100)) t)
ORDER BY nth
