-- What several pages select: views, and tables where a page would otherwise search for its rows. Both
-- are made anew for each site, for one connection.

-- Where start and date are a day apart, it measured revisions of another day: a backfill or an
-- import.
-- page_night:
SELECT n.id AS "id-", n.started_s AS "started_s-", n.id AS "night+", minute(n.as_of_s) AS "when",
  minute(n.started_s) AS started,
  iif(abs(n.started_s - n.as_of_s) > 86400, minute(n.as_of_s), '') AS past,
  clip(m.name, 60) AS machine, '../machines/' || slug(m.name) || '.html' AS machine_href,
  n.kind AS kind, n.status AS state, tone('night', n.status) AS tone,
  ifnull(duration(n.finished_s - n.started_s), 'not finished') AS took,
  clip(n.tracker_version, 40) AS version
FROM night n JOIN machine m ON m.id = n.machine_id

-- Change points with the revisions and environments on both sides. That of a commit has another
-- revision before it: the commit may be the cause.
-- page_change: table by revision_id
SELECT c.*, c.after_value / nullif(c.before_value, 0) AS ratio,
  (c.after_value > c.before_value) = (s.better = 'lower') AS worse,
  a.revision_id AS good_revision_id, b.revision_id,
  b.revision_id IS NOT NULL AND b.revision_id IS NOT a.revision_id AS is_of_revision,
  old.environment_id AS previous_environment_id, new.environment_id, s.unit
FROM change_point c JOIN series s ON s.id = c.series_id
  LEFT JOIN run new ON new.id = c.run_id LEFT JOIN build b ON b.id = new.build_id
  LEFT JOIN run old ON old.id = c.previous_run_id LEFT JOIN build a ON a.id = old.build_id

-- page_change_row:
SELECT c.series_id AS "series+", c.ratio - 1 AS "change+", c.ratio AS "step+",
  iif(c.worse, 'bad', 'good') AS tone, quantity(c.before_value, c.unit) AS before,
  quantity(c.after_value, c.unit) AS after, minute(c.as_of_s) AS "when", clip(c.cause, 40) AS cause,
  c.is_of_revision AS "is_of_revision-", c.revision_id AS "revision_id-",
  c.environment_id AS "environment_id-", c.previous_environment_id AS "previous_environment_id-",
  c.worse AS "worse-", max(c.ratio, 1 / c.ratio) AS "size-"
FROM page_change c

-- page_change_count: table by revision_id
SELECT revision_id, count(*) AS n, sum(worse) AS worse
FROM page_change WHERE is_of_revision GROUP BY revision_id

-- page_upstream:
WITH revisions AS (SELECT r.upstream_id, count(*) AS n, ifnull(sum(c.worse), 0) AS worse,
    ifnull(sum(c.n - c.worse), 0) AS better
  FROM revision r LEFT JOIN page_change_count c ON c.revision_id = r.id GROUP BY r.upstream_id)
SELECT u.id AS "id-", clip(u.name, 60) AS name, clip(u.kind, 20) AS kind,
  clip(public_url(u.url), 200) AS url, iif(slug(u.name) = 'index', 'index_', slug(u.name)) || '.html' AS href,
  counted((SELECT count(*) FROM series WHERE upstream_id = u.id)) AS series,
  counted(ifnull(t.n, 0)) AS revisions, newest.id AS "revision+",
  minute(newest.commit_time_s) AS commit_time, newest.commit_time_s <> 0 AS "dated?",
  ifnull(t.worse, 0) AS worse, ifnull(t.better, 0) AS better,
  t.worse > 0 AS "any_worse?", t.better > 0 AS "any_better?"
FROM upstream u LEFT JOIN revisions t ON t.upstream_id = u.id
  LEFT JOIN revision newest ON newest.id = (SELECT r.id FROM revision r JOIN page_revision USING (id)
    WHERE r.upstream_id = u.id AND place = 1)

-- The newest good build of a revision, and the newest one of the same kind before it.
-- page_build_pair: table by revision_id
WITH newest AS (SELECT b.*, r.upstream_id, r.position, r.commit_time_s,
    row_number() OVER (PARTITION BY b.revision_id, b.adapter, b.arch ORDER BY b.id DESC) AS age,
    row_number() OVER (PARTITION BY b.revision_id ORDER BY b.id DESC) AS age_of_all
  FROM build b JOIN revision r ON r.id = b.revision_id WHERE b.status = 'ok'),
pairs AS (SELECT revision_id, age_of_all, id AS new_id, lag(id) OVER (
    PARTITION BY upstream_id, adapter, arch ORDER BY position, commit_time_s, revision_id) AS old_id
  FROM newest WHERE age = 1)
SELECT revision_id, new_id, old_id FROM pairs WHERE age_of_all = 1

-- page_revision: table by id
SELECT id, lag(id) OVER (PARTITION BY upstream_id ORDER BY position, commit_time_s, id) AS older_id,
  row_number() OVER (PARTITION BY upstream_id ORDER BY position DESC, commit_time_s DESC, id DESC)
    AS place
FROM revision

-- page_function:
SELECT p.revision_id, a.id AS new_id, b.id AS old_id, a.code_hash IS b.code_hash AS same,
  k.backend, k.name, ifnull(a.code_hash, b.code_hash) AS code_hash,
  CASE WHEN b.id IS NULL THEN 'new' WHEN a.id IS NULL THEN 'gone' ELSE 'changed' END AS what,
  step(b.registers, a.registers) AS registers, step(b.spill_bytes, a.spill_bytes) AS spills,
  step(b.shared_bytes, a.shared_bytes) AS shared, step(b.size_bytes, a.size_bytes) AS size
FROM page_build_pair p
  JOIN kernel k ON k.build_id IN (p.new_id, p.old_id)
  LEFT JOIN kernel a ON a.build_id = p.new_id AND a.backend = k.backend AND a.name = k.name
  LEFT JOIN kernel b ON b.build_id = p.old_id AND b.backend = k.backend AND b.name = k.name
WHERE k.build_id = p.new_id OR a.id IS NULL
