-- 0001: the history. Tables above the line "derived" hold what was seen and are never rewritten;
-- those below can be dropped and recomputed. `uid` is a content hash (the first 32 hex digits of a SHA-256),
-- equal in every database that has the same fact.
-- Times: seconds since the epoch, UTC. `as_of_s` orders a series: the night's start, or, for past revisions, the commit's time.

CREATE TABLE machine (
  id INTEGER PRIMARY KEY, uid TEXT NOT NULL UNIQUE,
  name TEXT NOT NULL UNIQUE, attributes TEXT NOT NULL DEFAULT '{}'
) STRICT;

CREATE TABLE device (
  id INTEGER PRIMARY KEY, uid TEXT NOT NULL UNIQUE,
  machine_id INTEGER NOT NULL REFERENCES machine(id),
  kind TEXT NOT NULL, name TEXT NOT NULL, uuid TEXT NOT NULL, arch TEXT NOT NULL,
  slug TEXT NOT NULL                      -- short and readable: "cpu", "h200-0"; unique on its machine
) STRICT;
CREATE UNIQUE INDEX device_slug ON device(machine_id, slug);

-- What a timing depends on beside the code: driver, kernel, governor, microcode, libraries. A new value is a new row.
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
  status TEXT NOT NULL CHECK (status IN ('ok', 'failed', 'timeout')),
  message TEXT NOT NULL DEFAULT '', log TEXT NOT NULL DEFAULT '',   -- the end of the log of a failed build
  wall_s REAL NOT NULL DEFAULT 0, size_bytes INTEGER NOT NULL DEFAULT 0, built_s INTEGER NOT NULL
) STRICT;
CREATE INDEX build_revision ON build(revision_id);

-- Machine code of a build: one row for each backend as a whole (name = '') and one for each function of it.
CREATE TABLE kernel (
  id INTEGER PRIMARY KEY,
  build_id INTEGER NOT NULL REFERENCES build(id),
  backend TEXT NOT NULL, name TEXT NOT NULL, code_hash TEXT NOT NULL, size_bytes INTEGER NOT NULL,
  registers INTEGER, spill_bytes INTEGER, shared_bytes INTEGER
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
  slug TEXT NOT NULL UNIQUE,               -- readable id, used in file names and URLs
  device_id INTEGER NOT NULL REFERENCES device(id),
  upstream_id INTEGER NOT NULL REFERENCES upstream(id),
  backend TEXT NOT NULL, config TEXT NOT NULL, problem_id INTEGER NOT NULL REFERENCES problem(id),
  mode TEXT NOT NULL,                      -- cold, hot, paced, sustained, loaded
  metric TEXT NOT NULL, unit TEXT NOT NULL,
  better TEXT NOT NULL CHECK (better IN ('lower', 'higher')),
  role TEXT NOT NULL CHECK (role IN ('suite', 'control', 'ceiling'))
) STRICT;

