-- what: BenchmarkDotNet: *-report-full.json, *-report-brief.json, *-report.csv
-- reads: json|csv
-- detect: "HostEnvironmentInfo" "Benchmarks"
-- heading: Method
-- heading: Job
-- heading: Mean*
-- beside: *-measurements.csv
--
-- Times in ns; allocated bytes are a series of their own. In CSV the columns of parameters are those between the
-- settings of the job and the mean.
SELECT h ->> 'ProcessorName' AS device, h ->> 'Architecture' AS arch, h AS attributes
FROM (SELECT :doc -> 'HostEnvironmentInfo' AS h);

CREATE TABLE benchmark AS
SELECT fullkey AS place, value AS b, value -> 'Statistics' AS s,
  need(coalesce(value ->> 'FullName', value ->> 'DisplayInfo'), fullkey || '.FullName') ||
  ifnull(' [' || capture(value ->> 'DisplayInfo', ': ([^:(]*)\(', 1) || ']', '') AS series
FROM json_each(:doc, '$.Benchmarks');

SELECT series, 'ns' AS unit, b ->> 'Namespace' AS family, coalesce(o.value, s ->> 'Median', s ->> 'Mean') AS value,
  CASE WHEN o.value IS NOT NULL THEN 'sample' WHEN s ->> 'Median' IS NOT NULL THEN 'median' ELSE 'mean' END AS statistic,
  iif(s IS NULL OR json_type(b, '$.Statistics') = 'null', 'failed', NULL) AS outcome,
  rest(b, 'Statistics', 'Measurements', 'Metrics', 'FullName') AS attributes, place || '.Statistics' AS place
FROM benchmark LEFT JOIN json_each(iif(json_type(s, '$.OriginalValues') = 'array', s -> 'OriginalValues', '[]')) o;

SELECT series, 'allocated' AS metric, 'bytes' AS unit, b ->> '$.Memory.BytesAllocatedPerOperation' AS value,
  place || '.Memory' AS place
FROM benchmark WHERE json_type(b, '$.Memory.BytesAllocatedPerOperation') IN ('integer', 'real');

WITH col AS (SELECT line, c.id, key, c.value AS cell, max(c.id) FILTER (WHERE key = 'WarmupCount') OVER row AS first,
    min(c.id) FILTER (WHERE key LIKE 'Mean%') OVER row AS mean
  FROM csv, json_each(cells) c WINDOW row AS (PARTITION BY line)),
parameter AS (SELECT line, '(' || group_concat(key || ': ' || cell, ', ') || ')' AS text FROM col
  WHERE id > first AND id < mean GROUP BY line)
SELECT ifnull(capture(:path, '([^/]+)-report\.csv$', 1) || '.', '') || (cells ->> 'Method') || ifnull(p.text, '') ||
    iif(cells ->> 'Job' = 'DefaultJob', '', ' [' || (cells ->> 'Job') || ']') AS series,
  iif(key LIKE 'Mean%', NULL, 'allocated') AS metric, iif(cell = 'NA', 'failed', NULL) AS outcome,
  nullif(replace(replace(capture(cell, '^([0-9.,]+)', 1), ',', ''), 'NA', ''), '') AS value, 'mean' AS statistic,
  replace(replace(coalesce(capture(cell, '^[0-9.,]+ (.*)$', 1), capture(key, '\[(.*)\]', 1), iif(key LIKE 'Mean%', 'ns', 'B')),
    'KB', 'KiB'), 'MB', 'MiB') AS unit, cells AS attributes, place || '.' || key AS place
FROM csv JOIN col USING (line) LEFT JOIN parameter p USING (line) WHERE key LIKE 'Mean%' OR key LIKE 'Allocated%' AND key NOT LIKE '%Ratio%' AND cell <> '-';
