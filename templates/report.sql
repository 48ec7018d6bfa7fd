-- The tables of the report. A column whose name ends in "#" is of numbers.

-- headline:
SELECT text FROM page_headline

-- notes:
SELECT 'Medians of the newest night; 95 % confidence intervals in brackets. ' ||
  'A measured ceiling is a lower bound.'

-- changes:
SELECT t."Change" AS "Change", t."Problem" AS "Problem", t."Backend" AS "Backend", t."Device" AS "Device",
  t."Time#" AS "Time#", t."Night" AS "Night", CASE
    WHEN found_rev <> '' THEN short_rev(found_rev) || ' ' || clip(found_subject, 60) || ' (' ||
      clip(found_author, 40) || ')' || printf(', first bad, %.1f %% confidence', 100 * found_confidence)
    WHEN commit_id THEN short_rev(rev) || ' ' || clip(subject, 60) || ' (' || clip(author, 40) || ')'
    ELSE clauses(reason, 80) END AS "Cause"
FROM (SELECT e.cause_id, e.nth, k.word AS "Change", clip(q.title, 90) AS "Problem",
    clip(p.label, 50) AS "Backend", clip(e.device, 50) AS "Device",
    change(e.change) || ifnull(' (' || change_range(e.change, e.change_lo, e.change_hi) || ')', '') AS "Time#",
    ifnull(day(at_s), '–') AS "Night"
  FROM page_event e JOIN page_cause_kind k USING (kind) JOIN page_series p ON p.id = e.series_id
    JOIN series s ON s.id = e.series_id JOIN problem q ON q.id = s.problem_id WHERE nth <= 5
  UNION ALL SELECT cause_id, 6, words, 'and ' || (events - 5) || ' more series', '', '', '', ''
  FROM page_cause WHERE events > 5) t JOIN page_cause c USING (cause_id)
ORDER BY line, t.nth

-- alerts:
SELECT clip(title, 120) AS "Alert", day(opened_s) AS "Since", state AS "State", clip(owner, 40) AS "Owner"
FROM page_alert WHERE status = 'open' ORDER BY opened_s, uid DESC

-- environment:
SELECT clip(d.machine, 50) AS "Machine", clip(d.slug, 40) AS "Device", clip(d.model, 60) AS "Model",
  minute(n.as_of_s) AS "Night (UTC)", ifnull(n.status, '–') AS "State",
  ifnull(duration(n.finished_s - n.started_s), '–') AS "Duration#"
FROM page_device d JOIN device USING (id) JOIN page_machine m ON m.id = device.machine_id
  LEFT JOIN page_night n ON n.id = m.last_night_id ORDER BY line

-- standings:
SELECT clip(k.device, 50) AS "Device", clip(q.title, 90) AS "Problem",
  clip(s.variant, 50) || iif(s.first_count > 1, ' (tie)', '') AS "Fastest",
  quantity(s.rate, s.rate_unit) AS "Rate#", ifnull(percent(s.datasheet_share), '–') AS "Of datasheet peak#",
  ifnull(percent(s.ceiling_share), '–') AS "Of measured ceiling#", s.limited_by AS "Limited by",
  iif(n.id, printf('%.2f× ', n.value / s.value) || clip(n.variant, 50), 'alone') AS "Next"
FROM page_key_problem k JOIN page_standing s USING (id) JOIN problem q ON q.id = k.problem_id
  LEFT JOIN page_standing n ON n.problem_id = k.problem_id AND n.device_id = k.device_id AND n.rank = 2
ORDER BY k.line, k.place

-- statistics:
SELECT clip(d.device, 50) AS "Device", op AS "Kernel", clip(variant, 50) AS "Backend", count(*) AS "Problems#",
  quantity(max(iif(flops > 0, rate, NULL)), 'gflop_per_s') AS "Best rate#",
  ifnull(percent(avg(ceiling_share) FILTER (WHERE at IN ((known + 1) / 2, known / 2 + 1))), '–')
    AS "Median of roofline#"
FROM (SELECT device_id, op, problem_op, variant, flops, rate, ceiling_share,
    row_number() OVER (same ORDER BY ceiling_share IS NULL, ceiling_share) AS at,
    count(ceiling_share) OVER same AS known
  FROM page_standing WINDOW same AS (PARTITION BY device_id, problem_op, variant)) s
  JOIN page_device d ON d.id = s.device_id
GROUP BY d.line, problem_op, variant ORDER BY d.line, problem_op, variant
