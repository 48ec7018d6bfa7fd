-- what: hyperfine: --export-json
-- detect: "results" "command" "mean"
--
-- {"results": [{"command", "times": [...], ...}]}. It names neither machine nor time nor
-- commit: options do, or the file's date. A command that did not always exit with 0 has failed, although
-- hyperfine times it (--ignore-failure).
WITH result AS (
  SELECT *, (SELECT 'exit code ' || value || iif(value > 128, ' (signal ' || (value - 128) || ')', '') ||
      iif(count(*) < json_array_length(o, '$.exit_codes'), ' in ' || count(*) || ' of ' ||
      json_array_length(o, '$.exit_codes') || ' runs', '') FROM json_each(o, '$.exit_codes')
      WHERE value IS NOT 0 HAVING count(*)) AS failure
  FROM (SELECT fullkey AS place, iif(type = 'object', value, '{}') AS o FROM json_each(:doc, '$.results')))
SELECT need(text(o -> 'command', place || '.command'), place || '.command') AS series, 's' AS unit,
  iif(t.key IS NULL, coalesce(number(o -> 'median', place || '.median'), number(o -> 'mean', place || '.mean')),
    iif(t.type IN ('integer', 'real'), t.value,
      expected('a number', json_quote(t.value), place || '.times[' || t.key || ']'))) AS value,
  number(o -> 'min', place || '.min') AS min, place,
  iif(ifnull(t.key, 0) = 0, rest(o, 'command', 'times', 'median', 'min'), NULL) AS attributes,
  iif(failure IS NULL, NULL, 'failed') AS outcome, failure AS message
FROM result LEFT JOIN json_each(iif(failure IS NOT NULL, '[]', iif(ifnull(json_type(o, '$.times'), 'null') IN ('array', 'null'), o -> 'times',
  expected('a list', o -> 'times', place || '.times')))) t ON t.type IS NOT 'null' OR t.key IS NOT NULL;
