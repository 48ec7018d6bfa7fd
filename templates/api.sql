-- api/*.json: each row is an object, as tk_records_select() makes them.

-- series:
SELECT s.slug AS id, s.title, p.label, s.op, s.dtype, s.problem, s.machine, s.device, s.upstream,
  s.backend, s.config, s.mode, s.metric, s.unit, s.better, s.role,
  p.night_s AS "night:time", p.value, p.lo, p.hi, p.n,
  ifnull(b.rev, '') AS revision, ifnull(v.status, '') AS status, v.change,
  CASE WHEN v.change IS NULL THEN '' WHEN v.ab_decision IN ('higher', 'lower') THEN 'ab' ELSE 'nights' END
    AS change_by,
  p.outcome, p.rate, p.rate_unit, p.measured_share AS share_of_measured_ceiling,
  p.datasheet_share AS share_of_datasheet_peak, iif(s.flops > 0, s.flops, NULL) AS flops,
  iif(s.bytes > 0, s.bytes, NULL) AS bytes, s.device_name AS device_model,
  'series/' || p.file || '.html' AS page, 'badges/' || p.file || '.svg' AS badge
FROM page_series p JOIN series_v s ON s.id = p.id LEFT JOIN build_v b ON b.id = p.build_id
  LEFT JOIN verdict_v v ON v.night_id = p.verdict_night_id AND v.series_id = p.id
ORDER BY p.place

-- machines:
SELECT m.name, n.as_of_s AS "night:time", n.finished_s AS "finished:time", ifnull(n.status, '') AS status
FROM page_machine m LEFT JOIN page_night n ON n.id = m.last_night_id ORDER BY m.place
