-- What questions join. The views belong to the program, not to the file: each connection makes them
-- for itself, so a new view needs no migration and one that somebody put into a file never runs.
-- A column that is not selected costs nothing.

-- A build with its revision and its upstream.
CREATE TEMP VIEW build_v AS
  SELECT b.id, b.uid, b.revision_id, b.artifact_key, b.adapter, b.toolchain, b.flags, b.arch, b.status,
    b.message, b.wall_s, b.size_bytes, b.built_s,
    r.upstream_id, r.rev, r.parent, r.position, r.author_time_s, r.commit_time_s, r.author, r.subject,
    u.name AS upstream, u.kind AS upstream_kind, u.url AS upstream_url
  FROM build b JOIN revision r ON r.id = b.revision_id JOIN upstream u ON u.id = r.upstream_id;

-- A series with the names of what it measures, and where.
CREATE TEMP VIEW series_v AS
  SELECT s.id, s.uid, s.slug, s.device_id, s.upstream_id, s.problem_id, s.backend, s.config, s.mode,
    s.metric, s.unit, s.better, s.role, s.rotate_nights,
    d.machine_id, d.slug AS device, d.kind AS device_kind, d.name AS device_name, d.arch,
    m.uid AS machine_uid, m.name AS machine,
    u.name AS upstream, u.kind AS upstream_kind, u.url AS upstream_url,
    p.text AS problem, p.title, p.op, p.dtype, p.flops, p.bytes, p.source, p.family
  FROM series s JOIN device d ON d.id = s.device_id JOIN machine m ON m.id = d.machine_id
    JOIN upstream u ON u.id = s.upstream_id JOIN problem p ON p.id = s.problem_id;

-- A night with its machine and counts.
CREATE TEMP VIEW night_v AS
  SELECT n.*, m.name AS machine,
    (SELECT count(*) FROM run r WHERE r.night_id = n.id) AS run_count,
    (SELECT count(*) FROM run r WHERE r.night_id = n.id AND r.outcome = 'ok') AS ok_count,
    (SELECT count(*) FROM job j WHERE j.night_id = n.id AND j.run_id IS NULL) AS open_job_count
  FROM night n JOIN machine m ON m.id = n.machine_id;

-- What each upstream answered in a night, with names.
CREATE TEMP VIEW resolution_v AS
  SELECT r.night_id, r.upstream_id, r.revision_id, r.build_id, r.status, r.message,
    u.name AS upstream, u.kind AS upstream_kind, u.url AS upstream_url,
    ifnull(v.rev, '') AS rev, ifnull(v.subject, '') AS subject, ifnull(v.author, '') AS author,
    v.commit_time_s, v.author_time_s, b.status AS build_status, b.message AS build_message,
    b.artifact_key, b.arch AS build_arch, b.flags AS build_flags, b.toolchain AS build_toolchain
  FROM resolution r JOIN upstream u ON u.id = r.upstream_id
    LEFT JOIN revision v ON v.id = r.revision_id LEFT JOIN build b ON b.id = r.build_id;

-- A run with its night, its revision and its point. The columns of the point are NULL where the run
-- has no timing, and where it has points of many series (import): those are in `measurement` alone.
CREATE TEMP VIEW run_v AS
  SELECT r.id, r.uid, r.night_id, r.seq, r.series_id, r.build_id,
    r.environment_id, r.as_of_s, r.started_s, r.wall_s, r.outcome, r.message, r.attributes,
    x.value, x.lo, x.hi, x.n, x.min, x.q25, x.q75, x.p95, x.flags,
    n.machine_id, n.kind AS night_kind, n.as_of_s AS night_as_of_s, n.status AS night_status,
    b.revision_id, b.artifact_key, b.toolchain, b.flags AS build_flags,
    v.rev, v.subject, v.author, v.commit_time_s, v.author_time_s, v.upstream_id
  FROM run r JOIN night n ON n.id = r.night_id
    JOIN build b ON b.id = r.build_id JOIN revision v ON v.id = b.revision_id
    LEFT JOIN measurement x ON x.series_id = r.series_id AND x.as_of_s = r.as_of_s AND x.run_id = r.id;

-- A step of a series, with the builds and environments on both sides.
CREATE TEMP VIEW change_point_v AS
  SELECT c.*, a.build_id, b.build_id AS previous_build_id, a.environment_id,
    b.environment_id AS previous_environment_id
  FROM change_point c LEFT JOIN run a ON a.id = c.run_id LEFT JOIN run b ON b.id = c.previous_run_id;

