-- 0017: the time of the shortest launch is stored beside the ceilings.
CREATE TABLE ceiling_new (
  night_id INTEGER NOT NULL REFERENCES night(id), device_id INTEGER NOT NULL REFERENCES device(id),
  name TEXT NOT NULL,                      -- copy, read, f32, bf16, launch ...
  source TEXT NOT NULL CHECK (source IN ('measured', 'datasheet')),
  value REAL NOT NULL, unit TEXT NOT NULL CHECK (unit IN ('gb_per_s', 'gflop_per_s', 'ns')),
  PRIMARY KEY (night_id, device_id, name, source)
) STRICT, WITHOUT ROWID;
INSERT INTO ceiling_new (night_id, device_id, name, source, value, unit)
  SELECT night_id, device_id, name, source, value, unit FROM ceiling;
DROP TABLE ceiling;
ALTER TABLE ceiling_new RENAME TO ceiling;
