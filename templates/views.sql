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

-- Devices in the order of pages: GPUs first.
-- page_device: table by id
SELECT d.id, d.name AS model, m.name AS machine, d.slug, m.name || '/' || d.slug AS device,
  slug(m.name || '.' || d.slug) AS file, row_number() OVER (ORDER BY d.kind = 'cpu', m.id, d.slug) AS line
FROM device d JOIN machine m ON m.id = d.machine_id

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
-- Packages with a page of their versions.
-- page_versions: table by upstream_id
SELECT DISTINCT u.id AS upstream_id, '../versions/' || iif(slug(u.name) = 'index', 'index_', slug(u.name)) ||
  '.html' AS versions_href
FROM page_series p JOIN series s USING (id) JOIN upstream u ON u.id = s.upstream_id
WHERE u.kind = 'package' AND p.is_ranked

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
    a.kind <> 'change' OR s.id IS NULL OR (a.change > 0) = (s.better = 'lower') AS is_worse,
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

-- What two devices of a model must have in common to be comparable, where it is recorded of both: equal
-- values, of a version the same first number (`major`), of what drivers round a share of the larger one.
-- page_rule:
SELECT column1 AS n, column2 AS key, column3 AS title, column4 AS unit, column5 AS kind,
  column6 AS major, column7 AS tolerance
FROM (VALUES (1, 'driver', 'driver', '', '', 1, 0),
  (2, 'max_clock_mhz', 'maximum clock', ' MHz', 'gpu', 0, 0.01),
  (3, 'application_clock_mhz', 'application clock', ' MHz', 'gpu', 0, 0.01),
  (4, 'power_cap_w', 'power cap', ' W', 'gpu', 0, 0.02),
  (5, 'compute_units', 'number of compute units', '', '', 0, 0),
  (6, 'ecc', 'ECC', '', 'gpu', 0, 0), (7, 'mig', 'MIG', '', 'gpu', 0, 0),
  (8, 'governor', 'governor', '', 'cpu', 0, 0), (9, 'smt', 'SMT', '', 'cpu', 0, 0))

-- What the newest environments of series say of that. "value": what is compared.
-- page_setting: table by environment_id
SELECT e.id AS environment_id, r.n, r.title, r.tolerance, t.type, min(t.id) AS first,
  iif(r.major AND t.type = 'text', substr(t.value, 1, instr(t.value || '.', '.') - 1), t.value) AS value,
  CASE WHEN t.type = 'text' THEN clip(t.value, 40) WHEN t.type IN ('integer', 'real')
    THEN printf('%.6g', t.value) ELSE iif(t.type = 'true', 'on', 'off') END || r.unit AS shown
FROM environment e JOIN device d ON d.id = e.device_id
  JOIN json_tree(iif(json_valid(e.attributes), e.attributes, '{}')) t
  JOIN page_rule r ON r.key = t.key AND r.kind IN ('', iif(d.kind = 'cpu', 'cpu', 'gpu'))
WHERE t.type <> 'object' AND instr(t.fullkey, '[') = 0
  AND e.id IN (SELECT environment_id FROM page_series)
GROUP BY e.id, r.n

-- What makes two environments of comparable devices, `a` and `b`, incomparable.
-- page_conflict:
SELECT a.environment_id AS a, b.environment_id AS b, a.n,
  a.title || ' ' || a.shown || ' instead of ' || b.shown AS text
FROM page_setting a JOIN page_setting b ON b.n = a.n
WHERE NOT iif(a.tolerance AND a.type IN ('integer', 'real') AND b.type IN ('integer', 'real'),
  abs(a.value - b.value) <= a.tolerance * max(abs(a.value), abs(b.value)),
  a.type = b.type AND a.value IS b.value)

-- The measured devices of models that have several, with the environment of the newest time. A device
-- joins the first group with whose first member it has no conflict; 16 at most are in a group.
-- page_card: table by device_id
WITH RECURSIVE newest AS (SELECT device_id, environment_id, row_number() OVER (PARTITION BY device_id
    ORDER BY night_s DESC, place DESC) AS age FROM page_series WHERE is_suite_time AND n),
