-- what: Google Benchmark: --benchmark_format=json
-- detect: "benchmarks" "context" !"commit_info"
--
-- {"context": {...}, "benchmarks": [...]}. Repetitions are values of one name. Where
-- a benchmark has aggregates only, its reported median (else the mean) is taken. The other numbers are
-- user counters: a metric each, with the unit that its name ends with.
SELECT c ->> 'host_name' AS machine, capture(c ->> 'executable', '[^/]*$') AS upstream,
  coalesce(c ->> 'commit', c ->> 'git_commit', c ->> 'git_sha', c ->> 'git_hash', c ->> 'revision', c ->> 'build_id')
    AS revision,
  iso_time(c ->> 'date') AS time, json_remove(:doc, '$.benchmarks') AS attributes
FROM (SELECT :doc -> 'context' AS c);

WITH metric(key, metric, unit) AS (VALUES ('real_time', 'time', NULL), ('cpu_time', 'cpu_time', NULL),
    ('bytes_per_second', 'bandwidth', 'bytes_per_second'), ('items_per_second', 'items', 'items/s')),
  benchmark AS (
    SELECT o, place, need(coalesce(text(o -> 'run_name', place || '.run_name'),
        text(o -> 'name', place || '.name')), place || '.name') AS name,
      text(o -> 'aggregate_name', place || '.aggregate_name') AS aggregate,
      ifnull(text(o -> 'time_unit', place || '.time_unit'), 'ns') AS time_unit,
      CASE WHEN o ->> 'error_occurred' THEN 'failed' WHEN o ->> 'skipped' THEN 'unsupported' END AS outcome,
      coalesce(o ->> 'error_message', o ->> 'skip_message') AS message
    FROM (SELECT fullkey AS place, iif(type = 'object', value, '{}') AS o
      FROM json_each(:doc, '$.benchmarks'))),
  ranked AS (
    SELECT *, CASE coalesce(aggregate, iif(o ->> 'run_type' = 'aggregate', 'mean', '')) WHEN '' THEN 0 WHEN 'median' THEN 1 WHEN 'mean' THEN 2 ELSE 3 END
      AS choice FROM benchmark WHERE outcome IS NULL),
  chosen AS (SELECT *, min(choice) OVER (PARTITION BY name) AS best FROM ranked)
SELECT name AS series, metric, ifnull(unit, time_unit) AS unit, NULL AS better,
  number(o -> key, place || '.' || key) AS value, place || '.' || key AS place,
  iif(aggregate IS NULL, rest(o, 'name', 'run_name', 'run_type', 'real_time', 'cpu_time', 'time_unit',
    'bytes_per_second', 'items_per_second', 'iterations', 'repetition_index', 'family_index',
    'per_family_instance_index', 'aggregate_name', 'aggregate_unit'), NULL) AS attributes,
  NULL AS outcome, NULL AS message
FROM chosen CROSS JOIN metric WHERE choice = best AND choice < 3 AND value IS NOT NULL
UNION ALL
SELECT name, c.key, unit_in(c.key), iif(unit_in(c.key) IS NULL, 'unknown', NULL), c.value, place || '.' || c.key,
  NULL, NULL, NULL
FROM chosen, json_each(o) c WHERE choice = best AND choice < 3 AND c.type IN ('integer', 'real')
  AND c.key NOT IN ('real_time', 'cpu_time', 'bytes_per_second', 'items_per_second', 'iterations', 'repetitions',
    'repetition_index', 'threads', 'family_index', 'per_family_instance_index', 'error_occurred', 'skipped')
UNION ALL
SELECT name, NULL, NULL, NULL, NULL, place, o, outcome, message FROM benchmark WHERE outcome IS NOT NULL;
