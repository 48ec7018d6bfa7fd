-- github-action-benchmark: data.js, "window.BENCHMARK_DATA = {...}": suites, each a list of commits with
-- their benches. The unit or the tool says whether more is better.
SELECT :doc ->> 'repoUrl' AS url, after_last(:doc ->> 'repoUrl', '/') AS upstream;

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
SELECT entry, bench, need(text(b -> 'name', at || '.name'), at || '.name') AS name, suite AS backend,
  number(b -> 'value', at || '.value') AS value, text(b -> 'unit', at || '.unit') AS unit,
  CASE o ->> 'tool' WHEN 'customBiggerIsBetter' THEN 'higher' WHEN 'customSmallerIsBetter' THEN 'lower' END
    AS better,
  'benches' AS list, rest(b, 'name', 'value', 'unit') AS rest,
  NULL AS rev, NULL AS author, NULL AS subject, NULL AS time_s, NULL AS attributes
FROM bench
UNION ALL
SELECT entry, 9e9, NULL, NULL, NULL, NULL, NULL, NULL, NULL, rev, o ->> '$.commit.author.name',
  first_line(o ->> '$.commit.message'),
  coalesce(iso_time(o ->> '$.commit.timestamp'), milliseconds(o -> 'date', place || '.date')),
  ifnull(rest(o, 'benches'), '{}')
FROM entry ORDER BY entry, bench;
