-- what: Catch2: -r xml, or what it prints
-- reads: text
-- detect: <BenchmarkResults clockResolution
-- detect: benchmark low iterations samples
--
-- XML: a benchmark is <BenchmarkResults name=... samples=...> with <mean value=... in ns, its case and sections
-- around it. Text: three lines each, "NAME samples iterations estimated", the mean with its interval, the
-- standard deviation; a long name is on lines of its own before.
CREATE TABLE xml AS
SELECT line, text, place, capture(text, '<BenchmarkResults name="([^"]*)"', 1) AS name, capture(text, 'samples="([0-9]+)"', 1) AS n,
  (SELECT capture(c.text, '<TestCase name="([^"]*)"', 1) FROM lines c WHERE c.line <= l.line AND c.text LIKE '%<TestCase %'
    ORDER BY c.line DESC LIMIT 1) AS test,
  (SELECT m.line FROM lines m WHERE m.line > l.line AND (m.text LIKE '%<mean %' OR m.text LIKE '%<failed %'
    OR m.text LIKE '%</BenchmarkResults>%') ORDER BY m.line LIMIT 1) AS mean
FROM lines l WHERE text LIKE '%<BenchmarkResults %';

WITH entity(code, sign) AS (VALUES ('&lt;', '<'), ('&gt;', '>'), ('&quot;', '"'), ('&apos;', ''''), ('&amp;', '&'))
SELECT replace(replace(replace(replace(ifnull(test || ' / ', '') || name, '&lt;', '<'), '&gt;', '>'), '&quot;', '"'), '&amp;', '&')
    AS series, 'ns' AS unit, capture(m.text, ' value="([^"]*)"', 1) AS value, 'mean' AS statistic,
  capture(m.text, 'lowerBound="([^"]*)"', 1) AS lo, capture(m.text, 'upperBound="([^"]*)"', 1) AS hi, n,
  iif(m.text LIKE '%<mean %', NULL, 'failed') AS outcome, capture(m.text, 'message="([^"]*)"', 1) AS message, xml.place
FROM xml JOIN lines m ON m.line = xml.mean;

CREATE TABLE printed AS
SELECT l.line, l.place, rtrim(capture(l.text, '^(.*[^ ])? +([0-9]+) +([0-9]+) +[0-9.e+-]+ +[a-z]+ *$', 1)) AS name,
  capture(l.text, ' ([0-9]+) +[0-9]+ +[0-9.e+-]+ +[a-z]+ *$', 1) AS n, m.text AS mean
FROM lines l JOIN lines m ON m.line = l.line + 1
WHERE capture(l.text, ' [0-9]+ +[0-9]+ +[0-9.e+-]+ +[num]?s *$') IS NOT NULL
  AND capture(m.text, '^ *[0-9.e+-]+ +[num]?s +[0-9.e+-]+ +[num]?s +[0-9.e+-]+ +[num]?s *$') IS NOT NULL;

-- A long name begins on lines of its own.
WITH named AS (
  SELECT printed.*, trim(ifnull((SELECT group_concat(trim(b.text), ' ') FROM lines b WHERE b.line < printed.line AND b.line > (
      SELECT max(e.line) FROM lines e WHERE e.line < printed.line AND (trim(e.text) = '' OR e.text LIKE '---%'
        OR e.line IN (SELECT line + 2 FROM printed)))), '') || ' ' || ifnull(name, '')) AS series FROM printed)
SELECT series, capture(mean, pattern, 2) AS unit, capture(mean, pattern, 1) AS value, statistic, n, place
FROM named, (SELECT 'mean' AS statistic, '^ *([0-9.e+-]+) +([num]?s)' AS pattern
  UNION ALL SELECT 'lo', 's +([0-9.e+-]+) +([num]?s) +[0-9.e+-]+ +[num]?s *$'
  UNION ALL SELECT 'hi', 's +([0-9.e+-]+) +([num]?s) *$');
