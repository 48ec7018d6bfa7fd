-- what: Google Benchmark: --benchmark_format=json
-- detect: "benchmarks" "context" !"commit_info"
--
-- {"context": {...}, "benchmarks": [...]}. Repetitions are values of one name. Where
-- a benchmark has aggregates only, its reported median (else the mean) is taken.
SELECT c ->> 'host_name' AS machine, after_last(c ->> 'executable', '/') AS upstream,
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
      coalesce(o ->> 'error_occurred', 0) OR coalesce(o ->> 'skipped', 0) AS failed
    FROM (SELECT fullkey AS place, iif(type = 'object', value, '{}') AS o
      FROM json_each(:doc, '$.benchmarks'))),
  ranked AS (
    SELECT *, CASE ifnull(aggregate, '') WHEN '' THEN 0 WHEN 'median' THEN 1 WHEN 'mean' THEN 2 ELSE 3 END
      AS choice FROM benchmark WHERE NOT failed),
  chosen AS (SELECT *, min(choice) OVER (PARTITION BY name) AS best FROM ranked)
SELECT name AS series, metric, ifnull(unit, time_unit) AS unit,
  number(o -> key, place || '.' || key) AS value, place || '.' || key AS place,
  iif(aggregate IS NULL, rest(o, 'name', 'run_name', 'run_type', 'real_time', 'cpu_time', 'time_unit',
    'bytes_per_second', 'items_per_second', 'iterations', 'repetition_index', 'family_index',
    'per_family_instance_index', 'aggregate_name', 'aggregate_unit'), NULL) AS attributes
FROM chosen CROSS JOIN metric WHERE choice = best AND choice < 3 AND value IS NOT NULL
UNION ALL
SELECT name, NULL, NULL, NULL, place, o FROM benchmark WHERE failed;
