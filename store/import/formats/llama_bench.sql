-- what: llama-bench: -o json, jsonl, csv or sql
-- reads: json|csv|text
-- detect: "build_commit" "avg_ts" "n_prompt"
-- detect: "build_commit" "samples_ts" "n_prompt"
-- detect: INSERT build_commit avg_ts n_prompt
-- heading: build_commit
-- heading: avg_ts
-- heading: n_prompt
--
-- A test is a record; each has its commit, time and device. What names it is known, with the value that goes
-- without saying; the rest is attributes.
CREATE TABLE record AS
SELECT value AS r, fullkey AS place FROM json_each(iif(json_type(:doc) = 'array', :doc, json_array(json(:doc))))
  WHERE type = 'object'
UNION ALL SELECT cells, place FROM csv
UNION ALL SELECT text, place FROM lines WHERE text LIKE '{%' AND json_valid(text) -- among what it logs
UNION ALL
SELECT (SELECT json_group_object(c.value, v.value)
    FROM json_each('["' || replace(capture(text, 'INSERT INTO [^(]*\((.*)\) VALUES', 1), ', ', '","') || '"]') c
    JOIN json_each('["' || replace(replace(replace(replace(
      capture(text, 'VALUES \( *''(.*)'' *\) *;', 1), '\', '\\'), '"', '\"'), ''', ''', '","'), '''''', '''') || '"]') v
      USING (key)), place
  FROM lines WHERE text LIKE 'INSERT INTO %VALUES%';

WITH usual(key, value) AS (VALUES ('n_batch', '2048'), ('n_ubatch', '512'), ('type_k', 'f16'), ('type_v', 'f16'),
    ('n_gpu_layers', '-1'), ('split_mode', 'layer'), ('main_gpu', '0'), ('no_kv_offload', '0'), ('flash_attn', '0'),
    ('tensor_split', '0.00'), ('embeddings', '0'), ('n_cpu_moe', '0'), ('no_op_offload', '0'), ('moe_cache', 'auto'),
    ('use_mmap', '1'), ('repack', '1'), ('tensor_buft_overrides', 'none'), ('n_threads', '')),
  named AS (
    SELECT r, place, (r ->> 'model_type') ||
      iif(CAST(r ->> 'n_prompt' AS INTEGER) > 0, ' pp' || (r ->> 'n_prompt'), '') || iif(CAST(r ->> 'n_gen' AS INTEGER) > 0, ' tg' || (r ->> 'n_gen'), '') ||
      iif(CAST(r ->> 'n_depth' AS INTEGER) > 0, ' @ d' || (r ->> 'n_depth'), '') || ifnull((SELECT group_concat(' ' || u.key || '=' || v, '')
        FROM (SELECT key, CASE r ->> key WHEN 'True' THEN '1' WHEN 'true' THEN '1' WHEN 'False' THEN '0'
          WHEN 'false' THEN '0' ELSE CAST(r ->> key AS TEXT) END AS v, value FROM usual) u
        WHERE v <> u.value AND NOT (u.key = 'flash_attn' AND v = '-1') AND NOT (u.key = 'n_gpu_layers' AND v = '99')
          AND NOT (u.key = 'n_threads' AND r ->> 'backends' <> 'CPU')), '') AS series
    FROM record),
-- The tests of one call begin at times of their own: they are of one run.
gap AS (
  SELECT *, iso_time(r ->> 'test_time') - lag(iso_time(r ->> 'test_time')) OVER (PARTITION BY r ->> 'build_commit'
    ORDER BY iso_time(r ->> 'test_time')) > 3600 AS is_new FROM named),
session AS (SELECT *, sum(ifnull(is_new, 0)) OVER (PARTITION BY r ->> 'build_commit' ORDER BY iso_time(r ->> 'test_time'))
  AS session FROM gap),
timed AS (SELECT *, min(iso_time(r ->> 'test_time')) OVER (PARTITION BY r ->> 'build_commit', session) AS time_s FROM session)
SELECT need(series, place || '.model_type') AS series, r ->> 'backends' AS backend,
  'throughput' AS metric, 'tokens/s' AS unit, 'higher' AS better, coalesce(s.value, r ->> 'avg_ts') AS value,
  iif(s.value IS NULL, 'mean', 'sample') AS statistic,
  coalesce(iif(r ->> 'backends' = 'CPU', NULL, nullif(r ->> 'gpu_info', '')), r ->> 'cpu_info') AS device,
  'llama.cpp' AS upstream, r ->> 'build_commit' AS revision, time_s AS time,
  json_remove(r, '$.samples_ns', '$.samples_ts', '$.avg_ns', '$.avg_ts', '$.stddev_ns', '$.stddev_ts', '$.test_time')
    AS attributes, place || '.ts' AS place
FROM timed LEFT JOIN json_each(r, '$.samples_ts') s;
