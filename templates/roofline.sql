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
