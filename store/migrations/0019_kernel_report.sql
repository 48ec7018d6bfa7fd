-- 0019: what `tracker trace` and `tracker profile` recorded inside the kernels of one problem on one
-- backend and device. What was seen; never rewritten.

CREATE TABLE kernel_report (
  id INTEGER PRIMARY KEY, uid TEXT NOT NULL UNIQUE,
  device_id INTEGER NOT NULL REFERENCES device(id),
  environment_id INTEGER NOT NULL REFERENCES environment(id), -- with the driver
  problem_id INTEGER NOT NULL REFERENCES problem(id),
  kind TEXT NOT NULL,                             -- trace, profile
  upstream TEXT NOT NULL, revision TEXT NOT NULL, -- '': an installed backend
  artifact_key TEXT NOT NULL,                     -- of the build
  backend TEXT NOT NULL, options TEXT NOT NULL,
  config TEXT NOT NULL,                           -- of the backend; '': the one it prefers
  mode TEXT NOT NULL,
  base TEXT NOT NULL,                             -- that a trace was compared with; '': nothing
  started_s INTEGER NOT NULL,
  result TEXT NOT NULL,                           -- JSON, as --format=json prints it
  timeline TEXT NOT NULL,                         -- JSON, one launch on one multiprocessor; '': none
  checksum INTEGER NOT NULL
) STRICT;
CREATE INDEX kernel_report_device ON kernel_report(device_id, backend, problem_id);
