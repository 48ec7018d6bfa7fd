-- alerts.html: groups of alerts, most urgent first.

-- open:
SELECT *, row_number() OVER urgent > 10 AS "late?" FROM page_alert_head WHERE "is_open-"
WINDOW urgent AS (ORDER BY place('triage', state), "opened_s-" DESC, "size-" DESC, group_uid)
ORDER BY row_number() OVER urgent

-- closed:
SELECT *, row_number() OVER newest > 3 AS "late?" FROM page_alert_head WHERE NOT "is_open-"
WINDOW newest AS (ORDER BY "opened_s-" DESC, "size-" DESC, group_uid)
ORDER BY row_number() OVER newest LIMIT 100

-- .:
SELECT nullif(max(sum("is_open-") - 10, 0), 0) AS open_rest,
  nullif(max(min(sum(NOT "is_open-"), 100) - 3, 0), 0) AS closed_rest FROM page_alert_head

-- open/on:
SELECT * FROM page_alert_device WHERE "group-" = ?1

-- open/.:
SELECT * FROM page_alert_bisection WHERE "group-" = ?1

-- open/notes:
SELECT * FROM page_alert_note WHERE "group-" = ?1

-- open/members:
SELECT * FROM page_alert_member WHERE "group-" = ?1

-- closed/on:
SELECT * FROM page_alert_device WHERE "group-" = ?1

-- closed/.:
SELECT * FROM page_alert_bisection WHERE "group-" = ?1

-- closed/notes:
SELECT * FROM page_alert_note WHERE "group-" = ?1

-- closed/members:
SELECT * FROM page_alert_member WHERE "group-" = ?1
