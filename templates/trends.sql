-- trends/index.html

-- pages:
SELECT 0, 'trends/index.html', 'Trends' WHERE EXISTS (SELECT 1 FROM page_series)

-- .:
SELECT 'The speed of every kernel on every device as one index, and its changes.' AS description
