/* `tracker show`: one series, several, or one run in full. show_run.c has the runs. */
#include "cli/history/show.h"

#include <math.h>

#include "cli/arguments.h"
#include "cli/table.h"
#include "core/problem.h"
#include "store/store.h"

#define SPARKLINE_POINTS 60
#define LIST_POINTS 16 /* of each series of a list */

static struct tk_show_options opt = {.limit = 20};

static const struct tk_option options[] = {
        {TK_OPT_JSON(&opt.json, "Print text (default) or JSON")},
        {TK_OPT_COUNT("limit", 'n', "N", 0, 1e9, &opt.limit,
                "Show at most the N newest points of a series (default: 20; 0: all)")},
        {TK_OPT_FLAG("samples", 0, &opt.samples, "Also show every raw sample of a run")},
        {TK_OPT_ARGUMENT(&opt.what, "missing SERIES or RUN")},
        {0},
};

/* ---- queries --------------------------------------------------------------------------------- */

static const char series_sql[] =
        "SELECT slug AS series, uid, machine, device_name AS device, upstream, problem, backend,"
        "  config, mode, metric, unit, better, role FROM series_v WHERE id = ?1";

static const char source_sql[] = "SELECT title, source, upstream_url FROM series_v WHERE id = ?1";

/* The newest points first; ?2: at most so many, -1: all. */
static const char points_sql[] =
        "SELECT x.as_of_s AS \"as_of:time\", x.run_id AS run, x.n, v.rev AS revision, v.subject,"
        "  x.value, x.lo, x.hi, x.min, x.q25, x.q75, x.p95,"
        "  CASE WHEN s.unit = 'ns' AND s.flops > 0 THEN s.flops / x.value END AS gflop_per_s,"
        "  CASE WHEN s.unit = 'ns' AND s.flops > 0 THEN"
        "    s.flops / x.value / peak_gflop_per_s(s.problem, s.device_name) END AS peak_share,"
        "  x.flags & 1 AS \"throttled:bool\", x.flags >> 1 & 1 AS \"unstable:bool\""
        " FROM measurement x JOIN series_v s ON s.id = x.series_id"
        "  JOIN build_v v ON v.id = x.build_id WHERE x.series_id = ?1"
        " ORDER BY x.as_of_s DESC, x.run_id DESC LIMIT ?2";

static const char changes_sql[] =
        "SELECT as_of_s AS \"as_of:time\", run_id AS run, previous_run_id AS previous_run, cause,"
        "  before_value AS before, after_value AS after, confidence FROM change_point"
        " WHERE series_id = ?1 ORDER BY as_of_s, run_id";

/* An alert keeps the date and size known on the night that opened it. The change points have later
 * estimates, so both may differ. */
static const char alerts_sql[] =
        "SELECT uid, status, opened_s AS \"opened:time\", change AS \"change.value\","
        "  change_lo AS \"change.lo\", change_hi AS \"change.hi\", good_rev, bad_rev, title"
        " FROM alert_v WHERE series_id = ?1 ORDER BY opened_s, uid";

/* ---- pieces ---------------------------------------------------------------------------------- */

