-- what: hyperfine: --export-json
-- detect: "results" "command" "mean"
--
-- {"results": [{"command", "times": [...], ...}]}. It names neither machine nor time nor
-- commit: options do, or the file's date.
WITH result AS (
  SELECT fullkey AS place, iif(type = 'object', value, '{}') AS o FROM json_each(:doc, '$.results'))
SELECT need(text(o -> 'command', place || '.command'), place || '.command') AS series, 's' AS unit,
  iif(t.key IS NULL, coalesce(number(o -> 'median', place || '.median'), number(o -> 'mean', place || '.mean')),
    iif(t.type IN ('integer', 'real'), t.value,
      expected('a number', json_quote(t.value), place || '.times[' || t.key || ']'))) AS value,
  number(o -> 'min', place || '.min') AS min, place,
  iif(ifnull(t.key, 0) = 0, rest(o, 'command', 'times', 'median', 'min'), NULL) AS attributes
FROM result LEFT JOIN json_each(iif(ifnull(json_type(o, '$.times'), 'null') IN ('array', 'null'), o -> 'times',
  expected('a list', o -> 'times', place || '.times'))) t ON t.type IS NOT 'null' OR t.key IS NOT NULL;
