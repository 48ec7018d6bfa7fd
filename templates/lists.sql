-- lists/index.html, where one list of all series would be too long.

-- pages:
SELECT 0, 'lists/index.html', 'Series' WHERE (SELECT count(*) FROM page_series) > 1000

-- .:
SELECT counted(count(*)) AS count FROM page_series
