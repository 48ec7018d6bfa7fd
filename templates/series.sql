-- series/NAME.html: ?1 is the series.

-- .:
SELECT ifnull(versions_href, '') AS versions_href
FROM series s LEFT JOIN page_versions USING (upstream_id) WHERE s.id = ?1
