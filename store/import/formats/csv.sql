-- what: series_id,day,commit,value, or time and a column each
-- reads: csv
-- identity: dtype|precision|threads
-- columns: *
-- heading: day|date|time|timestamp|datetime|commit|revision|rev|sha|hash
-- heading: *
--
-- The CSV of change-point tools. Long: a row is one point, `series_id,day,commit,value[,...]`; benchmark, name and
-- the like, backend, device, metric and what `identity` lists tell series apart. Wide: a row
-- is one time, and every column of numbers besides the time and the commit is a series. Other columns are
-- attributes of the result, in a wide file of the run.
WITH known(heading, role) AS (VALUES ('series_id', 'series'), ('series', 'series'), ('test', 'series'),
    ('suite', 'series'), ('benchmark', 'series'), ('name', 'series'), ('metric', 'metric'), ('backend', 'backend'),
    ('config', 'config'), ('device', 'device'), ('gpu_model', 'device'), ('machine', 'machine'),
    ('dtype', 'named'), ('precision', 'named'), ('threads', 'named'), ('value', 'value'), ('measurement', 'value'),
    ('day', 'time'), ('date', 'time'), ('time', 'time'), ('timestamp', 'time'), ('datetime', 'time'),
    ('commit', 'commit'), ('revision', 'commit'), ('rev', 'commit'), ('sha', 'commit'), ('hash', 'commit'),
    ('unit', 'unit'), ('better', 'better'), ('outcome', 'outcome'), ('status', 'outcome'), ('error', 'error'),
    ('error_message', 'error')),
  heading AS MATERIALIZED (
    SELECT h.id AS i, h.key AS heading, '$."' || h.key || '"' AS path, iif(role IN ('series', 'named')
        OR row_number() OVER (PARTITION BY role ORDER BY h.id) = 1, role, NULL) AS role FROM json_each((SELECT cells FROM csv LIMIT 1)) h LEFT JOIN known ON known.heading = lower(h.key)),
  file AS MATERIALIZED (SELECT max(role = 'value') IS 1 AS is_long,
    iif(max(role IN ('time', 'commit')) IS 1 OR NOT EXISTS (SELECT 1 FROM csv), 1,
      fail('there is no column of times (day, date, time, timestamp) or commits', '$[0]')) AS is_known FROM heading),
  -- The first cell of a column of a wide file that is not empty decides what it is.
  col AS MATERIALIZED (
    SELECT i, heading, path, unit_in(heading) AS named_unit,
      CASE WHEN role IS NOT NULL AND (is_long OR role IN ('time', 'commit')) THEN role
        WHEN is_long OR (SELECT real(cells ->> path) FROM csv WHERE cells ->> path <> '' LIMIT 1) IS NULL
          THEN 'extra' ELSE 'wide' END AS role FROM file, heading WHERE is_known),
  at AS MATERIALIZED (
    SELECT max(iif(role = 'time', path, NULL)) AS time, max(iif(role = 'commit', path, NULL)) AS rev,
      max(iif(role = 'unit', path, NULL)) AS unit, max(iif(role = 'metric', path, NULL)) AS metric,
      max(iif(role = 'backend', path, NULL)) AS backend, max(iif(role = 'config', path, NULL)) AS config,
      max(iif(role = 'device', path, NULL)) AS device, max(iif(role = 'machine', path, NULL)) AS machine,
      max(iif(role = 'better', path, NULL)) AS better, max(iif(role = 'outcome', path, NULL)) AS outcome,
      max(iif(role = 'error', path, NULL)) AS error FROM col),
  -- Days are few (day 0: 2000-01-01), seconds since 1970 more, then milliseconds, microseconds.
  row AS MATERIALIZED (
    SELECT r.*, iif(at.time IS NULL, NULL, coalesce(CASE WHEN x IS NULL THEN iso_time(time_text)
        WHEN abs(x) < 1e6 THEN 946684800 + CAST(x * 86400 AS INTEGER) WHEN abs(x) > 1e14 THEN CAST(x / 1e6 AS INTEGER)
        WHEN abs(x) > 1e11 THEN CAST(x / 1e3 AS INTEGER) ELSE CAST(x AS INTEGER) END,
      fail('"' || time_text || '" is not a time or a number of days', place || substr(at.time, 2)))) AS time_s,
      coalesce(nullif(cells ->> at.rev, ''), time_text, '') AS rev,
      (SELECT group_concat(cells ->> c.path, '/') FROM col c WHERE c.role = 'series' AND cells ->> c.path <> ''
        AND (lower(c.heading) = 'series_id' OR NOT EXISTS (SELECT 1 FROM col d WHERE lower(d.heading) = 'series_id')))
        AS series,
      cells ->> at.metric AS metric, nullif(cells ->> at.backend, '') AS backend, nullif(cells ->> at.config, '') AS config,
      nullif(cells ->> at.device, '') AS device, nullif(cells ->> at.machine, '') AS machine,
      cells ->> at.unit AS unit, nullif(cells ->> at.better, '') AS better, nullif(cells ->> at.error, '') AS error,
      iif(lower(cells ->> at.outcome) IN ('', 'ok', 'success', 'passed', 'pass'), NULL, cells ->> at.outcome) AS outcome
    FROM at, (SELECT csv.*, cells ->> at.time AS time_text, real(cells ->> at.time) AS x FROM csv, at) r)
SELECT iif(role = 'wide', heading, coalesce(series, nullif(metric, ''), 'value') || iif(name = '', '', ' ' || name)) AS series,
  iif(role = 'wide' OR series IS NULL, NULL, nullif(metric, '')) AS metric, backend, config, device, machine,
  ifnull(unit, named_unit) AS unit,
  iif(ifnull(better, 'lower') IN ('lower', 'higher', 'unknown'), better, fail('"' || better || '" is not "lower" or "higher"',
    place || '.better')) AS better,
  iif(cells ->> path = '', NULL, coalesce(real(cells ->> path), fail('"' || (cells ->> path) ||
    '" is not a number', place || '.' || heading))) AS value, place || '.' || heading AS place,
  iif(role = 'wide', NULL, extra) AS attributes, iif(role = 'wide', extra, NULL) AS run_attributes,
  rev AS revision, time_s AS time, line AS "order", iif(coalesce(outcome, error) IS NULL, NULL, 'failed') AS outcome,
  coalesce(error, outcome) AS message
FROM (SELECT row.*, (SELECT nullif(json_group_object(e.heading, cells ->> e.path), '{}') FROM col e
  WHERE e.role = 'extra' AND cells ->> e.path <> '') AS extra FROM row) CROSS JOIN col WHERE role IN ('value', 'wide');