-- The bisections that found a commit.
CREATE TEMP VIEW found_v AS
  SELECT y.uid, y.series_id, z.upstream_id, y.good_rev, y.bad_rev, y.finished_s
  FROM bisection y JOIN series z ON z.id = y.series_id WHERE y.outcome = 'found';

-- The verdict over a series, with the names of the series, its revisions, the first bad commit that a
-- bisection found between them (of the series, else of another one of the upstream), its alert, and what people decided about that.
CREATE TEMP VIEW verdict_v AS
  SELECT v.night_id, v.series_id,
    iif(v.accepted OR (v.status IN ('regressed', 'newly-failed') AND t.action <> 'reopen'), 'acked', v.status)
      AS status, v.status AS status_before_ack,
    iif(v.state IN ('new', 'open') AND (v.accepted OR t.action <> 'reopen'), 'acknowledged', v.state) AS state,
    v.rule, v.cause, v.before_value, v.before_lo, v.before_hi, v.after_value, v.after_lo, v.after_hi,
    v.change, v.change_lo, v.change_hi, v.threshold, v.severity, v.p, v.q, v.good_build_id, v.bad_build_id,
    v.last_good_run_id, v.first_bad_run_id, v.base_build_id, v.head_build_id, v.head_run_id,
    v.samples_before, v.samples_after, v.same_code, v.new_code, v.unstable,
    v.ab_decision, v.ab_count, v.ab_failed, v.ab_fastest, v.ab_change, v.ab_lo, v.ab_hi,
    v.newest_s, v.accepted, v.alert_uid, v.facts,
    verdict_reason(v.facts, v.status, iif(v.status IN ('regressed', 'newly-failed'), t.action, ''),
      t.author, t.note) AS reason,
    ifnull(a.opened_s, 0) AS alert_opened_s,
    iif(t.action <> 'reopen', t.action, '') AS ack_action, t.author AS ack_author, t.note AS ack_note,
    ifnull(g.id, 0) AS good_revision_id, ifnull(b.id, 0) AS bad_revision_id,
    iif(g.position > 0 AND b.position >= g.position, b.position - g.position, -1) AS commits_between,
    ifnull(g.rev, '') AS good_rev, ifnull(b.rev, '') AS bad_rev, ifnull(b.subject, '') AS bad_subject,
    f.first_bad_rev, f.subject AS first_bad_subject, f.author AS first_bad_author,
    f.author_time_s AS first_bad_time_s, f.change AS first_bad_change, f.confidence AS first_bad_confidence,
    n.as_of_s, n.kind AS night_kind,
    s.uid AS series_uid, s.slug AS series, s.backend, s.config, s.mode, s.metric, s.unit, s.better, s.role,
    s.machine_id, s.machine, s.device_id, s.device, s.device_name, s.device_kind, s.upstream_id, s.upstream,
    s.problem_id, s.problem, s.title, s.op, s.dtype, s.flops
  FROM verdict v JOIN night n ON n.id = v.night_id JOIN series_v s ON s.id = v.series_id
    LEFT JOIN alert a ON a.uid = v.alert_uid
    LEFT JOIN triage t ON t.id = iif(a.uid IS NULL, NULL, (SELECT x.id FROM triage x
      WHERE x.alert_uid IN (a.uid, a.group_uid) AND x.action IN ('ack', 'expect', 'ignore', 'reopen')
      ORDER BY x.at_s DESC, x.uid DESC LIMIT 1))
    LEFT JOIN build gb ON gb.id = v.good_build_id LEFT JOIN revision g ON g.id = gb.revision_id
    LEFT JOIN build bb ON bb.id = v.bad_build_id LEFT JOIN revision b ON b.id = bb.revision_id
    LEFT JOIN bisection f ON f.uid = iif(b.id IS NULL, NULL, (SELECT uid FROM (
      SELECT y.uid, y.finished_s, y.series_id = v.series_id AS is_own FROM found_v y
      WHERE y.upstream_id = s.upstream_id AND y.good_rev = g.rev AND y.bad_rev = b.rev)
      ORDER BY is_own DESC, finished_s DESC, uid LIMIT 1));

