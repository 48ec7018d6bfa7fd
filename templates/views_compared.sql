-- What is compared on several pages: devices of a model, versions of a package, backends, and what changed.
-- Made after views.sql.

-- What two devices of a model must have in common to be comparable, where it is recorded of both: equal
-- values, of a version the same first number (`major`), of what drivers round a share of the larger one.
-- page_rule:
SELECT column1 AS n, column2 AS key, column3 AS title, column4 AS unit, column5 AS kind,
  column6 AS major, column7 AS tolerance
FROM (VALUES (1, 'driver', 'driver', '', '', 1, 0),
  (2, 'max_clock_mhz', 'maximum clock', ' MHz', 'gpu', 0, 0.01),
  (3, 'application_clock_mhz', 'application clock', ' MHz', 'gpu', 0, 0.01),
  (4, 'power_cap_w', 'power cap', ' W', 'gpu', 0, 0.02),
  (5, 'compute_units', 'number of compute units', '', '', 0, 0),
  (6, 'ecc', 'ECC', '', 'gpu', 0, 0), (7, 'mig', 'MIG', '', 'gpu', 0, 0),
  (8, 'governor', 'governor', '', 'cpu', 0, 0), (9, 'smt', 'SMT', '', 'cpu', 0, 0))

-- What the newest environments of series say of that. "value": what is compared.
-- page_setting: table by environment_id
SELECT e.id AS environment_id, r.n, r.title, r.tolerance, t.type, min(t.id) AS first,
  iif(r.major AND t.type = 'text', substr(t.value, 1, instr(t.value || '.', '.') - 1), t.value) AS value,
  CASE WHEN t.type = 'text' THEN clip(t.value, 40) WHEN t.type IN ('integer', 'real')
    THEN printf('%.6g', t.value) ELSE iif(t.type = 'true', 'on', 'off') END || r.unit AS shown
FROM environment e JOIN device d ON d.id = e.device_id
  JOIN json_tree(iif(json_valid(e.attributes), e.attributes, '{}')) t
  JOIN page_rule r ON r.key = t.key AND r.kind IN ('', iif(d.kind = 'cpu', 'cpu', 'gpu'))
WHERE t.type <> 'object' AND instr(t.fullkey, '[') = 0
  AND e.id IN (SELECT environment_id FROM page_series)
GROUP BY e.id, r.n

-- What makes two environments of comparable devices, `a` and `b`, incomparable.
-- page_conflict:
SELECT a.environment_id AS a, b.environment_id AS b, a.n,
  a.title || ' ' || a.shown || ' instead of ' || b.shown AS text
FROM page_setting a JOIN page_setting b ON b.n = a.n
WHERE NOT iif(a.tolerance AND a.type IN ('integer', 'real') AND b.type IN ('integer', 'real'),
  abs(a.value - b.value) <= a.tolerance * max(abs(a.value), abs(b.value)),
  a.type = b.type AND a.value IS b.value)

-- The measured devices of models that have several, with the environment of the newest time. A device
-- joins the first group with whose first member it has no conflict; 16 at most are in a group.
-- page_card: table by device_id
WITH RECURSIVE newest AS (SELECT device_id, environment_id, row_number() OVER (PARTITION BY device_id
    ORDER BY night_s DESC, place DESC) AS age FROM page_series WHERE is_suite_time AND n),
measured AS (SELECT d.id AS device_id, d.name, d.kind, d.arch, d.machine_id, n.environment_id,
    m.name || '/' || d.slug AS device, row_number() OVER (ORDER BY m.id, d.slug) AS place
  FROM newest n JOIN device d ON d.id = n.device_id JOIN machine m ON m.id = d.machine_id
  WHERE age = 1 AND n.environment_id),
d AS (SELECT *, slug(kind || '.' || name) AS file, min(place) OVER same AS card,
    row_number() OVER (PARTITION BY name, kind ORDER BY place) AS i, count(*) OVER same AS devices
  FROM measured WINDOW same AS (PARTITION BY name, kind)),
g(card, i, found) AS (SELECT card, 0, '[]' FROM d WHERE i = 1 AND devices > 1 UNION ALL
  SELECT card, i + 1, json_insert(found, '$[#]', ifnull(
    (SELECT number FROM (SELECT value AS number, count(*) AS members, min(key) + 1 AS lead
        FROM json_each(g.found) GROUP BY value)
      JOIN d a ON a.card = g.card AND a.i = lead JOIN d b ON b.card = g.card AND b.i = g.i + 1
      WHERE members < 16 AND a.arch = b.arch AND NOT EXISTS (SELECT 1 FROM page_conflict
        WHERE a = a.environment_id AND b = b.environment_id)
      ORDER BY number LIMIT 1),
    (SELECT count(DISTINCT value) FROM json_each(g.found))))
  FROM g WHERE i < (SELECT devices FROM d WHERE d.card = g.card)),
