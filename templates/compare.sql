-- compare.html and its data

-- contenders:
SELECT variant, device, upstream_id, part, part AS "id-" FROM page_contender ORDER BY i

-- The two with the most common problems are compared first.
-- .:
SELECT EXISTS (SELECT 1 FROM page_contender) AS "any?", ifnull((SELECT a.i || ',' || b.i
  FROM page_compared a JOIN page_compared b ON b.problem_id = a.problem_id AND a.i < b.i
  WHERE b.i < 60 AND NOT a.fails AND NOT b.fails GROUP BY a.i, b.i ORDER BY count(*) DESC, a.i, b.i LIMIT 1),
  '0,' || ((SELECT count(*) FROM page_contender) > 1)) AS pair
