-- what: github-action-benchmark: data.js
-- detect: "entries" BENCHMARK_DATA
-- detect: "entries" "benches"
--
-- "window.BENCHMARK_DATA = {...}": suites, each a list of commits with
-- their benches. The unit or the tool says whether more is better.
SELECT :doc ->> 'repoUrl' AS url, capture(:doc ->> 'repoUrl', '[^/]*$') AS upstream;

WITH suite AS (
  SELECT key AS suite, iif(type = 'array' AND typeof(key) = 'text', value,
    expected('a list of commits', json_quote(value), fullkey)) AS entries FROM json_each(:doc, '$.entries')),
entry AS MATERIALIZED (
  SELECT row_number() OVER () AS entry, suite, o, place,
    need(text(o -> '$.commit.id', place || '.commit.id'), place || '.commit.id') AS rev,
    iif(json_type(o, '$.benches') = 'array', o -> 'benches',
      expected('a list', o -> 'benches', place || '.benches')) AS benches
  FROM (SELECT suite, iif(type = 'object', value, '{}') AS o, 'entries.' || suite || '[' || key || ']' AS place
    FROM suite, json_each(entries))),
bench AS (
  SELECT entry.*, key AS bench, iif(type = 'object', value, '{}') AS b,
    entry.place || '.benches[' || key || ']' AS at
  FROM entry, json_each(benches))
SELECT need(text(b -> 'name', at || '.name'), at || '.name') AS series, suite AS backend,
  number(b -> 'value', at || '.value') AS value, text(b -> 'unit', at || '.unit') AS unit,
  CASE o ->> 'tool' WHEN 'customBiggerIsBetter' THEN 'higher' WHEN 'customSmallerIsBetter' THEN 'lower' END
    AS better,
  rest(b, 'name', 'value', 'unit') AS attributes, iif(bench = 0, rest(o, 'benches'), NULL) AS run_attributes,
  at AS place, rev AS revision,
  o ->> '$.commit.author.name' AS author, capture(o ->> '$.commit.message', '^[^' || char(10, 13) || ']*') AS subject,
  coalesce(iso_time(o ->> '$.commit.timestamp'), milliseconds(o -> 'date', place || '.date')) AS time,
  entry AS "order"
FROM bench;