placed AS (SELECT d.*, value AS number, count(*) OVER (PARTITION BY d.card, value) AS members
  FROM g JOIN json_each(g.found) JOIN d ON d.card = g.card AND d.i = key + 1 WHERE g.i = d.devices)
SELECT *, dense_rank() OVER (ORDER BY card, members DESC, number) AS group_id,
  dense_rank() OVER (PARTITION BY card ORDER BY members DESC, number) AS group_number,
  row_number() OVER (PARTITION BY card ORDER BY members DESC, number, i) AS card_place
FROM placed

-- One backend on one problem by the devices of a group. Compared are times of the revision that most
-- devices have, in environments that agree with their device's.
-- page_card_time: table by row_id
WITH t AS (SELECT k.group_id, k.device_id, k.i, p.id AS series_id, p.place, p.variant, p.file, p.value,
    p.lo, p.hi, p.n, p.rate, p.rate_unit, s.problem_id, dense_rank() OVER (
      ORDER BY k.group_id, s.problem_id, s.upstream_id, s.backend, s.config) AS row_id,
    iif(p.environment_id IS k.environment_id OR p.environment_id AND NOT EXISTS (SELECT 1
      FROM page_conflict WHERE a = k.environment_id AND b = p.environment_id), b.revision_id, NULL)
      AS revision_id
  FROM page_card k JOIN page_series p ON p.device_id = k.device_id JOIN series s ON s.id = p.id
    LEFT JOIN build b ON b.id = p.build_id
  WHERE p.is_ranked AND NOT p.fails AND p.value > 0),
g AS (SELECT t.*, r.position, count(*) OVER same AS devices, min(i) OVER same AS met
  FROM t LEFT JOIN revision r ON r.id = revision_id WINDOW same AS (PARTITION BY row_id, revision_id)),
c AS (SELECT *, ifnull(revision_id = first_value(revision_id) OVER (PARTITION BY row_id
    ORDER BY revision_id IS NULL, devices DESC, position DESC, met), 0) AS is_counted FROM g)
SELECT *, max(is_counted) OVER same AS is_ranked,
  row_number() OVER (PARTITION BY row_id ORDER BY NOT is_counted, value, i) = 1 AS is_best,
  iif(sum(is_counted) OVER same > 1, max(value) FILTER (WHERE is_counted) OVER same /
    min(value) FILTER (WHERE is_counted) OVER same - 1, NULL) AS spread
FROM c WINDOW same AS (PARTITION BY row_id)

-- How the times of a device compare to those of another one of its group.
-- page_card_pair: table by device_id
SELECT a.device_id, b.device_id AS other_id, count(*) AS timings, avg(ln(a.value / b.value)) AS log_ratio,
  min(a.value / b.value) AS lo, max(a.value / b.value) AS hi
FROM page_card_time a JOIN page_card_time b USING (row_id)
WHERE a.is_counted AND b.is_counted AND a.device_id <> b.device_id GROUP BY a.device_id, b.device_id

-- The devices of a group, the fastest first.
-- page_card_member: table by group_id
SELECT *, row_number() OVER (PARTITION BY group_id ORDER BY slowness IS NULL, slowness, i) AS rank
FROM (SELECT *, (SELECT avg(log_ratio) FROM page_card_pair p WHERE p.device_id = k.device_id) AS slowness
  FROM page_card k)

-- The newest times of the libraries of vendors. "cublas_native" are kernels of the tracker on cuBLAS.
-- page_vendor: table by problem_id
SELECT p.id AS series_id, p.place, p.device_id, p.value, s.problem_id, s.upstream_id
FROM page_series p JOIN series s USING (id)
WHERE p.is_ranked AND p.value > 0 AND instr(s.backend, 'native') = 0 AND EXISTS (SELECT 1
  FROM (VALUES ('cublas'), ('cudnn'), ('cutensor'), ('mkl'), ('onednn'), ('rocblas'), ('hipblas'),
    ('miopen'), ('aocl'), ('accelerate')) WHERE substr(s.backend, 1, length(column1)) = column1)

-- The newest time, or compile time, of each series of a package with each version. A row that another
-- one of its build follows is not the newest.
-- page_version_point:
WITH followed AS (SELECT s.id FROM upstream u JOIN series s ON s.upstream_id = u.id
    JOIN page_series p ON p.id = s.id WHERE u.kind = 'package' AND (p.is_ranked OR s.metric = 'compile')),
