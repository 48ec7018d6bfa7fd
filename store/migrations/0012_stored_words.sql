-- 0012: words of decisions (CHANGELOG.md lists them). No uid changes: none of these columns is part of one.
UPDATE bisection SET outcome = 'inconclusive' WHERE outcome = 'open';
UPDATE alert SET kind = 'missing-data' WHERE kind = 'stoppage';
UPDATE alert SET cause = 'missing-data' WHERE cause = 'stoppage';
UPDATE change_point SET cause = 'missing-data' WHERE cause = 'stoppage';
UPDATE verdict SET detail = json_replace(detail,
    '$.pairs.word', CASE json_extract(detail, '$.pairs.word')
      WHEN 'open' THEN 'inconclusive' WHEN 'up' THEN 'higher' WHEN 'down' THEN 'lower' END)
  WHERE json_valid(detail) AND json_extract(detail, '$.pairs.word') IN ('open', 'up', 'down');
UPDATE verdict SET detail = json_replace(detail, '$.cause', 'missing-data')
  WHERE json_valid(detail) AND json_extract(detail, '$.cause') = 'stoppage';
