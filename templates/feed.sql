-- feed.xml: one entry for each open alert: its id never changes, even if alerts join its group later.

-- pages:
SELECT 0, 'feed.xml', 'Alerts' FROM page_site WHERE base_url <> ''

-- .:
SELECT rtrim(base_url, '/') AS base, iso(now_s) AS updated FROM page_site

-- open:
SELECT a.known_series_id AS "series+", a.size AS "change+", clip(a.title, 200) AS alert_title,
  clip(a.uid, 80) AS uid, iso(a.opened_s) AS opened_iso, a.state AS state, a.href AS href,
  a.good_revision_id AS "base+", a.bad_revision_id AS "range+"
FROM page_alert a WHERE a.status = 'open' ORDER BY opened_s DESC, uid LIMIT 50