m AS (SELECT *, lead(build_id) OVER (PARTITION BY series_id ORDER BY as_of_s, run_id) AS next_build_id
  FROM measurement WHERE series_id IN followed AND value > 0)
SELECT m.series_id, m.value, m.lo, m.hi, m.run_id, m.build_id, m.environment_id, b.revision_id,
  row_number() OVER (PARTITION BY m.series_id, b.revision_id ORDER BY m.as_of_s DESC, m.run_id DESC) AS age,
  p.place, p.op_id, p.variant, p.device_id, p.is_ranked, s.problem_id, s.upstream_id, s.backend, s.config,
  s.mode
FROM m JOIN build b ON b.id = m.build_id JOIN series s ON s.id = m.series_id
  JOIN page_series p ON p.id = m.series_id
WHERE next_build_id IS NOT m.build_id

-- page_version_newest: table by revision_id
SELECT * FROM page_version_point WHERE age = 1

-- The newest 40 measured versions of a package, in their order (PEP 440); k: from 0.
-- page_version: table by upstream_id
SELECT *, measured - back - max(measured - 40, 0) AS k FROM (SELECT v.upstream_id,
    v.revision_id, r.rev, r.commit_time_s, count(*) OVER (PARTITION BY v.upstream_id) AS measured,
    row_number() OVER (PARTITION BY v.upstream_id
      ORDER BY version_key(r.rev) DESC, r.position DESC, r.rev DESC) AS back
  FROM (SELECT DISTINCT upstream_id, revision_id FROM page_version_newest WHERE is_ranked) v
    JOIN revision r ON r.id = v.revision_id) WHERE back <= 40

-- The fastest configuration of a problem on a device with each version. `old_k`: the version before it
-- with which the problem was measured. Compile times are those of the configuration of the newest one.
-- page_version_time: table by problem_key
WITH t AS (SELECT x.*, v.k, v.rev, v.commit_time_s AS released_s,
    min(x.place) OVER (PARTITION BY x.upstream_id, x.device_id, x.op_id) AS section_id,
    min(x.place) OVER (PARTITION BY x.upstream_id, x.device_id, x.problem_id) AS problem_key,
    row_number() OVER (PARTITION BY x.upstream_id, x.device_id, x.problem_id, v.k
      ORDER BY x.value, x.place) AS nth
  FROM page_version_newest x JOIN page_version v USING (upstream_id, revision_id) WHERE x.is_ranked),
best AS (SELECT *, lag(k) OVER (PARTITION BY problem_key ORDER BY k) AS old_k,
    first_value(backend) OVER same AS last_backend, first_value(config) OVER same AS last_config,
    first_value(mode) OVER same AS last_mode, (SELECT v.series_id FROM page_vendor v
      WHERE v.problem_id = t.problem_id AND v.device_id = t.device_id AND v.upstream_id <> t.upstream_id
      ORDER BY v.value, v.place LIMIT 1) AS vendor_id
  FROM t WHERE nth = 1 WINDOW same AS (PARTITION BY problem_key ORDER BY k DESC))
SELECT b.*, c.value AS compile_ns, v.value AS vendor_ns, iif(b.config <> '', b.config,
  (SELECT ifnull(json_extract(attributes, '$.plan.algorithm'), '') FROM run WHERE id = b.run_id)) AS ran
FROM best b LEFT JOIN page_series v ON v.id = b.vendor_id
  LEFT JOIN page_version_newest c ON c.revision_id = b.revision_id AND NOT c.is_ranked
    AND c.problem_id = b.problem_id AND c.device_id = b.device_id AND c.upstream_id = b.upstream_id
    AND c.backend = b.last_backend AND c.config = b.last_config AND c.mode = b.last_mode

-- The GPU kernels that ran then: of a package those of the problem and configuration, of a shared object
-- all. More than 8 are not those of one problem.
-- page_version_kernel: table by problem_key
WITH n AS (SELECT *, substr(name, instr(name, ' ') + 1) AS part FROM kernel
  WHERE (name GLOB 'sm[_]*' OR name GLOB 'gfx*') AND instr(name, ' ')),
used AS (SELECT t.problem_key, t.k, n.*, q.text || ' ' || t.ran AS wanted,
    iif(instr(part, ' '), substr(part, instr(part, ' ') + 1), NULL) AS rest
  FROM page_version_time t JOIN problem q ON q.id = t.problem_id
    JOIN n ON n.build_id = t.build_id AND n.backend = t.backend)
SELECT * FROM (SELECT *, row_number() OVER (PARTITION BY problem_key, k ORDER BY name) AS nth,
    count(*) OVER (PARTITION BY problem_key, k) AS kernels
  FROM used WHERE rest IS NULL OR rest = wanted OR substr(rest, 1, length(wanted) + 1) = wanted || '#')
