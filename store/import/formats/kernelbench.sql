-- what: KernelBench: eval_results.json, baselines
-- detect: "compiled" "correctness"
-- detect: "num_trials" "mean" "hardware"
--
-- Results: {PROBLEM: [{sample_id, compiled, correctness, runtime, runtime_stats}]}. Baselines:
-- {LEVEL: {PROBLEM: {mean, std, min, max, num_trials, hardware}}}. Times in ms.
CREATE TABLE result AS
SELECT fullkey AS place, path, value AS r, json_type(value, '$.compiled') IS NOT NULL AS is_sample
FROM json_tree(:doc) WHERE type = 'object' AND (json_type(value, '$.compiled') IS NOT NULL
  OR json_type(value, '$.num_trials') IS NOT NULL AND json_type(value, '$.mean') IS NOT NULL AND key NOT LIKE '%runtime\_stats' ESCAPE '\');

WITH named AS (
  SELECT *, iif(is_sample, r -> 'runtime_stats', r) AS s, replace(replace(trim(capture(place, '^\$\.?(.*)$', 1), '"'), '".', ' '), '."', ' ') AS key
  FROM result)
SELECT iif(is_sample, ifnull('problem ' || coalesce(r ->> 'problem_id', capture(key, '^([^] ."[]+)', 1)), 'kernel') ||
    ifnull(' sample ' || coalesce(r ->> 'sample_id', capture(key, '\[([0-9]+)\]', 1)), ''), capture(key, '^(.*)$', 1)) AS series,
  iif(is_sample, 'kernel', 'baseline') AS backend, 'ms' AS unit,
  coalesce(s ->> 'median', s ->> 'mean', iif(r ->> 'runtime' > 0, r ->> 'runtime', NULL)) AS value,
  iif(s ->> 'median' IS NULL, 'mean', 'median') AS statistic, s ->> 'min' AS min, s ->> 'num_trials' AS n,
  CASE WHEN NOT is_sample THEN NULL WHEN NOT (r ->> 'compiled') THEN 'build_failed' WHEN NOT (r ->> 'correctness') THEN 'wrong'
    END AS outcome,
  coalesce(r ->> '$.metadata.compilation_error', r ->> '$.metadata.runtime_error', r ->> '$.metadata.correctness_issue',
    r ->> '$.metadata.max_difference') AS message,
  coalesce(s ->> 'hardware', r ->> '$.metadata.hardware') AS device, rest(r, 'runtime', 'runtime_stats', 'mean', 'min', 'num_trials')
    AS attributes, place
FROM named;