/* "▁▂▅█" of the newest `most` points. */
static void add_sparkline(struct tk_buf *b, const json_t *points, size_t most)
{
	static const char *const bars[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
	size_t count = json_array_size(points) < most ? json_array_size(points) : most;
	double lo = INFINITY, hi = -INFINITY;

	for (size_t i = 0; i < count; i++) {
		lo = fmin(lo, tk_record_number(json_array_get(points, i), "value"));
		hi = fmax(hi, tk_record_number(json_array_get(points, i), "value"));
	}
	for (size_t i = count; i-- > 0;) {
		double x = tk_record_number(json_array_get(points, i), "value");

		tk_buf_add_str(b, bars[hi > lo ? (size_t)((x - lo) / (hi - lo) * 7.0 + 0.5) : 3]);
	}
}

/* The columns whose unit is that of the series. */
static void set_point_cells(
        struct tk_table *t, const json_t *point, const char *column, const char *unit)
{
	double lo = tk_record_number(point, "lo"), hi = tk_record_number(point, "hi"),
	       value = tk_record_number(point, "value");
	char text[TK_FORMAT_SIZE];

	tk_table_set_value(t, column, value, unit);
	if (isfinite(lo) && isfinite(hi) && (tk_record_number(point, "n") > 1 || hi > lo))
		tk_table_set_cell(t, "INTERVAL", "%s", tk_format_half_width(value, lo, hi, text));
	tk_table_set_value(t, "RATE", tk_record_number(point, "gflop_per_s"), "gflop_per_s");
}

static void print_pair(const char *name, const char *value)
{
	if (*value)
		tk_print_line(stdout, "%-12s%s", name, value);
}

/* ---- several series -------------------------------------------------------------------------- */

static const struct tk_column list_columns[] = {
        {"SERIES", 0, NULL, 0, NULL},
        {"NEWEST", TK_COLUMN_RIGHT, NULL, 0, NULL},
        {"INTERVAL", TK_COLUMN_RIGHT | TK_COLUMN_DROP(3), NULL, 0, NULL},
        {"RATE", TK_COLUMN_RIGHT | TK_COLUMN_OPTIONAL | TK_COLUMN_DROP(1), NULL, 0, NULL},
        {"PEAK", TK_COLUMN_RIGHT | TK_COLUMN_OPTIONAL | TK_COLUMN_DROP(2), "peak_share",
                TK_SHOW_PERCENT, NULL},
        {"WHEN", TK_COLUMN_DROP(4), "as_of", TK_SHOW_MINUTE, NULL},
        {"TREND", TK_COLUMN_DROP(5), NULL, 0, NULL},
        {0},
};

static void list_row(struct tk_table *t, const json_t *series, const json_t *points)
{
	const json_t *newest = json_array_get(points, 0);
	struct tk_buf spark = TK_BUF_INIT;

	tk_table_add_record(t, newest);
	tk_table_set_cell(t, "SERIES", "%s", tk_record_text(series, "series"));
	if (newest) {
		set_point_cells(t, newest, "NEWEST", tk_record_text(series, "unit"));
	} else {
		tk_table_set_cell(t, "NEWEST", "-");
		tk_table_set_cell(t, "INTERVAL", "-");
		tk_table_set_cell(t, "WHEN", "-");
	}
	add_sparkline(&spark, points, LIST_POINTS);
	tk_table_set_cell(t, "TREND", "%s", tk_buf_cstr(&spark));
	tk_buf_free(&spark);
}

static int add_series(const struct tk_globals *g, int64_t id, struct tk_table *t, json_t *list,
        struct tk_error *err)
{
	json_auto_t *series = NULL, *points = NULL;

	TRY(tk_records_select_one(g->store, series_sql, TK_ARGS(id), &series, err));
	TRY(tk_records_select(g->store, points_sql, TK_ARGS(id, LIST_POINTS), &points, err));
	list_row(t, series, points);
	if (json_array_size(points))
		json_object_set(series, "newest", json_array_get(points, 0));
	json_array_append(list, series);
	return TK_OK;
}

static int show_list(const struct tk_globals *g, const json_t *found, struct tk_error *err)
{
	struct tk_table *t = tk_table_new(g, list_columns);
	json_t *list = json_array();
	int status = TK_OK;

	for (size_t i = 0; !status && i < json_array_size(found); i++)
		status = add_series(g,
		        json_integer_value(json_object_get(json_array_get(found, i), "id")), t,
		        list, err);
	if (!status)
		return tk_records_finish(t, list, opt.json, err);
	json_decref(list);
	tk_table_free(t);
	return status;
}

/* ---- one series ------------------------------------------------------------------------------ */

static const struct tk_column point_columns[] = {
        {"WHEN", 0, "as_of", TK_SHOW_MINUTE, NULL},
        {"VALUE", TK_COLUMN_RIGHT, NULL, 0, NULL},
        {"INTERVAL", TK_COLUMN_RIGHT | TK_COLUMN_DROP(5), NULL, 0, NULL},
        {"RATE", TK_COLUMN_RIGHT | TK_COLUMN_OPTIONAL | TK_COLUMN_DROP(3), NULL, 0, NULL},
        {"PEAK", TK_COLUMN_RIGHT | TK_COLUMN_OPTIONAL | TK_COLUMN_DROP(2), "peak_share",
                TK_SHOW_PERCENT, NULL},
        {"N", TK_COLUMN_RIGHT | TK_COLUMN_DROP(1), "n", 0, NULL},
        {"NOTE", TK_COLUMN_OPTIONAL, NULL, 0, NULL},
        {"REVISION", 0, "revision", TK_SHOW_SHORT, NULL},
        {"SUBJECT", TK_COLUMN_SHORTEN | TK_COLUMN_DROP(4), "subject", 0, NULL},
        {"RUN", TK_COLUMN_RIGHT, "run", 0, NULL},
        {0},
};

static const struct tk_column change_columns[] = {
        {"CHANGED", 0, "as_of", TK_SHOW_MINUTE, NULL},
        {"BEFORE", TK_COLUMN_RIGHT, NULL, 0, NULL},
        {"AFTER", TK_COLUMN_RIGHT, NULL, 0, NULL},
        {"BY", TK_COLUMN_RIGHT, NULL, 0, NULL},
        {"CAUSE", TK_COLUMN_DROP(2), "cause", 0, NULL},
        {"CONFIDENCE", TK_COLUMN_RIGHT | TK_COLUMN_DROP(1), "confidence", TK_SHOW_PERCENT, NULL},
        {"RUN", TK_COLUMN_RIGHT, "run", 0, NULL},
        {0},
};

static int print_points(
        const struct tk_globals *g, const json_t *series, size_t shown, struct tk_error *err)
{
	const json_t *points = json_object_get(series, "points");
	struct tk_table *t = tk_table_new(g, point_columns);

	for (size_t i = 0; i < shown; i++) {
		const json_t *p = json_array_get(points, i);
		bool throttled = json_is_true(json_object_get(p, "throttled")),
		     unstable = json_is_true(json_object_get(p, "unstable"));

		tk_table_add_record(t, p);
		set_point_cells(t, p, "VALUE", tk_record_text(series, "unit"));
		tk_table_set_cell(t, "NOTE", "%s%s%s", throttled ? "throttled" : "",
		        throttled && unstable ? ", " : "", unstable ? "unstable" : "");
	}
	puts(shown ? "" : "\nNo values yet.");
	return tk_table_finish(t, stdout, err);
}

static int print_changes(const struct tk_globals *g, const json_t *series, struct tk_error *err)
{
	const json_t *changes = json_object_get(series, "change_points");
	const char *unit = tk_record_text(series, "unit");
	struct tk_table *t = tk_table_new(g, change_columns);
	char text[TK_FORMAT_SIZE];

	for (size_t i = json_array_size(changes); i-- > 0;) {
		const json_t *c = json_array_get(changes, i);
		double before = tk_record_number(c, "before"), after = tk_record_number(c, "after");

		tk_table_add_record(t, c);
		tk_table_set_value(t, "BEFORE", before, unit);
		tk_table_set_value(t, "AFTER", after, unit);
		tk_table_set_cell(t, "BY", "%s", tk_format_change(after / before - 1, text));
	}
	if (json_array_size(changes))
		puts("");
	return tk_table_finish(t, stdout, err);
}

/* When the revision was measured first, if an earlier point did not; "": not known. */
static const char *first_measured(const json_t *points, const char *rev)
{
	for (size_t i = json_array_size(points); i-- > 0 && *rev;)
		if (strcmp(tk_record_text(json_array_get(points, i), "revision"), rev) == 0)
			return i + 1 < json_array_size(points)
			               ? tk_record_text(json_array_get(points, i), "as_of")
			               : "";
	return "";
}

static void print_alerts(const json_t *series)
{
	const json_t *points = json_object_get(series, "points"), *a;
	char change[TK_FORMAT_SIZE];
	size_t i;

	json_array_foreach (json_object_get(series, "alerts"), i, a) {
		const char *opened = tk_record_text(a, "opened"),
		           *rev = tk_record_text(a, "bad_rev"),
		           *first = first_measured(points, rev);

		printf("\nalert %.8s, %s: %s, opened %.10s %.5s; first bad revision %.12s",
		        tk_record_text(a, "uid"), tk_record_text(a, "status"),
		        tk_format_change(tk_record_number(a, "change.value"), change), opened,
		        opened + 11, rev);
		if (*first)
			printf(", first measured %.10s %.5s", first, first + 11);
		putchar('\n');
	}
}

static int print_series(const struct tk_globals *g, const json_t *series, const json_t *source,
        size_t shown, struct tk_error *err)
{
	AUTO(tk_buf) spark = TK_BUF_INIT;

	print_pair("series", tk_record_text(series, "series"));
	print_pair("problem", tk_record_text(source, "title"));
	print_pair("", tk_record_text(series, "problem"));
	print_pair("source", tk_record_text(source, "source"));
	print_pair("upstream", tk_record_text(series, "upstream"));
	print_pair("", tk_record_text(source, "upstream_url"));
	print_pair("backend", tk_record_text(series, "backend"));
	print_pair("config", tk_record_text(series, "config"));
	print_pair("device", tk_record_text(series, "device"));
	print_pair("machine", tk_record_text(series, "machine"));
	printf("%-12s%s, %s, %s, %s is better\n", "measures", tk_record_text(series, "metric"),
	        tk_record_text(series, "mode"), tk_record_text(series, "role"),
	        tk_record_text(series, "better"));
	add_sparkline(&spark, json_object_get(series, "points"), SPARKLINE_POINTS);
	print_pair("trend", tk_buf_cstr(&spark));
	print_alerts(series);
	TRY(print_changes(g, series, err));
	return print_points(g, series, shown, err);
}

static int show_series(const struct tk_globals *g, int64_t id, struct tk_error *err)
{
	size_t most = opt.limit && opt.limit < SPARKLINE_POINTS ? SPARKLINE_POINTS : opt.limit;
	json_auto_t *series = NULL, *source = NULL;

	TRY(tk_records_select_one(g->store, series_sql, TK_ARGS(id), &series, err));
	TRY(tk_records_select_member(g->store, points_sql, TK_ARGS(id, most ? (int64_t)most : -1),
	        series, "points", err));
	TRY(tk_records_select_member(
	        g->store, changes_sql, TK_ARGS(id), series, "change_points", err));
	TRY(tk_records_select_member(g->store, alerts_sql, TK_ARGS(id), series, "alerts", err));
	TRY(tk_records_select_one(g->store, source_sql, TK_ARGS(id), &source, err));

	json_t *points = json_object_get(series, "points");
	size_t count = json_array_size(points),
	       shown = opt.limit && opt.limit < count ? opt.limit : count;

	if (!opt.json)
		return print_series(g, series, source, shown, err);
	while (json_array_size(points) > shown)
		json_array_remove(points, json_array_size(points) - 1);
	return tk_command_print_json(json_incref(series), err);
}

/* ---- which one is meant ---------------------------------------------------------------------- */

static int fail_unknown(struct tk_store *s, struct tk_error *err)
{
	json_auto_t *all = NULL;

	TRY(tk_records_select(s, "SELECT slug FROM series ORDER BY slug", TK_NO_ARGS, &all, err));
	return tk_records_fail_unknown(all, "slug", opt.what, "no series or run matches",
	        "; `tracker show '*'` lists the series", err);
}

static int run_show(struct tk_globals *g, struct tk_error *err)
{
	struct tk_problem_spec spec;
	const char *problem = tk_problem_parse(&spec, opt.what, NULL) ? "" : spec.text;
	json_auto_t *found = NULL;
	AUTO(tk_rows) runs = {0};
	enum tk_likeness likeness;

	TRY(tk_series_find(g->store, opt.what, problem, &found, &likeness, err));
	if (likeness != TK_LIKENESS_EQUAL)
		TRY(tk_store_find_runs(g->store, opt.what, &runs, err));
	if (runs.count == 1)
		return tk_show_run(g, &opt, TK_ROWS_AT(&runs, struct tk_run_row, 0)->id, err);
	if (runs.count > 1 && likeness < TK_LIKENESS_START)
		return tk_fail(err, TK_EUSAGE, "\"%s\" is ambiguous: several runs start with it",
		        opt.what);
	if (!json_array_size(found))
		return fail_unknown(g->store, err);
	return json_array_size(found) > 1 ? show_list(g, found, err)
	                                  : show_series(g,
	                                            json_integer_value(json_object_get(
	                                                    json_array_get(found, 0), "id")),
	                                            err);
}

const struct tk_command tk_command_show = {.name = "show",
        .summary = "show one series or one run in full",
        .usage = {.options = options,
                .arguments = "SERIES|RUN",
                .surplus = "expected one series or run",
                .help = "Show one series or one run in full.\v"
                        "SERIES is a name, a part of one, a pattern ('*gemm*cold') or a problem "
                        "(gemm:m=512,n=512,k=512); several matches are listed. RUN is the number "
                        "of a run or the first digits of its id.\n\n"
                        "Examples:\n"
                        "  tracker show '*'\n"
                        "  tracker show '*gemm*512*' --limit=5\n"
                        "  tracker show 42 --samples\n"
                        "  tracker show 42 --format=json | jq .attributes.verify"},
        .opens = TK_OPENS_READ,
        .run = run_show};
