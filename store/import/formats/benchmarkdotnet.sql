-- what: BenchmarkDotNet: *-report-full.json, *-report-brief.json
-- detect: "HostEnvironmentInfo" "Benchmarks"
--
-- Times in ns; allocated bytes are a series of their own.
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
