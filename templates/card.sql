-- cards/MODEL.html: ?1 is the card, ?2 below what difference times tie.

-- pages:
SELECT card, 'cards/' || file || '.html', clip(name, 100), tie FROM page_card, page_site
WHERE card_place = 1 ORDER BY card

-- .:
SELECT max(devices) AS devices, percent(?2) AS tie FROM page_card WHERE card = ?1

-- groups:
SELECT k.group_id AS "id-", k.group_number = 1 AS "is_first?", k.members > 1 AS "is_several?",
  k.group_number AS number, clip(k.device, 80) AS first_device, clip(f.device, 80) AS reference,
  clip(ifnull((SELECT group_concat(text, ', ') FROM (SELECT 'architecture ' || clip(k.arch, 40) ||
      ' instead of ' || clip(f.arch, 40) AS text WHERE k.arch <> f.arch
    UNION ALL SELECT * FROM (SELECT text FROM page_conflict
      WHERE a = k.environment_id AND b = f.environment_id ORDER BY n))), 'the table above is full'), 400)
    AS obstacles
FROM page_card k JOIN page_card f ON f.card = k.card AND f.card_place = 1
WHERE k.card = ?1 AND k.card_place IN (SELECT min(card_place) FROM page_card GROUP BY group_id)
ORDER BY k.group_number

-- groups/members:
SELECT clip(k.device, 80) AS device, '../machines/' || slug(m.name) || '.html' AS machine_href,
  k.rank = 1 AS "is_fastest?", p.timings IS NOT NULL AS "is_compared?", clip(f.device, 80) AS than,
  iif(is_tie, '', percent(abs(change))) AS "by", CASE WHEN is_tie THEN 'as fast as' WHEN change > 0
    THEN 'slower than' ELSE 'faster than' END AS how,
  iif(is_tie OR NOT change > 0, 'quiet', 'bad') AS tone, timings,
  change_range(change, lo - 1, hi - 1) AS "range", minute(n.as_of_s) AS night,
  clip((SELECT group_concat(text, '; ') FROM (
    SELECT group_concat(shown, ', ') AS text FROM (SELECT title || ' ' || shown AS shown
      FROM page_setting WHERE environment_id = k.environment_id ORDER BY n)
    UNION ALL SELECT 'not recorded: ' || group_concat(title, ', ') FROM (SELECT title FROM page_rule
      WHERE kind IN ('', iif(k.kind = 'cpu', 'cpu', 'gpu')) AND n NOT IN (SELECT n FROM page_setting
        WHERE environment_id = k.environment_id) ORDER BY n))), 400) AS settings
FROM page_card_member k JOIN page_card_member f ON f.group_id = k.group_id AND f.rank = 1
  JOIN machine m ON m.id = k.machine_id JOIN page_machine USING (id)
  LEFT JOIN night n ON n.id = last_night_id
  LEFT JOIN (SELECT *, exp(log_ratio) - 1 AS change, abs(exp(log_ratio) - 1) < ?2 AS is_tie
    FROM page_card_pair) p ON p.device_id = k.device_id AND p.other_id = f.device_id
WHERE k.group_id = ?1 ORDER BY k.rank

-- groups/heads:
SELECT clip(device, 80) AS head FROM page_card_member WHERE group_id = ?1 AND members > 1 ORDER BY rank

-- The rows that differ most. Backends that tie with the fastest of a problem share its rank.
-- groups/rows:
WITH b AS (SELECT *, first_value(value) OVER same AS v, first_value(lo) OVER same AS l,
    first_value(hi) OVER same AS h, first_value(n) OVER same AS m, row_number() OVER same AS nth
  FROM page_card_time WHERE group_id = ?1 AND is_best
  WINDOW same AS (PARTITION BY problem_id ORDER BY NOT is_ranked, value, place)),
r AS (SELECT *, value < v * (1 + ?2) OR
    ((n > 1 OR hi > lo) AND (m > 1 OR h > l) AND NOT h < lo) IS TRUE AS ties FROM b)
SELECT row_id AS "id-", clip(q.title, 100) AS problem, clip(variant, 80) AS backend,
  CASE WHEN NOT is_ranked THEN '–' WHEN ties THEN 1 ELSE nth END AS rank,
  is_ranked AND ties AND sum(is_ranked AND ties) OVER (PARTITION BY problem_id) > 1 AS "is_tied?",
  ifnull(percent(spread), '–') AS spread
FROM r JOIN problem q ON q.id = problem_id
WHERE (SELECT max(members) FROM page_card WHERE group_id = ?1) > 1
ORDER BY r.spread IS NULL, r.spread DESC, place LIMIT 300

-- groups/rows/cells:
SELECT t.row_id IS NOT NULL AS "is_there?", '../series/' || t.file || '.html' AS href,
  quantity(t.value, 'ns') AS value, iif(t.rate, quantity(t.rate, t.rate_unit), '') AS rate,
  is_best AND ifnull(spread >= ?2, 0) AS "fastest?", NOT is_counted AS "is_other?"
FROM page_card_member k LEFT JOIN page_card_time t ON t.row_id = ?1 AND t.device_id = k.device_id
WHERE k.group_id = (SELECT group_id FROM page_card_time WHERE row_id = ?1) ORDER BY k.rank

-- groups/.:
SELECT iif(count(*) > 300, count(*) - 300, '') AS more FROM page_card_time WHERE group_id = ?1 AND is_best
