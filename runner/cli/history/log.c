/* `tracker log`: lists the nights, or shows one in full. Each list is a query. */
#include "cli/commands.h"
#include "cli/table.h"
#include "store/store.h"

static struct {
	const char *night;
	size_t limit;
	bool failed, json;
} opt = {.limit = 20};

static const struct tk_option options[] = {
        {TK_OPT_FLAG("failed", 0, &opt.failed, "List only nights that are not complete")},
        {TK_OPT_JSON(&opt.json, "Print text (default) or JSON")},
        {TK_OPT_COUNT("limit", 'n', "N", 0, 1e9, &opt.limit,
                "List at most N nights (default: 20; 0: all)")},
        {TK_OPT_ARGUMENT(&opt.night, NULL)},
        {0},
};

/* ---- queries --------------------------------------------------------------------------------- */

/* ?1: whether a process holds the lock of the history, which may then execute the newest unfinished
 * night; ?2: whether complete nights are left out; ?3: at most so many, -1: all; ?4: one night, 0:
 * all. The revision is that of the upstream that a backfill or a bisection was asked for. */
static const char nights_sql[] =
        "WITH n AS MATERIALIZED (SELECT v.*,"
        "  CASE WHEN status = 'running' AND NOT (?1 AND id = (SELECT id FROM night"
        "    WHERE status = 'running' ORDER BY as_of_s DESC, id DESC LIMIT 1))"
        "  THEN 'stopped' ELSE status END AS state"
        "  FROM night_v v WHERE ?4 IN (0, id) AND NOT (?2 AND status = 'complete')"
        "  ORDER BY as_of_s DESC, id DESC LIMIT ?3)"
        " SELECT n.id, n.uid, n.machine, n.kind, n.state AS status, n.as_of_s AS \"as_of:time\","
        "  iif(n.as_of_s <> n.started_s, n.as_of_s, NULL) AS \"dated:time\","
        "  n.started_s AS \"started:time\", n.finished_s AS \"finished:time\","
        "  n.finished_s - n.started_s AS wall_s, n.tracker_version, n.config_hash,"
        "  n.summary AS \"summary:json\","
        "  CASE WHEN n.state = 'stopped' AND n.kind = 'nightly'"
        "    THEN '`tracker nightly --resume` continues the newest stopped night' END AS hint,"
        "  count(r.id) FILTER (WHERE outcome IN ('ok', 'throttled', 'unstable')) AS \"jobs.ok\","
        "  count(r.id) FILTER (WHERE outcome = 'unstable') AS \"jobs.unstable\","
        "  count(r.id) FILTER (WHERE outcome NOT IN ('ok', 'throttled', 'unstable', 'wrong',"
        "    'implausible', 'skipped', 'unsupported')) AS \"jobs.failed\","
        "  count(r.id) FILTER (WHERE outcome = 'wrong') AS \"jobs.wrong\","
        "  count(r.id) FILTER (WHERE outcome = 'implausible') AS \"jobs.implausible\","
        "  count(r.id) FILTER (WHERE outcome = 'skipped') AS \"jobs.skipped\","
        "  count(r.id) FILTER (WHERE outcome = 'unsupported') AS \"jobs.unsupported\","
        "  n.open_job_count AS \"jobs.open\","
        "  (SELECT count(*) FROM verdict WHERE night_id = n.id AND status = 'regressed')"
        "    AS \"changes.regressed\","
        "  (SELECT count(*) FROM verdict WHERE night_id = n.id AND status = 'newly-failed')"
        "    AS \"changes.newly_failed\","
        "  (SELECT count(*) FROM verdict WHERE night_id = n.id AND status = 'improved')"
        "    AS \"changes.improved\","
        "  CASE WHEN n.kind <> 'nightly' AND json_valid(n.summary) THEN"
        "    (SELECT upstream || ' ' || substr(rev, 1, 12) FROM resolution_v WHERE night_id = n.id"
        "      AND rev <> '' AND upstream = json_extract(n.summary, '$.request.upstream')) END"
        "    AS revision,"
        "  (SELECT count(*) FROM resolution WHERE night_id = n.id AND status = 'new')"
        "    AS new_revisions"
        " FROM n LEFT JOIN run r ON r.night_id = n.id GROUP BY n.id"
        " ORDER BY n.as_of_s DESC, n.id DESC";

