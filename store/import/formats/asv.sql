-- airspeed velocity: one JSON file a commit and environment, results/MACHINE/COMMIT-ENVIRONMENT.json.
--
-- Version 2 (asv 0.5 and later): each result is a list whose columns `result_columns` names, and parameters
-- are the product of `params`. Version 1: a number, or an object with `result`, `params` and `stats`.
-- Units are in benchmarks.json two folders up, else what the name says (time_, mem_...).
SELECT text(p -> 'machine', 'machine') AS machine, text(p -> 'cpu', 'cpu') AS device,
  text(p -> 'arch', 'arch') AS arch, ifnull(p, '{}') AS machine_attributes,
  need(text(:doc -> 'commit_hash', 'commit_hash'), 'commit_hash') AS rev, milliseconds(:doc -> 'date', 'date')
FROM (SELECT :doc -> 'params' AS p);

WITH header AS MATERIALIZED (SELECT text(:doc -> 'env_name', 'env_name') AS config,
    json_type(:doc, '$.result_columns') = 'array' AS has_columns),
  named_column AS MATERIALIZED (SELECT key AS i, value AS name FROM json_each(:doc, '$.result_columns')),
  known AS MATERIALIZED (
    SELECT key AS name, value ->> 'unit' AS unit FROM json_each(beside('../benchmarks.json')) WHERE type = 'object'),
  start(pattern, unit) AS (VALUES ('[Tt]ime[_A-Z]*', 'seconds'), ('[Tt]imeraw[_A-Z]*', 'seconds'),
    ('[Mm]em[_A-Z]*', 'bytes'), ('[Pp]eakmem[_A-Z]*', 'bytes')),
  result AS (
    SELECT fullkey AS place,
      iif(typeof(key) = 'text', key, fail('expected results by name, found a list', fullkey)) AS name,
      CASE WHEN type = 'object' THEN value WHEN type IN ('integer', 'real', 'null') THEN json_object('result', value)
        WHEN type <> 'array' THEN expected('a number, a list or an object', json_quote(value), fullkey)
        WHEN NOT ifnull(has_columns, 0) THEN fail('a list, but the file has no result_columns', fullkey)
        ELSE (SELECT json_group_object(c.name, json_quote(v.value)) FROM json_each(r.value) v
          JOIN named_column c ON c.i = v.key) END AS o
    FROM header CROSS JOIN json_each(:doc, '$.results') r),
  point AS (
    SELECT name, place, o, z.key AS i, z.value AS z, z.value -> 1 AS s
    FROM result, json_each(zip(o -> 'result', o -> 'stats', o -> 'stats_ci_99_a', o -> 'stats_ci_99_b',
      o -> 'stats_q_25', o -> 'stats_q_75', o -> 'stats_repeat',
      product(o -> 'params', max(1, ifnull(json_array_length(o, '$.result'), 1)), place || '.params'))) z)
SELECT p.name || ifnull('(' || (z ->> 7) || ')', '') AS name, config,
  coalesce(known.unit, (SELECT unit FROM start WHERE after_last(p.name, '.') GLOB pattern), '') AS unit,
  number(z -> 0, place || '.result[' || i || ']') AS value,
  coalesce(z ->> 2, s ->> '$.ci_99[0]', s ->> 'ci_99_a') AS lo,
  coalesce(z ->> 3, s ->> '$.ci_99[1]', s ->> 'ci_99_b') AS hi,
  coalesce(z ->> 4, s ->> 'q_25') AS q25, coalesce(z ->> 5, s ->> 'q_75') AS q75, s ->> 'min' AS min,
  coalesce(z ->> 6, s ->> 'repeat') AS n, 'results' AS list, p.name AS key,
  iif(i = 0, rest(o, 'result', 'params', 'stats', 'stats_ci_99_a', 'stats_ci_99_b', 'stats_q_25', 'stats_q_75',
    'stats_repeat'), NULL) AS rest
FROM header CROSS JOIN point p LEFT JOIN known ON known.name = p.name;

SELECT :doc ->> 'commit_hash' AS rev, milliseconds(:doc -> 'date', 'date') AS time_s,
  ifnull(rest(json_remove(:doc, '$.results'), 'commit_hash', 'date', 'result_columns', 'params'), '{}') AS attributes;
