-- 0004: pairs of an old and a new build of one series, measured one right after the other in fresh processes: what the verdict on a suspect
-- is made from. A pair is one row, so that a night that was stopped goes on where it was. What was seen; never rewritten.

CREATE TABLE confirmation (
  id INTEGER PRIMARY KEY, uid TEXT NOT NULL UNIQUE,
  night_id INTEGER NOT NULL REFERENCES night(id),            -- the night whose verdict is meant
  series_id INTEGER NOT NULL REFERENCES series(id),
  good_build_id INTEGER NOT NULL REFERENCES build(id), bad_build_id INTEGER NOT NULL REFERENCES build(id), -- the old one, the new one
  pair INTEGER NOT NULL, started_s INTEGER NOT NULL, wall_s REAL NOT NULL,
  first TEXT NOT NULL CHECK (first IN ('good', 'bad')),      -- whose turn was first; drawn
  good_outcome TEXT NOT NULL, bad_outcome TEXT NOT NULL, message TEXT NOT NULL DEFAULT '',
  good_value REAL, bad_value REAL,                           -- median of the process; NULL: it has no timing
  good_min REAL, bad_min REAL                                -- its fastest sample: what nothing else disturbed
) STRICT;
CREATE INDEX confirmation_series ON confirmation(series_id, good_build_id, bad_build_id);
CREATE INDEX confirmation_night ON confirmation(night_id);
