-- machines/index.html

-- machines:
SELECT m.id AS "id-", clip(m.name, 80) AS name, slug(m.name) || '.html' AS href,
  (SELECT count(*) FROM series s JOIN device d ON d.id = s.device_id WHERE d.machine_id = m.id) AS series,
  minute(n.as_of_s) AS night
FROM page_machine m LEFT JOIN night n ON n.id = m.last_night_id ORDER BY m.name

-- Devices of one model are one line: "2 × NVIDIA H200".
-- machines/devices:
SELECT clip(name, 80) AS device, count(*) > 1 AS "several?", count(*) AS count
FROM device WHERE machine_id = ?1 GROUP BY name ORDER BY min(slug)

-- cards:
SELECT clip(name, 80) AS card, '../cards/' || file || '.html' AS card_href, devices AS card_devices,
  iif(members < 2, 'none', members) AS comparable
FROM page_card WHERE card_place = 1 ORDER BY page_card.card
