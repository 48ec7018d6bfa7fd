-- 0008: what the model of each series' noise said, night by night, and what it knew after the last one, so that a night goes on where the one
-- before it ended. All of it derived: made anew from the points by `tracker detect`.

CREATE TABLE alarm (
  series_id INTEGER NOT NULL REFERENCES series(id), night_id INTEGER NOT NULL REFERENCES night(id),  -- the night that said it
  as_of_s INTEGER NOT NULL,                                   -- of that night
  word TEXT NOT NULL CHECK (word IN ('step', 'machine', 'retracted')),
  first_s INTEGER NOT NULL, last_good_s INTEGER NOT NULL,     -- first point at the new level, the one before it; of a retraction: of what is taken back
  before_value REAL NOT NULL, after_value REAL NOT NULL,      -- levels
  evidence REAL NOT NULL, q REAL,                             -- log-likelihood ratio; false-discovery rate over the device's series of the night
  PRIMARY KEY (series_id, night_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX alarm_time ON alarm(as_of_s);

-- Nights of which every point was asked about.
CREATE TABLE watched (
  night_id INTEGER PRIMARY KEY REFERENCES night(id),
  series INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Of this file alone: neither merged nor exported.
CREATE TABLE watch (
  device_id INTEGER PRIMARY KEY REFERENCES device(id),
  as_of_s INTEGER NOT NULL,                                   -- the newest night that it knows
  nights INTEGER NOT NULL,                                    -- of its machine up to that: where they are others now, it is made anew
  options TEXT NOT NULL,                                      -- what it was made with; with other ones it is made anew
  numbers BLOB NOT NULL                                       -- zstd of little-endian float64
) STRICT;