measured AS (SELECT d.id AS device_id, d.name, d.kind, d.arch, d.machine_id, n.environment_id,
    m.name || '/' || d.slug AS device, row_number() OVER (ORDER BY m.id, d.slug) AS place
  FROM newest n JOIN device d ON d.id = n.device_id JOIN machine m ON m.id = d.machine_id
  WHERE age = 1 AND n.environment_id),
d AS (SELECT *, slug(kind || '.' || name) AS file, min(place) OVER same AS card,
    row_number() OVER (PARTITION BY name, kind ORDER BY place) AS i, count(*) OVER same AS devices
  FROM measured WINDOW same AS (PARTITION BY name, kind)),
g(card, i, found) AS (SELECT card, 0, '[]' FROM d WHERE i = 1 AND devices > 1 UNION ALL
  SELECT card, i + 1, json_insert(found, '$[#]', ifnull(
    (SELECT number FROM (SELECT value AS number, count(*) AS members, min(key) + 1 AS lead
        FROM json_each(g.found) GROUP BY value)
      JOIN d a ON a.card = g.card AND a.i = lead JOIN d b ON b.card = g.card AND b.i = g.i + 1
      WHERE members < 16 AND a.arch = b.arch AND NOT EXISTS (SELECT 1 FROM page_conflict
        WHERE a = a.environment_id AND b = b.environment_id)
      ORDER BY number LIMIT 1),
    (SELECT count(DISTINCT value) FROM json_each(g.found))))
  FROM g WHERE i < (SELECT devices FROM d WHERE d.card = g.card)),
placed AS (SELECT d.*, value AS number, count(*) OVER (PARTITION BY d.card, value) AS members
  FROM g JOIN json_each(g.found) JOIN d ON d.card = g.card AND d.i = key + 1 WHERE g.i = d.devices)
SELECT *, dense_rank() OVER (ORDER BY card, members DESC, number) AS group_id,
  dense_rank() OVER (PARTITION BY card ORDER BY members DESC, number) AS group_number,
  row_number() OVER (PARTITION BY card ORDER BY members DESC, number, i) AS card_place
FROM placed

-- One backend on one problem by the devices of a group. Compared are times of the revision that most
-- devices have, in environments that agree with their device's.
-- page_card_time: table by row_id
WITH t AS (SELECT k.group_id, k.device_id, k.i, p.id AS series_id, p.place, p.variant, p.file, p.value,
    p.lo, p.hi, p.n, p.rate, p.rate_unit, s.problem_id, dense_rank() OVER (
      ORDER BY k.group_id, s.problem_id, s.upstream_id, s.backend, s.config) AS row_id,
    iif(p.environment_id IS k.environment_id OR p.environment_id AND NOT EXISTS (SELECT 1
      FROM page_conflict WHERE a = k.environment_id AND b = p.environment_id), b.revision_id, NULL)
      AS revision_id
  FROM page_card k JOIN page_series p ON p.device_id = k.device_id JOIN series s ON s.id = p.id
    LEFT JOIN build b ON b.id = p.build_id
  WHERE p.is_ranked AND NOT p.fails AND p.value > 0),
chosen AS (SELECT row_id, revision_id, row_number() OVER (PARTITION BY row_id
    ORDER BY count(*) DESC, r.position DESC, min(i)) AS choice
  FROM t JOIN revision r ON r.id = revision_id GROUP BY row_id, revision_id),
c AS (SELECT t.*, ifnull(t.revision_id = c.revision_id, 0) AS is_counted
  FROM t LEFT JOIN chosen c ON c.row_id = t.row_id AND c.choice = 1)
SELECT *, max(is_counted) OVER same AS is_ranked,
  row_number() OVER (PARTITION BY row_id ORDER BY NOT is_counted, value, i) = 1 AS is_best,
  iif(sum(is_counted) OVER same > 1, max(value) FILTER (WHERE is_counted) OVER same /
    min(value) FILTER (WHERE is_counted) OVER same - 1, NULL) AS spread
FROM c WINDOW same AS (PARTITION BY row_id)

-- How the times of a device compare to those of another one of its group.
-- page_card_pair: table by device_id
SELECT a.device_id, b.device_id AS other_id, count(*) AS timings, avg(ln(a.value / b.value)) AS log_ratio,
  min(a.value / b.value) AS lo, max(a.value / b.value) AS hi
