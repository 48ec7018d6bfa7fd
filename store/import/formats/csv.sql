-- The CSV of change-point tools, a list of rows, the headings first. Long: a row is one point,
-- `series_id,day,commit,value[,...]`. Wide: a row is one time, and every column of numbers besides the
-- time and the commit is a series. Other columns are kept, of the series or, in a wide file, of the run.
SELECT NULL AS machine;

WITH known(heading, role) AS (VALUES ('series_id', 'series'), ('series', 'series'), ('test', 'series'),
    ('metric', 'series'), ('benchmark', 'series'), ('name', 'series'), ('value', 'value'), ('measurement', 'value'),
    ('day', 'time'), ('date', 'time'), ('time', 'time'), ('timestamp', 'time'), ('datetime', 'time'),
    ('commit', 'commit'), ('revision', 'commit'), ('rev', 'commit'), ('sha', 'commit'), ('hash', 'commit'),
    ('unit', 'unit'), ('better', 'better')),
  heading AS MATERIALIZED (
    SELECT h.key AS i, h.value AS heading, iif(row_number() OVER (PARTITION BY role ORDER BY h.key) = 1, role, NULL)
      AS role FROM json_each(:doc, '$[0]') h LEFT JOIN known ON known.heading = lower(h.value)),
  file AS MATERIALIZED (SELECT max(role = 'value') IS 1 AS is_long,
    iif(max(role IN ('time', 'commit')) IS 1, 1, fail('there is no column of times (day, date, time, timestamp) or commits',
      '$[0]')) AS is_known FROM heading),
  row AS MATERIALIZED (SELECT key AS line, value AS cells, '$[' || key || ']' AS place
    FROM file CROSS JOIN json_each(:doc) WHERE key > 0 AND type = 'array' AND is_known),
  -- The first cell of a column of a wide file that is not empty decides what it is.
  col AS MATERIALIZED (
    SELECT i, heading, CASE WHEN role IS NOT NULL AND (is_long OR role NOT IN ('series', 'unit', 'better')) THEN role
      WHEN is_long OR (SELECT real(cells ->> i) FROM row WHERE cells ->> i <> '' LIMIT 1) IS NULL THEN 'extra'
      ELSE 'wide' END AS role FROM file, heading),
  at AS MATERIALIZED (
    SELECT max(iif(role = 'time', i, NULL)) AS time, max(iif(role = 'time', heading, NULL)) AS time_heading,
      max(iif(role = 'commit', i, NULL)) AS rev, max(iif(role = 'series', i, NULL)) AS series,
      max(iif(role = 'unit', i, NULL)) AS unit, max(iif(role = 'better', i, NULL)) AS better FROM col),
  -- Days are few (day 0: 2000-01-01), seconds since 1970 more, then milliseconds, microseconds.
  timed AS (
    SELECT row.*, iif(at.time IS NULL, NULL, coalesce(CASE WHEN x IS NULL THEN iso_time(time_text)
        WHEN abs(x) < 1e6 THEN 946684800 + CAST(x * 86400 AS INTEGER) WHEN abs(x) > 1e14 THEN CAST(x / 1e6 AS INTEGER)
        WHEN abs(x) > 1e11 THEN CAST(x / 1e3 AS INTEGER) ELSE CAST(x AS INTEGER) END,
      fail('"' || time_text || '" is not a time or a number of days', place || '.' || time_heading))) AS time_s,
      coalesce(nullif(cells ->> at.rev, ''), time_text, '') AS rev, cells ->> at.series AS series,
      cells ->> at.unit AS unit, nullif(cells ->> at.better, '') AS better
    FROM at, (SELECT row.*, cells ->> at.time AS time_text, real(cells ->> at.time) AS x FROM row, at) row),
  run AS MATERIALIZED (SELECT *, min(line) OVER (PARTITION BY time_s, rev) AS run FROM timed)
SELECT run, line, i, iif(role = 'wide', heading, ifnull(nullif(series, ''), 'value')) AS name, unit,
  iif(ifnull(better, 'lower') IN ('lower', 'higher'), better, fail('"' || better || '" is not "lower" or "higher"',
    place || '.better')) AS better,
  iif(cells ->> i = '', NULL, coalesce(real(cells ->> i), fail('"' || (cells ->> i) || '" is not a number',
    place || '.' || heading))) AS value,
  iif(role = 'wide', NULL, 'series') AS list, series AS key,
  (SELECT nullif(json_group_object(e.heading, cells ->> e.i), '{}') FROM col e WHERE e.role = 'extra'
    AND cells ->> e.i <> '') AS rest,
  NULL AS rev, NULL AS time_s, NULL AS attributes
FROM run CROSS JOIN col WHERE role IN ('value', 'wide')
UNION ALL
SELECT DISTINCT run, 9e18, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, rev, time_s, '{}' FROM run
ORDER BY run, line, i;
