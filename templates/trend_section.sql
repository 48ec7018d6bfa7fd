-- The section of trends/OP.html of device ?1 and operation ?2.

-- Those with the largest effect, newest first. id: the night.
-- causes:
SELECT as_of_s AS "id-", row_number() OVER (ORDER BY as_of_s DESC, rank) AS number, day(as_of_s) AS "when",
  change(exp(effect) - 1) AS effect, iif(k.effect < 0, 'bad', 'good') AS tone, n || ' series' AS count, cause,
  rev_id AS "revision+", clip(ifnull(r.author, ''), 60) AS author
FROM page_index_cause k LEFT JOIN revision r ON r.id = rev_id
WHERE device_id = ?1 AND op = ?2 AND rank <= 8 ORDER BY number

-- .:
SELECT iif(count(*) > 8, count(*) - 8, '') AS causes_more FROM page_index_cause WHERE device_id = ?1 AND op = ?2
