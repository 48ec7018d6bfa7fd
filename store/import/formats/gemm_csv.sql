-- CSV of GEMM benchmark suites, a list of rows, the headings first: columns of the problem (M, N, K,
-- types, layouts, kernel), then what was measured. Every column that is not a measurement names the
-- series, so that two rows are never merged. The columns of the CUTLASS profiler and of the BLAS benches
-- are known.
SELECT NULL AS machine;

WITH measure(pattern, metric, unit) AS (VALUES ('us', 'time', 'us'), ('usec', 'time', 'us'),
    ('time (usec)', 'time', 'us'), ('time_us', 'time', 'us'), ('latency_us', 'time', 'us'),
    ('latency_ms', 'time', 'ms'), ('time_ms', 'time', 'ms'), ('ms', 'time', 'ms'), ('time (ms)', 'time', 'ms'),
    ('runtime', 'time', 'ms'), ('latency', 'time', 'ms'), ('time_ns', 'time', 'ns'), ('time_s', 'time', 's'),
    ('%gb/s', 'bandwidth', 'GB/s'), ('%gbps', 'bandwidth', 'GB/s'), ('%tflops', 'flops', 'TFLOPS'),
    ('%tflop/s', 'flops', 'TFLOPS'), ('%gflops', 'flops', 'GFLOPS'), ('%gflop/s', 'flops', 'GFLOPS'),
    ('compilation_time', 'compile_time', 's')),
  -- Left out: numbers of rows, and what follows from the others.
  col AS MATERIALIZED (
    SELECT key AS i, value AS heading, min(metric) AS metric, unit, CASE WHEN metric IS NOT NULL THEN 'measures'
      WHEN lower(value) IN ('status', 'disposition') THEN 'status'
      WHEN lower(value) IN ('gpu_model', 'device', 'gpu') THEN 'device'
      WHEN lower(value) IN ('problem', 'bytes', 'flops', 'flops/byte', '') THEN '' ELSE 'names' END AS role
    FROM json_each(:doc, '$[0]') LEFT JOIN measure ON value LIKE pattern GROUP BY key),
  row AS (
    SELECT key AS line, value AS cells, '$[' || key || ']' AS place,
      (SELECT value ->> i FROM col WHERE role = 'device') AS device,
      EXISTS (SELECT 1 FROM col WHERE role = 'status' AND NOT (value ->> i LIKE '%success%' OR value ->> i LIKE '%pass%'
        OR value ->> i LIKE '%not_verified%' OR value ->> i LIKE '%not_run%' OR value ->> i LIKE 'ok')) AS failed,
      ifnull((SELECT group_concat(heading || '=' || cell, ' ') FROM (SELECT heading, value ->> i AS cell FROM col
        WHERE role = 'names' ORDER BY i) WHERE cell <> ''), 'gemm') AS name
    FROM json_each(:doc) WHERE key > 0 AND type = 'array')
SELECT device, name, metric, unit, coalesce(real(cells ->> i), fail('"' || (cells ->> i) || '" is not a number',
  place || '.' || heading)) AS value
FROM row CROSS JOIN col WHERE role = 'measures' AND NOT failed AND cells ->> i <> ''
UNION ALL
SELECT device, name, NULL, NULL, NULL FROM row WHERE failed;

SELECT :rev AS rev, :at AS time_s, '{}' AS attributes;
