-- alerts.html: groups of alerts, most urgent first.

-- open:
SELECT * FROM page_alert_head WHERE "is_open-"
ORDER BY place('triage', state), "opened_s-" DESC, "size-" DESC, group_uid

-- closed:
SELECT * FROM page_alert_head WHERE NOT "is_open-" ORDER BY "opened_s-" DESC, "size-" DESC, group_uid
LIMIT 100

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