CREATE TABLE night (
  id INTEGER PRIMARY KEY, uid TEXT NOT NULL UNIQUE,
  machine_id INTEGER NOT NULL REFERENCES machine(id),
  kind TEXT NOT NULL CHECK (kind IN ('nightly', 'backfill', 'run', 'import')),
  as_of_s INTEGER NOT NULL, started_s INTEGER NOT NULL, finished_s INTEGER,
  status TEXT NOT NULL CHECK (status IN ('running', 'complete', 'incomplete', 'failed')),
  seed INTEGER NOT NULL, config_hash TEXT NOT NULL, tracker_version TEXT NOT NULL, summary TEXT NOT NULL DEFAULT '{}'
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

-- The plan of a night; run_id is set when the job has reached an outcome, so that what is left is known after a kill.
CREATE TABLE job (
  id INTEGER PRIMARY KEY,
  night_id INTEGER NOT NULL REFERENCES night(id), seq INTEGER NOT NULL,
  series_id INTEGER NOT NULL REFERENCES series(id), build_id INTEGER NOT NULL REFERENCES build(id),
  backend_path TEXT NOT NULL, options TEXT NOT NULL DEFAULT '',
  run_id INTEGER REFERENCES run(id)
) STRICT;
CREATE UNIQUE INDEX job_seq ON job(night_id, seq);

CREATE TABLE run (
  id INTEGER PRIMARY KEY, uid TEXT NOT NULL UNIQUE,
  night_id INTEGER NOT NULL REFERENCES night(id), seq INTEGER NOT NULL,
  series_id INTEGER NOT NULL REFERENCES series(id),      -- the series of its time, also where there is no time
  build_id INTEGER NOT NULL REFERENCES build(id),
  environment_id INTEGER REFERENCES environment(id),
  as_of_s INTEGER NOT NULL, started_s INTEGER NOT NULL, wall_s REAL NOT NULL,
  outcome TEXT NOT NULL, message TEXT NOT NULL DEFAULT '',
  attributes TEXT NOT NULL DEFAULT '{}'                   -- verification, plan, telemetry, stop reason, options
) STRICT;
CREATE INDEX run_series ON run(series_id, as_of_s);
CREATE UNIQUE INDEX run_night ON run(night_id, seq);

-- The points of the series, clustered so that one series is one range of the file. Denormalised for reading only.
CREATE TABLE measurement (
  series_id INTEGER NOT NULL REFERENCES series(id), as_of_s INTEGER NOT NULL, run_id INTEGER NOT NULL REFERENCES run(id),
  value REAL NOT NULL, lo REAL NOT NULL, hi REAL NOT NULL, n INTEGER NOT NULL,   -- median and its interval
  min REAL NOT NULL, q25 REAL NOT NULL, q75 REAL NOT NULL, p95 REAL NOT NULL,
  night_id INTEGER NOT NULL, build_id INTEGER NOT NULL, environment_id INTEGER, flags INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (series_id, as_of_s, run_id)
) STRICT, WITHOUT ROWID;

-- Raw samples: zstd of little-endian float64 in time order. Dropped after the configured time.
CREATE TABLE sample (
  run_id INTEGER NOT NULL REFERENCES run(id), series_id INTEGER NOT NULL REFERENCES series(id), data BLOB NOT NULL,
  PRIMARY KEY (run_id, series_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE ceiling (
  night_id INTEGER NOT NULL REFERENCES night(id), device_id INTEGER NOT NULL REFERENCES device(id),
  name TEXT NOT NULL,                      -- copy, read, f32, bf16 ...
  source TEXT NOT NULL CHECK (source IN ('measured', 'datasheet')),
  value REAL NOT NULL, unit TEXT NOT NULL CHECK (unit IN ('gb_per_s', 'gflop_per_s')),
  PRIMARY KEY (night_id, device_id, name, source)
) STRICT, WITHOUT ROWID;

-- What people decided. Append-only.
CREATE TABLE triage (
  id INTEGER PRIMARY KEY, uid TEXT NOT NULL UNIQUE,
  alert_uid TEXT NOT NULL, at_s INTEGER NOT NULL, author TEXT NOT NULL, action TEXT NOT NULL, note TEXT NOT NULL DEFAULT ''
) STRICT;

-- ---- derived ---------------------------------------------------------------------------------------------

CREATE TABLE change_point (
  series_id INTEGER NOT NULL REFERENCES series(id),
  as_of_s INTEGER NOT NULL, run_id INTEGER NOT NULL,      -- the first point at the new level
  previous_run_id INTEGER NOT NULL,                       -- the last one at the old level: the commit range
  before_value REAL NOT NULL, after_value REAL NOT NULL, change_lo REAL NOT NULL, change_hi REAL NOT NULL, -- interval of after/before - 1
  p REAL NOT NULL, cause TEXT NOT NULL, confidence REAL NOT NULL, detail TEXT NOT NULL DEFAULT '{}',
  PRIMARY KEY (series_id, as_of_s, run_id)
) STRICT, WITHOUT ROWID;

-- The verdict over every series after a night: each is accounted for.
CREATE TABLE verdict (
  night_id INTEGER NOT NULL REFERENCES night(id), series_id INTEGER NOT NULL REFERENCES series(id),
  status TEXT NOT NULL, before_value REAL, after_value REAL, change REAL, change_lo REAL, change_hi REAL,
  threshold REAL, p REAL, q REAL, reason TEXT NOT NULL DEFAULT '', detail TEXT NOT NULL DEFAULT '{}',
  PRIMARY KEY (night_id, series_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE alert (
  uid TEXT PRIMARY KEY,                    -- series and first bad revision: one step is one alert
  series_id INTEGER NOT NULL REFERENCES series(id), night_id INTEGER NOT NULL REFERENCES night(id),
  status TEXT NOT NULL CHECK (status IN ('open', 'closed')), opened_s INTEGER NOT NULL, closed_s INTEGER,
  change REAL NOT NULL, cause TEXT NOT NULL, good_rev TEXT NOT NULL, bad_rev TEXT NOT NULL, title TEXT NOT NULL
) STRICT, WITHOUT ROWID;
