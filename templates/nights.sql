-- nights/index.html

-- nights:
SELECT *, row_number() OVER (ORDER BY "started_s-" DESC, "id-" DESC) > 100 AS "late?" FROM page_night_row
ORDER BY "started_s-" DESC, "id-" DESC LIMIT 1000

-- .:
SELECT counted(count(*)) AS count, nullif(max(min(count(*), 1000) - 100, 0), 0) AS rest, count(*) > 1000 AS "cut?" FROM night