WHERE kernels <= 8 ORDER BY problem_key, k, nth

-- page_version_code: table by problem_key
SELECT problem_key, k, count(*) AS kernels, group_concat(code_hash) AS hashes, max(registers) AS registers,
  max(shared_bytes) AS shared_bytes, sum(spill_bytes) AS spill_bytes,
  sum(iif(instr(instructions, 'total='), CAST(substr(instructions, instr(instructions, 'total=') + 6)
    AS INTEGER), NULL)) AS instructions
FROM page_version_kernel GROUP BY problem_key, k

-- With the version before it; NULL where there is none. `apart`: their intervals do not overlap.
-- page_version_step: table by problem_key
SELECT b.*, a.value AS old_value, a.rev AS old_rev, a.variant AS old_variant, a.series_id AS old_series_id,
  a.revision_id AS old_revision_id, a.environment_id AS old_environment_id, b.value / a.value AS ratio,
  ifnull(a.hi < b.lo OR b.hi < a.lo, 0) AS apart, y.kernels AS kernels, x.kernels AS old_kernels,
  x.hashes = y.hashes AS is_same_code, y.registers, y.spill_bytes, y.shared_bytes, y.instructions
FROM page_version_time b LEFT JOIN page_version_time a ON a.problem_key = b.problem_key AND a.k = b.old_k
  LEFT JOIN page_version_code x ON x.problem_key = b.problem_key AND x.k = b.old_k
  LEFT JOIN page_version_code y ON y.problem_key = b.problem_key AND y.k = b.k

-- The backends at each problem on each device: first the fastest and those that tie with it (is_first),
-- then the others. `best`: the shortest time.
-- page_standing: table by problem_id
WITH t AS (SELECT p.id, p.place, p.device_id, p.value, p.lo, p.hi, p.n, s.problem_id, q.op AS problem_op,
    q.dtype, q.flops, row_number() OVER same AS nth,
    first_value(value) OVER same AS best, first_value(lo) OVER same AS best_lo,
    first_value(hi) OVER same AS best_hi, first_value(n) OVER same AS best_n
  FROM page_series p JOIN series s USING (id) JOIN problem q ON q.id = s.problem_id
  WHERE p.is_ranked AND NOT p.fails AND p.value > 0
  WINDOW same AS (PARTITION BY p.device_id, s.problem_id ORDER BY p.value, p.place)),
c AS (SELECT *, nth = 1 OR value < best * (1 + (SELECT tie FROM page_site)) OR
    ((n > 1 OR hi > lo) AND (best_n > 1 OR best_hi > best_lo) AND NOT best_hi < lo) IS TRUE AS is_first
  FROM t),
r AS (SELECT *, row_number() OVER (PARTITION BY device_id, problem_id ORDER BY NOT is_first, nth) AS rank,
    count(*) OVER same AS contenders, sum(is_first) OVER same AS first_count
  FROM c WINDOW same AS (PARTITION BY device_id, problem_id))
SELECT r.*, p.op_id, p.op, p.op_file, p.variant, p.file, p.style, p.rate, p.rate_unit, p.datasheet_share, p.ceiling_share,
  p.limited_by, p.night_s
FROM r CROSS JOIN page_series p USING (id)

-- The key problem of an operation and type on a device: the one that most backends have; of several the
-- one with the most work. `line`: the devices in the order of pages.
-- page_key_problem: table by device_id
SELECT d.line, d.device, k.* FROM (SELECT id, place, device_id, problem_id, contenders, row_number() OVER (
      PARTITION BY device_id, problem_op, dtype ORDER BY contenders DESC, flops DESC, place) AS choice
    FROM page_standing WHERE rank = 1) k
  JOIN page_device d ON d.id = k.device_id WHERE choice = 1

-- The backend to use for each problem: of those that share the first place the one that does so for the
-- most problems, so that a table uses few backends and noise does not change it.
-- page_dispatch: table by device_id
WITH d AS (SELECT id, problem_id, row_number() OVER (PARTITION BY device_id, problem_id
    ORDER BY NOT is_first, firsts DESC, rank) AS choice
  FROM (SELECT id, device_id, problem_id, is_first, rank,
      sum(is_first) OVER (PARTITION BY device_id, problem_op, variant) AS firsts
    FROM page_standing))
SELECT c.*, n.variant AS next, n.value / c.value AS lead
FROM d JOIN page_standing c USING (problem_id, id)
  LEFT JOIN page_standing n ON n.problem_id = c.problem_id AND n.device_id = c.device_id
  AND n.rank = c.first_count + 1
WHERE choice = 1

