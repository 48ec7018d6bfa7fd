-- What several pages select: views, and tables where a page would otherwise search for its rows. Both
-- are made anew for each site, for one connection.

-- Where start and date are a day apart, it measured revisions of another day: a backfill or an
-- import.
-- page_night_row:
SELECT n.id AS "id-", n.started_s AS "started_s-", n.id AS "night+", minute(n.as_of_s) AS "when",
  minute(n.started_s) AS started,
  iif(abs(n.started_s - n.as_of_s) > 86400, minute(n.as_of_s), '') AS past,
  clip(m.name, 60) AS machine, '../machines/' || slug(m.name) || '.html' AS machine_href,
  n.kind AS kind, n.status AS state, tone('night', n.status) AS tone,
  ifnull(duration(n.finished_s - n.started_s), 'not finished') AS took,
  clip(n.tracker_version, 40) AS version
FROM night n JOIN machine m ON m.id = n.machine_id

-- The runs of nights with a page, read once: a night has thousands. `series`: those that name theirs; not
-- counted of timed ones.
-- page_night_outcome: table by night_id
WITH ok AS MATERIALIZED (SELECT night_id, count(*) AS runs, sum(outcome = 'ok') AS n
  FROM run WHERE night_id IN (SELECT id FROM page_night WHERE file IS NOT NULL) GROUP BY night_id)
SELECT night_id, 'ok' AS outcome, is_timed('ok') = '1' AS is_timed, n, 0 AS series FROM ok WHERE n
UNION ALL SELECT night_id, outcome, is_timed(outcome) = '1', n, series
FROM (SELECT night_id, outcome, count(*) AS n, count(series_id) AS series FROM run
  WHERE night_id IN (SELECT night_id FROM ok WHERE n < runs) AND outcome <> 'ok' GROUP BY night_id, outcome)

-- page_night_failure: table by night_id
SELECT r.night_id, r.series_id, r.outcome, r.message
FROM page_night_outcome o CROSS JOIN run r ON r.night_id = o.night_id AND r.outcome = o.outcome
WHERE NOT o.is_timed AND r.series_id

-- Devices in the order of pages: GPUs first.
-- page_device: table by id
SELECT d.id, d.machine_id, d.name AS model, m.name AS machine, d.slug, m.name || '/' || d.slug AS device,
  slug(m.name || '.' || d.slug) AS file, row_number() OVER (ORDER BY d.kind = 'cpu', m.id, d.slug) AS line
FROM device d JOIN machine m ON m.id = d.machine_id

-- The counts of a device and an operation, and their median efficiency.
-- page_matrix_cell: table by device_id
WITH s AS (SELECT p.op_id, p.device_id, p.tone, p.is_unplanned, p.is_skipped, p.is_unsupported, p.fails,
    p.efficiency, p.tone = 'bad' AND v.status = 'missing' AS is_missing, v.before_value >= 0 AS is_compared,
    row_number() OVER (PARTITION BY p.device_id, p.op_id ORDER BY efficiency IS NULL, efficiency) AS at,
    count(efficiency) OVER (PARTITION BY p.device_id, p.op_id) AS known
  FROM page_series p LEFT JOIN verdict v ON v.night_id = p.verdict_night_id AND v.series_id = p.id
  WHERE p.has_result)
SELECT device_id, op_id, count(*) AS n, sum(tone = 'bad' AND NOT is_missing) AS worse,
  sum(is_missing) AS missing, sum(tone = 'good') AS better, sum(is_unplanned) AS unplanned,
  sum(is_skipped) AS skipped, sum(fails AND NOT is_skipped AND NOT is_unsupported) AS failing,
  sum(is_compared) AS compared,
  avg(efficiency) FILTER (WHERE at IN ((known + 1) / 2, known / 2 + 1)) AS efficiency
FROM s GROUP BY device_id, op_id

-- Change points with the revisions and environments on both sides. That of a commit has another
-- revision before it: the commit may be the cause.
-- page_change: table by revision_id
SELECT c.*, c.after_value / nullif(c.before_value, 0) AS ratio,
  CASE s.better WHEN 'lower' THEN c.after_value > c.before_value WHEN 'higher' THEN c.after_value < c.before_value END
    AS worse,
  a.revision_id AS good_revision_id, b.revision_id,
  b.revision_id IS NOT NULL AND b.revision_id IS NOT a.revision_id AS is_of_revision,
  old.environment_id AS previous_environment_id, new.environment_id, s.unit
