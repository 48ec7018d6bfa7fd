-- versions/NAME.html: ?1 is the upstream, below it ?2 what difference times tie.

-- pages:
SELECT upstream_id, replace(versions_href, '../', ''), clip(name, 90) || ': versions', tie
FROM page_versions JOIN upstream u ON u.id = upstream_id, page_site ORDER BY u.name

-- .:
SELECT ?1 AS "upstream_id-", clip(u.name, 60) AS upstream, count(k) AS count,
  count(k) < max(ifnull(measured, 0)) AS "cut?",
  '../upstreams/' || iif(slug(u.name) = 'index', 'index_', slug(u.name)) || '.html' AS upstream_href,
  'How fast the kernels are with each of ' || count(k) || ' versions of ' || substr(u.name, 1, 60) ||
    ', and what changed in their machine code.' AS description
FROM upstream u LEFT JOIN page_version ON upstream_id = u.id WHERE u.id = ?1

-- sections:
SELECT section_id AS "id-", substr(p.op_file, 1, 80) || '-' || substr(slug(m.name || '.' || d.slug), 1, 80)
  AS anchor, clip(p.op, 60) AS op, clip(m.name || '/' || d.slug, 60) AS device,
  clip(d.name, 60) AS device_name
FROM (SELECT section_id, series_id FROM page_version_time WHERE upstream_id = ?1 GROUP BY section_id) t
  JOIN page_series p ON p.id = t.series_id JOIN device d ON d.id = p.device_id
  JOIN machine m ON m.id = d.machine_id
ORDER BY d.kind = 'cpu', m.id, d.slug, p.op_id

-- sections/versions:
SELECT revision_id AS "revision+", clip(max(rev), 40) AS version_name,
  minute(max(released_s)) AS released, count(*) AS measured, change(exp(avg(ln(ratio))) - 1) AS change,
  CASE WHEN abs(exp(avg(ln(ratio))) - 1) >= ?2 THEN iif(avg(ln(ratio)) > 0, 'bad', 'good') ELSE 'quiet' END
    AS tone, count(*) FILTER (WHERE apart AND abs(ln(ratio)) >= ln(1 + ?2) AND ratio > 1) AS slower,
  count(*) FILTER (WHERE apart AND abs(ln(ratio)) >= ln(1 + ?2) AND ratio < 1) AS faster,
  ifnull(percent(exp(avg(ln(vendor_ns / value)))), '–') AS of_vendor,
  quantity(exp(avg(ln(compile_ns))), 'ns') AS compile,
  iif(count(is_same_code), count(*) FILTER (WHERE NOT is_same_code) || ' of ' || count(is_same_code), '–')
    AS code
FROM page_version_step WHERE section_id = ?1 GROUP BY k ORDER BY k DESC

-- sections/.:
SELECT count(vendor_id) AS "has_vendor?", count(compile_ns) AS "has_compile?",
  count(is_same_code) AS "has_code?", count(DISTINCT problem_key) > 32 AS "problems_cut?"
FROM page_version_step WHERE section_id = ?1

-- A/B runs are those of both versions by the configuration of the step; there are none where the
-- fastest configuration changed with it.
-- sections/steps:
WITH step AS (SELECT * FROM page_version_step WHERE section_id = ?1 AND apart AND abs(ln(ratio)) >= ln(1 + ?2)
  ORDER BY k DESC, abs(ln(ratio)) DESC, problem_key LIMIT 60),
pairs AS (SELECT s.problem_key, s.k, count(*) AS n, group_concat(printf('%.17g',
    ln(p.head_median / p.base_median)), ' ') AS differences
  FROM step s JOIN ab_pair_v p ON p.series_id = s.series_id AND p.base_revision_id = s.old_revision_id
    AND p.head_revision_id = s.revision_id
  WHERE s.series_id = s.old_series_id AND p.base_median > 0 AND p.head_median > 0
  GROUP BY s.problem_key, s.k),
ab AS (SELECT *, paired_shift(differences, 0) + 0.0 AS shift, paired_shift(differences, -1) + 0.0 AS low,
    paired_shift(differences, 1) + 0.0 AS high FROM pairs)
