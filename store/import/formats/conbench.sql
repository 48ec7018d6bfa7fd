-- what: Conbench: results as posted, or of its API
-- detect: "stats" "tags" "iterations" "unit"
-- detect: "batch_id" "tags" "error"
-- detect: "run_id" "tags" "stats"
--
-- Tags name a case; the machine's, context and info are attributes. A result without stats has an error.
CREATE TABLE result AS
SELECT value AS r, fullkey AS place FROM json_each(CASE WHEN json_type(:doc) = 'array' THEN :doc
  WHEN json_type(:doc, '$.data') = 'array' THEN :doc -> 'data' ELSE json_array(json(:doc)) END) WHERE type = 'object';

WITH named AS (
  SELECT r, place, r -> 'stats' AS s, need(coalesce(r ->> '$.tags.name', r ->> '$.name'), place || '.tags.name') ||
    ifnull((SELECT group_concat(' ' || key || '=' || value, '') FROM (SELECT key, value FROM json_each(r, '$.tags')
      WHERE key NOT IN ('name', 'id', 'source') AND value IS NOT NULL ORDER BY key)), '') AS series
  FROM result)
SELECT series, d.value AS value, s ->> 'unit' AS unit, iif(r ->> 'error' IS NULL AND s IS NOT NULL, NULL, 'failed') AS outcome,
  coalesce(r ->> '$.error.stack_trace', r ->> '$.error.command', r ->> 'error') AS message,
  r ->> '$.machine_info.name' AS machine,
  coalesce(r ->> '$.machine_info.gpu_product_names[0]', r ->> '$.machine_info.cpu_model_name') AS device,
  capture(coalesce(r ->> '$.github.repository', r ->> '$.commit.repository'), '[^/]*$') AS upstream,
  coalesce(r ->> '$.github.commit', r ->> '$.commit.sha', r ->> '$.commit.hash') AS revision, min(iso_time(r ->> 'timestamp')) OVER (PARTITION BY r ->> 'run_id') AS time,
  json_remove(r, '$.stats', '$.tags', '$.timestamp') AS attributes, place || '.stats.data' AS place
FROM named LEFT JOIN json_each(s, '$.data') d;
