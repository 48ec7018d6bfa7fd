-- what: criterion, cargo criterion --message-format=json
-- detect: "median" "point_estimate" "confidence_interval"
-- detect: "benchmark-complete" "typical"
-- beside: */base/*.json|*/change/*.json|*/new/benchmark.json|*/new/sample.json|*/new/tukey.json|*/report/*
--
-- estimates.json has the times of one benchmark in ns; its folders name it (GROUP/FUNCTION/VALUE/new).
SELECT coalesce(capture(:path, 'criterion/(.*)/new/estimates\.json$', 1), capture(:path, '([^/]+)/new/estimates\.json$', 1),
    capture(:path, '([^/]*)\.json$', 1), 'estimates') AS series, 'ns' AS unit,
  :doc ->> '$.median.point_estimate' AS value, 'median' AS statistic,
  :doc ->> '$.median.confidence_interval.lower_bound' AS lo, :doc ->> '$.median.confidence_interval.upper_bound' AS hi,
  json_object('mean', :doc ->> '$.mean.point_estimate', 'std_dev', :doc ->> '$.std_dev.point_estimate') AS attributes,
  '$.median' AS place
WHERE json_type(:doc) = 'object' AND :doc -> 'reason' IS NULL AND need(:doc -> 'median', '$.median') IS NOT NULL;

WITH message AS (
  SELECT value AS m, fullkey AS place FROM json_each(iif(json_type(:doc) = 'array', :doc, json_array(json(:doc))))
  WHERE value ->> 'reason' = 'benchmark-complete')
SELECT need(m ->> 'id', place || '.id') AS series, ifnull(m ->> '$.median.unit', m ->> '$.typical.unit') AS unit,
  ifnull(m ->> '$.median.estimate', m ->> '$.typical.estimate') AS value, 'median' AS statistic,
  ifnull(m ->> '$.median.lower_bound', m ->> '$.typical.lower_bound') AS lo,
  ifnull(m ->> '$.median.upper_bound', m ->> '$.typical.upper_bound') AS hi,
  rest(m, 'reason', 'id', 'iteration_count', 'measured_values', 'median', 'report_directory') AS attributes, place
FROM message;