static const char stages_sql[] =
        "SELECT name, status, started_s AS \"started:time\", finished_s AS \"finished:time\","
        "  finished_s - started_s AS wall_s, nullif(detail, '{}') AS detail FROM stage WHERE "
        "night_id = ?1"
        " ORDER BY started_s, instr('probe resolve build plan measure confirm detect bisect trace'"
        "  || ' tune tidy publish', name)";

static const char upstreams_sql[] =
        "SELECT upstream, status, rev AS \"revision:text\", subject AS \"subject:text\","
        "  commit_time_s AS \"committed:time\", build_arch AS \"arch:text\","
        "  build_flags AS \"flags:text\", build_toolchain AS \"toolchain:text\","
        "  build_status AS build, CASE WHEN message <> '' THEN message"
        "  ELSE ifnull(build_message, '') END AS message"
        " FROM resolution_v WHERE night_id = ?1 ORDER BY upstream";

static const char failures_sql[] =
        "SELECT r.id AS run, r.outcome, s.slug AS series, r.message FROM run r"
        " LEFT JOIN series s ON s.id = r.series_id WHERE r.night_id = ?1 AND r.outcome NOT IN"
        "  ('ok', 'throttled', 'unstable', 'unsupported') ORDER BY r.seq, r.id";

/* How near the timings of the night are to the peaks of their devices; no row: none is known. */
static const char peak_sql[] =
        "WITH share AS (SELECT s.slug,"
        "  s.flops / r.value / peak_gflop_per_s(s.problem, s.device_name) AS share"
        "  FROM run_v r JOIN series_v s ON s.id = r.series_id WHERE r.night_id = ?1"
        "   AND s.role = 'suite' AND s.unit = 'ns' AND s.flops > 0 AND r.value > 0"
        "   AND r.outcome IN ('ok', 'throttled', 'unstable')),"
        " ranked AS (SELECT slug, share, row_number() OVER (ORDER BY share DESC) AS i,"
        "  count(*) OVER () AS n FROM share WHERE share IS NOT NULL)"
        " SELECT slug AS best_series, share AS best, n AS count,"
        "  (SELECT avg(share) FROM ranked WHERE i IN ((n + 1) / 2, n / 2 + 1)) AS median"
        " FROM ranked WHERE i = 1";

/* ---- tables ---------------------------------------------------------------------------------- */

static const char *color_status(const json_t *row)
{
	const char *status = tk_record_text(row, "status");

	return strcmp(status, "complete") == 0 ? "green"
	       : strcmp(status, "failed") == 0 ? "red"
	                                       : "yellow";
}

#define COLOR(function, member, word) \
	static const char *function(const json_t *row) \
	{ \
		return tk_record_number(row, member) > 0 ? word : NULL; \
	}
COLOR(color_failed, "jobs.failed", "red")
COLOR(color_wrong, "jobs.wrong", "red")
COLOR(color_implausible, "jobs.implausible", "red")
COLOR(color_unstable, "jobs.unstable", "yellow")
COLOR(color_skipped, "jobs.skipped", "yellow")

static const char *color_stage(const json_t *row)
{
	return strcmp(tk_record_text(row, "status"), "failed") == 0 ? "red" : NULL;
}

static const char *color_upstream(const json_t *row)
{
	const char *status = tk_record_text(row, "status");

	return strcmp(status, "failed") == 0 || strcmp(status, "unreachable") == 0 ? "red" : NULL;
}

static const char *color_failure(const json_t *row)
{
	return "red";
}

static const char *color_changes(const json_t *row)
{
	return tk_record_number(row, "changes.regressed") > 0 ||
	                       tk_record_number(row, "changes.newly_failed") > 0
	               ? "red"
	               : NULL;
}

