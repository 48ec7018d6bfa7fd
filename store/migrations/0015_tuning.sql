-- 0015: what `tracker tune` found for one problem on one backend and device. What was seen; never
-- rewritten.

CREATE TABLE tuning (
  id INTEGER PRIMARY KEY, uid TEXT NOT NULL UNIQUE,
  device_id INTEGER NOT NULL REFERENCES device(id),
  environment_id INTEGER NOT NULL REFERENCES environment(id), -- with the driver
  problem_id INTEGER NOT NULL REFERENCES problem(id),
  upstream TEXT NOT NULL, revision TEXT NOT NULL, -- '': an installed backend
  artifact_key TEXT NOT NULL,                     -- of the build
  backend TEXT NOT NULL, options TEXT NOT NULL, mode TEXT NOT NULL,
  started_s INTEGER NOT NULL,
  verdict TEXT NOT NULL,
  config TEXT NOT NULL, winner TEXT NOT NULL,     -- to use, of the race; '': none
  default_ns REAL, winner_ns REAL,                -- medians over the A/B pairs; NULL: no pairs
  change REAL, change_lo REAL, change_hi REAL,    -- winner / default - 1
  pair_count INTEGER NOT NULL, evaluation_count INTEGER NOT NULL,
  candidates TEXT NOT NULL,                       -- JSON, in the backend's order
  checksum INTEGER NOT NULL
) STRICT;
CREATE INDEX tuning_device ON tuning(device_id, backend, problem_id);
