-- nights/index.html

-- nights:
SELECT * FROM page_night_row ORDER BY "started_s-" DESC, "id-" DESC LIMIT 1000

-- .:
SELECT counted(count(*)) AS count, count(*) > 1000 AS "cut?" FROM night
