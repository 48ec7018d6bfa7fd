-- what: triton.testing.perf_report: the CSV of a plot
-- reads: csv
-- heading: * (TFLOPS)|* (TFLOP/s)|* (GFLOPS)|* (GB/s)|* (GBPS)|* (ms)|* (us)|triton|*triton*
--
-- Columns of sizes, then one for each provider; in new versions with the unit. Older ones do not write it:
-- --better says what is better then.
CREATE TABLE col AS
WITH heading AS (
  SELECT id, key AS heading, '$."' || key || '"' AS path, capture(key, '^(.*) \(([^()]+)\)$', 1) AS provider,
    capture(key, '^(.*) \(([^()]+)\)$', 2) AS unit FROM json_each((SELECT cells FROM csv LIMIT 1)))
SELECT heading, path, ifnull(provider, heading) AS provider, unit, CASE
  WHEN lower(heading) = 'diff' OR provider = 'Diff' THEN 'rest'
  WHEN max(unit IS NOT NULL) OVER () THEN iif(unit IS NULL, 'size', 'provider')
  WHEN lower(heading) IN ('m', 'n', 'k', 'b', 'h', 'd', 'v', 'x', 'batch', 'batch_size', 'size', 'n_ctx', 'n_elements', 'seq_len',
    'seqlen', 'sequence_length', 'hidden_size', 'head_dim', 'd_head', 'num_tokens', 'n_cols', 'n_rows') THEN 'size'
  ELSE 'provider' END AS role, id FROM heading;

SELECT (SELECT group_concat(heading || '=' || v, ' ') FROM (SELECT s.heading, iif(real(csv.cells ->> s.path) IS NULL,
      csv.cells ->> s.path, printf('%.15g', real(csv.cells ->> s.path))) AS v
    FROM col s WHERE s.role = 'size' ORDER BY s.id)) AS series,
  p.provider AS backend, cells ->> p.path AS value, ifnull(p.unit, '') AS unit, place || '.' || p.heading AS place
FROM csv, col p WHERE p.role = 'provider';
