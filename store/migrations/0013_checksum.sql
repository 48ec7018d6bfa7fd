-- 0013: each measurement has a checksum over its values and its identity, so that `tracker db check` finds rows that were changed by hand. 0: none, never written by a tracker.
-- tk_checksum() is the tracker's (store/db/checksum.c); its arguments are all columns in their order, a reference as the uid of its row.

ALTER TABLE measurement ADD COLUMN checksum INTEGER NOT NULL DEFAULT 0;
UPDATE measurement SET checksum = tk_checksum('measurement',
  (SELECT uid FROM series WHERE id = series_id), as_of_s, (SELECT uid FROM run WHERE id = run_id),
  value, lo, hi, n, min, q25, q75, p95,
  (SELECT uid FROM night WHERE id = night_id), (SELECT uid FROM build WHERE id = build_id),
  (SELECT uid FROM environment WHERE id = environment_id), flags);
