-- what: Bencher: Bencher Metric Format (JSON)
-- detect: "latency" "value" !"benchmarks" !"kernel" !"benches" !"results"
-- detect: "throughput" "value" !"benchmarks" !"kernel" !"benches" !"results"
-- detect: "value" "lower_value" !"benchmarks" !"kernel" !"benches" !"results"
-- detect: "value" "upper_value" !"benchmarks" !"kernel" !"benches" !"results"
--
-- {BENCHMARK: {MEASURE: {value, lower_value, upper_value}}}. The measure says the unit.
WITH known(measure, metric, unit, better) AS (VALUES ('latency', 'time', 'ns', 'lower'), ('throughput', 'throughput', 'operations/s', 'higher'),
    ('build-time', 'build_time', 's', 'lower'), ('file-size', 'file_size', 'bytes', 'lower'), ('instructions', 'instructions', 'instructions', 'lower'),
    ('estimated-cycles', 'estimated_cycles', 'cycles', 'lower'), ('total-read-write', 'accesses', 'accesses', 'lower'),
    ('l1-hits', 'l1_hits', 'accesses', 'lower'), ('l2-hits', 'l2_hits', 'accesses', 'lower'), ('ram-hits', 'ram_hits', 'accesses', 'lower')),
  measure AS (
    SELECT b.key AS series, m.key AS measure, m.value AS v, m.fullkey AS place
    FROM json_each(:doc) b, json_each(iif(b.type = 'object', b.value, expected('measures', json_quote(b.value), b.fullkey))) m
    WHERE m.type = 'object')
SELECT series, ifnull(known.metric, measure) AS metric, ifnull(unit, ifnull(unit_in(measure), measure)) AS unit, better,
  number(v -> 'value', place || '.value') AS value, v ->> 'lower_value' AS lo, v ->> 'upper_value' AS hi, place
FROM measure LEFT JOIN known USING (measure);
