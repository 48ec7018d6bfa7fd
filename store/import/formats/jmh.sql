-- what: JMH: -rf json, -rf csv
-- reads: json|csv
-- heading: Benchmark
-- heading: Mode
-- heading: Score
-- detect: "jmhVersion" "primaryMetric"
-- detect: "benchmark" "mode" "primaryMetric"
--
-- A result is a benchmark in one mode with its parameters and threads; raw data are the samples. Secondary
-- metrics (the profilers') are series of their own.
CREATE TABLE result AS
SELECT r, place, need(r ->> 'benchmark', place || '.benchmark') ||
  ifnull((SELECT group_concat(' ' || key || '=' || value, '') FROM json_each(r, '$.params')), '') ||
  iif(r ->> 'mode' IN ('thrpt', 'avgt'), '', ' mode=' || (r ->> 'mode')) ||
  iif(r ->> 'threads' > 1, ' threads=' || (r ->> 'threads'), '') AS series
FROM (SELECT value AS r, fullkey AS place FROM json_each(:doc) WHERE type = 'object');

WITH measured AS (
  SELECT series, NULL AS metric, r -> 'primaryMetric' AS m, place || '.primaryMetric' AS place, r FROM result
  UNION ALL
  SELECT series, lower(ltrim(s.key, '·+')), s.value, place || '.secondaryMetrics', r FROM result, json_each(r, '$.secondaryMetrics') s
  WHERE json_type(s.value, '$.score') IN ('real', 'integer')),
sample AS (
  SELECT measured.*, t.value AS raw FROM measured LEFT JOIN json_tree(m, '$.rawData') t ON t.type IN ('real', 'integer')
    AND metric IS NULL)
SELECT series, metric, coalesce(raw, m ->> 'score') AS value, iif(raw IS NULL, 'mean', 'sample') AS statistic,
  m ->> 'scoreUnit' AS unit, CASE WHEN metric IS NULL THEN iif(r ->> 'mode' = 'thrpt', 'higher', 'lower') END AS better,
  rest(r, 'benchmark', 'primaryMetric', 'secondaryMetrics') AS attributes, place || ':' || ifnull(metric, '') AS place
FROM sample;

SELECT coalesce(capture(title, '^(.*):[^:]+$', 1), title) ||
    ifnull((SELECT group_concat(' ' || substr(key, 8) || '=' || value, '') FROM json_each(cells)
      WHERE key LIKE 'Param: %' AND value <> ''), '') ||
    iif(cells ->> 'Mode' IN ('thrpt', 'avgt'), '', ' mode=' || (cells ->> 'Mode')) ||
    iif(CAST(cells ->> 'Threads' AS INTEGER) > 1, ' threads=' || (cells ->> 'Threads'), '') AS series,
  lower(ltrim(capture(title, ':([^:]+)$', 1), '·+')) AS metric, cells ->> 'Score' AS value, 'mean' AS statistic,
  cells ->> 'Samples' AS n, cells ->> 'Unit' AS unit,
  CASE WHEN title NOT LIKE '%:%' THEN iif(cells ->> 'Mode' = 'thrpt', 'higher', 'lower') END AS better, cells AS attributes,
  place || ':' || title AS place
FROM (SELECT *, need(cells ->> 'Benchmark', place || '.Benchmark') AS title FROM csv);