-- The backends of a device at its key problems, in the order in which they are met: at most 7.
-- page_board_column: table by device_id
SELECT * FROM (SELECT s.device_id, s.variant, s.style, row_number() OVER (PARTITION BY s.device_id
    ORDER BY min(k.place * 1000 + s.rank)) AS i
  FROM page_key_problem k JOIN page_standing s ON s.problem_id = k.problem_id AND s.device_id = k.device_id
  GROUP BY s.device_id, s.variant)
WHERE i <= 7

-- The newest times on kernel pages. A table has one operation, device and mode, because modes are never
-- ranked together; `c`: its backends, in the order in which they are met. `best`: the shortest time of a
-- problem. `apart`: 0 where the best is clearly faster, 1 a tie, 2 without interval.
-- page_kernel_cell: table by problem_key
WITH s AS (SELECT p.id, p.place, p.op_id, p.device_id, p.lo, p.hi, s.problem_id, s.mode,
    iif(NOT p.fails AND p.value > 0, p.value, NULL) AS time,
    (p.n > 1 OR p.hi > p.lo) AND p.lo + p.hi IS NOT NULL AS has_interval,
    min(p.place) OVER (PARTITION BY p.op_id, p.device_id, s.mode) AS table_id,
    min(p.place) OVER (PARTITION BY p.op_id, p.device_id, s.mode, p.variant) AS met
  FROM page_series p JOIN series s USING (id)
  WHERE p.is_suite_time AND p.has_result AND (place('mode', s.mode) IS NOT NULL OR s.mode GLOB 'sequence:*')),
c AS (SELECT *, dense_rank() OVER (PARTITION BY table_id ORDER BY met) - 1 AS c FROM s),
t AS (SELECT *, min(place) OVER same AS first_place, count(time) OVER same AS known,
    first_value(id) OVER ranked AS best_id, first_value(c) OVER ranked AS best_c,
    first_value(time) OVER ranked AS best, first_value(hi) OVER ranked AS best_hi,
    first_value(has_interval) OVER ranked AS best_interval
  FROM c WHERE c < 12 WINDOW same AS (PARTITION BY table_id, problem_id),
    ranked AS (PARTITION BY table_id, problem_id ORDER BY time IS NULL, time, c))
SELECT t.*, p.variant, p.style, p.file, p.is_ranked, p.outcome, p.value, p.n, p.rate, p.rate_unit, p.p95, p.run_id,
  dense_rank() OVER (ORDER BY first_place) AS problem_key, iif(known > 1, time / best, NULL) AS ratio,
  CASE WHEN time IS NULL OR t.id = best_id THEN 0 WHEN time < best * (1 + tie) THEN 1
    WHEN (has_interval AND best_interval) IS NOT 1 THEN 2 ELSE best_hi >= t.lo END AS apart,
  figure(r.j ->> 'energy_j') AS energy, figure(r.j ->> '$.plan.workspace_bytes') AS workspace,
  figure(r.j ->> 'device_bytes') AS memory, figure(r.j ->> 'launch_ns') AS launch, b.wall_s AS build
FROM page_site CROSS JOIN t CROSS JOIN page_series p ON p.id = t.id
  LEFT JOIN (SELECT id, iif(json_valid(attributes), attributes, '{}') AS j FROM run) r ON r.id = p.last_run_id
  LEFT JOIN build b ON b.id = p.build_id

-- page_kernel_column: table by table_id
SELECT table_id, c, variant, style FROM page_kernel_cell GROUP BY table_id, c

-- Their rowid is the problem_key.
-- page_kernel_problem: table by table_id
SELECT table_id, problem_key, problem_id, op_id, device_id, mode, is_ranked, known, best, best_id, best_c,
  max(c) AS last_c, max(apart) AS apart, known > 1 AND max(apart) = 0 AS is_clear,
  min(time) FILTER (WHERE id <> best_id) / best AS lead
FROM page_kernel_cell GROUP BY problem_key ORDER BY problem_key

-- page_kernel_table: table by table_id
SELECT table_id, op_id, device_id, mode, is_ranked, count(*) AS problems, max(last_c) AS last_c
FROM page_kernel_problem GROUP BY table_id

-- The groups of problems that a table summarises: families, and the aspects of GEMMs. A skinny result fills
-- no tile of a large GPU.
-- page_kernel_group: table by group_id
WITH g AS (SELECT p.*, q.op, q.family, '{"' || replace(replace(substr(q.text, instr(q.text, ':') + 1),
    '=', '":"'), ',', '","') || '"}' AS j FROM page_kernel_problem p JOIN problem q ON q.id = p.problem_id),
a AS (SELECT *, CAST(j ->> 'm' AS REAL) AS m, CAST(j ->> 'n' AS REAL) AS n, CAST(j ->> 'k' AS REAL) AS k
  FROM g WHERE op = 'gemm' AND json_valid(j))