FROM page_card_time a JOIN page_card_time b USING (row_id)
WHERE a.is_counted AND b.is_counted AND a.device_id <> b.device_id GROUP BY a.device_id, b.device_id

-- The devices of a group, the fastest first.
-- page_card_member: table by group_id
SELECT *, row_number() OVER (PARTITION BY group_id ORDER BY slowness IS NULL, slowness, i) AS rank
FROM (SELECT *, (SELECT avg(log_ratio) FROM page_card_pair p WHERE p.device_id = k.device_id) AS slowness
  FROM page_card k)

-- The newest times of the libraries of vendors. "cublas_native" are kernels of the tracker on cuBLAS.
-- page_vendor: table by problem_id
SELECT p.id AS series_id, p.place, p.device_id, p.value, s.problem_id, s.upstream_id
FROM page_series p JOIN series s USING (id)
WHERE p.is_ranked AND p.value > 0 AND instr(s.backend, 'native') = 0 AND EXISTS (SELECT 1
  FROM (VALUES ('cublas'), ('cudnn'), ('cutensor'), ('mkl'), ('onednn'), ('rocblas'), ('hipblas'),
    ('miopen'), ('aocl'), ('accelerate')) WHERE substr(s.backend, 1, length(column1)) = column1)

-- The newest time, or compile time, of each series of a package with each version. A row that another
-- one of its build follows is not the newest.
-- page_version_point:
WITH followed AS (SELECT s.id FROM upstream u JOIN series s ON s.upstream_id = u.id
    JOIN page_series p ON p.id = s.id WHERE u.kind = 'package' AND (p.is_ranked OR s.metric = 'compile')),
m AS (SELECT *, lead(build_id) OVER (PARTITION BY series_id ORDER BY as_of_s, run_id) AS next_build_id
  FROM measurement WHERE series_id IN followed AND value > 0)
SELECT m.series_id, m.value, m.lo, m.hi, m.run_id, m.build_id, m.environment_id, b.revision_id,
  row_number() OVER (PARTITION BY m.series_id, b.revision_id ORDER BY m.as_of_s DESC, m.run_id DESC) AS age,
  p.place, p.op_id, p.variant, p.device_id, p.is_ranked, s.problem_id, s.upstream_id, s.backend, s.config,
  s.mode
FROM m JOIN build b ON b.id = m.build_id JOIN series s ON s.id = m.series_id
  JOIN page_series p ON p.id = m.series_id
WHERE next_build_id IS NOT m.build_id

-- page_version_newest: table by revision_id
SELECT * FROM page_version_point WHERE age = 1

-- The newest 40 measured versions of a package, in their order (PEP 440); k: from 0.
-- page_version: table by upstream_id
SELECT *, measured - back - max(measured - 40, 0) AS k FROM (SELECT v.upstream_id,
    v.revision_id, r.rev, r.commit_time_s, count(*) OVER (PARTITION BY v.upstream_id) AS measured,
    row_number() OVER (PARTITION BY v.upstream_id
      ORDER BY version_key(r.rev) DESC, r.position DESC, r.rev DESC) AS back
  FROM (SELECT DISTINCT upstream_id, revision_id FROM page_version_newest WHERE is_ranked) v
    JOIN revision r ON r.id = v.revision_id) WHERE back <= 40

-- The fastest configuration of a problem on a device with each version. `old_k`: the version before it
-- with which the problem was measured. Compile times are those of the configuration of the newest one.
-- page_version_time: table by problem_key
WITH t AS (SELECT x.*, v.k, v.rev, v.commit_time_s AS released_s,
    min(x.place) OVER (PARTITION BY x.upstream_id, x.device_id, x.op_id) AS section_id,
    min(x.place) OVER (PARTITION BY x.upstream_id, x.device_id, x.problem_id) AS problem_key,
    row_number() OVER (PARTITION BY x.upstream_id, x.device_id, x.problem_id, v.k
      ORDER BY x.value, x.place) AS nth
  FROM page_version_newest x JOIN page_version v USING (upstream_id, revision_id) WHERE x.is_ranked),
