-- environment.html: change points are those at the start of the environment without a new commit.

-- devices:
SELECT d.id AS "id-", clip(m.name || '/' || d.slug, 80) AS device, clip(d.name, 80) AS device_name,
  'machines/' || slug(m.name) || '.html' AS machine_href,
  NOT EXISTS (SELECT 1 FROM environment WHERE device_id = d.id) AS "none?"
FROM device d JOIN machine m ON m.id = d.machine_id ORDER BY m.id, d.slug

-- devices/changes:
SELECT id AS "id-", since_s <> 0 AS "dated?", minute(since_s) AS since, is_first AS "first?",
  clip(difference, 600) AS text, NOT is_first AND difference = '' AS "nothing_listed?"
FROM page_environment_change WHERE device_id = ?1 ORDER BY id DESC

-- devices/changes/change_points:
SELECT * FROM page_change_row WHERE "environment_id-" = ?1 AND "previous_environment_id-" IS NOT ?1
  AND NOT "is_of_revision-" ORDER BY "worse-" DESC, "size-" DESC LIMIT 8

-- devices/changes/.:
SELECT count(*) FILTER (WHERE worse) AS worse, count(*) FILTER (WHERE NOT worse) AS better,
  count(*) FILTER (WHERE worse) > 0 AS "any_worse?",
  count(*) FILTER (WHERE NOT worse) > 0 AS "any_better?",
  max(count(*) - 8, 0) AS more, count(*) > 8 AS "change_points_cut?"
FROM page_change
WHERE environment_id = ?1 AND previous_environment_id IS NOT ?1 AND NOT is_of_revision