SELECT *, dense_rank() OVER (ORDER BY table_id, kind DESC, name) AS group_id
FROM (SELECT table_id, problem_key, known, 'family' AS kind, family AS name FROM g WHERE family <> ''
  UNION ALL SELECT table_id, problem_key, known, 'aspect', CASE WHEN m = n AND n = k THEN 'square'
      WHEN min(m, n) <= 128 THEN 'skinny' WHEN k >= 2 * max(m, n) THEN 'deep k' ELSE 'other' END
    FROM a WHERE m > 0 AND n > 0 AND k > 0)

-- page_kernel_group_cell: table by group_id
SELECT g.group_id, x.c, count(ratio) AS shared, sum(ratio <= 1 + tie) AS wins, exp(avg(ln(ratio))) AS mean,
  count(ratio) = (SELECT count(*) FROM page_kernel_group a WHERE a.group_id = g.group_id AND a.known > 1)
    AS is_whole
FROM page_site, page_kernel_group g JOIN page_kernel_cell x USING (problem_key)
WHERE g.known > 1 GROUP BY g.group_id, x.c

-- Rates and bandwidths.
-- page_ceiling: table by device_id
SELECT *, is_cache(name, unit) = '1' AS is_cache FROM newest_ceiling_v WHERE value > 0 AND unit <> 'ns'
ORDER BY night_id DESC, name, source

-- The newest times of the last 8 nights under the ceilings. A backfill is as old as its commit, so it counts
-- only where there is no other night. `mark`: its backend.
-- page_roofline: table by device_id
WITH m AS MATERIALIZED (SELECT m.id, l.id AS night_id, (SELECT min(as_of_s) FROM (SELECT as_of_s FROM night n
      WHERE n.machine_id = m.id AND 'nightly' IN (n.kind, iif(l.kind = 'nightly', '', 'nightly'))
      ORDER BY started_s DESC LIMIT 8)) AS since_s
  FROM page_machine m JOIN night l ON l.id = m.last_night_id)
SELECT p.id, p.place, p.device_id, p.file, p.label, p.style, p.op, p.night_s, p.value, p.limited_by,
  p.ceiling_share AS efficiency, p.datasheet_share AS peak, q.title, q.dtype, q.flops / q.bytes AS intensity,
  q.flops / p.value AS rate, q.flops / f.dram AS dram, q.flops / f.l2 AS l2, q.flops / f.l1 AS l1,
  (SELECT night_id FROM run WHERE id = p.run_id) <> m.night_id AS is_old,
  ifnull(f.dram, ifnull(f.l2, f.l1)) IS NOT NULL AS is_measured, count(*) OVER (PARTITION BY p.device_id) AS n,
  dense_rank() OVER (PARTITION BY p.device_id ORDER BY p.label) - 1 AS mark, row_number() OVER (
    PARTITION BY p.device_id ORDER BY p.ceiling_share IS NULL, p.ceiling_share DESC, p.place) AS nth
FROM page_series p JOIN series s USING (id) JOIN problem q ON q.id = s.problem_id
  JOIN device d ON d.id = p.device_id JOIN m ON m.id = d.machine_id LEFT JOIN page_profile f ON f.series_id = p.id
WHERE p.is_ranked AND p.night_s >= m.since_s AND q.flops > 0 AND q.bytes > 0 AND p.value > 0

-- page_cause_kind:
SELECT column1 AS kind, column2 AS word, column3 AS words, column4 AS tone
FROM (VALUES (0, 'regression', 'regressions', 'bad'), (1, 'failure', 'failures', 'bad'),
  (2, 'missing series', 'missing series', 'bad'), (3, 'improvement', 'improvements', 'good'),
  (4, 'fix', 'fixes', 'good'), (5, 'change of the environment', 'changes of the environment', 'note'),
  (6, 'change without a direction', 'changes without a direction', 'note'))

-- The verdicts of the period of the site: of one night, else of the newest analysed night of each machine.
-- page_said: table by series_id
SELECT v.*, CASE iif(v.accepted, v.status, v.status_before_ack) WHEN 'regressed' THEN 0
    WHEN 'newly-failed' THEN 1 WHEN 'missing' THEN iif(p.is_skipped OR p.is_unplanned, NULL, 2)
    WHEN 'improved' THEN 3 WHEN 'recovered' THEN 3 WHEN 'fixed' THEN 4 WHEN 'environment' THEN 5
    WHEN 'changed' THEN 6 END AS kind
FROM (SELECT DISTINCT iif(o.night_id, o.night_id, m.analysed_night_id) AS id FROM page_site o, page_machine m) n
  JOIN verdict_v v ON v.night_id = n.id JOIN page_series p ON p.id = v.series_id

