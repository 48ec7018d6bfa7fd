-- The history, version 0.1. Tables above the line "derived" hold what was seen and are never
-- rewritten; those below can be dropped and recomputed. `uid` is a content hash (the first 32 hex
-- digits of a SHA-256), equal in every database that has the same fact. Columns with few words:
-- runner/core. Views are in views.sql.
-- Times: seconds since the epoch, UTC. `as_of_s` orders a series: the night's start, or, for past
-- revisions, the commit's time.

-- The uid of a machine is the hash of its first name, and stays: to rename it changes nothing else.
CREATE TABLE machine (
  id INTEGER PRIMARY KEY, uid TEXT NOT NULL UNIQUE,
  renamed_s INTEGER NOT NULL DEFAULT 0,   -- 0: never
  name TEXT NOT NULL UNIQUE, attributes TEXT NOT NULL DEFAULT '{}'
) STRICT;

CREATE TABLE device (
  id INTEGER PRIMARY KEY, uid TEXT NOT NULL UNIQUE,
  machine_id INTEGER NOT NULL REFERENCES machine(id),
  kind TEXT NOT NULL, name TEXT NOT NULL, uuid TEXT NOT NULL, arch TEXT NOT NULL,
  slug TEXT NOT NULL                      -- short and readable: "cpu", "h200-0"; unique on its machine
) STRICT;
CREATE INDEX device_slug ON device(machine_id, slug);

-- What a timing depends on beside the code: driver, kernel, governor, microcode, libraries. A new
-- value is a new row.
CREATE TABLE environment (
  id INTEGER PRIMARY KEY, uid TEXT NOT NULL UNIQUE,
  device_id INTEGER NOT NULL REFERENCES device(id), attributes TEXT NOT NULL
) STRICT;

CREATE TABLE upstream (
  id INTEGER PRIMARY KEY, uid TEXT NOT NULL UNIQUE,
  name TEXT NOT NULL UNIQUE, kind TEXT NOT NULL, url TEXT NOT NULL DEFAULT ''
) STRICT;

CREATE TABLE revision (
  id INTEGER PRIMARY KEY, uid TEXT NOT NULL UNIQUE,
  upstream_id INTEGER NOT NULL REFERENCES upstream(id),
  rev TEXT NOT NULL, parent TEXT NOT NULL DEFAULT '', position INTEGER NOT NULL DEFAULT 0,
  author_time_s INTEGER NOT NULL DEFAULT 0, commit_time_s INTEGER NOT NULL DEFAULT 0,
  author TEXT NOT NULL DEFAULT '', subject TEXT NOT NULL DEFAULT ''
) STRICT;
CREATE UNIQUE INDEX revision_rev ON revision(upstream_id, rev);

CREATE TABLE build (
  id INTEGER PRIMARY KEY, uid TEXT NOT NULL UNIQUE,
  revision_id INTEGER NOT NULL REFERENCES revision(id),
  artifact_key TEXT NOT NULL, adapter TEXT NOT NULL, toolchain TEXT NOT NULL DEFAULT '',
  flags TEXT NOT NULL DEFAULT '', arch TEXT NOT NULL DEFAULT '',
  status TEXT NOT NULL CHECK (status IN ('ok', 'partial', 'unknown_interface', 'failed', 'timeout')),
  message TEXT NOT NULL DEFAULT '', log TEXT NOT NULL DEFAULT '', -- the end of the log of a failed or partial build
  wall_s REAL NOT NULL DEFAULT 0, size_bytes INTEGER NOT NULL DEFAULT 0, built_s INTEGER NOT NULL
) STRICT;
CREATE INDEX build_revision ON build(revision_id);

