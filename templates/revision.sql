-- revisions/NAME.html: ?1 is the revision.

-- pages:
SELECT id, 'revisions/' || file || '.html', clip(iif(subject = '', rev, subject), 160)
FROM page_revision_file JOIN revision USING (id)
ORDER BY upstream_id, position, commit_time_s, id

-- revision:
SELECT r.id AS "revision+", clip(r.rev, 120) AS full, clip(r.author, 80) AS author,
  minute(r.commit_time_s) AS commit_time, r.commit_time_s <> 0 AS "dated?",
  clip(u.name, 60) AS upstream, clip(public_url(u.url), 200) AS url,
  p.older_id AS "base+", iif(p.older_id, r.id, NULL) AS "range+"
FROM revision r JOIN page_revision p USING (id) JOIN upstream u ON u.id = r.upstream_id
WHERE r.id = ?1

-- Verdicts of the last night on changes of this commit; a single night gives no change point yet.
-- verdicts:
SELECT series_id AS "series+", quantity(before_value, unit) AS before, quantity(after_value, unit) AS after
FROM page_verdict WHERE revision_id = ?1 ORDER BY place LIMIT 300

-- .:
SELECT short_rev(first_bad_rev) AS first_bad, commit_href(url, first_bad_rev) AS first_bad_href,
  clip(first_bad_subject, 80) AS first_bad_subject, clip(first_bad_author, 60) AS first_bad_author,
  printf('%.1f', 100 * first_bad_confidence) AS first_bad_confidence
FROM page_verdict WHERE revision_id = ?1 AND first_bad_rev <> '' ORDER BY place LIMIT 1

-- change_points:
SELECT * FROM page_change_row WHERE "is_of_revision-" AND "revision_id-" = ?1
ORDER BY "worse-" DESC, "size-" DESC LIMIT 300

-- .:
SELECT ifnull(sum(worse), 0) AS worse, ifnull(sum(NOT worse), 0) AS better,
  count(*) > 300 AS "change_points_cut?"
FROM page_change WHERE is_of_revision AND revision_id = ?1

-- builds:
SELECT status AS state, tone('build', status) AS tone, minute(built_s) AS built,
  duration(wall_s) AS took, iif(size_bytes, quantity(size_bytes, 'bytes'), '') AS size,
  clip(toolchain, 200) AS toolchain, clip(flags, 200) AS flags, clip(arch, 60) AS arch,
  clip(message, 400) AS message, iif(status <> 'ok', substr(log, -8000), '') AS log
FROM build WHERE revision_id = ?1 ORDER BY built_s DESC, id DESC LIMIT 10

-- The functions of its newest good build and of the newest one of the same kind before it.
-- functions:
WITH f AS (SELECT * FROM page_function WHERE revision_id = ?1 AND NOT same)
SELECT clip(backend, 60) AS backend, clip(iif(name = '', '(whole backend)', name), 160) AS function,
  what, clip(code_hash, 12) AS code, registers, spills, shared, size
FROM f ORDER BY f.backend, f.name LIMIT 100

-- .:
SELECT count(new_id) AND count(old_id) AS "compared?", ifnull(sum(same), 0) AS same_functions,
  sum(same) > 0 AS "has_same_functions?", sum(NOT same) > 100 AS "functions_cut?"
FROM page_function WHERE revision_id = ?1

-- older:
SELECT r.id AS "revision+" FROM page_build_pair p JOIN build b ON b.id = p.old_id
  JOIN revision r ON r.id = b.revision_id WHERE p.revision_id = ?1
