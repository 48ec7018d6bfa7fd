-- machines/NAME.html: ?1 is the machine.

-- pages:
SELECT id, 'machines/' || slug(name) || '.html', clip(name, 100) FROM page_machine ORDER BY place

-- .:
SELECT m.attributes AS "attributes*", n.id IS NOT NULL AS "has_night?", minute(n.as_of_s) AS night,
  n.status AS night_state, tone('night', n.status) AS night_tone,
  ifnull('../nights/' || n.file || '.html', '../nights/index.html') AS night_href
FROM machine m JOIN page_machine p USING (id) LEFT JOIN page_night n ON n.id = p.last_night_id
WHERE m.id = ?1

-- devices:
SELECT d.id AS "id-", clip(d.slug, 60) AS slug, clip(d.name, 120) AS name, clip(d.kind, 30) AS kind,
  clip(d.arch, 60) AS arch, '../roofline/' || slug(m.name || '.' || d.slug) || '.html' AS roofline_href,
  ifnull((SELECT attributes FROM environment WHERE device_id = d.id ORDER BY id DESC LIMIT 1), '{}')
    AS "environment*",
  ifnull((SELECT '../cards/' || file || '.html' FROM page_card WHERE device_id = d.id), '') AS card_href
FROM device d JOIN machine m ON m.id = d.machine_id WHERE m.id = ?1 ORDER BY d.slug

-- devices/changes:
SELECT since_s <> 0 AS "dated?", minute(since_s) AS since,
  clip(ifnull(nullif(difference, ''), 'no listed attribute changed'), 500) AS text
FROM page_environment_change WHERE device_id = ?1 AND NOT is_first ORDER BY id DESC

-- devices/ceilings:
SELECT clip(name, 40) AS name, clip(source, 20) AS source, quantity(value, unit) AS value
FROM newest_ceiling_v c WHERE device_id = ?1 AND c.value > 0 ORDER BY night_id DESC, c.name, c.source
LIMIT 32
