-- what: PyTorch's benchmark database, version 3
-- detect: "benchmark" "metric" "benchmark_values"
--
-- A record has a benchmark, a model and a metric with its values. What the metric is called says its unit.
WITH record AS (
  SELECT value AS r, fullkey AS place FROM json_each(iif(json_type(:doc) = 'array', :doc, json_array(json(:doc))))
  WHERE type = 'object'),
known(word, unit, better) AS (VALUES ('token_per_sec', 'tokens/s', 'higher'), ('tokens_per_second', 'tokens/s', 'higher'),
  ('throughput', '1/s', 'higher'), ('speedup', 'x', 'higher'), ('latency', 'ms', 'lower'), ('abs_latency', 'ms', 'lower'),
  ('compilation_time', 's', 'lower'), ('compilation_latency', 's', 'lower'), ('dynamo_peak_mem', 'GB', 'lower'),
  ('compression_ratio', 'x', 'higher'), ('tflops', 'TFLOPS', 'higher'), ('memory_bandwidth', 'GB/s', 'higher'))
SELECT need(r ->> '$.benchmark.name', place || '.benchmark.name') || ifnull(' ' || (r ->> '$.model.name'), '') ||
    ifnull(' ' || nullif(r ->> '$.benchmark.mode', ''), '') || ifnull(' ' || nullif(r ->> '$.benchmark.dtype', ''), '') AS series,
  nullif(r ->> '$.model.backend', '') AS backend, r ->> '$.benchmark.dtype' AS dtype,
  need(r ->> '$.metric.name', place || '.metric.name') AS metric,
  coalesce(known.unit, capture(r ->> '$.metric.name', '\(([^()]+)\)$', 1), unit_in(r ->> '$.metric.name'), '') AS unit, known.better,
  v.value AS value, iif(r ->> '$.metric.benchmark_values' = '[]', 'failed', NULL) AS outcome,
  r ->> '$.runners[0].name' AS machine,
  coalesce(r ->> '$.runners[0].gpu_info[0].name', r ->> '$.benchmark.extra_info.arch', r ->> '$.benchmark.extra_info.device',
    r ->> '$.runners[0].type') AS device,
  r ->> '$.head_sha' AS revision, min(ifnull(CAST(real(r ->> 'timestamp') AS INTEGER), iso_time(r ->> 'timestamp')))
    OVER (PARTITION BY r ->> 'head_sha', r ->> 'workflow_id') AS time,
  json_remove(r, '$.metric.benchmark_values') AS attributes, place || '.metric.benchmark_values' AS place
FROM record LEFT JOIN known ON known.word = lower(r ->> '$.metric.name')
  LEFT JOIN json_each(r, '$.metric.benchmark_values') v;
