-- nights/NAME.html: ?1 is the night.

-- pages:
SELECT n.id, 'nights/' || p.file || '.html', 'Night of ' || minute(n.as_of_s) || ' on ' || clip(m.name, 80)
FROM page_night p JOIN night n USING (id) JOIN machine m ON m.id = n.machine_id
WHERE p.file IS NOT NULL ORDER BY n.started_s DESC, n.id DESC

-- night:
SELECT * FROM page_night_row WHERE "id-" = ?1

-- .:
SELECT ifnull(sum(n), 0) AS jobs, ifnull(sum(n) FILTER (WHERE is_timed), 0) AS measured,
  ifnull(sum(series) FILTER (WHERE NOT is_timed), 0) AS failure_count
FROM page_night_outcome WHERE night_id = ?1

-- .:
SELECT count(*) > 0 AS "analysed?",
  count(*) FILTER (WHERE tone('verdict', status) = 'quiet') AS quiet
FROM verdict_v WHERE night_id = ?1

-- outcomes:
SELECT iif(place('outcome', outcome) IS NULL, 'other', outcome) AS word,
  tone('outcome', outcome) AS tone, sum(n) AS count
FROM page_night_outcome WHERE night_id = ?1 GROUP BY word ORDER BY ifnull(place('outcome', outcome), 99)

-- Series with one outcome for one reason are one line, from four on.
-- failures:
WITH f AS (SELECT *, count(*) OVER same AS n, row_number() OVER (same ORDER BY series_id) AS i
  FROM page_night_failure WHERE night_id = ?1 WINDOW same AS (PARTITION BY outcome, message))
SELECT series_id AS "series+", iif(n < 4, '', n) AS several, outcome,
  tone('outcome', outcome) AS tone, clip(message, 400) AS message
FROM f WHERE n < 4 OR i = 1 ORDER BY outcome, f.message, series_id LIMIT 200

-- .:
SELECT sum(iif(n < 4, n, 1)) > 200 AS "failures_cut?"
FROM (SELECT count(*) AS n FROM page_night_failure WHERE night_id = ?1 GROUP BY outcome, message)

-- Those without two values, for one reason, are one line, from four on.
-- verdicts:
WITH v AS (SELECT *, before_value IS NULL OR after_value IS NULL AS bare,
    iif(after_value IS NULL, reason, '') AS sorted,
    iif(status IN ('missing', 'stale'), '', reason) AS why
  FROM verdict_v WHERE night_id = ?1 AND tone('verdict', status) <> 'quiet'),
g AS (SELECT *, iif(bare, count(*) OVER same, 1) AS n,
    row_number() OVER (same ORDER BY sorted, series_id) AS i
  FROM v WINDOW same AS (PARTITION BY status, bare, iif(bare, why, '')))
SELECT g.series_id AS "series+", g.change AS "change+", g.status AS status,
  tone('verdict', g.status) AS tone, iif(n < 4, '', n) AS several,
  iif(n < 4, quantity(before_value, s.unit), '–') AS before,
  quantity(after_value, s.unit) AS after, clauses(reason, 400) AS reason,
  ab_decision IN ('higher', 'lower') AS "ab_confirmed?"
FROM g JOIN series s ON s.id = g.series_id WHERE n < 4 OR i = 1
ORDER BY place('verdict', g.status), bare, sorted, g.series_id LIMIT 200

-- upstreams:
SELECT clip(u.name, 60) AS name, clip(public_url(u.url), 120) AS url, r.status AS state,
  tone('resolution', r.status) AS tone, clip(r.message, 300) AS message,
  r.revision_id AS "revision+", b.id IS NOT NULL AS "built?", b.status AS build_state,
  tone('build', b.status) AS build_tone, duration(b.wall_s) AS build_took,
  clip(b.message, 400) AS build_message, iif(b.status <> 'ok', substr(b.log, -8000), '') AS log,
  b.status <> 'ok' AND length(b.log) > 8000 AS "log_cut?"
FROM resolution r JOIN upstream u ON u.id = r.upstream_id LEFT JOIN build b ON b.id = r.build_id
WHERE r.night_id = ?1 ORDER BY r.upstream_id

-- stages:
SELECT clip(name, 40) AS name, status AS state, tone('stage', status) AS tone,
  ifnull(duration(finished_s - started_s), '–') AS took, clip(detail, 300) AS detail
FROM stage WHERE night_id = ?1 ORDER BY started_s, place('stage-name', stage.name)
