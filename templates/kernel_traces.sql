-- traces/index.html

-- pages:
SELECT 0, 'traces/index.html', 'Inside kernels' WHERE EXISTS (SELECT 1 FROM page_trace)

-- traces:
SELECT r.*, clip(title, 120) AS problem, clip(backend, 60) AS backend, clip(device, 80) AS device,
  file || '.html' AS href
FROM page_trace_row r JOIN page_trace t ON t.id = r.trace_id ORDER BY t.place
