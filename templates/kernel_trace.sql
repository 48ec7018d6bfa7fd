-- traces/NAME.html: where the time goes inside the kernels of one problem; ?1 is the trace.

-- pages:
SELECT id, 'traces/' || file || '.html', 'Inside ' || clip(backend, 60) || ' · ' || clip(title, 120)
FROM page_trace ORDER BY place

-- .:
SELECT * FROM page_trace_row WHERE trace_id = ?1

-- .:
SELECT clip(title, 120) AS problem, clip(t.backend, 60) AS backend, clip(device, 80) AS device,
  clip(d.name, 80) AS device_name, clip(mode, 40) AS mode, clip(config, 60) AS config,
  clip(options, 100) AS options, clip(base, 100) AS base, clip(upstream, 60) AS upstream,
  clip(revision, 12) AS revision, clip(artifact_key, 12) AS build, 'data/trace-' || file || '.js' AS data,
  ifnull((SELECT '../series/' || p.file || '.html' FROM page_inside i JOIN page_series p ON p.id = i.series_id
    WHERE i.trace_id = t.id AND p.is_suite_time ORDER BY p.place LIMIT 1), '') AS series_href
FROM page_trace t JOIN device d ON d.id = t.device_id WHERE t.id = ?1

-- comparisons:
SELECT minute(started_s) AS "when", clip(base, 100) AS base, clip(revision, 12) AS head,
  clip(ifnull(j ->> 'name', ''), 60) AS kernel, clip(kernel_cause(j), 192) AS cause,
  CASE WHEN share > 0 THEN percent(share) || ' slower' WHEN share < 0 THEN percent(-share) || ' faster'
    ELSE 'no change of its time' END AS change,
  CASE WHEN share > 0 THEN 'bad' WHEN share < 0 THEN 'good' ELSE '' END AS tone
FROM (SELECT r.*, e.key AS place, iif(e.type = 'object', e.value, '{}') AS j,
    iif(e.type = 'object' AND json_type(e.value, '$.change.changed') = 'true',
      figure(e.value -> 'change' ->> 'change_ns') / figure(e.value -> 'change' ->> 'base_ns'), 0) AS share
  FROM (SELECT r.* FROM kernel_report r JOIN page_trace t ON t.device_id = r.device_id
      AND t.problem_id = r.problem_id AND t.backend = r.backend AND t.upstream = r.upstream
      AND t.config = r.config
    WHERE t.id = ?1 AND r.kind = 'trace' AND r.base <> '' AND json_valid(r.result)
    ORDER BY r.started_s DESC, r.id DESC LIMIT 10) r, json_each(r.result, '$.kernels') e
  WHERE e.key < 16)
ORDER BY started_s DESC, id DESC, place

-- kernels:
SELECT rowid AS "id-", clip(ifnull(j ->> 'name', ''), 60) AS name, nanos(duration_ns) AS duration,
  iif(records IS NULL, '–', counted(CAST(records AS INTEGER)) || ', ' ||
    iif(figure(j ->> 'groups_with_loss') > 0, 'some lost', 'none lost')) AS records,
  iif(launched > blocks OR launched IS NULL, 'the first ', '') || counted(CAST(blocks AS INTEGER)) ||
    iif(launched > blocks, ' of ' || counted(CAST(launched AS INTEGER)), '') AS blocks,
  iif(units > 0 AND mhz > 0, printf('%.0f at %.0f MHz', units, mhz), '–') AS multiprocessors,
  iif(row_ns IS NULL, '', iif(own_ns IS NULL, '', iif(own_ns < 0, '-', '') ||
    quantity(abs(own_ns), 'ns') || ' in place, ') || quantity(row_ns, 'ns') || ' in a row') AS record_cost,
  nanos(figure(j ->> 'corrected_ns')) AS corrected, nanos(figure(j ->> 'tail_ns')) AS tail,
  iif(n > 0, counted(CAST(n AS INTEGER)) || ' of ' || quantity(figure(tiles ->> 'mean_ns'), 'ns') ||
    ' in the mean, ' || quantity(figure(tiles ->> 'shortest_ns'), 'ns') || ' to ' ||
    quantity(figure(tiles ->> 'longest_ns'), 'ns'), '') AS tiles
FROM (SELECT *, figure(j ->> 'records') AS records, max(ifnull(figure(j ->> 'blocks'), 0), 0) AS blocks,
    figure(j ->> 'blocks_launched') AS launched, figure(j ->> 'multiprocessors') AS units,
    figure(j ->> 'clock_mhz') AS mhz, figure(j ->> 'record_ns') AS row_ns,
    figure(j ->> 'record_in_place_ns') AS own_ns,
    figure(iif(tiles = '', '{}', tiles) ->> 'count') AS n, rowid
  FROM page_trace_kernel WHERE trace_id = ?1 AND place < 16)
ORDER BY place

-- kernels/activities:
SELECT name, class AS does, nanos(time_ns) AS time, share(part) AS share, printf('%.1f', part * 1000) AS width,
  printf('%.1f', 1000 * ifnull(sum(part) OVER (ORDER BY place ROWS BETWEEN UNBOUNDED PRECEDING
    AND 1 PRECEDING), 0)) AS x
FROM (SELECT *, time_ns / duration_ns AS part FROM page_trace_activity WHERE kernel_id = ?1)
WHERE time_ns > 0 AND part <= 1 ORDER BY place

-- kernels/regions:
SELECT clip(ifnull(r ->> 'name', ''), 48) AS name, ifnull(d.name, 'wait') AS kind,
  ifnull(d.class, 'wait') AS does, counted(CAST(entered + 0.5 AS INTEGER)) AS entered,
  nanos(figure(r ->> 'time_ns')) AS time, share(figure(r ->> 'share_of_groups')) AS share,
  nanos(exposed) AS exposed, share(exposed / duration_ns) AS exposed_share,
  share(figure(r ->> path_key) / path_ns) AS critical, exposed / duration_ns AS "bar+"
FROM (SELECT k.*, e.key AS n, e.value AS r, figure(e.value ->> 'entered') AS entered,
    figure(e.value ->> 'exposed_ns') AS exposed
  FROM page_trace_kernel k, json_each(k.j, '$.regions') e
  WHERE k.rowid = ?1 AND e.type = 'object' AND e.key < 64)
  LEFT JOIN page_does d ON d.name = r ->> 'kind'
WHERE entered > 0 ORDER BY n