-- What changed, in groups of one cause: series that changed with one commit, with their environment, or
-- failed for one reason; and change points of the period that no verdict says. A commit is not blamed for
-- a failure that unchanged code shares on its device: the device is the likelier cause.
-- page_event: table by cause_id
WITH e AS (SELECT series_id, kind, before_value, after_value, change, change_lo, change_hi, as_of_s AS at_s,
    reason, iif(good_revision_id AND bad_revision_id AND good_revision_id <> bad_revision_id,
      bad_revision_id, NULL) AS revision_id, first_bad_rev, first_bad_subject, first_bad_author,
    first_bad_confidence, alert_opened_s
  FROM page_said WHERE kind IS NOT NULL
  UNION ALL SELECT c.series_id, CASE WHEN c.good_revision_id IS c.revision_id AND
      c.environment_id IS NOT c.previous_environment_id THEN 5 WHEN c.worse THEN 0 WHEN c.worse = 0 THEN 3 ELSE 6 END,
    c.before_value, c.after_value, c.ratio - 1, c.change_lo, c.change_hi, c.as_of_s, '',
    iif(c.is_of_revision AND c.good_revision_id, c.revision_id, NULL), NULL, NULL, NULL, NULL, 0
  FROM page_site o JOIN page_change c ON o.since_s AND c.as_of_s >= o.since_s
    JOIN page_series p ON p.id = c.series_id
  WHERE c.before_value > 0 AND NOT EXISTS (SELECT 1 FROM page_said s WHERE p.verdict_night_id
    AND s.series_id = c.series_id AND s.kind IS NOT NULL AND s.as_of_s <= c.as_of_s)),
s AS (SELECT e.*, p.place, p.device_id, d.device, s.unit, iif(kind = 1 AND max(revision_id IS NULL) OVER (
      PARTITION BY kind, p.device_id, reason), NULL, revision_id) AS commit_id,
    ifnull(iif(change > -1, abs(ln(1 + change)), 0), 0) AS size,
    change IS NOT NULL AND before_value IS NOT NULL AND after_value IS NOT NULL AS has_change
  FROM e JOIN page_series p ON p.id = e.series_id JOIN page_device d ON d.id = p.device_id
    JOIN series s ON s.id = e.series_id),
g AS (SELECT *, dense_rank() OVER (ORDER BY kind, ifnull(commit_id, 0), iif(commit_id, '', device),
    iif(commit_id IS NULL AND kind = 1, reason, ''), iif(commit_id IS NULL AND kind IN (0, 3, 6), place, 0))
    AS cause_id FROM s)
SELECT *, row_number() OVER (PARTITION BY cause_id ORDER BY size DESC, place) AS nth,
  count(*) OVER (PARTITION BY cause_id) AS events
FROM g

-- The causes, the most urgent first, with their largest change; `found`: the first bad commit of a
-- bisection.
-- page_cause: table by line
SELECT f.*, k.word, k.words, k.tone, d.machine, b.rev, b.subject, b.author, x.first_bad_rev AS found_rev,
  x.first_bad_subject AS found_subject, x.first_bad_author AS found_author,
  x.first_bad_confidence AS found_confidence,
  row_number() OVER (ORDER BY f.kind, f.size DESC, f.events DESC, f.cause_id) AS line
FROM page_event f JOIN page_cause_kind k USING (kind) JOIN page_device d ON d.id = f.device_id
  LEFT JOIN revision b ON b.id = f.commit_id
  LEFT JOIN page_event x ON x.cause_id = f.cause_id AND x.nth = (SELECT min(nth) FROM page_event y
    WHERE y.cause_id = f.cause_id AND f.commit_id AND y.first_bad_rev <> '')
WHERE f.nth = 1

-- One or a few sentences: "2 regressions, 1 failure last night. lab: the night failed. Worst: ...".
-- page_headline: table by text
WITH o AS (SELECT *, (SELECT count(before_value) FROM page_said) AS compared,
    (SELECT count(*) FROM page_series) AS series, (SELECT count(*) FROM night) AS nights,
    (SELECT count(DISTINCT n.as_of_s / 86400) FROM night n, (SELECT c.as_of_s, d.machine_id
      FROM page_change c JOIN series s ON s.id = c.series_id JOIN device d ON d.id = s.device_id
      WHERE c.worse ORDER BY c.as_of_s DESC LIMIT 1) r WHERE n.machine_id = r.machine_id
      AND n.kind IN ('nightly', 'import') AND n.as_of_s / 86400 > r.as_of_s / 86400) AS nights_ago,
    EXISTS (SELECT 1 FROM page_change WHERE worse) AS has_regression FROM page_site),
