-- index.html

-- .:
SELECT substr(text, 1, instr(text || '. ', '. ')) AS headline,
  substr(text, instr(text || '. ', '. ') + 1) AS headline_rest, clip(text, 300) AS description
FROM page_headline

-- .:
SELECT minute(now_s) AS made, counted(series) AS series_count, analysed AND compared AS "compared?",
  series AND NOT analysed AND nights > 1 AS "nothing_analysed?",
  series AND NOT (NOT analysed AND nights > 1) AND NOT (analysed AND compared) AS "nothing_compared?"
FROM (SELECT now_s, (SELECT count(*) FROM page_series) AS series, (SELECT count(*) FROM night) AS nights,
  (SELECT count(analysed_night_id) FROM page_machine) > 0 AS analysed,
  (SELECT count(before_value) FROM page_said) > 0 AS compared FROM page_site)

-- causes:
WITH axis AS (SELECT min(-0.005, ifnull(min(min(ln(1 + change), ln(1 + ifnull(change_lo, change)))), 0)) AS lo,
    max(0.005, ifnull(max(max(ln(1 + change), ln(1 + ifnull(change_hi, change)))), 0)) AS hi
  FROM page_cause WHERE has_change)
SELECT cause_id AS "id-", series_id AS "series+", 0 AS "spark+", iif(has_change, change, NULL) AS "change+",
  0 AS "verdict+", c.word AS kind, c.tone AS tone, has_change AS "numbers?", clauses(reason, 400) AS reason,
  iif(events > 1, events || ' series', '') AS more,
  ifnull(percent(p.ceiling_share * p.value / after_value), '') AS efficiency, clip(c.device, 60) AS device,
  iif((SELECT count(DISTINCT device_id) FROM page_event e WHERE e.cause_id = c.cause_id) > 1, ' and others', '')
    AS other_devices,
  iif(ifnull(nullif(alert_opened_s, 0), at_s) >= n.as_of_s, 'last night',
    ifnull(day(ifnull(nullif(alert_opened_s, 0), at_s)), '')) AS since,
  iif(has_change, interval(axis.lo, axis.hi, change, change_lo, change_hi, c.tone), '') AS "interval_markup!",
  iif(events > 40, events - 40, '') AS events_more
FROM page_cause c JOIN page_series p ON p.id = c.series_id LEFT JOIN night n ON n.id = p.verdict_night_id, axis
ORDER BY line LIMIT 24

-- causes/events:
SELECT series_id AS "series+", iif(has_change, change, NULL) AS "change+",
  iif(has_change, quantity(before_value, unit), '') AS before, quantity(after_value, unit) AS after
FROM page_event WHERE cause_id = ?1 AND events > 1 ORDER BY nth LIMIT 40

-- .:
SELECT iif(count(*) > 24, count(*) - 24, '') AS causes_more FROM page_cause

-- .:
SELECT iif(n, n || iif(n = 1, ' open alert', ' open alerts'), '') AS open_alerts,
  iif(is_new < n, is_new || ' of them new, ', '') AS new_alerts, day(oldest_s) AS oldest_alert
FROM (SELECT count(*) AS n, count(*) FILTER (WHERE state = 'new') AS is_new,
    min(opened_s) AS oldest_s
  FROM page_alert WHERE status = 'open' AND state IN ('new', 'acked'))

-- Groups of open alerts, the oldest first, with their owners.
-- open:
SELECT clip(lead_title, 140) AS alert_title, clip(group_uid, 80) AS alert_uid,
  iif(n > 1, 'and ' || (n - 1) || ' more series', '') AS more, day(opened_s) AS opened,
  CASE days WHEN 0 THEN 'new' WHEN 1 THEN '1 day' ELSE days || ' days' END AS age,
  state, tone('triage', state) AS tone, clip(owner, 60) AS owner
FROM (SELECT g.*, max((now_s - opened_s) / 86400, 0) AS days FROM page_alert_group g, page_site WHERE is_open)
ORDER BY opened_s, group_uid LIMIT 12

-- .:
SELECT iif(count(*) > 12, count(*) - 12, '') AS open_more FROM page_alert_group WHERE is_open

-- Series whose verdict is neither better nor worse, but not quiet. From four on, those without
-- values and of one reason are one line; they are never cut.
-- attention:
WITH v AS (SELECT s.*, p.place, p.word, p.tone, d.machine_id, v.night_id, v.status, v.reason, v.change,
    m.name || '/' || d.slug AS device_name,
    v.before_value IS NULL OR v.after_value IS NULL AS bare,
    iif(v.status IN ('missing', 'stale'), '', v.reason) AS why
  FROM page_series p JOIN verdict_v v ON v.night_id = p.verdict_night_id AND v.series_id = p.id
    JOIN series s ON s.id = p.id JOIN device d ON d.id = s.device_id
    JOIN machine m ON m.id = d.machine_id
  WHERE p.tone = 'note' AND v.status <> 'environment' AND NOT p.is_unsupported),
