/* Prints a run: its outcome, value, build, environment, kernels, samples. */
#include <inttypes.h>
#include <math.h>

#include "cli/history/show.h"
#include "cli/table.h"
#include "core/measurement_fields.h"
#include "stats/summary.h"
#include "store/query/code_facts.h"
#include "store/store.h"

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
		if (*tk_record_text(k, "instructions"))
			tk_print_line(stdout, "    %-24s %s", "instructions",
			        tk_record_text(k, "instructions"));
	}
	if (count > KERNELS_PRINTED)
		printf("  and %zu more; --format=json lists them\n", count - KERNELS_PRINTED);
}

/* ---- text ------------------------------------------------------------------------------------ */

static void print_pair(const char *name, const char *value)
{
	if (*value)
		tk_print_line(stdout, "%-14s%s", name, value);
}

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

static void print_value(const struct run_detail *d, const char *unit)
{
	const json_t *v = json_object_get(d->run, "value");
	double median = tk_record_number(v, "median"), lo = tk_record_number(v, "lo"),
	       hi = tk_record_number(v, "hi"), n = tk_record_number(v, "n"),
	       q25 = tk_record_number(v, "q25"), q75 = tk_record_number(v, "q75"),
	       rate = tk_record_number(v, "gflop_per_s"), share = tk_record_number(v, "peak_share");
	char a[TK_FORMAT_SIZE], b[TK_FORMAT_SIZE];

	if (!json_is_object(v))
		return;
	printf("%-14s%s", "median", tk_format_value(median, unit, a));
	if (isfinite(lo) && isfinite(hi) && (n > 1 || hi > lo))
		printf(" (95 %% CI %s to %s)", tk_format_value(lo, unit, a),
		        tk_format_value(hi, unit, b));
	printf(", %.0f sample%s, minimum %s", n, n == 1 ? "" : "s",
	        tk_format_value(tk_record_number(v, "min"), unit, a));
	if (isfinite(q25) && isfinite(q75))
		printf(", middle half %s to %s", tk_format_value(q25, unit, a),
		        tk_format_value(q75, unit, b));
	printf(", 95th percentile %s\n", tk_format_value(tk_record_number(v, "p95"), unit, a));
	if (!isfinite(rate))
		return;
	printf("%-14s%s", "rate", tk_format_value(rate, "gflop_per_s", a));
	if (isfinite(share))
		printf(", %s of the data sheet's peak", tk_format_percent(share, a));
	putchar('\n');
}

static void print_environment(const struct run_detail *d)
{
	const char *text = tk_record_text(d->context, "environment");
	json_t *environment = json_loads(text, 0, NULL);

	if (json_object_size(environment)) {
		puts("\nenvironment");
		print_attributes("", environment);
	} else if (!environment) {
		print_pair("environment", text);
	}
	json_decref(environment);
}

static void print_text(const struct run_detail *d, bool samples)
{
	const json_t *r = d->run;
	const char *unit = tk_record_text(d->context, "unit");
	char took[TK_FORMAT_SIZE];

	printf("%-14s%.0f (%s)\n", "run", tk_record_number(r, "id"), tk_record_text(r, "uid"));
	print_pair("series",
	        *tk_record_text(r, "series") ? tk_record_text(r, "series") : "many (imported)");
	printf("%-14s%.0f, job %.0f\n", "night", tk_record_number(r, "night"),
	        tk_record_number(r, "seq"));
	print_pair("started", tk_record_text(r, "started"));
	print_pair("took", tk_duration_format(tk_record_number(r, "wall_s"), took, sizeof took));
	print_pair("outcome", tk_record_text(r, "outcome"));
	print_pair("message", tk_record_text(r, "message"));
	print_value(d, unit);
	print_pair("revision", tk_record_text(r, "build.revision"));
	print_pair("", tk_record_text(r, "build.subject"));
	print_pair("build", tk_record_text(r, "build.artifact"));
	print_pair("", tk_record_text(d->context, "build_message"));
	print_pair("toolchain", tk_record_text(r, "build.toolchain"));
	print_pair("flags", tk_record_text(r, "build.flags"));
	print_pair("code", tk_record_text(r, "build.code_hash"));
	if (json_object_size(json_object_get(r, "attributes"))) {
		puts("\nmeasurement");
		print_attributes("", json_object_get(r, "attributes"));
	}
	json_auto_t *kernels = kernels_to_json(d);

	print_kernels(kernels);
	print_environment(d);
	print_histogram(d, unit);
	for (size_t i = 0; samples && i < d->sample_count; i++)
		printf("%s%.17g", i ? " " : "\n", d->samples[i]);
	if (samples)
		puts(d->sample_count ? ""
		                     : "\nno raw samples; `retention.samples` drops them after a "
		                       "while");
}

/* ---- document -------------------------------------------------------------------------------- */

static json_t *to_json(const struct run_detail *d, bool samples)
{
	const char *environment = tk_record_text(d->context, "environment");
	json_t *json = json_incref(d->run), *parsed = json_loads(environment, 0, NULL), *list;

	json_object_set_new(json, "kernels", kernels_to_json(d));
	json_object_set_new(json, "environment", parsed ? parsed : json_string(environment));
	if (!samples)
		return json;
	list = json_array();
	for (size_t i = 0; i < d->sample_count; i++)
		json_array_append_new(list, json_real(d->samples[i]));
	json_object_set_new(json, tk_measurement_field_key(TK_MEASUREMENT_SAMPLES), list);
	return json;
}

int tk_show_run(const struct tk_globals *g, const struct tk_show_options *o, int64_t run_id,
        struct tk_error *err)
{
	AUTO(run_detail) d = {0};

	TRY(load(g->store, run_id, &d, err));
	if (o->json)
		return tk_command_print_json(to_json(&d, o->samples), err);
	print_text(&d, o->samples);
	return TK_OK;
}