best AS (SELECT *, lag(k) OVER (PARTITION BY problem_key ORDER BY k) AS old_k,
    first_value(backend) OVER same AS last_backend, first_value(config) OVER same AS last_config,
    first_value(mode) OVER same AS last_mode, (SELECT v.series_id FROM page_vendor v
      WHERE v.problem_id = t.problem_id AND v.device_id = t.device_id AND v.upstream_id <> t.upstream_id
      ORDER BY v.value, v.place LIMIT 1) AS vendor_id
  FROM t WHERE nth = 1 WINDOW same AS (PARTITION BY problem_key ORDER BY k DESC))
SELECT b.*, c.value AS compile_ns, v.value AS vendor_ns, iif(b.config <> '', b.config,
  (SELECT ifnull(json_extract(attributes, '$.plan.algorithm'), '') FROM run WHERE id = b.run_id)) AS ran
FROM best b LEFT JOIN page_series v ON v.id = b.vendor_id
  LEFT JOIN page_version_newest c ON c.revision_id = b.revision_id AND NOT c.is_ranked
    AND c.problem_id = b.problem_id AND c.device_id = b.device_id AND c.upstream_id = b.upstream_id
    AND c.backend = b.last_backend AND c.config = b.last_config AND c.mode = b.last_mode

-- The GPU kernels that ran then: of a package those of the problem and configuration, of a shared object
-- all. More than 8 are not those of one problem.
-- page_version_kernel: table by problem_key
WITH n AS (SELECT *, substr(name, instr(name, ' ') + 1) AS part FROM kernel
  WHERE (name GLOB 'sm[_]*' OR name GLOB 'gfx*') AND instr(name, ' ')),
used AS (SELECT t.problem_key, t.k, n.*, q.text || ' ' || t.ran AS wanted,
    iif(instr(part, ' '), substr(part, instr(part, ' ') + 1), NULL) AS rest
  FROM page_version_time t JOIN problem q ON q.id = t.problem_id
    JOIN n ON n.build_id = t.build_id AND n.backend = t.backend)
SELECT * FROM (SELECT *, row_number() OVER (PARTITION BY problem_key, k ORDER BY name) AS nth,
    count(*) OVER (PARTITION BY problem_key, k) AS kernels
  FROM used WHERE rest IS NULL OR rest = wanted OR substr(rest, 1, length(wanted) + 1) = wanted || '#')
WHERE kernels <= 8 ORDER BY problem_key, k, nth

-- page_version_code: table by problem_key
SELECT problem_key, k, count(*) AS kernels, group_concat(code_hash) AS hashes, max(registers) AS registers,
  max(shared_bytes) AS shared_bytes, sum(spill_bytes) AS spill_bytes,
  sum(iif(instr(instructions, 'total='), CAST(substr(instructions, instr(instructions, 'total=') + 6)
    AS INTEGER), NULL)) AS instructions
FROM page_version_kernel GROUP BY problem_key, k

-- With the version before it; NULL where there is none. `apart`: their intervals do not overlap.
-- page_version_step: table by problem_key
SELECT b.*, a.value AS old_value, a.rev AS old_rev, a.variant AS old_variant, a.series_id AS old_series_id,
  a.revision_id AS old_revision_id, a.environment_id AS old_environment_id, b.value / a.value AS ratio,
  ifnull(a.hi < b.lo OR b.hi < a.lo, 0) AS apart, y.kernels AS kernels, x.kernels AS old_kernels,
  x.hashes = y.hashes AS is_same_code, y.registers, y.spill_bytes, y.shared_bytes, y.instructions
FROM page_version_time b LEFT JOIN page_version_time a ON a.problem_key = b.problem_key AND a.k = b.old_k
  LEFT JOIN page_version_code x ON x.problem_key = b.problem_key AND x.k = b.old_k
  LEFT JOIN page_version_code y ON y.problem_key = b.problem_key AND y.k = b.k

-- The backends at each problem on each device: first the fastest and those that tie with it (is_first),
-- then the others. `best`: the shortest time.
-- page_standing: table by problem_id
WITH t AS (SELECT p.*, s.problem_id, q.op AS problem_op, q.dtype, q.flops, row_number() OVER same AS nth,
    first_value(value) OVER same AS best, first_value(lo) OVER same AS best_lo,
    first_value(hi) OVER same AS best_hi, first_value(n) OVER same AS best_n
  FROM page_series p JOIN series s USING (id) JOIN problem q ON q.id = s.problem_id
  WHERE p.is_ranked AND NOT p.fails AND p.value > 0
  WINDOW same AS (PARTITION BY p.device_id, s.problem_id ORDER BY p.value, p.place)),
