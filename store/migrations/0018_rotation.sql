-- 0018: a suite may be measured in shares: of these many nights in a row, one measures the series.
ALTER TABLE series ADD COLUMN rotate_nights INTEGER NOT NULL DEFAULT 0; -- 0: every night does
