-- upstreams/index.html

-- list:
SELECT * FROM page_upstream ORDER BY name