m AS (SELECT m.place, clip(m.name, 60) AS name, n.status, o.now_s - n.as_of_s AS age_s,
    CASE WHEN o.now_s - n.as_of_s > 36 * 3600 THEN 'late' WHEN n.status IN ('failed', 'stopped') THEN 'failed'
      WHEN n.status = 'incomplete' THEN 'incomplete' END AS state
  FROM o, page_machine m JOIN page_night n ON n.id = m.last_night_id WHERE NOT o.night_id ORDER BY m.place),
counts AS (SELECT group_concat(text, ', ') AS text FROM (SELECT counted(count(*)) || ' ' ||
    iif(count(*) = 1, k.word, k.words) AS text
  FROM page_event JOIN page_cause_kind k USING (kind) GROUP BY kind ORDER BY kind)),
w AS (SELECT c.*, kind IN (0, 3) AS is_change, q.title, p.label, change(c.change) AS largest,
    (SELECT change(change) FROM page_event e WHERE e.cause_id = c.cause_id AND nth = 2) AS second,
    (SELECT change(change) FROM page_event e WHERE e.cause_id = c.cause_id AND nth = c.events) AS last
  FROM page_cause c JOIN page_series p ON p.id = c.series_id JOIN series s ON s.id = p.id
    JOIN problem q ON q.id = s.problem_id WHERE line = 1)
SELECT iif(series = 0, 'Nothing has been measured yet.',
  CASE WHEN counts.text IS NOT NULL THEN counts.text || CASE WHEN since_s THEN ' in this period.'
      WHEN night_id THEN ' in this night.' ELSE ' last night.' END
    WHEN compared THEN 'No change in ' || counted(compared) || ' series' || iif(has_regression,
      '; last regression ' || nights_ago || ' night' || iif(nights_ago = 1, '', 's') || ' ago', '') || '.'
    WHEN nights > 1 AND NOT EXISTS (SELECT 1 FROM page_machine WHERE analysed_night_id)
      THEN counted(series) || ' series in ' || counted(nights) || ' nights, not analysed yet.'
    ELSE 'First night: ' || (SELECT counted(count(night_s)) || ' of ' || counted(sum(has_result))
      FROM page_series) || ' series measured. Comparisons start with the next one.' END ||
  ifnull((SELECT group_concat(' ' || name || ': the night ' || status || '.', '') FROM m
    WHERE state = 'failed'), '') ||
  ifnull((SELECT CASE WHEN kind = 1 AND events > 1 AND commit_id IS NULL AND reason <> '' THEN ' Worst: ' ||
      events || ' series on ' || clip(machine, 60) || ': ' || clauses(reason, 120) || '.'
    ELSE iif(kind IN (3, 4), ' Best: ', ' Worst: ') || clip(title, 110) || ', ' || clip(label, 60) ||
      iif(is_change, ' ' || largest, '') || ' on ' || clip(machine, 60) ||
      iif(is_change AND events > 1, ' (' || (events - 1) || ' other series: ' || second ||
        iif(second = last, '', ' to ' || last) || ')', '') ||
      CASE WHEN found_rev <> '' THEN ', first bad commit ' || short_rev(found_rev) ||
          iif(found_author = '', '', ' (' || clip(found_author, 60) || ')') ||
          printf(', %.1f %% confidence', 100 * found_confidence)
        WHEN commit_id THEN ', since ' || short_rev(rev) || iif(author = '', '', ' (' || clip(author, 60) || ')')
        WHEN NOT is_change AND reason <> '' THEN ': ' || clauses(reason, 120) ELSE '' END || '.' END
    FROM w), '') ||
  ifnull((SELECT group_concat(' ' || name || ': no night for ' || duration(age_s) || '.', '') FROM m
    WHERE state = 'late'), '') ||
  ifnull((SELECT ' Incomplete night' || iif(count(*) = 1, '', 's') || ': ' || group_concat(name, ', ') || '.'
    FROM m WHERE state = 'incomplete' HAVING count(*)), '')) AS text
FROM o, counts

-- page_machine_day: table by machine_id
WITH RECURSIVE days(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM days WHERE i < 29),
last AS (SELECT m.id, ifnull(n.as_of_s, 0) / 86400 AS last
  FROM page_machine m LEFT JOIN night n ON n.id = m.last_night_id)
SELECT l.id AS machine_id, l.last, i, (SELECT status FROM night n WHERE n.machine_id = l.id
    AND n.kind = 'nightly' AND n.as_of_s / 86400 = l.last + i - 29
  ORDER BY n.started_s DESC, n.id DESC LIMIT 1) AS status
FROM last l, days