-- Machine code of a build: one row for each backend as a whole (name = '') and one for each
-- function of it.
CREATE TABLE kernel (
  id INTEGER PRIMARY KEY,
  build_id INTEGER NOT NULL REFERENCES build(id),
  backend TEXT NOT NULL, name TEXT NOT NULL, code_hash TEXT NOT NULL, size_bytes INTEGER NOT NULL,
  registers INTEGER, spill_bytes INTEGER, shared_bytes INTEGER,
  threads INTEGER,                        -- of a block, at most
  occupancy_percent INTEGER,              -- at most, with its registers and static shared memory
  instructions TEXT NOT NULL DEFAULT ''   -- by kind: "total=816 LDL=143 BAR=1"; '': not counted
) STRICT;
CREATE UNIQUE INDEX kernel_name ON kernel(build_id, backend, name);

CREATE TABLE problem (
  id INTEGER PRIMARY KEY, uid TEXT NOT NULL UNIQUE,
  text TEXT NOT NULL UNIQUE, op TEXT NOT NULL, dtype TEXT NOT NULL, title TEXT NOT NULL,
  flops REAL NOT NULL, bytes REAL NOT NULL,
  source TEXT NOT NULL DEFAULT '', family TEXT NOT NULL DEFAULT ''
) STRICT;

CREATE TABLE series (
  id INTEGER PRIMARY KEY, uid TEXT NOT NULL UNIQUE,
  slug TEXT NOT NULL,                     -- readable, unique: used in file names and URLs
  device_id INTEGER NOT NULL REFERENCES device(id),
  upstream_id INTEGER NOT NULL REFERENCES upstream(id),
  backend TEXT NOT NULL, config TEXT NOT NULL, problem_id INTEGER NOT NULL REFERENCES problem(id),
  mode TEXT NOT NULL, metric TEXT NOT NULL, unit TEXT NOT NULL,
  better TEXT NOT NULL CHECK (better IN ('lower', 'higher', 'unknown')),
  role TEXT NOT NULL CHECK (role IN ('suite', 'control', 'ceiling')),
  rotate_nights INTEGER NOT NULL DEFAULT 0 -- one of these many nights in a row measures it; 0: each; -1: retired
) STRICT;
CREATE INDEX series_slug ON series(slug);
CREATE INDEX series_problem ON series(problem_id);

CREATE TABLE night (
  id INTEGER PRIMARY KEY, uid TEXT NOT NULL UNIQUE,
  machine_id INTEGER NOT NULL REFERENCES machine(id),
  kind TEXT NOT NULL CHECK (kind IN ('nightly', 'backfill', 'run', 'import')),
  as_of_s INTEGER NOT NULL, started_s INTEGER NOT NULL, finished_s INTEGER,
  status TEXT NOT NULL CHECK (status IN ('running', 'complete', 'incomplete', 'failed')),
  seed INTEGER NOT NULL, config_hash TEXT NOT NULL, tracker_version TEXT NOT NULL,
  summary TEXT NOT NULL DEFAULT '{}'
) STRICT;

CREATE TABLE stage (
  night_id INTEGER NOT NULL REFERENCES night(id),
  name TEXT NOT NULL, status TEXT NOT NULL CHECK (status IN ('running', 'done', 'failed', 'skipped')),
  started_s INTEGER NOT NULL, finished_s INTEGER, detail TEXT NOT NULL DEFAULT '',
  PRIMARY KEY (night_id, name)
) STRICT, WITHOUT ROWID;

-- What each upstream answered in a night.
CREATE TABLE resolution (
  night_id INTEGER NOT NULL REFERENCES night(id),
  upstream_id INTEGER NOT NULL REFERENCES upstream(id),
  revision_id INTEGER REFERENCES revision(id), build_id INTEGER REFERENCES build(id),
  status TEXT NOT NULL CHECK (status IN ('new', 'unchanged', 'unreachable', 'failed')),
  message TEXT NOT NULL DEFAULT '',
  PRIMARY KEY (night_id, upstream_id)
) STRICT, WITHOUT ROWID;