c AS (SELECT *, nth = 1 OR value < best * (1 + (SELECT tie FROM page_site)) OR
    ((n > 1 OR hi > lo) AND (best_n > 1 OR best_hi > best_lo) AND NOT best_hi < lo) IS TRUE AS is_first
  FROM t)
SELECT *, row_number() OVER (PARTITION BY device_id, problem_id ORDER BY NOT is_first, nth) AS rank,
  count(*) OVER same AS contenders, sum(is_first) OVER same AS first_count
FROM c WINDOW same AS (PARTITION BY device_id, problem_id)

-- The key problem of an operation and type on a device: the one that most backends have; of several the
-- one with the most work. `line`: the devices in the order of pages.
-- page_key_problem: table by device_id
SELECT d.line, d.device, k.* FROM (SELECT id, place, device_id, problem_id, contenders, row_number() OVER (
      PARTITION BY device_id, problem_op, dtype ORDER BY contenders DESC, flops DESC, place) AS choice
    FROM page_standing WHERE rank = 1) k
  JOIN page_device d ON d.id = k.device_id WHERE choice = 1

-- The backend to use for each problem: of those that share the first place the one that does so for the
-- most problems, so that a table uses few backends and noise does not change it.
-- page_dispatch: table by device_id
WITH c AS (SELECT *, row_number() OVER (PARTITION BY device_id, problem_id
    ORDER BY NOT is_first, firsts DESC, rank) AS choice
  FROM (SELECT *, sum(is_first) OVER (PARTITION BY device_id, problem_op, variant) AS firsts
    FROM page_standing))
SELECT c.*, n.variant AS next, n.value / c.value AS lead
FROM c LEFT JOIN page_standing n ON n.problem_id = c.problem_id AND n.device_id = c.device_id
  AND n.rank = c.first_count + 1
WHERE choice = 1

-- The backends of a device at its key problems, in the order in which they are met: at most 7.
-- page_board_column: table by device_id
SELECT * FROM (SELECT s.device_id, s.variant, s.style, row_number() OVER (PARTITION BY s.device_id
    ORDER BY min(k.place * 1000 + s.rank)) AS i
  FROM page_key_problem k JOIN page_standing s ON s.problem_id = k.problem_id AND s.device_id = k.device_id
  GROUP BY s.device_id, s.variant)
WHERE i <= 7

-- page_cause_kind:
SELECT column1 AS kind, column2 AS word, column3 AS words, column4 AS tone
FROM (VALUES (0, 'regression', 'regressions', 'bad'), (1, 'failure', 'failures', 'bad'),
  (2, 'missing series', 'missing series', 'bad'), (3, 'improvement', 'improvements', 'good'),
  (4, 'fix', 'fixes', 'good'), (5, 'change of the environment', 'changes of the environment', 'note'))

-- The verdicts of the period of the site: of one night, else of the newest analysed night of each machine.
-- page_said: table by series_id
SELECT v.*, CASE iif(v.accepted, v.status, v.status_before_ack) WHEN 'regressed' THEN 0
    WHEN 'newly-failed' THEN 1 WHEN 'missing' THEN iif(p.is_skipped OR p.is_unplanned, NULL, 2)
    WHEN 'improved' THEN 3 WHEN 'recovered' THEN 3 WHEN 'fixed' THEN 4 WHEN 'environment' THEN 5 END AS kind
FROM (SELECT DISTINCT iif(o.night_id, o.night_id, m.analysed_night_id) AS id FROM page_site o, page_machine m) n
  JOIN verdict_v v ON v.night_id = n.id JOIN page_series p ON p.id = v.series_id

