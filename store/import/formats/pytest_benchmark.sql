-- what: pytest-benchmark: --benchmark-json
-- detect: "machine_info" "commit_info"
-- detect: "machine_info" "benchmarks"
--
-- machine_info, commit_info and benchmarks with their statistics in seconds.
SELECT m ->> 'node' AS machine, m ->> 'machine' AS arch,
  coalesce(m ->> '$.cpu.brand_raw', m ->> '$.cpu.brand') AS device, c ->> 'project' AS upstream,
  c ->> 'id' AS revision,
  coalesce(iso_time(c ->> 'time'), iso_time(c ->> 'author_time'), iso_time(:doc ->> 'datetime')) AS time,
  json_remove(:doc, '$.benchmarks') AS attributes
FROM (SELECT :doc -> 'machine_info' AS m, :doc -> 'commit_info' AS c);

WITH benchmark AS (
  SELECT fullkey AS place, iif(type = 'object', value, '{}') AS o FROM json_each(:doc, '$.benchmarks')),
named AS (
  SELECT *, need(coalesce(nullif(text(o -> 'fullname', place || '.fullname'), ''),
      text(o -> 'name', place || '.name')), place || '.fullname') AS name,
    iif(json_type(o, '$.stats') = 'object', o -> 'stats', expected('an object', o -> 'stats', place || '.stats'))
      AS s
  FROM benchmark)
SELECT name AS series, c.key AS metric, unit_in(c.key) AS unit, c.value, place || '.extra_info.' || c.key AS place,
  iif(unit_in(c.key) IS NULL, 'unknown', NULL) AS better
FROM named, json_each(o, '$.extra_info') c WHERE c.type IN ('integer', 'real');

WITH benchmark AS (
  SELECT fullkey AS place, iif(type = 'object', value, '{}') AS o FROM json_each(:doc, '$.benchmarks')),
named AS (
  SELECT *, need(coalesce(nullif(text(o -> 'fullname', place || '.fullname'), ''),
      text(o -> 'name', place || '.name')), place || '.fullname') AS name,
    iif(json_type(o, '$.stats') = 'object', o -> 'stats', expected('an object', o -> 'stats', place || '.stats'))
      AS s
  FROM benchmark)
SELECT name AS series, 's' AS unit, place, text(o -> 'group', place || '.group') AS family,
  coalesce(number(s -> 'median', place || '.stats.median'), number(s -> 'mean', place || '.stats.mean')) AS value,
  number(s -> 'q1', place || '.stats.q1') AS q25, number(s -> 'q3', place || '.stats.q3') AS q75,
  number(s -> 'min', place || '.stats.min') AS min, number(s -> 'rounds', place || '.stats.rounds') AS n,
  rest(o, 'fullname', 'name', 'stats') AS attributes
FROM named;