-- A run is identified by all its columns: the halves of a night that two processes measured number
-- their jobs alike, and both are kept.
CREATE TABLE run (
  id INTEGER PRIMARY KEY, uid TEXT NOT NULL UNIQUE,
  night_id INTEGER NOT NULL REFERENCES night(id), seq INTEGER NOT NULL,
  series_id INTEGER REFERENCES series(id), -- of its time, also where there is none; NULL: of many (import)
  build_id INTEGER NOT NULL REFERENCES build(id),
  environment_id INTEGER REFERENCES environment(id),
  as_of_s INTEGER NOT NULL, started_s INTEGER NOT NULL, wall_s REAL NOT NULL,
  outcome TEXT NOT NULL, message TEXT NOT NULL DEFAULT '',
  attributes TEXT NOT NULL DEFAULT '{}'   -- verification, plan, telemetry, stop reason, options
) STRICT;
CREATE INDEX run_series ON run(series_id, as_of_s);
CREATE INDEX run_night ON run(night_id, seq);

-- The plan of a night; run_id is set when the job has reached an outcome, so that what is left is
-- known after a kill.
CREATE TABLE job (
  id INTEGER PRIMARY KEY,
  night_id INTEGER NOT NULL REFERENCES night(id), seq INTEGER NOT NULL,
  series_id INTEGER NOT NULL REFERENCES series(id), build_id INTEGER NOT NULL REFERENCES build(id),
  backend_path TEXT NOT NULL, options TEXT NOT NULL DEFAULT '',
  run_id INTEGER REFERENCES run(id),
  device_id INTEGER REFERENCES device(id) -- that has taken the job over; NULL: that of its series
) STRICT;
CREATE UNIQUE INDEX job_seq ON job(night_id, seq, series_id, build_id);

-- The points of the series, clustered so that one series is one range of the file. night, build and
-- environment are those of the run, for reading.
CREATE TABLE measurement (
  series_id INTEGER NOT NULL REFERENCES series(id), as_of_s INTEGER NOT NULL,
  run_id INTEGER NOT NULL REFERENCES run(id),
  value REAL NOT NULL, lo REAL, hi REAL, n INTEGER NOT NULL, -- median and its interval; NULL: not known
  min REAL, q25 REAL, q75 REAL, p95 REAL,
  night_id INTEGER NOT NULL, build_id INTEGER NOT NULL, environment_id INTEGER,
  flags INTEGER NOT NULL DEFAULT 0,
  checksum INTEGER NOT NULL,              -- store/db/checksum.c
  PRIMARY KEY (series_id, as_of_s, run_id)
) STRICT, WITHOUT ROWID;

