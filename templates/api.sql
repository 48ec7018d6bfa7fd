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
  LEFT JOIN page_said v ON v.series_id = p.id AND v.night_id = p.verdict_night_id
ORDER BY p.place

-- machines:
SELECT m.name, n.as_of_s AS "night:time", n.finished_s AS "finished:time", ifnull(n.status, '') AS status
FROM page_machine m LEFT JOIN page_night n ON n.id = m.last_night_id ORDER BY m.place

-- dispatch/: of device ?1 and operation ?2.
-- dispatch:
SELECT q.text AS problem, q.title, q.dtype, d.variant AS label, s.backend, s.config, u.name AS upstream,
  s.slug AS series, d.value AS time_ns, d.lo AS lo_ns, d.hi AS hi_ns, d.rate, d.rate_unit,
  d.datasheet_share AS share_of_datasheet_peak,
  (SELECT json_group_array(variant) FROM (SELECT variant FROM page_standing t WHERE t.device_id = ?1
    AND t.problem_id = d.problem_id AND t.is_first AND t.id <> d.id ORDER BY t.rank)) AS "tied:json",
  ifnull(d.next, '') AS next, d.lead AS next_ratio
FROM page_dispatch d JOIN series s USING (id) JOIN problem q ON q.id = s.problem_id
  JOIN upstream u ON u.id = s.upstream_id
WHERE d.device_id = ?1 AND d.problem_op = ?2 ORDER BY d.place

-- dispatch_head:
SELECT ?2 AS op, d.machine, d.slug AS device, d.model AS device_model, s.mode,
  max(p.night_s) AS "newest:time", tie, d.device AS name, d.file
FROM page_dispatch p JOIN page_device d ON d.id = p.device_id JOIN series s ON s.id = p.id, page_site
WHERE p.device_id = ?1 AND p.problem_op = ?2

-- data/: lists that all charts share. Times and ids are differences.
-- data:
SELECT 'data/nights.js' AS path, 'tracker.data.add("nights",{"id":[' || ifnull(group_concat(id), '') || '],"time":[' ||
  ifnull(group_concat(time), '') || '],"page":{' || ifnull((SELECT group_concat(char(10) || '"' || id ||
    '":"nights/' || file || '.html"') FROM (SELECT * FROM page_night WHERE file IS NOT NULL
    ORDER BY started_s DESC, id DESC)), '') || '}});' || char(10) AS text
FROM (SELECT id - lag(id, 1, 0) OVER (ORDER BY id) AS id, as_of_s - lag(as_of_s, 1, 0) OVER (ORDER BY id) AS time
  FROM night ORDER BY night.id)
UNION ALL SELECT 'data/environments.js', 'tracker.data.add("environments",{' || ifnull(group_concat(
  char(10) || '"' || id || '":' || json_text(difference, 200)), '') || '});' || char(10)
FROM (SELECT id, difference FROM page_environment_change ORDER BY id)
UNION ALL SELECT 'data/revisions-' || u.id || '.js', 'tracker.data.add("revisions",{' ||
  ifnull((SELECT group_concat(char(10) || '"' || id || '":[' || json_text(rev, 40) || ',' ||
      json_text(subject, 140) || ',' || json_text(commit_href(u.url, rev), 512) ||
      ifnull(',"revisions/' || file || '.html"', '') || ']')
    FROM (SELECT r.*, file FROM revision r LEFT JOIN page_revision_file USING (id)
      WHERE upstream_id = u.id ORDER BY position, commit_time_s, r.id)), '') || '});' || char(10) ||
  'tracker.data.add("data/revisions-' || u.id || '.js",{"ids":[' || ifnull((SELECT group_concat(id)
    FROM (SELECT id FROM revision WHERE upstream_id = u.id ORDER BY position, commit_time_s, id)), '') ||
  ']});' || char(10)
FROM upstream u

-- roofline/: of device ?1.
-- roofline_ceilings:
SELECT group_concat(char(10) || printf('{"value":%.6g', value) || ',"name":' || json_text(name, 120) || ',"unit":"' ||
  unit || '","source":"' || source || iif(is_cache, '","cache":true}', '"}')) FROM page_ceiling WHERE device_id = ?1

-- roofline:
SELECT id, intensity, rate, is_old, dram, l2, l1, mark, n, printf('{"x":%.6g,"y":%.6g', intensity, rate) ||
  ',"efficiency":' || iif(efficiency, printf('%.6g', efficiency), 'null') ||
  ',"peak":' || iif(peak, printf('%.6g', peak), 'null') || ',"title":' || json_text(title, 120) ||
  ',"label":' || json_text(label, 120) || ',"type":' || json_text(dtype, 120) || ',"op":' || json_text(op, 120) ||
  ',"style":' || style || ',"href":' || json_text('series/' || file || '.html', 120) ||
  iif(is_old, ',"older_s":' || night_s, '') || iif(is_measured, ',"measured":[' ||
    iif(dram, printf('%.6g', dram), 'null') || ',' || iif(l2, printf('%.6g', l2), 'null') || ',' ||
    iif(l1, printf('%.6g', l1), 'null') || ']', '') AS json
FROM page_roofline WHERE device_id = ?1 ORDER BY nth