-- What changed, in groups of one cause: series that changed with one commit, with their environment, or
-- failed for one reason; and change points of the period that no verdict says. A commit is not blamed for
-- a failure that unchanged code shares on its device: the device is the likelier cause.
-- page_event: table by cause_id
WITH e AS (SELECT series_id, kind, before_value, after_value, change, change_lo, change_hi, as_of_s AS at_s,
    reason, iif(good_revision_id AND bad_revision_id AND good_revision_id <> bad_revision_id,
      bad_revision_id, NULL) AS revision_id, first_bad_rev, first_bad_subject, first_bad_author,
    first_bad_confidence, alert_opened_s
  FROM page_said WHERE kind IS NOT NULL
  UNION ALL SELECT c.series_id, CASE WHEN c.good_revision_id IS c.revision_id AND
      c.environment_id IS NOT c.previous_environment_id THEN 5 WHEN c.worse THEN 0 ELSE 3 END,
    c.before_value, c.after_value, c.ratio - 1, c.change_lo, c.change_hi, c.as_of_s, '',
    iif(c.is_of_revision AND c.good_revision_id, c.revision_id, NULL), NULL, NULL, NULL, NULL, 0
  FROM page_site o JOIN page_change c ON o.since_s AND c.as_of_s >= o.since_s
    JOIN page_series p ON p.id = c.series_id
  WHERE c.before_value > 0 AND NOT EXISTS (SELECT 1 FROM page_said s WHERE p.verdict_night_id
    AND s.series_id = c.series_id AND s.kind IS NOT NULL AND s.as_of_s <= c.as_of_s)),
s AS (SELECT e.*, p.place, p.device_id, d.device, s.unit, iif(kind = 1 AND max(revision_id IS NULL) OVER (
      PARTITION BY kind, p.device_id, reason), NULL, revision_id) AS commit_id,
    ifnull(iif(change > -1, abs(ln(1 + change)), 0), 0) AS size,
    change IS NOT NULL AND before_value IS NOT NULL AND after_value IS NOT NULL AS has_change
  FROM e JOIN page_series p ON p.id = e.series_id JOIN page_device d ON d.id = p.device_id
    JOIN series s ON s.id = e.series_id),
g AS (SELECT *, dense_rank() OVER (ORDER BY kind, ifnull(commit_id, 0), iif(commit_id, '', device),
    iif(commit_id IS NULL AND kind = 1, reason, ''), iif(commit_id IS NULL AND kind IN (0, 3), place, 0))
    AS cause_id FROM s)
SELECT *, row_number() OVER (PARTITION BY cause_id ORDER BY size DESC, place) AS nth,
  count(*) OVER (PARTITION BY cause_id) AS events
FROM g

-- The causes, the most urgent first, with their largest change; `found`: the first bad commit of a
-- bisection.
-- page_cause: table by line
SELECT f.*, k.word, k.words, k.tone, d.machine, b.rev, b.subject, b.author, x.first_bad_rev AS found_rev,
  x.first_bad_subject AS found_subject, x.first_bad_author AS found_author,
  x.first_bad_confidence AS found_confidence,
  row_number() OVER (ORDER BY f.kind, f.size DESC, f.events DESC, f.cause_id) AS line
FROM page_event f JOIN page_cause_kind k USING (kind) JOIN page_device d ON d.id = f.device_id
  LEFT JOIN revision b ON b.id = f.commit_id
  LEFT JOIN page_event x ON x.cause_id = f.cause_id AND x.nth = (SELECT min(nth) FROM page_event y
    WHERE y.cause_id = f.cause_id AND f.commit_id AND y.first_bad_rev <> '')
WHERE f.nth = 1

-- One or a few sentences: "2 regressions, 1 failure last night. lab: the night failed. Worst: ...".
-- page_headline: table by text
WITH o AS (SELECT *, (SELECT count(before_value) FROM page_said) AS compared,
    (SELECT count(*) FROM page_series) AS series, (SELECT count(*) FROM night) AS nights,
    (SELECT max(as_of_s) FROM page_change WHERE worse) AS regression_s FROM page_site),
m AS (SELECT m.place, clip(m.name, 60) AS name, n.status, o.now_s - n.as_of_s AS age_s,
    CASE WHEN o.now_s - n.as_of_s > 36 * 3600 THEN 'late' WHEN n.status IN ('failed', 'stopped') THEN 'failed'
      WHEN n.status = 'incomplete' THEN 'incomplete' END AS state
  FROM o, page_machine m JOIN page_night n ON n.id = m.last_night_id WHERE NOT o.night_id ORDER BY m.place),