FROM change_point c JOIN series s ON s.id = c.series_id
  LEFT JOIN run new ON new.id = c.run_id LEFT JOIN build b ON b.id = new.build_id
  LEFT JOIN run old ON old.id = c.previous_run_id LEFT JOIN build a ON a.id = old.build_id

-- page_change_row:
SELECT c.series_id AS "series+", c.ratio - 1 AS "change+", c.ratio AS "step+",
  CASE c.worse WHEN 1 THEN 'bad' WHEN 0 THEN 'good' ELSE 'note' END AS tone, quantity(c.before_value, c.unit) AS before,
  quantity(c.after_value, c.unit) AS after, minute(c.as_of_s) AS "when", clip(c.cause, 40) AS cause,
  c.is_of_revision AS "is_of_revision-", c.revision_id AS "revision_id-",
  c.environment_id AS "environment_id-", c.previous_environment_id AS "previous_environment_id-",
  c.worse AS "worse-", max(c.ratio, 1 / c.ratio) AS "size-"
FROM page_change c

-- page_change_count: table by revision_id
SELECT revision_id, count(*) AS n, ifnull(sum(worse), 0) AS worse, ifnull(sum(NOT worse), 0) AS better
FROM page_change WHERE is_of_revision GROUP BY revision_id

-- page_upstream:
WITH revisions AS (SELECT r.upstream_id, count(*) AS n, ifnull(sum(c.worse), 0) AS worse,
    ifnull(sum(c.better), 0) AS better
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
-- Packages with a page of their versions.
-- page_versions: table by upstream_id
SELECT DISTINCT u.id AS upstream_id, '../versions/' || iif(slug(u.name) = 'index', 'index_', slug(u.name)) ||
  '.html' AS versions_href
FROM page_series p JOIN series s USING (id) JOIN upstream u ON u.id = s.upstream_id
WHERE u.kind = 'package' AND p.is_ranked

-- The backends whose machine code is known.
-- page_coded: table by backend
SELECT DISTINCT backend FROM kernel WHERE name = ''

-- page_build_pair: table by revision_id
WITH newest AS (SELECT b.*, r.upstream_id, r.position, r.commit_time_s,
    row_number() OVER (PARTITION BY b.revision_id, b.adapter, b.arch ORDER BY b.id DESC) AS age,
    row_number() OVER (PARTITION BY b.revision_id ORDER BY b.id DESC) AS age_of_all
  FROM build b JOIN revision r ON r.id = b.revision_id WHERE b.status IN ('ok', 'partial')),
pairs AS (SELECT revision_id, age_of_all, id AS new_id, lag(id) OVER (
    PARTITION BY upstream_id, adapter, arch ORDER BY position, commit_time_s, revision_id) AS old_id
  FROM newest WHERE age = 1)
SELECT revision_id, new_id, old_id FROM pairs WHERE age_of_all = 1

-- page_revision: table by id
SELECT id, lag(id) OVER (PARTITION BY upstream_id ORDER BY position, commit_time_s, id) AS older_id,
  row_number() OVER (PARTITION BY upstream_id ORDER BY position DESC, commit_time_s DESC, id DESC)
    AS place
FROM revision

-- Pages of revisions: of the newest of an upstream, and of those that changed something. The first 12
-- digits of a hash are its own; those of a time (20261101000001), and of a shortened version, are not.
-- page_revision_file: table by id
SELECT r.id, slug(substr(u.name, 1, 40) || '-' || short_rev(rev) || iif(length(rev) BETWEEN 40 AND 64
  AND rev NOT GLOB '*[^0-9a-f]*' AND rev GLOB '*[a-f]*', '', '-' || substr(r.uid, 1, 8))) AS file
FROM revision r JOIN page_revision p ON p.id = r.id JOIN upstream u ON u.id = r.upstream_id
WHERE p.place <= 20 OR r.id IN (SELECT revision_id FROM page_change_count)

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

-- Alerts of the series that are known, and of missing data. `place`: in its group, the largest first.
-- `state`: by the newest decision of people about the alert or its group.
-- page_alert: table by group_uid
WITH a AS (SELECT a.*, s.id AS known_series_id, u.url,
    iif(a.kind <> 'change' OR s.id IS NULL, '', a.change) AS size,
    a.kind <> 'change' OR s.id IS NULL OR (ifnull(a.change, a.after_value - a.before_value) > 0) = (s.better = 'lower') AS is_worse,
    iif(s.id IS NULL, 'alerts.html#' || a.uid, 'series/' || slug(s.slug) || '.html') AS href,
    (SELECT t.id FROM triage t WHERE t.alert_uid IN (a.uid, a.group_uid)
      AND t.action IN ('ack', 'expect', 'ignore', 'reopen')
      ORDER BY t.at_s DESC, t.uid DESC LIMIT 1) AS triage_id
  FROM alert_v a LEFT JOIN series s ON s.id = a.series_id
    LEFT JOIN upstream u ON u.id = s.upstream_id
  WHERE s.id IS NOT NULL OR a.kind = 'missing-data'),
b AS (SELECT a.*, t.author AS decided_by, CASE t.action WHEN 'ack' THEN 'acked' WHEN 'expect' THEN 'expected'
    WHEN 'ignore' THEN 'ignored' ELSE 'new' END AS triaged
  FROM a LEFT JOIN triage t ON t.id = a.triage_id)
SELECT *, iif(triaged = 'new', '', decided_by) AS owner,
  iif(status = 'closed' AND triaged IN ('new', 'acked'), 'recovered', triaged) AS state,
  row_number() OVER (PARTITION BY group_uid ORDER BY abs(change) DESC, uid) AS place,
  row_number() OVER (PARTITION BY group_uid ORDER BY status = 'open' DESC, abs(change) DESC, uid)
    AS lead
FROM b

-- One row for each group; the lead is its first open alert, else its first.
-- page_alert_group: table by group_uid
SELECT g.*, l.state, l.owner, l.title AS lead_title FROM (SELECT group_uid, count(*) AS n,
    max(status = 'open') AS is_open, min(opened_s) AS opened_s, max(ifnull(closed_s, 0)) AS closed_s
  FROM page_alert GROUP BY group_uid) g JOIN page_alert l ON l.group_uid = g.group_uid AND l.lead = 1

-- The article of a group.
-- page_alert_head:
SELECT g.rowid AS "id-", g.is_open AS "is_open-", g.opened_s AS "opened_s-", abs(f.change) AS "size-",
  f.known_series_id AS "series+", clip(f.title, 200) AS alert_title, f.href AS href,
  iif(f.is_worse, 'bad', 'good') AS alert_tone, counted(g.n) || ' series' AS series_word,
  g.n > 1 AS "several?", clip(ifnull(f.upstream, ''), 60) AS of_upstream,
  clip(g.group_uid, 80) AS group_uid, substr(g.group_uid, 1, 8) AS id, g.state AS state,
  iif(g.is_open, tone('triage', g.state), 'quiet') AS state_tone, clip(g.owner, 60) AS triaged_by,
  clip(f.cause, 60) AS cause, minute(g.opened_s) AS opened, minute(g.closed_s) AS closed,
  NOT g.is_open AND g.closed_s > 0 AS "is_closed?",
  f.good_revision_id AS "base+", f.bad_revision_id AS "range+",
  iif(f.good_revision_id IS f.bad_revision_id, 'At', 'Between') AS "between",
  iif(f.size = '', '', change_span(ifnull((SELECT change FROM page_alert l
    WHERE l.group_uid = g.group_uid AND l.kind = 'change' AND l.place > 1
    ORDER BY l.place DESC LIMIT 1), f.change), f.change)) AS sizes,
  (SELECT iif(count(DISTINCT device_id) > 3, ' and more', '') FROM page_alert m
    WHERE m.group_uid = g.group_uid) AS on_more,
  iif(g.n > 50, g.n - 50, '') AS members_more,
  clip(ifnull((SELECT replace(json_extract(fact.value, '$.text'), ' -> ', ' → ')
    FROM page_alert m JOIN verdict v ON v.night_id = ifnull(m.verdict_night_id, m.night_id)
        AND v.series_id = m.series_id, json_each(iif(json_valid(v.facts), v.facts, '[]')) fact
    WHERE m.group_uid = g.group_uid AND m.kind = 'change' AND m.place <= 50
      AND json_extract(fact.value, '$.kind') = 'code-change'
    ORDER BY m.place LIMIT 1), ''), 300) AS code_change
FROM page_alert_group g JOIN page_alert f ON f.group_uid = g.group_uid AND f.place = 1

-- page_alert_device:
SELECT "group-", clip(name, 60) AS on_device, href AS on_href, iif(n > 1, ', ', '') AS comma
FROM (SELECT g.rowid AS "group-", m.name || '/' || d.slug AS name,
    'machines/' || slug(m.name) || '.html' AS href,
    row_number() OVER (PARTITION BY g.rowid ORDER BY min(a.place)) AS n
  FROM page_alert_group g JOIN page_alert a ON a.group_uid = g.group_uid
    JOIN device d ON d.id = a.device_id JOIN machine m ON m.id = d.machine_id
  GROUP BY g.rowid, d.id)
WHERE n <= 3 ORDER BY n

-- The bisection of a member's range: the first bad commit, or the range that is left.
-- page_alert_bisection:
SELECT "group-", iif(outcome = 'found', short_rev(first_bad_rev), '') AS first_bad,
  CASE outcome WHEN 'found' THEN '' WHEN 'range' THEN 'narrowed the range to'
    WHEN 'same' THEN 'did not reproduce the change' ELSE 'is unfinished' END AS bisected,
  iif(outcome = 'range', short_rev(last_good_rev) || ' → ' || short_rev(first_bad_rev), '')
    AS narrowed, range_href(url, last_good_rev, first_bad_rev) AS narrowed_href,
  commit_href(url, first_bad_rev) AS first_bad_href, clip(subject, 120) AS first_bad_subject,
  clip(author, 60) AS first_bad_author, day(author_time_s) AS first_bad_day,
  change(size) AS first_bad_change,
  ifnull(' (' || change_range(size, change_lo, change_hi) || ')', '') AS first_bad_interval,
  printf('%.1f', 100 * confidence) AS first_bad_confidence, pair_count AS bisection_pairs,
  build_count AS bisection_builds
FROM (SELECT g.rowid AS "group-", b.*, b.change AS size, a.url,
    row_number() OVER (PARTITION BY g.rowid ORDER BY a.place, b.finished_s, b.uid) AS choice
  FROM page_alert_group g JOIN page_alert a ON a.group_uid = g.group_uid
    JOIN bisection b ON b.series_id = a.series_id AND b.good_rev = a.good_rev AND b.bad_rev = a.bad_rev)
WHERE choice = 1

-- Triage of the group and of its members.
-- page_alert_note:
SELECT g.rowid AS "group-", minute(t.at_s) AS at, clip(t.author, 60) AS author,
  clip(t.action, 30) AS action, clip(t.note, 500) AS note,
  iif(t.action = 'link' AND (t.note GLOB 'https://*' OR t.note GLOB 'http://*'), t.note, '')
    AS note_href,
  iif(t.alert_uid = g.group_uid OR g.n = 1, '', ifnull((SELECT clip(p.title, 110) FROM page_alert a
    JOIN series s ON s.id = a.known_series_id JOIN problem p ON p.id = s.problem_id
    WHERE a.uid = t.alert_uid), '')) AS "of"
FROM triage t JOIN page_alert_group g ON g.group_uid = t.alert_uid
  OR g.group_uid = (SELECT group_uid FROM page_alert WHERE uid = t.alert_uid)
ORDER BY t.at_s, t.uid

-- page_alert_member:
SELECT g.rowid AS "group-", a.known_series_id AS "series+", a.size AS "change+", 0 AS "spark+",
  iif(a.is_worse, 'bad', 'good') AS alert_tone, a.href AS href, clip(a.title, 200) AS alert_title,
  iif(a.state = g.state, '', a.state) AS own_state, iif(a.uid = a.group_uid, '', a.uid) AS anchor,
  day(a.closed_s) AS closed_day,
  iif(a.before_value IS NULL, '', quantity(a.before_value, a.unit)) AS before,
  quantity(a.after_value, a.unit) AS after,
  iif(a.ab_count > 0, a.ab_count, '') AS pairs, iif(a.ab_failed > 0, a.ab_failed, '') AS pairs_failed,
  change(a.ab_change) AS pairs_change, change_range(a.ab_change, a.ab_lo, a.ab_hi) AS pairs_interval,
  a.ab_fastest AS "fastest?", pairs_bar(ifnull((SELECT group_concat(printf('%.17g', difference), ' ')
    FROM (SELECT ln(p.head_median / p.base_median) AS difference FROM ab_pair_v p
      WHERE p.series_id = a.known_series_id AND p.base_rev = a.good_rev AND p.head_rev = a.bad_rev
        AND p.base_median > 0 AND p.head_median > 0
      ORDER BY p.base_build_id, p.head_build_id, p.night_id, p.pair, p.id)), '')) AS "pairs_markup!",
  a.good_rev AS good_rev, a.bad_rev AS bad_rev, a.known_series_id AS "id-",
  ifnull((SELECT 'traces/' || t.file || '.html' FROM page_inside i JOIN page_trace t ON t.id = i.trace_id
    WHERE i.series_id = a.known_series_id), '') AS trace_path
FROM page_alert_group g JOIN page_alert a ON a.group_uid = g.group_uid
WHERE a.place <= 50 ORDER BY a.place

-- The first point of each environment in three series of its device: the oldest, a control and the one
-- measured last. To search all would take too long.
-- page_environment: table by id
WITH x AS (SELECT id, device_id, role,
    (SELECT max(as_of_s) FROM measurement WHERE series_id = s.id) AS newest_s FROM series s),
  searched AS (SELECT min(id) AS id FROM x GROUP BY device_id, role = 'control'
    UNION SELECT id FROM (SELECT id, max(newest_s) FROM x GROUP BY device_id))
SELECT e.id, ifnull(p.since_s, 0) AS since_s
FROM environment e LEFT JOIN (SELECT environment_id, min(as_of_s) AS since_s FROM measurement
  WHERE series_id IN searched GROUP BY environment_id) p ON p.environment_id = e.id

-- What changed with an environment, against the one before it on the device.
-- page_environment_change:
SELECT e.id, e.device_id, p.since_s, older IS NULL AS is_first,
  ifnull(environment_diff(older, attributes), '') AS difference
FROM (SELECT *, lag(attributes) OVER (PARTITION BY device_id ORDER BY id) AS older FROM environment) e
  JOIN page_environment p ON p.id = e.id

-- Newest verdicts on changes, by the commit to which they belong: the first bad one of a bisection, else
-- the first at the new level. An accepted change is a change of its commit still.
-- page_verdict: table by revision_id
SELECT v.series_id, p.place, v.before_value, v.after_value, v.unit, u.url, v.first_bad_rev,
  v.first_bad_subject, v.first_bad_author, v.first_bad_confidence,
  ifnull((SELECT id FROM revision WHERE upstream_id = v.upstream_id AND rev = v.first_bad_rev),
    v.bad_revision_id) AS revision_id
FROM page_series p JOIN verdict_v v ON v.night_id = p.verdict_night_id AND v.series_id = p.id
  JOIN upstream u ON u.id = v.upstream_id
WHERE v.good_revision_id <> v.bad_revision_id AND
  iif(v.status = 'acked', tone('verdict', v.status_before_ack), p.tone) IN ('bad', 'good')

-- What a multiprocessor does, in the order of the tables: kinds of regions, then the rest.
-- page_does:
SELECT column1 AS place, column2 AS name, column3 AS class FROM (VALUES (0, 'matrix products', 'tensor'),
  (1, 'compute', 'compute'), (2, 'store', 'store'), (3, 'load', 'load'), (4, 'wait', 'wait'),
  (5, 'outside of regions', 'other'), (6, 'no block', 'idle'))

-- The traces of a problem on one backend, its configuration and device: the newest without a base;
-- where all have one, the newest. `place`: by the newest of all.
-- page_trace: table by problem_id
SELECT r.id, r.problem_id, r.device_id, r.backend, r.upstream, r.config, r.revision, r.artifact_key,
  r.options, r.mode, r.base, r.started_s, iif(json_valid(r.result), r.result, '{}') AS result, q.title, q.op,
  m.name || '/' || d.slug AS device, slug(slug(m.name || '.' || d.slug) || '.' ||
    iif(r.upstream IN ('', r.backend), '', r.upstream || '.') || r.backend || '.' || q.title ||
    iif(r.config = '', '', '.' || r.config)) AS file,
  row_number() OVER (ORDER BY newest_s DESC, newest_id DESC) AS place
FROM (SELECT *, max(started_s) OVER same AS newest_s, max(id) OVER same AS newest_id, row_number() OVER
      (same ORDER BY base <> '', started_s DESC, id DESC) AS choice
    FROM kernel_report WHERE kind = 'trace'
    WINDOW same AS (PARTITION BY device_id, problem_id, backend, upstream, config)) r
  JOIN problem q ON q.id = r.problem_id JOIN device d ON d.id = r.device_id
  JOIN machine m ON m.id = d.machine_id
WHERE choice = 1

-- The newest trace and profile of a series.
-- page_inside: table by series_id
SELECT s.id AS series_id, (SELECT t.id FROM page_trace t WHERE t.problem_id = s.problem_id
    AND t.device_id = s.device_id AND t.backend = s.backend AND t.config = s.config
    AND t.upstream IN ('', u.name) ORDER BY t.place LIMIT 1) AS trace_id,
  (SELECT r.id FROM kernel_report r WHERE r.kind = 'profile' AND r.problem_id = s.problem_id
    AND r.device_id = s.device_id AND r.backend = s.backend AND r.config = s.config
    AND r.upstream IN ('', u.name) ORDER BY r.started_s DESC, r.id DESC LIMIT 1) AS profile_id
FROM series s JOIN upstream u ON u.id = s.upstream_id
WHERE s.problem_id IN (SELECT problem_id FROM kernel_report)

-- The kernels of a launch. The critical path is that of a tile where the kernel marks tiles, else of a
-- block; without the cost of records where the result has that.
-- page_trace_kernel: table by trace_id
WITH k AS (SELECT t.id AS trace_id, e.key AS place, iif(e.type = 'object', e.value, '{}') AS j
  FROM page_trace t, json_each(t.result, '$.kernels') e WHERE typeof(e.key) = 'integer'),
w AS (SELECT *, iif(json_type(j, '$.tiles') = 'object', j -> 'tiles', '') AS tiles FROM k),
p AS (SELECT *, figure(iif(tiles = '', j, tiles) ->> 'critical_other_corrected_ns') AS other_ns FROM w),
c AS (SELECT *, iif(tiles = '', '', 'tile_') || 'critical' ||
  iif(other_ns IS NULL, '_ns', '_corrected_ns') AS path_key FROM p)
SELECT *, figure(j ->> 'duration_ns') AS duration_ns, iif(other_ns IS NULL,
    iif(tiles = '', figure(j ->> 'block_ns'), figure(tiles ->> 'mean_ns')),
    other_ns + (SELECT sum(figure(value ->> path_key)) FROM json_each(j, '$.regions')
      WHERE type = 'object')) AS path_ns
FROM c

-- page_trace_activity: table by kernel_id
SELECT k.rowid AS kernel_id, k.trace_id, d.*, k.duration_ns,
  figure(k.j -> 'multiprocessor_ns' ->> d.name) AS time_ns
FROM page_trace_kernel k JOIN page_does d

-- The shares of all kernels of a launch together.
-- page_trace_row: table by trace_id
SELECT t.id AS trace_id, minute(t.started_s) AS "when",
  quantity(ifnull(untraced_ns, traced_ns), 'ns') AS time,
  iif(traced_ns > 0 AND untraced_ns > 0, change(traced_ns / untraced_ns - 1), '') AS recording,
  iif(runs > 0, printf('%.0f', runs), '–') AS runs, share(tensor) AS tensor_share,
  share(wait) AS wait_share, share(idle) AS idle_share
FROM (SELECT id, started_s, figure(result ->> 'untraced_ns') AS untraced_ns,
    figure(result ->> 'traced_ns') AS traced_ns, figure(result ->> 'runs') AS runs FROM page_trace) t
  LEFT JOIN (SELECT trace_id, sum(max(ifnull(time_ns, 0), 0)) FILTER (WHERE class = 'tensor') / whole_ns AS tensor,
      sum(max(ifnull(time_ns, 0), 0)) FILTER (WHERE class = 'wait') / whole_ns AS wait,
      sum(max(ifnull(time_ns, 0), 0)) FILTER (WHERE class = 'idle') / whole_ns AS idle
    FROM page_trace_activity JOIN (SELECT trace_id, sum(max(ifnull(duration_ns, 0), 0)) AS whole_ns
      FROM page_trace_kernel GROUP BY trace_id) USING (trace_id) GROUP BY trace_id) s ON s.trace_id = t.id

-- What `tracker profile` counted in one launch of a series, in bytes for each level of the memory.
-- page_profile: table by series_id
SELECT series_id, started_s, flops, figure(j ->> 'tensor_share') AS tensor_share,
  figure(j ->> 'dram_bytes') AS dram, figure(j ->> 'l2_bytes') AS l2, figure(j ->> 'l1_bytes') AS l1
FROM (SELECT i.series_id, r.started_s, q.flops, iif(json_valid(r.result), r.result, '{}') AS j
  FROM page_inside i JOIN kernel_report r ON r.id = i.profile_id JOIN problem q ON q.id = r.problem_id)

-- page_tuning: table by id
SELECT g.*, slug(slug(m.name || '.' || d.slug) || '.' || iif(t.upstream IN ('', t.backend), '', t.upstream || '.') ||
  t.backend || '.' || q.title || '.' || t.mode || iif(t.options = '', '', '.' || t.options)) AS file,
  t.device_id, t.problem_id, t.backend, t.upstream, t.mode, q.op
FROM page_tuning_group g JOIN tuning t USING (id) JOIN problem q ON q.id = t.problem_id
  JOIN device d ON d.id = t.device_id JOIN machine m ON m.id = d.machine_id

-- The result of the mode of a series, else of any. One of a backend without an upstream is of all
-- upstreams that are not built.
-- page_tuned: table by series_id
SELECT s.id AS series_id, (SELECT id FROM (SELECT t.id, t.place, t.mode <> s.mode AS is_other
    FROM page_tuning t WHERE t.device_id = s.device_id AND t.problem_id = s.problem_id AND t.backend = s.backend
      AND iif(t.upstream = '', u.kind IN ('system', 'builtin'), t.upstream = u.name))
  ORDER BY is_other, place LIMIT 1) AS tuning_id
FROM series s JOIN upstream u ON u.id = s.upstream_id WHERE s.problem_id IN (SELECT problem_id FROM page_tuning)

-- The candidates of the tunings that hold; what another program wrote is left out where it makes no sense.
-- page_candidate: table by tuning_id
SELECT *, row_number() OVER (PARTITION BY tuning_id ORDER BY n) AS place,
  median_ns / min(median_ns) OVER (PARTITION BY tuning_id) - 1 AS slower,
  is_timed(outcome) AND median_ns IS NOT NULL AS is_timed
FROM (SELECT p.id AS tuning_id, c.key AS n, c.value ->> 'config' AS config, c.value ->> 'outcome' AS outcome,
    figure(c.value ->> 'evaluations') AS evaluations,
    nullif(max(figure(c.value ->> 'median_ns'), 0), 0) AS median_ns, figure(c.value ->> 'slower') AS of_winner,
    figure(c.value ->> 'lo') AS lo, figure(c.value ->> 'hi') AS hi,
    json_type(c.value, '$.dropped') IS 'true' AS is_dropped, ifnull(c.value ->> 'message', '') AS message
  FROM page_tuning p JOIN tuning t USING (id), json_each(iif(json_valid(t.candidates), t.candidates, '[]')) c
  WHERE c.type = 'object')
WHERE config <> '' AND place('outcome', outcome) IS NOT NULL

-- The parameters of their configurations; NULL: a candidate does not have it.
-- page_tuning_value: table by tuning_id
WITH v AS (SELECT c.tuning_id, c.place, j.key AS name, j.value, j.id AS n
  FROM page_candidate c, json_each(tune_parameters(c.config)) j)
SELECT c.*, n.name, n.name_place, v.value
FROM (SELECT tuning_id, name, min(place * 1000 + n) AS name_place FROM v GROUP BY tuning_id, name) n
  JOIN page_candidate c USING (tuning_id)
  LEFT JOIN v ON v.tuning_id = c.tuning_id AND v.place = c.place AND v.name = n.name

-- page_tuning_level: table by tuning_id
SELECT tuning_id, name, name_place, value, count(median_ns) AS n, avg(ln(median_ns)) AS mean
FROM page_tuning_value GROUP BY tuning_id, name, value

-- With at least two values, the one with the largest effect first: the variance between its values of the
-- mean logarithm of the time. One with very many values is left out.
-- page_tuning_parameter: table by tuning_id
SELECT *, row_number() OVER (PARTITION BY tuning_id ORDER BY round(effect, 12) DESC, name_place) AS rank
FROM (SELECT tuning_id, name, name_place, count(*) AS levels, ifnull(max(0, sum(n * mean * mean) / sum(n) -
    pow(sum(n * mean) / sum(n), 2)), 0) AS effect
  FROM page_tuning_level GROUP BY tuning_id, name HAVING count(*) BETWEEN 2 AND 24)

-- The rows and columns of the map.
-- page_tuning_axis:
SELECT a.tuning_id, a.name, a.rank = iif(x.levels > y.levels, 1, 2) AS is_column
FROM page_tuning_parameter a JOIN page_tuning_parameter x ON x.tuning_id = a.tuning_id AND x.rank = 1
  JOIN page_tuning_parameter y ON y.tuning_id = a.tuning_id AND y.rank = 2
WHERE a.rank <= 2

-- page_tuning_result:
SELECT t.id AS "id-", minute(started_s) AS "when", clip(config, 80) AS config, clip(revision, 12) AS revision,
  verdict, w.meaning AS verdict_meaning, w.tone AS verdict_tone, iif(change > -1, change(change), '') AS gain,
  iif(change > -1, change_range(change, change_lo, change_hi), '') AS gain_range,
  iif(change > -1, w.tone, 'quiet') AS gain_tone, iif(pair_count > 0, pair_count, '') AS pairs
FROM tuning t LEFT JOIN page_word w ON w.list = 'tune' AND w.word = verdict

-- What holds: the backend's default, the first candidate, and the configuration to use.
-- page_tuning_row: table by tuning_id
SELECT p.id AS tuning_id, o.*, ifnull(clip(f.config, 80), '') AS "default", clip(t.config, 80) AS winner,
  ifnull(f.config = t.config, 0) AS "is_default?",
  quantity(iif(t.default_ns > 0, t.default_ns, f.median_ns), 'ns') AS default_time,
  quantity(iif(t.winner_ns > 0 AND t.winner = t.config, t.winner_ns, (SELECT median_ns FROM page_candidate c
    WHERE c.tuning_id = p.id AND c.config = t.config AND median_ns ORDER BY c.place DESC LIMIT 1)), 'ns')
    AS winner_time,
  iif(t.evaluation_count >= 0, t.evaluation_count, '–') AS evaluations,
  (SELECT count(*) FROM page_candidate WHERE tuning_id = p.id) AS candidate_count,
  p.state LIKE 'stale%' AS "is_stale?", p.state, 'tunings/' || p.file || '.html' AS tuning_path
FROM page_tuning p JOIN tuning t USING (id) JOIN page_tuning_result o ON o."id-" = p.id
  LEFT JOIN page_candidate f ON f.tuning_id = p.id AND f.place = 1

-- The change points of one night and one cause, as the effect of their series on the index of an operation
-- on a device; `rank`: the largest first.
-- page_index_cause:
SELECT *, row_number() OVER (PARTITION BY device_id, op ORDER BY abs(effect) DESC, place) AS rank
FROM (SELECT p.device_id, p.op_file AS op, c.as_of_s, iif(c.is_of_revision, c.revision_id, NULL) AS rev_id, c.cause,
    count(*) AS n, sum(ln(c.before_value / c.after_value)) / t.compared AS effect, min(p.place) AS place
  FROM page_change c JOIN page_series p ON p.id = c.series_id
    JOIN page_index_night t ON t.device_id = p.device_id AND t.op = p.op_file AND t.as_of_s = c.as_of_s
  WHERE p.is_ranked AND c.before_value > 0 AND c.after_value > 0 AND t.compared > 0
  GROUP BY p.device_id, p.op_file, c.as_of_s, 4, c.cause)
WHERE abs(effect) >= 0.0005

-- The backends on devices that can be compared; `part`: the file of their times, for about 250 series.
-- page_contender: table by device_id
SELECT row_number() OVER (ORDER BY d.device, variant) - 1 AS i, p.device_id, d.device, variant,
  ifnull(sum(count(*)) OVER (ORDER BY d.device, variant ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0) / 250
    AS part, s.upstream_id
FROM page_series p JOIN series s USING (id) JOIN page_device d ON d.id = p.device_id
WHERE p.is_ranked AND p.night_s GROUP BY p.device_id, variant

-- page_compared: table by problem_id
SELECT p.place, p.fails, s.problem_id, k.i, k.part
FROM page_series p JOIN series s USING (id)
  JOIN page_contender k ON k.device_id = p.device_id AND k.variant = p.variant
WHERE p.is_ranked AND p.night_s