g AS (SELECT *, iif(bare, count(*) OVER same, 1) AS n,
    min(device_id) OVER same <> max(device_id) OVER same AS several_devices,
    min(reason) OVER same <> max(reason) OVER same AS several_reasons,
    row_number() OVER (same ORDER BY abs(ifnull(change, 0)) DESC, reason, place) AS i
  FROM v WINDOW same AS (PARTITION BY status, bare, iif(bare, why, ''))),
o AS (SELECT *, sum(n < 4) OVER (ORDER BY place('verdict', status),
    abs(ifnull(change, 0)) DESC, reason, place) AS line FROM g WHERE n < 4 OR i = 1)
SELECT id AS "series+", n >= 4 AS "is_group?", counted(n) AS count, word AS status, tone,
  clip(iif(n >= 4 AND several_devices, 'several devices', device_name), 60) AS device,
  iif(n >= 4 AND several_reasons, '', clauses(reason, 400)) AS reason,
  CASE WHEN n < 4 THEN 'series/' || slug(slug) || '.html'
    WHEN (SELECT count(*) FROM series) <= 1000 THEN 'lists/index.html#status=' || word
    ELSE ifnull((SELECT 'nights/' || file || '.html' FROM page_night f WHERE f.id = night_id),
      'lists/index.html') END AS href
FROM o WHERE n >= 4 OR line <= 12
ORDER BY place('verdict', o.status), abs(ifnull(change, 0)) DESC, o.reason, place

-- .:
SELECT max(count(*) - 12, 0) AS attention_more, count(*) > 12 AS "attention_cut?"
FROM (SELECT count(*) OVER same AS n, bare FROM (SELECT v.status, v.reason,
    v.before_value IS NULL OR v.after_value IS NULL AS bare
  FROM page_series p JOIN verdict_v v ON v.night_id = p.verdict_night_id AND v.series_id = p.id
  WHERE p.tone = 'note' AND v.status <> 'environment' AND NOT p.is_unsupported)
  WINDOW same AS (PARTITION BY status, bare,
    iif(bare, iif(status IN ('missing', 'stale'), '', reason), '')))
WHERE NOT bare OR n < 4

-- machines:
SELECT m.id AS "id-", clip(m.name, 60) AS machine, 'machines/' || slug(m.name) || '.html' AS machine_href,
  clip((SELECT group_concat(name, ', ') FROM (SELECT name FROM device WHERE machine_id = m.id
    GROUP BY name ORDER BY min(slug))), 120) AS cards,
  CASE WHEN n.id IS NULL THEN 'never' WHEN is_stale THEN 'stale' ELSE n.status END AS state,
  CASE WHEN n.id IS NULL THEN 'quiet' WHEN is_stale THEN 'bad' ELSE tone('night', n.status) END AS tone,
  is_stale AS "stale?", n.id IS NOT NULL AS "has_night?",
  ifnull('nights/' || n.file || '.html', 'nights/index.html') AS night_href,
  minute(n.as_of_s) AS night, ifnull(duration(n.finished_s - n.started_s), 'not finished') AS took,
  timed || iif(timed = 1, ' measurement', ' measurements') AS runs, unstable,
  is_unreliable(unstable, timed) AS "mostly_unstable?", iif(skipped, skipped, '') AS skipped,
  failures, failures > 0 AS "failed?", iif(unplanned, unplanned, '') AS unplanned,
  n.id IS NOT NULL AND m.analysed_night_id IS NULL
    AND EXISTS (SELECT 1 FROM page_machine WHERE analysed_night_id) AS "unanalysed?",
  clip(iif(n.status = 'complete', '', ifnull((SELECT substr(name, 1, 40) || ' ' || status ||
      iif(detail = '', '', ': ') || substr(detail, 1, 300)
    FROM stage WHERE night_id = n.id AND status IN ('failed', 'running')
    ORDER BY started_s, place('stage-name', name) LIMIT 1), '')), 200) AS reason
FROM page_machine m
  LEFT JOIN (SELECT n.*, now_s - as_of_s > 36 * 3600 AS is_stale FROM page_night n, page_site) n ON n.id = m.last_night_id
  LEFT JOIN (SELECT night_id, sum(is_timed(outcome)) AS timed, sum(outcome = 'unstable') AS unstable
    FROM run WHERE night_id IN (SELECT last_night_id FROM page_machine) GROUP BY night_id) r
    ON r.night_id = m.last_night_id
  LEFT JOIN (SELECT d.machine_id, sum(p.is_unplanned AND p.verdict_night_id) AS unplanned,
      sum(p.fails AND NOT p.is_unsupported AND NOT p.is_skipped) AS failures,
      sum(p.fails AND p.is_skipped) AS skipped
    FROM page_series p JOIN series s ON s.id = p.id JOIN device d ON d.id = s.device_id
    GROUP BY d.machine_id) s ON s.machine_id = m.id
ORDER BY m.name

