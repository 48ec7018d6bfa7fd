-- 0006: what a bisection found: the commit with which a series moved, and how sure that is. Made from the pairs in `confirmation`;
-- repeated, it replaces itself.

CREATE TABLE culprit (
  uid TEXT PRIMARY KEY,
  series_id INTEGER NOT NULL REFERENCES series(id), night_id INTEGER NOT NULL REFERENCES night(id),
  good_rev TEXT NOT NULL, bad_rev TEXT NOT NULL,              -- the range that was searched
  word TEXT NOT NULL CHECK (word IN ('found', 'range', 'same', 'open')),
  first_bad TEXT NOT NULL DEFAULT '', last_good TEXT NOT NULL DEFAULT '', -- found: neighbours; range: what lies between could not be measured
  subject TEXT NOT NULL DEFAULT '', author TEXT NOT NULL DEFAULT '', author_time_s INTEGER NOT NULL DEFAULT 0, -- of first_bad
  change REAL, lo REAL, hi REAL,                              -- first_bad against last_good, measured in turns
  confidence REAL,
  builds INTEGER NOT NULL, builds_failed INTEGER NOT NULL, comparisons INTEGER NOT NULL, pairs INTEGER NOT NULL, made_s INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
