-- what: TritonBench: --output (CSV), --output-json
-- reads: json|csv
-- detect: "tritonbench_
-- heading: x_val|(*)|x_val*
-- heading: *-latency|*-tflops|*-gbps|*-speedup|*-walltime|*-compile_time|*-gpu_peak_mem
--
-- "PROVIDER-METRIC" for each input, or "tritonbench_OP_MODE[x_INPUT-PROVIDER]_METRIC": value. Aggregates over
-- the inputs are left out: a change of the list of inputs would move them.
CREATE TABLE value AS
SELECT capture(key, '^tritonbench_(.*)\[x_.*\]_[^]]*$', 1) || ' ' || capture(key, '\[x_(.*)-[^-]*\]_[^]]*$', 1) AS series,
  capture(key, '-([^-]*)\]_[^]]*$', 1) AS provider, capture(key, '\]_([^]]*)$', 1) AS metric, value, fullkey AS place
FROM json_tree(iif(json_type(:doc) = 'object', :doc, '{}')) WHERE key LIKE 'tritonbench\_%[x\_%-%]\_%' ESCAPE '\'
UNION ALL
SELECT trim((SELECT value FROM json_each(cells) ORDER BY id LIMIT 1), '()'), capture(h.key, '^([^-]*)-', 1),
  capture(h.key, '^[^-]*-(.*)$', 1), h.value, place || '.' || h.key FROM csv, json_each(csv.cells) h WHERE h.key LIKE '%-%';

WITH known(word, metric, unit, better) AS (VALUES ('latency', 'time', 'ms', 'lower'), ('tflops', 'flops', 'TFLOPS', 'higher'),
    ('gbps', 'bandwidth', 'GB/s', 'higher'), ('walltime', 'walltime', 'ms', 'lower'), ('speedup', 'speedup', 'x', 'higher'),
    ('compile_time', 'compile_time', 's', 'lower'), ('gpu_peak_mem', 'gpu_peak_mem', 'GB', 'lower'),
    ('cpu_peak_mem', 'cpu_peak_mem', 'GB', 'lower'))
SELECT series, provider AS backend, known.metric, unit, better, nullif(capture(value, '^[^ ]*', 0), 'None') AS value, place,
  iif(real(capture(value, '^[^ ]*', 0)) IS NULL AND value LIKE '%_ %', 'failed', NULL) AS outcome, value AS message
FROM value JOIN known ON known.word = value.metric OR known.word || '-p50' = value.metric
WHERE value IS NOT NULL AND value <> '';