-- Raw samples: zstd of little-endian float64 in time order. Dropped after the configured time.
CREATE TABLE sample (
  run_id INTEGER NOT NULL REFERENCES run(id), series_id INTEGER NOT NULL REFERENCES series(id),
  data BLOB NOT NULL,
  PRIMARY KEY (run_id, series_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE ceiling (
  night_id INTEGER NOT NULL REFERENCES night(id), device_id INTEGER NOT NULL REFERENCES device(id),
  name TEXT NOT NULL,                     -- copy, read, f32, bf16, launch ...
  source TEXT NOT NULL CHECK (source IN ('measured', 'datasheet')),
  value REAL NOT NULL, unit TEXT NOT NULL CHECK (unit IN ('gb_per_s', 'gflop_per_s', 'ns')),
  PRIMARY KEY (night_id, device_id, name, source)
) STRICT, WITHOUT ROWID;

-- Pairs of two builds of one series, measured one right after the other in fresh processes. A pair
-- is one row, so that a night that was stopped goes on where it was.
CREATE TABLE ab_pair (
  id INTEGER PRIMARY KEY, uid TEXT NOT NULL UNIQUE,
  night_id INTEGER NOT NULL REFERENCES night(id), -- whose verdict is meant
  series_id INTEGER NOT NULL REFERENCES series(id),
  base_build_id INTEGER NOT NULL REFERENCES build(id),
  head_build_id INTEGER NOT NULL REFERENCES build(id),
  pair INTEGER NOT NULL, started_s INTEGER NOT NULL, wall_s REAL NOT NULL,
  first TEXT NOT NULL CHECK (first IN ('base', 'head')), -- that was measured first; drawn
  base_outcome TEXT NOT NULL, head_outcome TEXT NOT NULL, message TEXT NOT NULL DEFAULT '',
  base_median REAL, head_median REAL,     -- NULL: the process has no timing
  base_min REAL, head_min REAL            -- the fastest sample
) STRICT;
CREATE INDEX ab_pair_series ON ab_pair(series_id, base_build_id, head_build_id);
CREATE INDEX ab_pair_night ON ab_pair(night_id);

-- What `tracker tune` found for one problem on one backend and device.
CREATE TABLE tuning (
  id INTEGER PRIMARY KEY, uid TEXT NOT NULL UNIQUE,
  device_id INTEGER NOT NULL REFERENCES device(id),
  environment_id INTEGER NOT NULL REFERENCES environment(id), -- with the driver
  problem_id INTEGER NOT NULL REFERENCES problem(id),
  upstream TEXT NOT NULL, revision TEXT NOT NULL, -- '': an installed backend
  artifact_key TEXT NOT NULL,             -- of the build
  backend TEXT NOT NULL, options TEXT NOT NULL, mode TEXT NOT NULL,
  started_s INTEGER NOT NULL, verdict TEXT NOT NULL,
  config TEXT NOT NULL, winner TEXT NOT NULL, -- to use, of the race; '': none
  default_ns REAL, winner_ns REAL,        -- medians over the A/B pairs; NULL: no pairs
  change REAL, change_lo REAL, change_hi REAL, -- winner / default - 1
  pair_count INTEGER NOT NULL, evaluation_count INTEGER NOT NULL,
  candidates TEXT NOT NULL,               -- JSON, in the backend's order
  checksum INTEGER NOT NULL
) STRICT;
CREATE INDEX tuning_device ON tuning(device_id, backend, problem_id);

-- What `tracker trace` and `tracker profile` recorded inside the kernels of one problem on one
-- backend and device.
CREATE TABLE kernel_report (
  id INTEGER PRIMARY KEY, uid TEXT NOT NULL UNIQUE,
  device_id INTEGER NOT NULL REFERENCES device(id),
  environment_id INTEGER NOT NULL REFERENCES environment(id), -- with the driver
  problem_id INTEGER NOT NULL REFERENCES problem(id),
  kind TEXT NOT NULL,                     -- trace, profile
  upstream TEXT NOT NULL, revision TEXT NOT NULL, -- '': an installed backend
  artifact_key TEXT NOT NULL,             -- of the build
  backend TEXT NOT NULL, options TEXT NOT NULL,
  config TEXT NOT NULL,                   -- of the backend; '': the one it prefers
  mode TEXT NOT NULL,
  base TEXT NOT NULL,                     -- that a trace was compared with; '': nothing
  started_s INTEGER NOT NULL,
  result TEXT NOT NULL,                   -- JSON, as --format=json prints it
  timeline TEXT NOT NULL,                 -- JSON, one launch on one multiprocessor; '': none
  checksum INTEGER NOT NULL
) STRICT;
CREATE INDEX kernel_report_device ON kernel_report(device_id, backend, problem_id);

-- What people decided about an alert or a group of alerts. Append-only.
CREATE TABLE triage (
  id INTEGER PRIMARY KEY, uid TEXT NOT NULL UNIQUE,
  alert_uid TEXT NOT NULL, at_s INTEGER NOT NULL, author TEXT NOT NULL, action TEXT NOT NULL,
  note TEXT NOT NULL DEFAULT ''
) STRICT;
CREATE INDEX triage_alert ON triage(alert_uid);

-- Series of other tools under another name; "*" is any text. Append-only, in the order of time.
CREATE TABLE renaming (
  id INTEGER PRIMARY KEY, uid TEXT NOT NULL UNIQUE,
  old_name TEXT NOT NULL, new_name TEXT NOT NULL, at_s INTEGER NOT NULL
) STRICT;

-- What was delivered, so that an alert is sent once to each place.
CREATE TABLE notification (
  alert_uid TEXT NOT NULL,
  sink TEXT NOT NULL,                     -- webhook, file
  target TEXT NOT NULL,                   -- short hash of the address, which may hold a secret
  sent_s INTEGER NOT NULL,
  PRIMARY KEY (alert_uid, sink, target)
) STRICT, WITHOUT ROWID;

-- Sums of the hashes of all rows of each table, of those of nights for each night: store/db/digest.c.
CREATE TABLE digest (
  name TEXT NOT NULL, night_id INTEGER NOT NULL, sum INTEGER NOT NULL, -- night 0: not of nights
  PRIMARY KEY (name, night_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX digest_night ON digest(night_id);

-- A chain over the finished nights, in the order in which this file got them. Append-only; of this
-- file alone: neither merged nor exported.
CREATE TABLE seal (
  id INTEGER PRIMARY KEY, night_id INTEGER NOT NULL, content TEXT NOT NULL, hash TEXT NOT NULL
) STRICT;
CREATE INDEX seal_night ON seal(night_id);

-- ---- derived ------------------------------------------------------------------------------------

CREATE TABLE change_point (
  series_id INTEGER NOT NULL REFERENCES series(id),
  as_of_s INTEGER NOT NULL, run_id INTEGER NOT NULL, -- the first point at the new level
  previous_run_id INTEGER NOT NULL,       -- the last one at the old level: the commit range
  before_value REAL NOT NULL, after_value REAL NOT NULL,
  change_lo REAL NOT NULL, change_hi REAL NOT NULL, -- interval of after/before - 1
  p REAL NOT NULL, cause TEXT NOT NULL, confidence REAL NOT NULL, detail TEXT NOT NULL DEFAULT '{}',
  PRIMARY KEY (series_id, as_of_s, run_id)
) STRICT, WITHOUT ROWID;

-- The verdict over every series after a night: each is accounted for. It carries everything that is
-- printed of it.
CREATE TABLE verdict (
  night_id INTEGER NOT NULL REFERENCES night(id), series_id INTEGER NOT NULL REFERENCES series(id),
  status TEXT NOT NULL,                    -- runner/core/vocabulary.h, as if nobody had accepted it
  state TEXT NOT NULL,                     -- none, new, open, recovered
  rule TEXT NOT NULL, cause TEXT NOT NULL, -- of runner/core/vocabulary.h
  before_value REAL, before_lo REAL, before_hi REAL, after_value REAL, after_lo REAL, after_hi REAL,
  change REAL, change_lo REAL, change_hi REAL, -- after / before - 1
  threshold REAL, severity REAL, p REAL, q REAL,
  good_build_id INTEGER REFERENCES build(id), bad_build_id INTEGER REFERENCES build(id), -- the change lies between them
  last_good_run_id INTEGER REFERENCES run(id), first_bad_run_id INTEGER REFERENCES run(id), -- on both sides of what was compared
  base_build_id INTEGER REFERENCES build(id), head_build_id INTEGER REFERENCES build(id), -- the last good one, the newest
  head_run_id INTEGER REFERENCES run(id),
  samples_before INTEGER NOT NULL, samples_after INTEGER NOT NULL,
  same_code INTEGER NOT NULL, new_code INTEGER NOT NULL, unstable INTEGER NOT NULL,
  ab_decision TEXT NOT NULL,               -- of A/B runs of base and head
  ab_count INTEGER NOT NULL, ab_failed INTEGER NOT NULL, ab_fastest INTEGER NOT NULL,
  ab_change REAL, ab_lo REAL, ab_hi REAL,
  newest_s INTEGER NOT NULL,               -- time of the newest run
  accepted INTEGER NOT NULL,               -- 1: by a line of acks.yml, and there is no alert
  alert_uid TEXT NOT NULL,                 -- that it opened, that lasts, or that it closed; '': none
  facts TEXT NOT NULL,                     -- JSON, runner/core/verdict.h
  PRIMARY KEY (night_id, series_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX verdict_alert ON verdict(alert_uid) WHERE alert_uid <> '';

-- What a device could tell apart in a night, in one mode: see runner/decide/sensitivity.c.
CREATE TABLE sensitivity (
  night_id INTEGER NOT NULL REFERENCES night(id), device_id INTEGER NOT NULL REFERENCES device(id),
  mode TEXT NOT NULL,
  noise REAL NOT NULL, pair_count INTEGER NOT NULL, -- of one timing, relative; by pairs of equal code
  min_effect REAL NOT NULL,               -- the smallest change that was reported
  PRIMARY KEY (night_id, device_id, mode)
) STRICT, WITHOUT ROWID;

CREATE TABLE alert (
  uid TEXT PRIMARY KEY,                   -- of a change or failure: series and first bad revision: one step is one alert
  kind TEXT NOT NULL,
  group_uid TEXT NOT NULL,                -- shared by alerts of the same commit on like machines, and by data that went missing together
  machine_id INTEGER REFERENCES machine(id), upstream_id INTEGER REFERENCES upstream(id),
  series_id INTEGER REFERENCES series(id), -- NULL: all series of the upstream or of the machine
  night_id INTEGER NOT NULL REFERENCES night(id), -- that found it; missing data: the last night with data
  status TEXT NOT NULL CHECK (status IN ('open', 'closed')), opened_s INTEGER NOT NULL, closed_s INTEGER,
  verdict_night_id INTEGER REFERENCES night(id), -- with series_id: the verdict that describes it; NULL: of night_id
  good_revision_id INTEGER REFERENCES revision(id), -- last good; NULL: unknown
  bad_revision_id INTEGER REFERENCES revision(id), -- first bad
  title TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- What a bisection found, from the pairs in `ab_pair`; repeated, it replaces itself.
CREATE TABLE bisection (
  uid TEXT PRIMARY KEY,
  series_id INTEGER NOT NULL REFERENCES series(id), night_id INTEGER NOT NULL REFERENCES night(id),
  good_rev TEXT NOT NULL, bad_rev TEXT NOT NULL, -- the range that was searched
  outcome TEXT NOT NULL,
  first_bad_rev TEXT NOT NULL DEFAULT '', last_good_rev TEXT NOT NULL DEFAULT '', -- found: neighbours; range: those between could not be measured
  subject TEXT NOT NULL DEFAULT '', author TEXT NOT NULL DEFAULT '', author_time_s INTEGER NOT NULL DEFAULT 0, -- of first_bad_rev
  change REAL, change_lo REAL, change_hi REAL, -- first_bad_rev against last_good_rev, by A/B pairs; 95 % interval
  confidence REAL,
  build_count INTEGER NOT NULL, failed_build_count INTEGER NOT NULL, comparison_count INTEGER NOT NULL,
  pair_count INTEGER NOT NULL, finished_s INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX bisection_range ON bisection(bad_rev, good_rev);

-- What the monitor reported for a series in a night.
CREATE TABLE monitor_event (
  series_id INTEGER NOT NULL REFERENCES series(id), night_id INTEGER NOT NULL REFERENCES night(id),
  as_of_s INTEGER NOT NULL,               -- of the night
  kind TEXT NOT NULL,
  first_after_s INTEGER NOT NULL, last_before_s INTEGER NOT NULL, -- first point at the new level, last at the old; retracted: of that step
  before_value REAL NOT NULL, after_value REAL NOT NULL, -- levels
  log_lr REAL NOT NULL, q REAL,           -- log-likelihood ratio; false-discovery rate over the device's series of the night
  PRIMARY KEY (series_id, night_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX monitor_event_time ON monitor_event(as_of_s);

-- Nights in which the monitor evaluated every point.
CREATE TABLE monitored_night (
  night_id INTEGER PRIMARY KEY REFERENCES night(id),
  series_count INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- The state of the monitor after a device's newest night. Of this file alone: neither merged nor
-- exported.
CREATE TABLE monitor_state (
  device_id INTEGER PRIMARY KEY REFERENCES device(id),
  as_of_s INTEGER NOT NULL,               -- the newest night that it knows
  night_count INTEGER NOT NULL,           -- of its machine up to that: where they are others now, it is made anew
  options TEXT NOT NULL,                  -- what it was made with; with other ones it is made anew
  state BLOB NOT NULL                     -- zstd of little-endian float64
) STRICT;
