-- 0011: plain names for tables, columns and words (CHANGELOG.md lists them), alerts that point at their revisions by id. No uid changes: a renamed table keeps the name that is hashed into its
-- uids (uid_name in store/db/tables.c).

-- One build measured against another, one right after the other: was `confirmation`.
DROP INDEX confirmation_series;
DROP INDEX confirmation_night;
ALTER TABLE confirmation RENAME TO ab_pair;
ALTER TABLE ab_pair RENAME COLUMN good_value TO good_median;
ALTER TABLE ab_pair RENAME COLUMN bad_value TO bad_median;
CREATE INDEX ab_pair_series ON ab_pair(series_id, good_build_id, bad_build_id);
CREATE INDEX ab_pair_night ON ab_pair(night_id);

-- What a bisection found: was `culprit`.
CREATE TABLE bisection (
  uid TEXT PRIMARY KEY,
  series_id INTEGER NOT NULL REFERENCES series(id), night_id INTEGER NOT NULL REFERENCES night(id),
  good_rev TEXT NOT NULL, bad_rev TEXT NOT NULL,              -- the range that was searched
  outcome TEXT NOT NULL,                                      -- runner/core/ab.h
  first_bad_rev TEXT NOT NULL DEFAULT '', last_good_rev TEXT NOT NULL DEFAULT '', -- found: neighbours; range: those between could not be measured
  subject TEXT NOT NULL DEFAULT '', author TEXT NOT NULL DEFAULT '', author_time_s INTEGER NOT NULL DEFAULT 0, -- of first_bad_rev
  change REAL, change_lo REAL, change_hi REAL,                -- first_bad_rev against last_good_rev, by A/B pairs; 95 % interval
  confidence REAL,
  build_count INTEGER NOT NULL, failed_build_count INTEGER NOT NULL, comparison_count INTEGER NOT NULL,
  pair_count INTEGER NOT NULL, finished_s INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO bisection
  SELECT uid, series_id, night_id, good_rev, bad_rev, word,
    first_bad, last_good, subject, author, author_time_s, change, lo, hi, confidence, builds, builds_failed, comparisons, pairs, made_s
  FROM culprit;
DROP TABLE culprit;

-- What the monitor reported for a series in a night: was `alarm`. Derived.
CREATE TABLE monitor_event (
  series_id INTEGER NOT NULL REFERENCES series(id), night_id INTEGER NOT NULL REFERENCES night(id),
  as_of_s INTEGER NOT NULL,                                   -- of the night
  kind TEXT NOT NULL,                                         -- runner/core/ab.h
  first_after_s INTEGER NOT NULL, last_before_s INTEGER NOT NULL, -- first point at the new level, last one at the old; retracted: of that step
  before_value REAL NOT NULL, after_value REAL NOT NULL,      -- levels
  log_lr REAL NOT NULL, q REAL,                               -- log-likelihood ratio; false-discovery rate over the device's series of the night
  PRIMARY KEY (series_id, night_id)
) STRICT, WITHOUT ROWID;
INSERT INTO monitor_event
  SELECT series_id, night_id, as_of_s, word, first_s, last_good_s, before_value,
    after_value, evidence, q FROM alarm;
DROP TABLE alarm;
CREATE INDEX monitor_event_time ON monitor_event(as_of_s);

-- Nights in which the monitor evaluated every point: was `watched`. Derived.
ALTER TABLE watched RENAME TO monitored_night;
ALTER TABLE monitored_night RENAME COLUMN series TO series_count;

-- The state of the monitor after a device's newest night: was `watch`. Of this file alone: neither merged nor exported.
ALTER TABLE watch RENAME TO monitor_state;
ALTER TABLE monitor_state RENAME COLUMN nights TO night_count;
ALTER TABLE monitor_state RENAME COLUMN numbers TO state;

-- How often the verdicts of a night were written, so that a site knows when it is out of date: was `judged`. Of this file alone.
ALTER TABLE judged RENAME TO verdict_version;
ALTER TABLE verdict_version RENAME COLUMN times TO version;

-- Alerts point at revisions by id. A revision that only an alert knows becomes a row.
INSERT OR IGNORE INTO revision(uid, upstream_id, rev)
  SELECT tk_uid('revision', u.uid, w.rev), u.id, w.rev
  FROM (SELECT ifnull(a.upstream_id, s.upstream_id) AS upstream_id, a.good_rev AS rev FROM alert a LEFT JOIN series s ON s.id = a.series_id
        UNION SELECT ifnull(a.upstream_id, s.upstream_id), a.bad_rev FROM alert a LEFT JOIN series s ON s.id = a.series_id) w
  JOIN upstream u ON u.id = w.upstream_id WHERE w.rev <> '';
CREATE TABLE alert_new (
  uid TEXT PRIMARY KEY,                    -- of a change or a failure: series and first bad revision: one step is one alert
  kind TEXT NOT NULL,                      -- runner/core/alert.h
  group_uid TEXT NOT NULL,                 -- shared by alerts of the same commit on like machines, and by data that went missing together
  machine_id INTEGER REFERENCES machine(id), upstream_id INTEGER REFERENCES upstream(id),
  series_id INTEGER REFERENCES series(id), -- NULL: all series of the upstream or of the machine
  night_id INTEGER NOT NULL REFERENCES night(id),      -- that found it; missing data: the last night with data
  status TEXT NOT NULL CHECK (status IN ('open', 'closed')), opened_s INTEGER NOT NULL, closed_s INTEGER,
  change REAL NOT NULL, cause TEXT NOT NULL,
  good_revision_id INTEGER REFERENCES revision(id), bad_revision_id INTEGER REFERENCES revision(id), -- last good, first bad; NULL: unknown
  title TEXT NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO alert_new
  SELECT a.uid, a.kind, a.group_uid, a.machine_id, a.upstream_id, a.series_id, a.night_id,
    a.status, a.opened_s, a.closed_s, a.change, a.cause,
    (SELECT r.id FROM revision r WHERE r.upstream_id = ifnull(a.upstream_id, s.upstream_id) AND r.rev = a.good_rev),
    (SELECT r.id FROM revision r WHERE r.upstream_id = ifnull(a.upstream_id, s.upstream_id) AND r.rev = a.bad_rev), a.title
  FROM alert a LEFT JOIN series s ON s.id = a.series_id;
DROP TABLE alert;
ALTER TABLE alert_new RENAME TO alert;
