-- what: GEMM suites: sizes, then time, GFLOPS; CSV or log
-- reads: log
-- heading: m|n|k|problem_size|kernel
-- heading: us|usec|time (us*|time_*|latency*|ms|time (ms)|runtime|*gb/s|*gbps|*tflops|*tflop/s|*gflops|*gflop/s|compilation_time
-- identity: problem_size|shape|A|B|C|D|transA|transB|trans_a|trans_b|layout|a_type|b_type|c_type|d_type|compute_type
-- identity: dtype|datatype|type|precision|accum|uplo|side|diag|incx=1|incy=1|kl|ku|alpha=1|beta=0|batch_count=1
-- identity: batch=1|batch_size=1|groups=1|group_count=1|grouped_gemm=0|split_k_mode=serial|split_k_slices=1
-- identity: raster_order=heuristic|swizzle_size=1|scaleA=0|scaleB=0|scaleC=0|scaleD=0|amaxD=0|swizzle_a=0|swizzle_b=0
-- identity: activation_type=none|bias_vector=0|epilogue=none|side_mode|fill_mode|diag_type|Activation|Filter|Output
-- identity: d|h|w|t|r|s|pad_d=0|pad_h=0|pad_w=0|stride_h=1|stride_w=1|dilation_d=1|dilation_h=1|dilation_w=1
-- columns: function|operation|kernel|name|op|m|n|k|lda|ldb|ldc|ldd|stride_?|backend|provider|library|gpu_model|device
-- columns: gpu|status|disposition|*us|*usec|*(usec)|*(us)|*ms|*(ms)|runtime|latency|*time_?s|*gb/s|*gbps|*flop/s|*flops
-- columns: *flops)|compilation_time|bytes|flops/byte|problem
-- attributes: operationkind|*_kind|conv_mode|iterator_algorithm|eq_gemm_provider|z|p|q|E|op_class|cta_?|cluster_?|stages|warps_?|inst_?|min_cc|max_cc|cold_iters|hot_iters
-- attributes: bias_type|aux_type|rotating_buffer|flush|use_gpu_timer|norm_error*|atol|rtol|lowest-*-freq
--
-- The CUTLASS profiler, rocblas-bench, hipblaslt-bench, hipblas-bench and suites like them. "X-GFLOPS"
-- beside others is the rate of the backend X; what begins with "CPU" is the reference's. rocblas-bench does not
-- write the function: without K it is known by its arguments, "blas(n,alpha,incx)". The GB/s of CUTLASS and
-- of hipBLASLt are GiB/s.
SELECT capture(before, 'Device ID [0-9]+ *: *([A-Za-z0-9 ()-]+) gfx', 1) AS device, capture(before, ' (gfx[0-9a-f]+)', 1) AS arch,
  coalesce(capture(before, 'git version: *([0-9a-z.-]+)', 1), capture(before, 'BLAS version: *([0-9a-z.-]+)', 1)) AS revision
FROM csv LIMIT 1;

CREATE TABLE measure AS
WITH measure(word, metric, unit) AS (VALUES ('us', 'time', 'us'), ('usec', 'time', 'us'), ('time (usec)', 'time', 'us'),
    ('time (us)', 'time', 'us'), ('time_us', 'time', 'us'), ('latency_us', 'time', 'us'), ('latency_ms', 'time', 'ms'),
    ('time_ms', 'time', 'ms'), ('ms', 'time', 'ms'), ('time (ms)', 'time', 'ms'), ('runtime', 'time', 'ms'),
    ('latency', 'time', 'ms'), ('time_ns', 'time', 'ns'), ('time_s', 'time', 's'), ('gb/s', 'bandwidth', 'GB/s'),
    ('gbps', 'bandwidth', 'GB/s'), ('tflops', 'flops', 'TFLOPS'), ('(tflops)', 'flops', 'TFLOPS'),
    ('tflop/s', 'flops', 'TFLOPS'), ('gflops', 'flops', 'GFLOPS'), ('(gflops)', 'flops', 'GFLOPS'),
    ('gflop/s', 'flops', 'GFLOPS'), ('compilation_time', 'compile_time', 's')),
  heading AS (SELECT min(h.id) AS i, h.key AS heading FROM csv, json_each(csv.cells) h GROUP BY h.key),
  found AS (
    SELECT i, heading, metric, unit, trim(substr(heading, 1, length(heading) - length(word)), ' -_:') AS prefix,
      max(length(word))
    FROM heading JOIN measure ON substr(lower(heading), -length(word)) = word
      AND (length(heading) = length(word) OR substr(heading, -length(word) - 1, 1) IN (' ', '-', '_', ':')
        OR substr(word, 1, 1) = '(') GROUP BY i),
  told AS (
    SELECT heading, iif(unit = 'GB/s' AND (lower(prefix) = 'hipblaslt' OR EXISTS (SELECT 1 FROM heading WHERE heading = 'OperationKind')),
      'GiB/s', unit) AS unit, iif(lower(prefix) IN ('cpu', 'host', 'reference'), 'cpu_', '') || metric AS metric,
      iif(lower(prefix) IN ('', 'cpu', 'host', 'reference', 'gpu', 'rocblas', 'hipblas', 'hipblaslt', 'avg', 'mean', 'kernel'),
        NULL, prefix) AS backend, i FROM found)
