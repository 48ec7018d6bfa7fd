-- environment.html: ?1 is an environment; change points at its start that have no new commit.

-- change_points:
SELECT * FROM page_change_row WHERE "environment_id-" = ?1 AND "previous_environment_id-" IS NOT ?1
  AND NOT "is_of_revision-" ORDER BY "worse-" DESC, "size-" DESC LIMIT 8

-- .:
SELECT count(*) FILTER (WHERE worse) AS worse, count(*) FILTER (WHERE NOT worse) AS better,
  count(*) FILTER (WHERE worse) > 0 AS "any_worse?",
  count(*) FILTER (WHERE NOT worse) > 0 AS "any_better?",
  max(count(*) - 8, 0) AS more, count(*) > 8 AS "change_points_cut?"
FROM page_change
WHERE environment_id = ?1 AND previous_environment_id IS NOT ?1 AND NOT is_of_revision
