-- what: GPU kernel results (JSON): kernel, latency_ms, ...
-- detect: "kernel" "latency
-- detect: "kernel" "tflops"
-- detect: "kernel" "problem_size"
--
-- Lists of GPU kernel results, one object each: kernel, backend, arch, gpu_model, compute_capability,
-- problem_size{...}, latency_ms, tflops, compilation_time. The top is a list, an object with the list in
-- `results`, or one result. The first result with a time and a revision determines those of the file.
WITH result AS (
  SELECT key, coalesce(iso_time(value ->> 'timestamp'), iso_time(value ->> 'date'), iso_time(value ->> 'time')) AS time_s,
    coalesce(value ->> 'commit', value ->> 'commit_hash', value ->> 'git_commit', value ->> 'revision',
      value ->> 'version') AS rev
  FROM json_each(iif(:doc -> 'kernel' IS NULL, :doc, json_array(json(:doc))),
    iif(json_type(:doc) = 'object' AND :doc -> 'kernel' IS NULL, '$.results', '$')) WHERE type = 'object')
SELECT (SELECT rev FROM result WHERE rev IS NOT NULL ORDER BY key LIMIT 1) AS revision,
  (SELECT time_s FROM result WHERE time_s IS NOT NULL ORDER BY key LIMIT 1) AS time;

WITH metric(key, metric, unit) AS (VALUES
    ('latency_ms', 'time', 'ms'), ('latency_us', 'time', 'us'), ('latency_ns', 'time', 'ns'),
    ('latency', 'time', 's'), ('time_ms', 'time', 'ms'), ('time_us', 'time', 'us'), ('tflops', 'flops', 'TFLOPS'),
    ('gflops', 'flops', 'GFLOPS'), ('bandwidth_gbps', 'bandwidth', 'GB/s'), ('gb_per_s', 'bandwidth', 'GB/s'),
    ('compilation_time', 'compile_time', 's'), ('compile_time_s', 'compile_time', 's')),
  result AS (
    SELECT fullkey AS place, iif(type = 'object', value, expected('an object', json_quote(value), fullkey)) AS o
    FROM json_each(iif(:doc -> 'kernel' IS NULL, :doc, json_array(json(:doc))),
      iif(json_type(:doc) = 'object' AND :doc -> 'kernel' IS NULL, '$.results', '$')) WHERE type <> 'null'),
  named AS (
    SELECT *, need(text(o -> 'kernel', place || '.kernel'), place || '.kernel') ||
      ifnull((SELECT group_concat(' ' || key || '=' || value, '')
        FROM (SELECT key, iif(type IN ('true', 'false', 'null'), type, value) AS value
        FROM json_each(o, '$.problem_size') WHERE typeof(key) = 'text' ORDER BY key)),
        ifnull(' ' || nullif(o ->> 'problem_size', '{}'), '')) AS name,
      text(o -> 'backend', place || '.backend') AS backend,
      CASE WHEN o ->> 'outcome' NOT IN ('ok', 'throttled', 'unstable') THEN o ->> 'outcome'
        WHEN o ->> 'error' <> '' OR lower(o ->> 'status') IN ('failed', 'failure', 'error') THEN 'failed'
        WHEN o ->> 'correct' = 0 THEN 'wrong' END AS outcome,
      coalesce(o ->> 'message', o ->> 'error') AS message
    FROM result)
SELECT text(o -> 'gpu_model', place || '.gpu_model') AS device,
  coalesce(text(o -> 'arch', place || '.arch'), 'cc ' || (o ->> 'compute_capability')) AS arch,
  text(o -> 'machine', place || '.machine') AS machine, o ->> 'suite' AS upstream,
  name AS series, backend, metric, unit, number(o -> metric.key, place || '.' || metric.key) AS value,
  o ->> '$.problem_size.dtype' AS dtype, place || ifnull('.' || metric.key, '') AS place, outcome, message,
  rest(o, 'kernel', 'backend', 'problem_size', 'arch', 'gpu_model', 'machine', 'latency_ms', 'latency_us',
    'latency_ns', 'latency', 'time_ms', 'time_us', 'tflops', 'gflops', 'bandwidth_gbps', 'gb_per_s',
    'compilation_time', 'compile_time_s') AS attributes
FROM named LEFT JOIN metric ON outcome IS NULL WHERE name <> '' AND (value IS NOT NULL OR outcome IS NOT NULL);
