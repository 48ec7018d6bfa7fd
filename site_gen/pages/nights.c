/* nights/: the list of nights, and a page for each: upstreams, builds, measurements, verdicts. */
#include <stdio.h>

#include "base/error.h"
#include "base/format.h"
#include "base/try.h"
#include "site_gen/pages/page.h"
#include "site_gen/render/escape.h"

#define LIST_MAX 1000

/* Where start and date are a day apart, it measured revisions of another day: a backfill or an
 * import. */
#define NIGHT_SQL \
	"SELECT n.id AS 'night+', minute(n.as_of_s) AS \"when\", minute(n.started_s) AS started," \
	" iif(abs(n.started_s - n.as_of_s) > 86400, minute(n.as_of_s), '') AS past," \
	" clip(m.name, 60) AS machine, '../machines/' || slug(m.name) || '.html' AS machine_href," \
	" n.kind AS kind, n.status AS state, tone('night', n.status) AS tone," \
	" ifnull(duration(n.finished_s - n.started_s), 'not finished') AS took," \
	" clip(n.tracker_version, 40) AS version" \
	" FROM night n JOIN machine m ON m.id = n.machine_id"

/* ---- one night: ?1 --------------------------------------------------------------------------- */

static const char counts_sql[] =
        "SELECT count(*) AS jobs, count(*) FILTER (WHERE is_timed(outcome)) AS measured,"
        " count(s.id) FILTER (WHERE NOT is_timed(outcome)) AS failure_count"
        " FROM run r LEFT JOIN series s ON s.id = r.series_id WHERE night_id = ?1";

static const char quiet_sql[] =
        "SELECT count(*) > 0 AS 'analysed?',"
        " count(*) FILTER (WHERE tone('verdict', status) = 'quiet') AS quiet"
        " FROM verdict WHERE night_id = ?1";

static const char outcomes_sql[] =
        "SELECT iif(place('outcome', outcome) IS NULL, 'other', outcome) AS word,"
        " tone('outcome', outcome) AS tone, count(*) AS count FROM run WHERE night_id = ?1"
        " GROUP BY word ORDER BY ifnull(place('outcome', outcome), 99)";

/* Series with one outcome for one reason are one line, from four on. */
static const char failures_sql[] =
        "WITH f AS (SELECT r.series_id, r.outcome, r.message, count(*) OVER same AS n,"
        "  row_number() OVER (same ORDER BY r.series_id) AS i"
        "  FROM run r JOIN series s ON s.id = r.series_id"
        "  WHERE r.night_id = ?1 AND NOT is_timed(r.outcome)"
        "  WINDOW same AS (PARTITION BY r.outcome, r.message))"
        " SELECT series_id AS 'series+', iif(n < 4, '', n) AS several, outcome,"
        " tone('outcome', outcome) AS tone, clip(message, 400) AS message"
        " FROM f WHERE n < 4 OR i = 1 ORDER BY outcome, f.message, series_id LIMIT 200";

static const char failures_cut_sql[] =
        "SELECT sum(iif(n < 4, n, 1)) > 200 AS 'failures_cut?' FROM (SELECT count(*) AS n"
        " FROM run r JOIN series s ON s.id = r.series_id"
        " WHERE r.night_id = ?1 AND NOT is_timed(r.outcome) GROUP BY r.outcome, r.message)";

/* Those without two values, for one reason, are one line, from four on. */
static const char verdicts_sql[] =
        "WITH v AS (SELECT *, before_value IS NULL OR after_value IS NULL AS bare,"
        "  iif(after_value IS NULL, reason, '') AS sorted,"
        "  iif(status IN ('missing', 'stale'), '', reason) AS why FROM verdict"
        "  WHERE night_id = ?1 AND tone('verdict', status) <> 'quiet'),"
        " g AS (SELECT *, iif(bare, count(*) OVER same, 1) AS n,"
        "  row_number() OVER (same ORDER BY sorted, series_id) AS i"
        "  FROM v WINDOW same AS (PARTITION BY status, bare, iif(bare, why, '')))"
        " SELECT g.series_id AS 'series+', g.change AS 'change+', g.status AS status,"
        " tone('verdict', g.status) AS tone, iif(n < 4, '', n) AS several,"
        " iif(n < 4, quantity(before_value, s.unit), '–') AS before,"
        " quantity(after_value, s.unit) AS after, clauses(reason) AS reason,"
        " json_extract(detail, '$.pairs.word') IN ('higher', 'lower') AS 'ab_confirmed?'"
        " FROM g JOIN series s ON s.id = g.series_id WHERE n < 4 OR i = 1"
        " ORDER BY place('verdict', g.status), bare, sorted, g.series_id LIMIT 200";

