-- 0009: how often the verdicts of a night were written: whoever has shown them knows by it that they are others now. Of this file alone:
-- neither merged nor exported.

CREATE TABLE judged (
  night_id INTEGER PRIMARY KEY REFERENCES night(id),
  times INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