counts AS (SELECT group_concat(text, ', ') AS text FROM (SELECT counted(count(*)) || ' ' ||
    iif(count(*) = 1, k.word, k.words) AS text
  FROM page_event JOIN page_cause_kind k USING (kind) GROUP BY kind ORDER BY kind)),
w AS (SELECT c.*, kind IN (0, 3) AS is_change, q.title, p.label, change(c.change) AS largest,
    (SELECT change(change) FROM page_event e WHERE e.cause_id = c.cause_id AND nth = 2) AS second,
    (SELECT change(change) FROM page_event e WHERE e.cause_id = c.cause_id AND nth = c.events) AS last
  FROM page_cause c JOIN page_series p ON p.id = c.series_id JOIN series s ON s.id = p.id
    JOIN problem q ON q.id = s.problem_id WHERE line = 1)
SELECT iif(series = 0, 'Nothing has been measured yet.',
  CASE WHEN counts.text IS NOT NULL THEN counts.text || CASE WHEN since_s THEN ' in this period.'
      WHEN night_id THEN ' in this night.' ELSE ' last night.' END
    WHEN compared THEN 'No change in ' || counted(compared) || ' series' || ifnull((
      SELECT '; last regression ' || max(n) || ' night' || iif(max(n) = 1, '', 's') || ' ago'
      FROM (SELECT count(*) FILTER (WHERE kind = 'nightly' AND as_of_s > regression_s) AS n
        FROM night GROUP BY machine_id) WHERE regression_s), '') || '.'
    WHEN nights > 1 AND NOT EXISTS (SELECT 1 FROM page_machine WHERE analysed_night_id)
      THEN counted(series) || ' series in ' || counted(nights) || ' nights, not analysed yet.'
    ELSE 'First night: ' || (SELECT counted(count(night_s)) || ' of ' || counted(sum(has_result))
      FROM page_series) || ' series measured. Comparisons start with the next one.' END ||
  ifnull((SELECT group_concat(' ' || name || ': the night ' || status || '.', '') FROM m
    WHERE state = 'failed'), '') ||
  ifnull((SELECT CASE WHEN kind = 1 AND events > 1 AND commit_id IS NULL AND reason <> '' THEN ' Worst: ' ||
      events || ' series on ' || clip(machine, 60) || ': ' || clauses(reason, 120) || '.'
    ELSE iif(kind IN (3, 4), ' Best: ', ' Worst: ') || clip(title, 110) || ', ' || clip(label, 60) ||
      iif(is_change, ' ' || largest, '') || ' on ' || clip(machine, 60) ||
      iif(is_change AND events > 1, ' (' || (events - 1) || ' other series: ' || second ||
        iif(second = last, '', ' to ' || last) || ')', '') ||
      CASE WHEN found_rev <> '' THEN ', first bad commit ' || short_rev(found_rev) ||
          iif(found_author = '', '', ' (' || clip(found_author, 60) || ')') ||
          printf(', %.1f %% confidence', 100 * found_confidence)
        WHEN commit_id THEN ', since ' || short_rev(rev) || iif(author = '', '', ' (' || clip(author, 60) || ')')
        WHEN NOT is_change AND reason <> '' THEN ': ' || clauses(reason, 120) ELSE '' END || '.' END
    FROM w), '') ||
  ifnull((SELECT group_concat(' ' || name || ': no night for ' || duration(age_s) || '.', '') FROM m
    WHERE state = 'late'), '') ||
  ifnull((SELECT ' Incomplete night' || iif(count(*) = 1, '', 's') || ': ' || group_concat(name, ', ') || '.'
    FROM m WHERE state = 'incomplete' HAVING count(*)), '')) AS text
FROM o, counts

-- page_machine_day: table by machine_id
WITH RECURSIVE days(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM days WHERE i < 29),
last AS (SELECT m.id, ifnull(n.as_of_s, 0) / 86400 AS last
  FROM page_machine m LEFT JOIN night n ON n.id = m.last_night_id)
SELECT l.id AS machine_id, l.last, i, (SELECT status FROM night n WHERE n.machine_id = l.id
    AND n.kind = 'nightly' AND n.as_of_s / 86400 = l.last + i - 29
  ORDER BY n.started_s DESC, n.id DESC LIMIT 1) AS status
FROM last l, days

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
