-- 0005: alerts of more than one kind, and of what moved together. A stoppage can be of a machine or of an upstream as a whole.

CREATE TABLE alert_new (
  uid TEXT PRIMARY KEY,                    -- of a change or a failure: series and first bad revision: one step is one alert
  kind TEXT NOT NULL CHECK (kind IN ('change', 'failure', 'stoppage')),
  group_uid TEXT NOT NULL,                 -- what moved at the same commit on like machines; what stopped together
  machine_id INTEGER REFERENCES machine(id), upstream_id INTEGER REFERENCES upstream(id),
  series_id INTEGER REFERENCES series(id), -- NULL: all of the upstream, or all of the machine
  night_id INTEGER NOT NULL REFERENCES night(id),      -- that found it; of a stoppage: the last one with data
  status TEXT NOT NULL CHECK (status IN ('open', 'closed')), opened_s INTEGER NOT NULL, closed_s INTEGER,
  change REAL NOT NULL, cause TEXT NOT NULL, good_rev TEXT NOT NULL, bad_rev TEXT NOT NULL, title TEXT NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO alert_new
  SELECT a.uid, 'change', a.uid, d.machine_id, s.upstream_id, a.series_id, a.night_id, a.status, a.opened_s, a.closed_s, a.change, a.cause,
    a.good_rev, a.bad_rev, a.title
  FROM alert a LEFT JOIN series s ON s.id = a.series_id LEFT JOIN device d ON d.id = s.device_id;
DROP TABLE alert;
ALTER TABLE alert_new RENAME TO alert;
