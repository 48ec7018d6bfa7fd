-- series/NAME.html: ?1 is the series.

-- .:
SELECT ifnull(versions_href, '') AS versions_href, clip(s.problem, 300) AS problem_text,
  clip(s.source, 300) AS source, clip(s.device_name, 80) AS device_name,
  '../machines/' || slug(s.machine) || '.html' AS machine_href, p.is_suite_time AS "has_op_page?",
  '../kernels/' || p.op_file || '.html' AS op_href, clip(p.op, 40) AS op_name,
  clip(public_url(s.upstream_url), 200) AS upstream_url, s.mode AS mode, s.role AS role,
  iif(s.better = 'unknown', 'better direction not known', s.better || ' is better') AS better,
  iif(s.flops > 0, printf('%.4g GFLOP', s.flops / 1e9), '') || iif(s.flops > 0 AND s.bytes > 0, ', ', '') ||
    iif(s.bytes > 0, quantity(s.bytes, 'bytes') || ' compulsory', '') AS work,
  iif(s.flops > 0 AND s.bytes > 0, printf(iif(s.flops / s.bytes < 9.95, '%.1f', '%.0f'), s.flops / s.bytes), '')
    AS intensity,
  p.night_s IS NOT NULL AS "measured?", minute(p.night_s) AS newest, p.n AS samples,
  iif(s.rotate_nights > 1, s.rotate_nights, '') AS rotation, p.fails AS "failed?", p.outcome AS failure_word,
  ifnull(clauses(v.reason, 400), '') AS reason, b.revision_id AS "revision+"
FROM series_v s JOIN page_series p USING (id) LEFT JOIN page_versions USING (upstream_id)
  LEFT JOIN build b ON b.id = p.build_id
  LEFT JOIN page_said v ON v.series_id = p.id AND v.night_id = p.verdict_night_id
WHERE s.id = ?1

-- kernel_trace:
SELECT r.*, 'traces/' || file || '.html' AS trace_path
FROM page_inside i JOIN page_trace_row r USING (trace_id) JOIN page_trace t ON t.id = i.trace_id
WHERE i.series_id = ?1

-- tuning:
SELECT r.* FROM page_tuned JOIN page_tuning_row r USING (tuning_id) WHERE series_id = ?1

-- profile:
SELECT name, iif(level, quantity(n, 'bytes') || iif(flops > 0, ', ' ||
    printf(iif(flops / n < 9.95, '%.1f', '%.0f'), flops / n) || ' FLOP/B', ''), percent(n)) AS value
FROM (SELECT 0 AS level, 'Tensor cores work' AS name, tensor_share AS n, flops FROM page_profile WHERE series_id = ?1
  UNION ALL SELECT 1, 'DRAM', dram, flops FROM page_profile WHERE series_id = ?1
  UNION ALL SELECT 2, 'L2', l2, flops FROM page_profile WHERE series_id = ?1
  UNION ALL SELECT 3, 'L1', l1, flops FROM page_profile WHERE series_id = ?1)
WHERE iif(level, n >= 1, n BETWEEN 0 AND 1)
UNION ALL SELECT 'Counted', minute(started_s) FROM page_profile WHERE series_id = ?1

-- The newest builds with machine code, each compared with the one before.
-- code_builds:
SELECT revision_id AS "revision+", clip(code_hash, 10) AS code, CASE WHEN older IS NULL THEN ''
  WHEN older = code_hash THEN 'unchanged' ELSE 'changed' END AS what
FROM (SELECT *, lead(code_hash) OVER newest AS older FROM (SELECT m.as_of_s, m.run_id, b.revision_id, k.code_hash
    FROM (SELECT max(as_of_s) AS as_of_s, max(run_id) AS run_id, build_id
        FROM (SELECT as_of_s, run_id, build_id FROM measurement
          WHERE series_id = (SELECT id FROM series JOIN page_coded USING (backend) WHERE id = ?1)
          ORDER BY as_of_s DESC, run_id DESC LIMIT 64) GROUP BY build_id) m
      JOIN kernel k ON k.build_id = m.build_id AND k.backend = (SELECT backend FROM series WHERE id = ?1)
        AND k.name = '' JOIN build b ON b.id = m.build_id
    ORDER BY m.as_of_s DESC, m.run_id DESC LIMIT 6)
  WINDOW newest AS (ORDER BY as_of_s DESC, run_id DESC))
ORDER BY as_of_s DESC, run_id DESC
