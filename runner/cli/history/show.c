/* `tracker show`: one series, several, or one run in full. */
#include <math.h>

#include "cli/arguments.h"
#include "cli/commands.h"
#include "cli/table.h"
#include "core/measurement_fields.h"
#include "core/problem.h"
#include "stats/summary.h"
#include "store/query/code_facts.h"
#include "store/store.h"

#define SPARKLINE_POINTS 60
#define LIST_POINTS 16 /* of each series of a list */

static struct {
	const char *what;
	size_t limit; /* points of a series; 0: all */
	bool samples, json;
} opt = {.limit = 20};

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
static json_t *make_sparkline(const json_t *points, size_t most)
{
	static const char *const bars[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
	size_t count = json_array_size(points) < most ? json_array_size(points) : most;
	double lo = INFINITY, hi = -INFINITY;
	AUTO(tk_buf) b = TK_BUF_INIT;

	for (size_t i = 0; i < count; i++) {
		lo = fmin(lo, tk_record_number(json_array_get(points, i), "value"));
		hi = fmax(hi, tk_record_number(json_array_get(points, i), "value"));
	}
	for (size_t i = count; i-- > 0;) {
		double x = tk_record_number(json_array_get(points, i), "value");

		tk_buf_add_str(&b, bars[hi > lo ? (size_t)((x - lo) / (hi - lo) * 7.0 + 0.5) : 3]);
	}
	return json_string(tk_buf_cstr(&b));
}

/* ---- several series -------------------------------------------------------------------------- */

static const struct tk_column list_columns[] = {
        {"SERIES", 0, "series"},
        {"NEWEST", TK_COLUMN_RIGHT, "{newest.value@unit|-}"},
        {"INTERVAL", TK_COLUMN_RIGHT | TK_COLUMN_DROP(3), "[{newest:half}][{!newest.value}-]"},
        {"RATE", TK_COLUMN_RIGHT | TK_COLUMN_OPTIONAL | TK_COLUMN_DROP(1), "newest.gflop_per_s",
                TK_SHOW_RATE},
        {"PEAK", TK_COLUMN_RIGHT | TK_COLUMN_OPTIONAL | TK_COLUMN_DROP(2), "newest.peak_share",
                TK_SHOW_PERCENT},
        {"WHEN", TK_COLUMN_DROP(4), "{newest.as_of:minute|-}"},
        {"TREND", TK_COLUMN_DROP(5), "trend"},
        {0},
};

static int add_series(const struct tk_globals *g, int64_t id, struct tk_table *t, json_t *list,
        struct tk_error *err)
{
	json_auto_t *series = NULL, *points = NULL, *row = NULL;

	TRY(tk_records_select_one(g->store, series_sql, TK_ARGS(id), &series, err));
	TRY(tk_records_select(g->store, points_sql, TK_ARGS(id, LIST_POINTS), &points, err));
	json_object_set(series, "newest", json_array_get(points, 0));
	json_array_append(list, series);
	row = json_copy(series);
	json_object_set_new(row, "trend", make_sparkline(points, LIST_POINTS));
	tk_table_add_record(t, row);
	return TK_OK;
}

static int64_t id_at(const json_t *found, size_t i)
{
	return json_integer_value(json_object_get(json_array_get(found, i), "id"));
}

static int show_list(const struct tk_globals *g, const json_t *found, struct tk_error *err)
{
	AUTO_PTR(tk_table) t = tk_table_new(g, list_columns);
	json_auto_t *list = json_array();

	for (size_t i = 0; i < json_array_size(found); i++)
		TRY(add_series(g, id_at(found, i), t, list, err));
	return opt.json ? tk_command_print_json(json_incref(list), err)
	                : tk_table_print(t, stdout, err);
}

/* ---- one series ------------------------------------------------------------------------------ */

static const struct tk_column point_columns[] = {
        {"WHEN", 0, "as_of", TK_SHOW_MINUTE},
        {"VALUE", TK_COLUMN_RIGHT, "{value@unit}"},
        {"INTERVAL", TK_COLUMN_RIGHT | TK_COLUMN_DROP(5), "[{point:half}]"},
        {"RATE", TK_COLUMN_RIGHT | TK_COLUMN_OPTIONAL | TK_COLUMN_DROP(3), "gflop_per_s",
                TK_SHOW_RATE},
        {"PEAK", TK_COLUMN_RIGHT | TK_COLUMN_OPTIONAL | TK_COLUMN_DROP(2), "peak_share",
                TK_SHOW_PERCENT},
        {"N", TK_COLUMN_RIGHT | TK_COLUMN_DROP(1), "n"},
        {"NOTE", TK_COLUMN_OPTIONAL,
                "[{?throttled}throttled][{?throttled}{?unstable}, ][{?unstable}unstable]"},
        {"REVISION", 0, "revision", TK_SHOW_SHORT},
        {"SUBJECT", TK_COLUMN_SHORTEN | TK_COLUMN_DROP(4), "subject"},
        {"RUN", TK_COLUMN_RIGHT, "run"},
        {0},
};

static const struct tk_column change_columns[] = {
        {"CHANGED", 0, "as_of", TK_SHOW_MINUTE},
        {"BEFORE", TK_COLUMN_RIGHT, "{before@unit}"},
        {"AFTER", TK_COLUMN_RIGHT, "{after@unit}"},
        {"BY", TK_COLUMN_RIGHT, "by", TK_SHOW_CHANGE},
        {"CAUSE", TK_COLUMN_DROP(2), "cause"},
        {"CONFIDENCE", TK_COLUMN_RIGHT | TK_COLUMN_DROP(1), "confidence", TK_SHOW_PERCENT},
        {"RUN", TK_COLUMN_RIGHT, "run"},
        {0},
};

static int print_points(const struct tk_globals *g, const json_t *series, struct tk_error *err)
{
	const json_t *points = json_object_get(series, "points");
	struct tk_table *t = tk_table_new(g, point_columns);
	json_t *p;
	size_t i;

	json_array_foreach (points, i, p) {
		json_object_set_new(p, "point", json_copy(p));
		json_object_set(p, "unit", json_object_get(series, "unit"));
		tk_table_add_record(t, p);
	}
	puts(json_array_size(points) ? "" : "\nNo values yet.");
	return tk_table_finish(t, stdout, err);
}

static int print_changes(const struct tk_globals *g, const json_t *series, struct tk_error *err)
{
	const json_t *changes = json_object_get(series, "change_points");
	struct tk_table *t = tk_table_new(g, change_columns);

	for (size_t i = json_array_size(changes); i-- > 0;) {
		json_t *c = json_array_get(changes, i);

		json_object_set(c, "unit", json_object_get(series, "unit"));
		json_object_set_new(c, "by",
		        tk_json_number(
		                tk_record_number(c, "after") / tk_record_number(c, "before") - 1));
		tk_table_add_record(t, c);
	}
	if (json_array_size(changes))
		puts("");
	return tk_table_finish(t, stdout, err);
}

/* When the revision was measured first, if an earlier point did not; NULL: not known. */
static json_t *first_measured(const json_t *points, const char *rev)
{
	for (size_t i = json_array_size(points); i-- > 0 && *rev;)
		if (strcmp(tk_record_text(json_array_get(points, i), "revision"), rev) == 0)
			return i + 1 < json_array_size(points)
			               ? json_object_get(json_array_get(points, i), "as_of")
			               : NULL;
	return NULL;
}

static int print_series(const struct tk_globals *g, const json_t *series, struct tk_error *err)
{
	json_auto_t *shown = json_copy((json_t *)(uintptr_t)series);
	json_t *a;
	size_t i;

	if (!strcmp(tk_record_text(series, "better"), tk_better_name(TK_BETTER_UNKNOWN)))
		json_object_del(shown, "better");
	tk_record_write(stdout,
	        "[series      {series}\n][problem     {about.title}\n][            {problem}\n]"
	        "[source      {about.source}\n][upstream    {upstream}\n]"
	        "[            {about.upstream_url}\n][backend     {backend}\n]"
	        "[config      {config}\n][device      {device}\n][machine     {machine}\n]"
	        "measures    {metric}, {mode}, {role}[, {better} is better]\n"
	        "[trend       {about.trend}\n]",
	        shown);
	json_array_foreach (json_object_get(series, "alerts"), i, a)
		tk_record_write(stdout,
		        "\nalert {uid:uid}, {status}: {change.value:change|–}, opened "
		        "{opened:minute}; first bad revision {bad_rev:short}"
		        "[, first measured {first:minute}]\n",
		        a);
	TRY(print_changes(g, series, err));
	return print_points(g, series, err);
}

/* What is printed, and not part of the document. */
static void add_texts(json_t *series, json_t *about)
{
	const json_t *points = json_object_get(series, "points");
	json_t *a;
	size_t i;

	json_object_set_new(about, "trend", make_sparkline(points, SPARKLINE_POINTS));
	json_object_set(series, "about", about);
	json_array_foreach (json_object_get(series, "alerts"), i, a)
		json_object_set(a, "first", first_measured(points, tk_record_text(a, "bad_rev")));
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

	if (!opt.json)
		add_texts(series, source);
	while (opt.limit && json_array_size(points) > opt.limit)
		json_array_remove(points, json_array_size(points) - 1);
	return opt.json ? tk_command_print_json(json_incref(series), err)
	                : print_series(g, series, err);
}

/* ---- one run ------------------------------------------------------------------------------- */

static const char run_sql[] =
        "SELECT r.id, r.uid, s.slug AS series, r.night_id AS night, r.seq,"
        "  r.as_of_s AS \"as_of:time\", r.started_s AS \"started:time\", r.wall_s, r.outcome,"
        "  r.message, r.attributes AS \"attributes:json\","
        "  r.value AS \"value.median\", r.lo AS \"value.lo\", r.hi AS \"value.hi\","
        "  r.min AS \"value.min\", r.q25 AS \"value.q25\", r.q75 AS \"value.q75\","
        "  r.p95 AS \"value.p95\", r.n AS \"value.n\","
        "  CASE WHEN s.unit = 'ns' AND s.flops > 0 THEN s.flops / r.value END"
        "    AS \"value.gflop_per_s\","
        "  CASE WHEN s.unit = 'ns' AND s.flops > 0 THEN s.flops / r.value /"
        "    peak_gflop_per_s(s.problem, s.device_name) END AS \"value.peak_share\","
        "  b.artifact_key AS \"build.artifact\", b.status AS \"build.status\","
        "  b.toolchain AS \"build.toolchain\", b.flags AS \"build.flags\","
        "  b.rev AS \"build.revision\", b.subject AS \"build.subject\","
        "  ifnull((SELECT code_hash FROM kernel WHERE build_id = b.id AND name = ''"
        "    AND backend = s.backend), '') AS \"build.code_hash\""
        " FROM run_v r JOIN build_v b ON b.id = r.build_id LEFT JOIN series_v s ON s.id = "
        "r.series_id"
        " WHERE r.id = ?1";

/* What is shown, and not part of the document. */
static const char context_sql[] =
        "SELECT r.series_id, r.build_id, ifnull(s.unit, 'ns') AS unit, ifnull(s.backend, '') AS "
        "backend,"
        "  ifnull(s.problem, '') AS problem, ifnull(s.config, '') AS config,"
        "  b.message AS build_message, e.attributes AS environment"
        " FROM run r JOIN build b ON b.id = r.build_id LEFT JOIN series_v s ON s.id = r.series_id"
        " LEFT JOIN environment e ON e.id = r.environment_id WHERE r.id = ?1";

struct run_detail {
	json_t *run, *context; /* of run_sql, context_sql */
	struct tk_rows kernels;
	struct tk_kernel_use use; /* which of the kernels it ran */
	double *samples;
	size_t sample_count;
};

static void run_detail_free(struct run_detail *d)
{
	tk_rows_free(&d->kernels);
	free(d->samples);
	json_decref(d->run);
	json_decref(d->context);
}

static struct tk_kernel_use used_kernels(const struct run_detail *d)
{
	const json_t *plan = tk_measurement_get_field(
	        json_object_get(d->run, "attributes"), TK_MEASUREMENT_PLAN);
	const char *config =
	        json_string_value(tk_measurement_get_field(plan, TK_MEASUREMENT_PLAN_ALGORITHM));

	return (struct tk_kernel_use){tk_record_text(d->context, "backend"),
	        tk_record_text(d->context, "problem"),
	        config ? config : tk_record_text(d->context, "config")};
}

static int load(struct tk_store *s, int64_t id, struct run_detail *d, struct tk_error *err)
{
	TRY(tk_records_select_one(s, run_sql, TK_ARGS(id), &d->run, err));
	TRY(tk_records_select_one(s, context_sql, TK_ARGS(id), &d->context, err));
	d->use = used_kernels(d);
	TRY(tk_store_list(s, TK_TABLE_kernel, "build_id=?1",
	        TK_ARGS((int64_t)tk_record_number(d->context, "build_id")), &d->kernels, err));
	return tk_store_read_samples(s, id,
	        json_integer_value(json_object_get(d->context, "series_id")), &d->samples,
	        &d->sample_count, err);
}

/* ---- kernels --------------------------------------------------------------------------------- */

#define KERNELS_PRINTED 12

static json_t *kernels_to_json(const struct run_detail *d)
{
	json_t *list = json_array();
	const struct tk_kernel_row *k;

	for (size_t i = 0; (k = tk_kernel_rows_next(&d->kernels, &d->use, &i));) {
		json_t *o = json_pack("{s:s,s:s,s:I}", "name", k->name, "code_hash", k->code_hash,
		        "size_bytes", (json_int_t)k->size_bytes);

		for (size_t f = 0; f < TK_CODE_FACT_COUNT; f++) {
			const int64_t value = tk_code_fact_value(&tk_code_facts[f], k);

			json_object_set_new(o, tk_code_facts[f].key,
			        value < 0 ? json_null() : json_integer(value));
		}
		json_object_set_new(o, "instructions", tk_json_text(k->instructions));
		json_array_append_new(list, o);
	}
	return list;
}

static void print_kernels(const json_t *kernels)
{
	const size_t count = json_array_size(kernels);

	for (size_t i = 0; i < count && i < KERNELS_PRINTED; i++) {
		const json_t *k = json_array_get(kernels, i);

		fputs(i ? "" : "\nGPU kernels\n", stdout);
		tk_print_line(stdout, "  %s", tk_record_text(k, "name"));
		for (size_t f = 0; f < TK_CODE_FACT_COUNT; f++)
			if (!isnan(tk_record_number(k, tk_code_facts[f].key)))
				printf("    %-24s %.0f%s\n", tk_code_facts[f].name,
				        tk_record_number(k, tk_code_facts[f].key),
				        tk_code_facts[f].unit);
		tk_record_write(stdout, "[    instructions             {instructions}\n]", k);
	}
	if (count > KERNELS_PRINTED)
		printf("  and %zu more; --format=json lists them\n", count - KERNELS_PRINTED);
}

/* ---- text ------------------------------------------------------------------------------------ */

/* By the unit at the end of the key. */
static void format_number(const char *key, double x, char text[TK_FORMAT_SIZE])
{
	const char *unit = strrchr(key, '_');

	unit = unit ? unit + 1 : key;
	if (strcmp(unit, "bytes") == 0 || strcmp(unit, "ns") == 0)
		tk_format_value(x, unit, text);
	else if (strcmp(unit, "j") == 0)
		tk_format_value(x, "J", text);
	else if (strcmp(unit, "s") == 0)
		tk_duration_format(x, text, TK_FORMAT_SIZE);
	else if (strcmp(unit, "mhz") == 0)
		snprintf(text, TK_FORMAT_SIZE, "%.6g MHz", x);
	else
		snprintf(text, TK_FORMAT_SIZE, "%.*g", x == floor(x) ? 17 : 6, x);
}

/* One attribute per line, nested objects as "verify.method"; null values are skipped. */
static void print_attributes(const char *prefix, const json_t *object)
{
	const char *key;
	json_t *value;

	json_object_foreach ((json_t *)object, key, value) {
		AUTO_TEXT name = tk_sprintf("%s%s%s", prefix, *prefix ? "." : "", key);
		AUTO_TEXT dumped = NULL;
		char number[TK_FORMAT_SIZE];
		const char *text = json_string_value(value);

		if (json_is_object(value)) {
			print_attributes(name, value);
		} else if (json_is_number(value)) {
			format_number(key, json_number_value(value), number);
			text = number;
		} else if (!text && !json_is_null(value)) {
			text = dumped = json_dumps(
			        value, JSON_COMPACT | JSON_ENCODE_ANY | JSON_REAL_PRECISION(6));
		}
		if (text && *text)
			tk_print_line(stdout, "  %-26s %s", name, text);
	}
}

#define BINS 12
#define VALUE_WIDTH 10
#define BAR_WIDTH 40

/* 12 bins from the minimum to the 95 % quantile, the last one for all above: an outlier must not
 * flatten the rest. */
static void print_histogram(const struct run_detail *d, const char *unit)
{
	struct tk_summary summary;
	size_t bins[BINS] = {0}, most = 1;

	if (!d->sample_count || tk_summary_compute(d->samples, d->sample_count, &summary))
		return;
	double width = (summary.p95 - summary.min) / (BINS - 1);

	for (size_t i = 0; i < d->sample_count; i++) {
		size_t bin = width > 0
		                     ? (size_t)fmin(BINS - 1, (d->samples[i] - summary.min) / width)
		                     : 0;

		if (++bins[bin] > most)
			most = bins[bin];
	}
	printf("\n%zu sample%s\n", d->sample_count, d->sample_count == 1 ? "" : "s");
	for (size_t b = 0; b < BINS && (b == 0 || width > 0); b++) {
		char from[TK_FORMAT_SIZE];

		tk_format_value(summary.min + (double)b * width, unit, from);
		/* printf pads by bytes, of which "µs" has three */
		printf("  %s %*s%s %6zu ", b == BINS - 1 ? ">=" : "  ",
		        VALUE_WIDTH - (int)tk_utf8_count(from), "", from, bins[b]);
		for (size_t i = 0; i < (bins[b] * BAR_WIDTH + most - 1) / most; i++)
			fputs("█", stdout);
		putchar('\n');
	}
}

static void print_environment(const struct run_detail *d)
{
	json_auto_t *environment = json_loads(tk_record_text(d->context, "environment"), 0, NULL);

	if (json_object_size(environment)) {
		puts("\nenvironment");
		print_attributes("", environment);
	} else if (!environment) {
		tk_record_write(stdout, "[environment   {environment}\n]", d->context);
	}
}

static const char run_text[] =
        "run           {id} ({uid})\nseries        {series|many (imported)}\n"
        "night         {night}, job {seq}\n[started       {started}\n]"
        "[took          {context.took}\n][outcome       {outcome}\n][message       {message}\n]"
        "[median        {value.median@context.unit}[{?value:half} (95 % CI "
        "{value.lo@context.unit} to {value.hi@context.unit})], {value.n} sample{value.n:plural}, "
        "minimum {value.min@context.unit|–}[, middle half {value.q25@context.unit} to "
        "{value.q75@context.unit}], 95th percentile {value.p95@context.unit|–}\n]"
        "[rate          {value.gflop_per_s:rate}[, {value.peak_share:percent} of the data "
        "sheet's peak]\n]"
        "[revision      {build.revision}\n][              {build.subject}\n]"
        "[build         {build.artifact}\n][              {context.build_message}\n]"
        "[toolchain     {build.toolchain}\n][flags         {build.flags}\n]"
        "[code          {build.code_hash}\n]";

static void print_text(const struct run_detail *d)
{
	const json_t *attributes = json_object_get(d->run, "attributes");
	char took[TK_FORMAT_SIZE];

	tk_duration_format(tk_record_number(d->run, "wall_s"), took, sizeof took);
	json_object_set_new(d->context, "took", json_string(took));
	json_object_set(d->run, "context", d->context);
	tk_record_write(stdout, run_text, d->run);
	if (json_object_size(attributes)) {
		puts("\nmeasurement");
		print_attributes("", attributes);
	}
	json_auto_t *kernels = kernels_to_json(d);

	print_kernels(kernels);
	print_environment(d);
	print_histogram(d, tk_record_text(d->context, "unit"));
	for (size_t i = 0; opt.samples && i < d->sample_count; i++)
		printf("%s%.17g", i ? " " : "\n", d->samples[i]);
	if (opt.samples)
		puts(d->sample_count ? ""
		                     : "\nno raw samples; `retention.samples` drops them after a "
		                       "while");
}

/* ---- document -------------------------------------------------------------------------------- */

static json_t *to_json(const struct run_detail *d)
{
	const char *environment = tk_record_text(d->context, "environment");
	json_t *json = json_incref(d->run), *parsed = json_loads(environment, 0, NULL), *list;

	json_object_set_new(json, "kernels", kernels_to_json(d));
	json_object_set_new(json, "environment", parsed ? parsed : json_string(environment));
	if (!opt.samples)
		return json;
	list = json_array();
	for (size_t i = 0; i < d->sample_count; i++)
		json_array_append_new(list, json_real(d->samples[i]));
	json_object_set_new(json, tk_measurement_field_key(TK_MEASUREMENT_SAMPLES), list);
	return json;
}

static int show_run(const struct tk_globals *g, int64_t run_id, struct tk_error *err)
{
	AUTO(run_detail) d = {0};

	TRY(load(g->store, run_id, &d, err));
	if (opt.json)
		return tk_command_print_json(to_json(&d), err);
	print_text(&d);
	return TK_OK;
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
		return show_run(g, TK_ROWS_AT(&runs, struct tk_run_row, 0)->id, err);
	if (runs.count > 1 && likeness < TK_LIKENESS_START)
		return tk_fail(err, TK_EUSAGE, "\"%s\" is ambiguous: several runs start with it",
		        opt.what);
	if (!json_array_size(found))
		return fail_unknown(g->store, err);
	return json_array_size(found) > 1 ? show_list(g, found, err)
	                                  : show_series(g, id_at(found, 0), err);
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
