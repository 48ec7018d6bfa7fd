-- upstreams/NAME.html: ?1 is the upstream.

-- pages:
SELECT "id-", 'upstreams/' || href, name FROM page_upstream ORDER BY name

-- upstream:
SELECT * FROM page_upstream WHERE "id-" = ?1

-- .:
SELECT ifnull((SELECT versions_href FROM page_versions WHERE upstream_id = ?1), '') AS versions_href

-- The newest 500, and older ones with a change point; the newest good build, else the newest.
-- list:
SELECT r.id AS "revision+", row_number() OVER (ORDER BY p.place) > 100 AS "late?", clip(r.author, 60) AS author, minute(r.commit_time_s) AS commit_time,
  b.id IS NOT NULL AS "built?", b.status AS build_state, tone('build', b.status) AS build_tone,
  duration(b.wall_s) AS build_took,
  ifnull(c.worse, 0) AS worse, ifnull(c.better, 0) AS better,
  c.worse > 0 AS "any_worse?", c.better > 0 AS "any_better?"
FROM revision r JOIN page_revision p USING (id) LEFT JOIN page_change_count c ON c.revision_id = r.id
  LEFT JOIN build b ON b.id = (SELECT id FROM build
    WHERE revision_id = r.id ORDER BY status IN ('ok', 'partial') DESC, id DESC LIMIT 1)
WHERE r.upstream_id = ?1 AND (p.place <= 500 OR c.n) ORDER BY p.place

-- .:
SELECT count(*) FILTER (WHERE place > 500 AND NOT is_changed) > 0 AS "cut?",
  nullif(max(count(*) FILTER (WHERE place <= 500 OR is_changed) - 100, 0), 0) AS rest
FROM (SELECT place, id IN (SELECT revision_id FROM page_change_count) AS is_changed
  FROM revision r JOIN page_revision USING (id) WHERE r.upstream_id = ?1)