/* "1 regressed, 2 newly failed, 3 improved" of those above 0, or "-" */
#define REGRESSED "changes.regressed:count}"
#define FAILED "changes.newly_failed:count}"
#define IMPROVED "changes.improved:count}"
#define CHANGES \
	"[{" REGRESSED " regressed][{?" REGRESSED "{?" FAILED ", ][{" FAILED " newly failed]" \
	"[{?" IMPROVED "[{?" REGRESSED ", ][{!" REGRESSED "{?" FAILED ", ]{" IMPROVED " improved]" \
	"[{!" REGRESSED "{!" FAILED "{!" IMPROVED "-]"

#define COUNT(flags) (TK_COLUMN_RIGHT | (flags))
static const struct tk_column night_columns[] = {
        {"STARTED (UTC)", 0, "started", TK_SHOW_MINUTE},
        {"MACHINE", TK_COLUMN_CUT | TK_COLUMN_DROP(3), "machine"},
        {"KIND", TK_COLUMN_DROP(6), "kind"},
        {"DATED", TK_COLUMN_OPTIONAL | TK_COLUMN_DROP(3), "dated", TK_SHOW_DAY},
        {"STATUS", 0, "status", 0, color_status},
        {"WALL", COUNT(TK_COLUMN_DROP(7)), "{wall_s:duration|-}"},
        {"NEW", COUNT(TK_COLUMN_DROP(2)), "new_revisions"},
        {"OK", COUNT(0), "jobs.ok"},
        {"UNSTABLE", COUNT(TK_COLUMN_OPTIONAL | TK_COLUMN_DROP(4)), "jobs.unstable", TK_SHOW_COUNT,
                color_unstable},
        {"FAILED", COUNT(0), "jobs.failed", 0, color_failed},
        {"WRONG", COUNT(TK_COLUMN_DROP(8)), "jobs.wrong", 0, color_wrong},
        {"IMPLAUSIBLE", COUNT(TK_COLUMN_OPTIONAL), "jobs.implausible", TK_SHOW_COUNT,
                color_implausible},
        {"SKIPPED", COUNT(TK_COLUMN_DROP(5)), "jobs.skipped", 0, color_skipped},
        {"OPEN", COUNT(TK_COLUMN_OPTIONAL), "jobs.open", TK_SHOW_COUNT},
        {"CHANGES", TK_COLUMN_WRAP, CHANGES, .color = color_changes},
        {"REVISION", TK_COLUMN_OPTIONAL, "revision"},
        {"NIGHT", COUNT(0), "id"},
        {"ID", TK_COLUMN_DROP(1), "uid", TK_SHOW_UID},
        {0},
};
static const struct tk_column stage_columns[] = {
        {"STAGE", 0, "name"},
        {"STATUS", 0, "status", 0, color_stage},
        {"TOOK", TK_COLUMN_RIGHT, "wall_s", TK_SHOW_DURATION},
        {"DETAIL", TK_COLUMN_WRAP | TK_COLUMN_OPTIONAL, "detail"},
        {0},
};
static const struct tk_column upstream_columns[] = {
        {"UPSTREAM", 0, "upstream"},
        {"STATUS", 0, "status", 0, color_upstream},
        {"REVISION", TK_COLUMN_OPTIONAL, "revision", TK_SHOW_SHORT},
        {"SUBJECT", TK_COLUMN_CUT | TK_COLUMN_OPTIONAL, "subject"},
        {"COMMITTED", TK_COLUMN_OPTIONAL | TK_COLUMN_DROP(3), "committed", TK_SHOW_DAY},
        {"BUILD", TK_COLUMN_OPTIONAL, "build"},
        {"ARCH", TK_COLUMN_VARIED | TK_COLUMN_DROP(2), "arch"},
        {"FLAGS", TK_COLUMN_OPTIONAL | TK_COLUMN_CUT | TK_COLUMN_DROP(1), "flags"},
        {"MESSAGE", TK_COLUMN_WRAP | TK_COLUMN_OPTIONAL, "message"},
        {0},
};
static const struct tk_column failure_columns[] = {
        {"RUN", TK_COLUMN_RIGHT, "run"},
        {"OUTCOME", 0, "outcome", 0, color_failure},
        {"SERIES", 0, "series"},
        {"MESSAGE", TK_COLUMN_WRAP | TK_COLUMN_OPTIONAL, "message"},
        {0},
};