static const char upstreams_sql[] =
        "SELECT clip(u.name, 60) AS name, clip(public_url(u.url), 120) AS url, r.status AS state,"
        " tone('resolution', r.status) AS tone, clip(r.message, 300) AS message,"
        " r.revision_id AS 'revision+', b.id IS NOT NULL AS 'built?', b.status AS build_state,"
        " tone('build', b.status) AS build_tone, duration(b.wall_s) AS build_took,"
        " clip(b.message, 400) AS build_message,"
        " iif(b.status <> 'ok', substr(b.log, -8000), '') AS log,"
        " b.status <> 'ok' AND length(b.log) > 8000 AS 'log_cut?'"
        " FROM resolution r JOIN upstream u ON u.id = r.upstream_id"
        " LEFT JOIN build b ON b.id = r.build_id WHERE r.night_id = ?1 ORDER BY r.upstream_id";

static const char stages_sql[] =
        "SELECT clip(name, 40) AS name, status AS state, tone('stage', status) AS tone,"
        " ifnull(duration(finished_s - started_s), '–') AS took, clip(detail, 300) AS detail"
        " FROM stage WHERE night_id = ?1 ORDER BY started_s, place('stage-name', stage.name)";

static int write_night(struct tk_site *site, const struct tk_site_night *night, const char *path,
        struct tk_error *err)
{
	static const struct tk_page_query parts[] = {{"night", NIGHT_SQL " WHERE n.id = ?1"},
	        {NULL, counts_sql}, {NULL, quiet_sql}, {NULL, failures_cut_sql},
	        {"outcomes", outcomes_sql}, {"failures", failures_sql}, {"verdicts", verdicts_sql},
	        {"upstreams", upstreams_sql}, {"stages", stages_sql}};
	char title[200], when[TK_FORMAT_SIZE];
	snprintf(title, sizeof title, "Night of %s on %.*s",
	        tk_format_minute(night->row->as_of_s, when),
	        (int)tk_utf8_clip_len(night->machine->row->name, 80), night->machine->row->name);
	struct tk_value *page = tk_page_begin(site, path, title, TK_SECTION_NIGHTS);
	TRY(tk_page_add_queries(
	        site, page, parts, sizeof parts / sizeof *parts, night->row->id, err));
	return tk_page_finish(site, "night", path, err);
}

void tk_page_set_night_link(
        struct tk_site *site, struct tk_value *o, const struct tk_site_night *night)
{
	bool has_page = night && night->file;
	tk_value_set_flag(site->arena, o, "page", has_page);
	tk_value_set_fmt(site->arena, o, "href", "%s.html", has_page ? night->file : "");
}

/* ---- the list -------------------------------------------------------------------------------- */

static int write_list(struct tk_site *site, struct tk_error *err)
{
	const struct tk_cell most = TK_CELL_ID(LIST_MAX);
	struct tk_value *page =
	        tk_page_begin(site, "nights/index.html", "Nights", TK_SECTION_NIGHTS);
	TRY(tk_page_add_query(site, page, "nights",
	        NIGHT_SQL " ORDER BY n.started_s DESC, n.id DESC LIMIT ?1", &most, 1, NULL, err));
	TRY(tk_page_set_query(site, page,
	        "SELECT counted(count(*)) AS count, count(*) > ?1 AS 'cut?' FROM night", &most, 1,
	        err));
	return tk_page_finish(site, "nights", "nights/index.html", err);
}

int tk_page_write_nights(struct tk_site *site, struct tk_error *err)
{
	TRY(write_list(site, err));
	for (size_t i = 0; i < site->model.night_count; i++) {
		const struct tk_site_night *night = &site->model.nights[i];
		char path[128];
		if (!night->file)
			continue;
		snprintf(path, sizeof path, "nights/%s.html", night->file);
		TRY(write_night(site, night, path, err));
	}
	return 0;
}