-- Two columns may say the same in other units: the first one counts.
SELECT heading, '$."' || heading || '"' AS path, metric, unit, backend, min(i) AS i FROM told GROUP BY metric, backend;

WITH problem AS (
  SELECT *, coalesce(cells ->> 'M', cells ->> 'm') AS m, coalesce(cells ->> 'N', cells ->> 'n') AS n,
    coalesce(cells ->> 'K', cells ->> 'k') AS k,
    coalesce(cells ->> 'Operation', cells ->> 'operation', cells ->> 'function', cells ->> 'kernel', cells ->> 'Kernel',
      cells ->> 'name', cells ->> 'op', iif(coalesce(cells ->> 'K', cells ->> 'k', cells ->> 'problem_size') IS NULL, 'blas(' ||
        (SELECT group_concat(lower(h.key)) FROM json_each(cells) h WHERE lower(h.key) IN ('side', 'uplo', 'diag', 'transa',
          'transb', 'm', 'n', 'kl', 'ku', 'alpha', 'beta', 'lda', 'ldb', 'ldc', 'incx', 'incy')) || ')', 'gemm')) AS title,
    lower(substr(coalesce(cells ->> 'transA', 'N'), 1, 1)) IN ('t', 'c') AS ta,
    lower(substr(coalesce(cells ->> 'transB', 'N'), 1, 1)) IN ('t', 'c') AS tb,
    coalesce(cells ->> 'Disposition', cells ->> 'disposition') AS disposition,
    coalesce(cells ->> 'Status', cells ->> 'status') AS status
  FROM csv),
-- Leading dimensions and strides are named where the matrices are not packed.
packed AS (
  SELECT line, group_concat(' ' || d.key || '=' || d.value, '') AS text FROM problem, json_each(cells) d
  WHERE (lower(d.key) GLOB 'ld[abcd]' OR lower(d.key) GLOB 'stride_[abcd]') AND d.value <> ''
    AND CAST(d.value AS INTEGER) NOT IN (
      CASE lower(substr(d.key, -1)) WHEN 'a' THEN iif(ta, k, m) WHEN 'b' THEN iif(tb, n, k) ELSE m END,
      CASE lower(substr(d.key, -1)) WHEN 'a' THEN m * k WHEN 'b' THEN n * k ELSE m * n END,
      iif(lower(d.key) GLOB 'stride*', 0, -1))
  GROUP BY line),
spelled AS (
  SELECT p.*, title || iif(cells ->> 'conv_kind' <> '', ' n=' || n || ' k=' || k, ifnull(' ' || nullif(substr(ifnull('x' || m, '') || ifnull('x' || n, '') || ifnull('x' || k, ''), 2), ''), '')) || iif(p.name = '', '', ' ' || p.name) ||
    ifnull(packed.text, '') AS series
  FROM problem p LEFT JOIN packed USING (line)),
-- hipblaslt-bench tries solutions, and writes the row of the winner again.
named AS (
  SELECT * FROM (SELECT *, before LIKE 'winner%' AS won, max(before LIKE 'winner%') OVER (PARTITION BY series) AS has_won
    FROM spelled) WHERE won = has_won)
SELECT series, metric, unit, coalesce(measure.backend, cells ->> 'Provider', cells ->> 'provider', cells ->> 'backend',
    cells ->> 'library') AS backend,
  coalesce(cells ->> 'gpu_model', cells ->> 'device', cells ->> 'gpu', cells ->> 'GPU') AS device,
  cells ->> path AS value, place || '.' || heading AS place, attributes,
  CASE WHEN disposition LIKE '%incorrect%' THEN 'wrong' WHEN status LIKE '%not_supported%' THEN 'unsupported'
    WHEN disposition LIKE '%fail%' OR status NOT LIKE '%success%' AND status NOT LIKE '%pass%' AND status <> 'ok'
      THEN 'failed' END AS outcome,
  ifnull(nullif(disposition, 'passed'), status) AS message
FROM named, measure WHERE cells ->> path IS NOT NULL;