-- machines/counts:
SELECT count(*) AS count, phrase(v.status) AS word, tone('verdict', v.status) AS tone
FROM page_machine m JOIN verdict_v v ON v.night_id = m.analysed_night_id
  LEFT JOIN page_series p ON p.id = v.series_id
WHERE m.id = ?1 AND NOT ifnull(p.is_unplanned OR p.is_skipped, 0)
GROUP BY v.status HAVING place('verdict', v.status) IS NOT NULL ORDER BY place('verdict', v.status)

-- A kernel on a device: its backend with the highest rate, and the best backend of others against the
-- vendor's.
-- tiles:
WITH t AS (SELECT id, device_id, op_id, op, op_file, variant, rate, rate_unit, datasheet_share, measured_share,
    count(*) OVER (PARTITION BY device_id, op_id) AS series_count, row_number() OVER (
    PARTITION BY device_id, op_id ORDER BY rate DESC, place) AS choice
  FROM page_series WHERE is_ranked AND NOT fails AND value IS NOT NULL AND op_id IN (SELECT op_id
    FROM page_series x JOIN series s USING (id) JOIN problem q ON q.id = s.problem_id
    WHERE x.is_suite_time AND q.flops > 0)),
v AS (SELECT device_id, op_id, count(*) AS n, exp(avg(ln(vendor / other))) AS ratio
  FROM (SELECT device_id, op_id, min(value) FILTER (WHERE id IN (SELECT series_id FROM page_vendor)) AS vendor,
      min(value) FILTER (WHERE id NOT IN (SELECT series_id FROM page_vendor)) AS other
    FROM page_standing GROUP BY device_id, problem_id)
  WHERE vendor AND other GROUP BY device_id, op_id)
SELECT t.id AS "id-", clip(t.op, 40) AS op, 'kernels/' || op_file || '.html' AS op_href,
  clip(d.device, 60) AS device, clip(d.model, 60) AS device_name, quantity(rate, rate_unit) AS best_rate,
  clip(t.variant, 40) AS best_backend, clip(q.dtype, 20) AS best_type,
  ifnull(percent(ifnull(datasheet_share, measured_share)), '') AS peak,
  iif(datasheet_share IS NULL, 'of measured ceiling', 'of datasheet peak') AS peak_of,
  iif(v.n, printf('%.0f %% of the vendor’s speed (%d problem%s)', 100 * v.ratio, v.n,
    iif(v.n = 1, '', 's')), '') AS vendor, series_count AS count
FROM t JOIN page_device d ON d.id = t.device_id JOIN series s ON s.id = t.id
  JOIN problem q ON q.id = s.problem_id LEFT JOIN v ON v.device_id = t.device_id AND v.op_id = t.op_id
WHERE choice = 1 AND rate > 0 ORDER BY d.line, t.op_id LIMIT 6

-- The backends at the key problems, a table for each device.
-- boards:
SELECT id AS "id-", clip(device, 60) AS device, clip(model, 60) AS device_name FROM page_device d
WHERE id IN (SELECT device_id FROM page_key_problem) ORDER BY d.line LIMIT 4

-- boards/heads:
SELECT clip(variant, 40) AS name, style AS "mark+" FROM page_board_column WHERE device_id = ?1 ORDER BY i

-- boards/rows:
SELECT p.id AS "id-", clip(q.title, 110) AS problem, 'kernels/' || p.op_file || '.html' AS op_href
FROM page_key_problem k JOIN page_series p USING (id) JOIN problem q ON q.id = k.problem_id
WHERE k.device_id = ?1 ORDER BY p.place

-- boards/rows/cells:
SELECT s.id IS NOT NULL AS "any?", 'series/' || s.file || '.html' AS href,
  iif(s.rate, quantity(s.rate, s.rate_unit), quantity(s.value, 'ns')) AS rate,
  ifnull(percent(s.datasheet_share), '') AS peak, s.is_first AND s.contenders > 1 AS "first?",
  CASE WHEN s.is_first AND s.contenders > 1 THEN iif(s.first_count > 1, 'tie', 'best') ELSE '' END AS word
FROM page_key_problem k JOIN page_board_column c ON c.device_id = k.device_id
  LEFT JOIN page_standing s ON s.problem_id = k.problem_id AND s.device_id = k.device_id
    AND s.variant = c.variant
WHERE k.id = ?1 ORDER BY c.i

-- How the last nightly night of each of the 30 days up to the last one ended.
-- machines/squares:
SELECT iif(status IS NULL, 'none', tone('night', status)) AS class, 11 * i AS x, day(86400 * (last + i - 29)) AS day,
  ifnull(status, 'no night') AS state
FROM page_machine_day WHERE machine_id = ?1 ORDER BY i

-- machines/.:
SELECT count(*) FILTER (WHERE status = 'complete') AS complete, count(*) - count(status) AS none,
  count(*) FILTER (WHERE status <> 'complete') AS incomplete
FROM page_machine_day WHERE machine_id = ?1
