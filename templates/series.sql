-- series/NAME.html: ?1 is the series.

-- .:
SELECT ifnull(versions_href, '') AS versions_href
FROM series s LEFT JOIN page_versions USING (upstream_id) WHERE s.id = ?1

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