SELECT s.series_id AS "series+", s.ratio - 1 AS "change+", clip(rev, 40) AS version_name,
  clip(old_rev, 40) AS older, substr(s.variant, 1, 90) ||
    iif(s.series_id = old_series_id, '', ', before ' || substr(old_variant, 1, 90)) AS label,
  iif(s.ratio > 1, 'bad', 'good') AS tone, quantity(old_value, 'ns') AS before,
  quantity(s.value, 'ns') AS after, s.environment_id IS NOT old_environment_id AS "environment?",
  EXISTS (SELECT 1 FROM page_change c WHERE c.revision_id = s.revision_id AND c.series_id = s.series_id
    AND is_of_revision) AS "change_point?",
  replace(CASE WHEN is_same_code IS NULL THEN '' WHEN is_same_code THEN 'same code'
    WHEN old_kernels <> kernels THEN 'kernels ' || old_kernels || ' -> ' || kernels
    ELSE ifnull((SELECT code_change(a.registers, a.spill_bytes, a.shared_bytes, a.threads,
        a.occupancy_percent, a.instructions, b.registers, b.spill_bytes, b.shared_bytes, b.threads,
        b.occupancy_percent, b.instructions)
      FROM page_version_kernel a JOIN page_version_kernel b USING (problem_key, nth)
      WHERE a.problem_key = s.problem_key AND a.k = old_k AND b.k = s.k AND a.code_hash <> b.code_hash
      ORDER BY nth LIMIT 1), 'other code') END, ' -> ', ' → ') AS code,
  ifnull(ab.n, '') AS ab_pairs, change(shift) AS ab_change, change_range(shift, low, high) AS ab_interval,
  NOT (low > 0 OR high < 0) AS "ab_open?",
  CASE WHEN low > 0 THEN 'bad' WHEN high < 0 THEN 'good' ELSE 'quiet' END AS ab_tone, ab.n AS "any_ab-"
FROM step s LEFT JOIN ab ON ab.problem_key = s.problem_key AND ab.k = s.k
ORDER BY s.k DESC, abs(ln(s.ratio)) DESC, s.problem_key

-- sections/.:
SELECT iif(count(*) > 60, count(*) - 60, '') AS steps_more, max(s.series_id = old_series_id AND EXISTS (
    SELECT 1 FROM ab_pair_v p WHERE p.series_id = s.series_id AND p.base_revision_id = old_revision_id
      AND p.head_revision_id = s.revision_id AND p.base_median > 0 AND p.head_median > 0)) AS "has_ab?"
FROM page_version_step s WHERE section_id = ?1 AND apart AND abs(ln(ratio)) >= ln(1 + ?2)

-- sections/problems:
SELECT t.problem_key AS "id-", clip(q.title, 110) AS title, clip(ifnull(v.variant, ''), 60) AS vendor,
  '../series/' || ifnull(v.file, '') || '.html' AS vendor_href,
  iif(v.value, quantity(v.value, 'ns'), '') AS vendor_time
FROM (SELECT DISTINCT problem_key, problem_id, vendor_id FROM page_version_time WHERE section_id = ?1) t
  JOIN problem q ON q.id = t.problem_id LEFT JOIN page_series v ON v.id = t.vendor_id
ORDER BY t.problem_key LIMIT 32

-- sections/problems/rows:
SELECT clip(rev, 40) AS version_name, quantity(value, 'ns') AS time, ifnull(half(value, lo, hi), '') AS half,
  CASE WHEN q.flops > 0 THEN quantity(q.flops / value, 'gflop_per_s')
    WHEN q.bytes > 0 THEN quantity(q.bytes / value, 'gb_per_s') ELSE '' END AS rate,
  change(ratio - 1) AS change, CASE WHEN apart AND abs(ln(ratio)) >= ln(1 + ?2)
    THEN iif(ratio > 1, 'bad', 'good') ELSE 'quiet' END AS tone,
  ifnull(percent(vendor_ns / value), '') AS of_vendor,
  iif(compile_ns, quantity(compile_ns, 'ns'), '') AS compile, clip(variant, 60) AS label,
  ifnull(counted(registers), '–') AS registers, ifnull(counted(spill_bytes), '–') AS spills,
  ifnull(counted(shared_bytes), '–') AS shared, ifnull(counted(instructions), '–') AS instructions,
  CASE is_same_code WHEN 1 THEN 'same' WHEN 0 THEN 'changed' ELSE '' END AS code
FROM page_version_step t JOIN problem q ON q.id = t.problem_id WHERE problem_key = ?1 ORDER BY k