-- An alert with what it is about, the values of its verdict, the first bad commit that a bisection
-- found, and what people decided: `decision` is the action of the newest row that changes the state,
-- '' while the alert is new; a row is about an alert or its group. `state`: see core/triage.h.
CREATE TEMP VIEW alert_v AS
  SELECT x.*, CASE WHEN x.decision = 'expect' THEN 'expected' WHEN x.decision = 'ignore' THEN 'ignored'
    WHEN x.status = 'closed' THEN 'recovered' WHEN x.decision = 'ack' THEN 'acked' ELSE 'new' END AS state
  FROM (SELECT a.uid, a.kind, a.group_uid, m.id AS machine_id, u.id AS upstream_id, a.series_id, a.night_id,
    a.status, a.opened_s, a.closed_s, a.verdict_night_id, a.good_revision_id, a.bad_revision_id, a.title,
    CASE a.kind WHEN 'change' THEN ifnull(v.cause, 'code') ELSE a.kind END AS cause,
    v.before_value, v.before_lo, v.before_hi, v.after_value, v.after_lo, v.after_hi,
    iif(a.kind = 'change', v.change, NULL) AS change,
    v.change_lo, v.change_hi, ifnull(v.ab_decision, 'none') AS ab_decision, v.ab_count, v.ab_failed,
    v.ab_fastest, v.ab_change, v.ab_lo, v.ab_hi,
    f.first_bad_rev, f.subject AS first_bad_subject, f.author AS first_bad_author,
    f.author_time_s AS first_bad_time_s, f.change AS first_bad_change, f.confidence AS first_bad_confidence,
    ifnull(g.rev, '') AS good_rev, ifnull(b.rev, '') AS bad_rev, ifnull(b.subject, '') AS subject,
    ifnull(b.author, '') AS author, b.author_time_s, b.commit_time_s, n.as_of_s,
    m.name AS machine, d.id AS device_id, d.slug AS device, d.name AS device_name, u.name AS upstream,
    s.slug AS series, s.backend, s.config, s.mode, s.metric, s.unit, s.better,
    s.problem_id, p.text AS problem, p.title AS problem_title,
    ifnull((SELECT action FROM triage t WHERE t.alert_uid IN (a.uid, a.group_uid)
      AND action IN ('ack', 'expect', 'ignore', 'reopen')
      ORDER BY at_s DESC, t.uid DESC LIMIT 1), '') AS decision
  FROM alert a JOIN night n ON n.id = a.night_id
    LEFT JOIN series s ON s.id = a.series_id LEFT JOIN device d ON d.id = s.device_id
    LEFT JOIN problem p ON p.id = s.problem_id
    LEFT JOIN machine m ON m.id = ifnull(a.machine_id, d.machine_id)
    LEFT JOIN upstream u ON u.id = ifnull(a.upstream_id, s.upstream_id)
    LEFT JOIN revision g ON g.id = a.good_revision_id LEFT JOIN revision b ON b.id = a.bad_revision_id
    LEFT JOIN verdict v ON v.night_id = ifnull(a.verdict_night_id, a.night_id) AND v.series_id = a.series_id
    LEFT JOIN bisection f ON f.uid = iif(b.id IS NULL, NULL, (SELECT uid FROM (
      SELECT y.uid, y.finished_s, y.series_id = a.series_id AS is_own FROM found_v y
      WHERE y.upstream_id = u.id AND y.good_rev = g.rev AND y.bad_rev = b.rev)
      ORDER BY is_own DESC, finished_s DESC, uid LIMIT 1))) x;

-- A pair of two builds, with their revisions.
CREATE TEMP VIEW ab_pair_v AS
  SELECT p.*, n.as_of_s, g.revision_id AS base_revision_id, h.revision_id AS head_revision_id,
    g.rev AS base_rev, h.rev AS head_rev
  FROM ab_pair p JOIN night n ON n.id = p.night_id
    JOIN build_v g ON g.id = p.base_build_id JOIN build_v h ON h.id = p.head_build_id;

-- The ceilings of the newest night of each device, name and source.
CREATE TEMP VIEW newest_ceiling_v AS
  SELECT night_id, device_id, name, source, value, unit FROM (
    SELECT c.*, row_number() OVER (PARTITION BY c.device_id, c.name, c.source
      ORDER BY n.as_of_s DESC, n.id DESC) AS age
    FROM ceiling c JOIN night n ON n.id = c.night_id)
  WHERE age = 1;
