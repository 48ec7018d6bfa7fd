-- what: Go: what `go test -bench` prints and benchstat reads
-- reads: text
-- detect: Benchmark ns/op
-- detect: Benchmark goos: pkg:
--
-- "BenchmarkName-8 1000 1234 ns/op 16 B/op 2 allocs/op": a name, iterations, then pairs of value and unit.
-- "key: value" before it is of all that follow. Lines of one name are repetitions.
CREATE TABLE result AS
SELECT line, place, capture(text, '^(Benchmark[^ 	]*)[ 	]+[0-9]+[ 	]', 1) AS name,
  trim(replace(capture(text, '^Benchmark[^ 	]*[ 	]+[0-9]+[ 	]+(.*)$', 1), '	', ' ')) AS pairs
FROM lines WHERE text LIKE 'Benchmark%';

CREATE TABLE setting AS
SELECT line, capture(text, '^([a-z][^ :]*): ', 1) AS key, trim(capture(text, '^[a-z][^ :]*:(.*)$', 1)) AS value
FROM lines WHERE capture(text, '^[a-z][^ :]*: ') IS NOT NULL;

WITH RECURSIVE pair(line, place, name, value, unit, rest) AS (
  SELECT line, place, name, NULL, NULL, pairs FROM result WHERE name IS NOT NULL
  UNION ALL
  SELECT line, place, name, capture(rest, '^ *([^ ]+)', 1), capture(rest, '^ *[^ ]+ +([^ ]+)', 1),
    capture(rest, '^ *[^ ]+ +[^ ]+(.*)$', 1) FROM pair WHERE capture(rest, '^ *[^ ]+ +[^ ]+') IS NOT NULL)
SELECT name AS series, value, unit, nullif(CASE unit WHEN 'ns/op' THEN '' WHEN 'B/op' THEN 'allocated'
    WHEN 'allocs/op' THEN 'allocations' WHEN 'MB/s' THEN 'bandwidth' ELSE unit END, '') AS metric,
  iif(unit_in(unit) IS NULL, 'unknown', NULL) AS better, -- of a metric of the user
  (SELECT value FROM setting s WHERE s.key = 'pkg' AND s.line < pair.line ORDER BY s.line DESC LIMIT 1) AS backend,
  (SELECT value FROM setting s WHERE s.key = 'cpu' AND s.line < pair.line ORDER BY s.line DESC LIMIT 1) AS device,
  (SELECT value FROM setting s WHERE s.key = 'goarch' AND s.line < pair.line ORDER BY s.line DESC LIMIT 1) AS arch,
  (SELECT value FROM setting s WHERE s.key IN ('commit', 'revision', 'gitcommit') AND s.line < pair.line ORDER BY s.line DESC
    LIMIT 1) AS revision, place || ': ' || unit AS place
FROM pair WHERE unit IS NOT NULL;

SELECT capture(text, '--- FAIL: (Benchmark[^ ]*)', 1) AS series, NULL AS value, 'ns/op' AS unit, 'failed' AS outcome,
  (SELECT trim(m.text) FROM lines m WHERE m.line = l.line + 1 AND m.text LIKE ' %') AS message,
  (SELECT value FROM setting s WHERE s.key = 'pkg' AND s.line < l.line ORDER BY s.line DESC LIMIT 1) AS backend, place
FROM lines l WHERE capture(text, '--- FAIL: Benchmark') IS NOT NULL;
