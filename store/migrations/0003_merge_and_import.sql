-- 0003: two histories can become one, and the histories of others can be read.
-- A run is identified by all that it says: the halves of a night that two processes measured number their jobs alike, and both are kept.
-- An imported run may hold the points of many series (series_id is NULL then), and often says neither interval nor quantiles.
-- tk_uid() is the tracker's: the uid of a row of a table with these KEY columns.

CREATE TABLE run_new (
  id INTEGER PRIMARY KEY, uid TEXT NOT NULL UNIQUE,
  night_id INTEGER NOT NULL REFERENCES night(id), seq INTEGER NOT NULL,
  series_id INTEGER REFERENCES series(id),               -- the series of its time, also where there is no time; NULL: of many (import)
  build_id INTEGER NOT NULL REFERENCES build(id),
  environment_id INTEGER REFERENCES environment(id),
  as_of_s INTEGER NOT NULL, started_s INTEGER NOT NULL, wall_s REAL NOT NULL,
  outcome TEXT NOT NULL, message TEXT NOT NULL DEFAULT '',
  attributes TEXT NOT NULL DEFAULT '{}'                   -- verification, plan, telemetry, stop reason, options
) STRICT;
INSERT INTO run_new SELECT r.id,
  tk_uid('run', n.uid, r.seq, s.uid, b.uid, r.started_s, r.outcome, r.message, r.attributes),
  r.night_id, r.seq, r.series_id, r.build_id, r.environment_id, r.as_of_s, r.started_s, r.wall_s, r.outcome, r.message, r.attributes
  FROM run r LEFT JOIN night n ON n.id = r.night_id LEFT JOIN series s ON s.id = r.series_id LEFT JOIN build b ON b.id = r.build_id;
DROP TABLE run;
ALTER TABLE run_new RENAME TO run;
CREATE INDEX run_series ON run(series_id, as_of_s);
CREATE INDEX run_night ON run(night_id, seq);

DROP INDEX job_seq;
CREATE UNIQUE INDEX job_seq ON job(night_id, seq, series_id, build_id);

CREATE TABLE measurement_new (
  series_id INTEGER NOT NULL REFERENCES series(id), as_of_s INTEGER NOT NULL, run_id INTEGER NOT NULL REFERENCES run(id),
  value REAL NOT NULL, lo REAL, hi REAL, n INTEGER NOT NULL,   -- median and its interval; NULL: not known (import)
  min REAL, q25 REAL, q75 REAL, p95 REAL,
  night_id INTEGER NOT NULL, build_id INTEGER NOT NULL, environment_id INTEGER, flags INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (series_id, as_of_s, run_id)
) STRICT, WITHOUT ROWID;
INSERT INTO measurement_new SELECT * FROM measurement ORDER BY series_id, as_of_s, run_id;
DROP TABLE measurement;
ALTER TABLE measurement_new RENAME TO measurement;
