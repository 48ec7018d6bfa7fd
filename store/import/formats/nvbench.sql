-- what: NVBench: --json
-- detect: "nvbench"
-- detect: "benchmarks" "sm_version"
--
-- Benchmarks, each with states (one combination of its axes on one device), each with summaries
-- by tag. It writes 64-bit numbers as texts.
SELECT capture(:doc ->> '$.meta.argv[0]', '[^/]*$') AS upstream, json_remove(:doc, '$.benchmarks') AS attributes;

WITH metric(choice, tag, metric, unit) AS (VALUES
    (1, 'nv/cold/time/gpu/median', 'time', 's'), (2, 'nv/cold/time/gpu/mean', 'time', 's'),
    (3, 'nv/cold/time/cpu/median', 'cpu_time', 's'), (4, 'nv/cold/time/cpu/mean', 'cpu_time', 's'),
    (5, 'nv/batch/time/gpu/mean', 'batch_time', 's'), (6, 'nv/cpu_only/time/cpu/mean', 'cpu_time', 's'),
    (7, 'nv/cold/bw/global/bytes_per_second', 'bandwidth', 'bytes_per_second'),
    (8, 'nv/cold/bw/item_rate', 'items', 'items/s')),
  device AS MATERIALIZED (
    SELECT CAST(value ->> 'id' AS INTEGER) AS id, value ->> 'name' AS name,
      'sm_' || (CAST(value ->> 'sm_version' AS INTEGER) / 10) AS arch
    FROM json_each(:doc, '$.devices') WHERE type = 'object'),
  benchmark AS (
    SELECT need(text(o -> 'name', place || '.name'), place || '.name') AS benchmark, place,
      iif(json_type(o, '$.states') = 'array', o -> 'states', expected('a list', o -> 'states', place || '.states'))
        AS states
    FROM (SELECT fullkey AS place, iif(type = 'object', value, '{}') AS o
      FROM json_each(:doc, '$.benchmarks'))),
  state AS MATERIALIZED (
    SELECT row_number() OVER () AS id, benchmark, place || '.states[' || key || ']' AS place, iif(type = 'object', value,
      expected('an object', json_quote(value), place || '.states[' || key || ']')) AS o
    FROM benchmark, json_each(states)),
  summary AS MATERIALIZED (
    SELECT state.id, state.place, value ->> 'tag' AS tag, value -> '$.data[0].value' AS value
    FROM state, json_each(iif(ifnull(json_type(o, '$.summaries'), 'null') IN ('array', 'null'), o -> 'summaries',
      expected('a list', o -> 'summaries', state.place || '.summaries')))
    WHERE type = 'object'),
  point AS MATERIALIZED (
    SELECT id, metric, unit, value, min(choice) FROM (
      SELECT id, metric, unit, choice, number(value, place || ': ' || tag, 'or text') AS value
      FROM summary JOIN metric USING (tag)) WHERE value IS NOT NULL GROUP BY id, metric)
SELECT device.name AS device, device.arch, p.metric, p.unit, p.value,
  iif(o ->> 'is_skipped', 'unsupported', NULL) AS outcome, o ->> 'skip_reason' AS message,
  benchmark || ifnull((SELECT group_concat(' ' || (value ->> 'name') || '=' ||
    (value ->> 'value'), '') FROM json_each(o, '$.axis_values') WHERE type = 'object'), '') AS series, state.place,
  (SELECT CAST(value ->> '$' AS INTEGER) FROM summary s WHERE s.id = state.id AND tag = 'nv/cold/sample_size') AS n,
  iif(p.metric = 'time', (SELECT number(value, state.place, 'or text') FROM summary s WHERE s.id = state.id
    AND tag = 'nv/cold/time/gpu/min'), NULL) AS min,
  (SELECT nullif(json_group_object(tag, json(value)), '{}') FROM summary s WHERE s.id = state.id
    AND tag NOT IN (SELECT tag FROM metric) AND value IS NOT NULL) AS attributes
FROM state LEFT JOIN device ON device.id = CAST(o ->> 'device' AS INTEGER)
  LEFT JOIN point p ON p.id = state.id AND NOT ifnull(o ->> 'is_skipped', 0)
ORDER BY state.id;