static int print_nights(const struct tk_globals *g, json_t *nights, struct tk_error *err)
{
	const char *hint = "";
	const json_t *night;
	size_t i;

	TRY(tk_records_print(g, night_columns, json_incref(nights), false, err));
	json_array_foreach (nights, i, night)
		if (*tk_record_text(night, "hint"))
			hint = tk_record_text(night, "hint");
	if (*hint)
		printf("\n%s\n", hint);
	return TK_OK;
}

/* ---- one night ------------------------------------------------------------------------------- */

static int print_list(const struct tk_globals *g, const struct tk_column *columns,
        const json_t *night, const char *member, struct tk_error *err)
{
	json_t *rows = json_object_get(night, member);

	if (json_array_size(rows))
		puts("");
	return tk_records_print(g, columns, json_incref(rows), false, err);
}

static int show_night(const struct tk_globals *g, json_t *nights, int64_t id, struct tk_error *err)
{
	static const struct {
		const char *member, *sql;
	} lists[] = {
	        {"stages", stages_sql}, {"upstreams", upstreams_sql}, {"failures", failures_sql}};
	json_t *night = json_array_get(nights, 0), *peak;

	for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
		TRY(tk_records_select_member(
		        g->store, lists[i].sql, TK_ARGS(id), night, lists[i].member, err));
	TRY(tk_records_select_one(g->store, peak_sql, TK_ARGS(id), &peak, err));
	json_object_set_new(night, "peak_share", peak ? peak : json_null());
	if (opt.json)
		return tk_command_print_json(json_incref(night), err);
	TRY(print_nights(g, nights, err));
	TRY(print_list(g, stage_columns, night, "stages", err));
	TRY(print_list(g, upstream_columns, night, "upstreams", err));
	tk_record_write(stdout,
	        "[\nof the data sheet's peak: median {peak_share.median:percent} of "
	        "{peak_share.count} timings, best {peak_share.best:percent} "
	        "({peak_share.best_series})\n]",
	        night);
	return print_list(g, failure_columns, night, "failures", err);
}

static int run_log(struct tk_globals *g, struct tk_error *err)
{
	json_auto_t *nights = NULL;
	int64_t id = 0;

	if (opt.night)
		TRY(tk_records_find_night(g->store, opt.night, &id, err));
	TRY(tk_records_select(g->store, nights_sql,
	        TK_ARGS(tk_store_is_locked(g->store), opt.failed && !id,
	                opt.limit && !id ? (int64_t)opt.limit : -1, id),
	        &nights, err));
	if (id)
		return show_night(g, nights, id, err);
	if (opt.json)
		return tk_command_print_json(json_incref(nights), err);
	if (json_array_size(nights))
		return print_nights(g, nights, err);
	puts(opt.failed ? "No night failed." : "No nights yet.");
	return TK_OK;
}

const struct tk_command tk_command_log = {.name = "log",
        .summary = "list the nights and how they ended",
        .usage = {.options = options,
                .arguments = "[NIGHT]",
                .surplus = "expected one night",
                .help = "List the nights, newest first, and how they ended; or show NIGHT in "
                        "full: its stages, its upstreams and every failure.\v"
                        "NIGHT is a number, the first digits of an id (the last column), or "
                        "`last`. A night that was killed is `stopped`; `tracker nightly "
                        "--resume` continues it.\n\n"
                        "Examples:\n"
                        "  tracker log --limit=5\n"
                        "  tracker log --failed\n"
                        "  tracker log --format=json | jq '.[0].jobs'\n"
                        "  tracker log 3\n"
                        "  tracker log last"},
        .opens = TK_OPENS_READ,
        .run = run_log};
