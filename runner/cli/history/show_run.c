/* Prints a run: its outcome, value, build, environment, samples. */
#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/format.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/history/show.h"
#include "cli/history/show_kernels.h"
#include "cli/history/show_point.h"
#include "cli/markup.h"
#include "cli/rate.h"
#include "core/measurement_fields.h"
#include "site_gen/render/format_point.h"
#include "stats/summary/summary.h"
#include "store/store.h"

struct run_detail {
	const struct tk_run_row *run;
	const struct tk_series_row *series;
	const struct tk_build_row *build;
	const struct tk_revision_row *revision;
	const struct tk_environment_row *environment;
	struct tk_rows points, kernels;
	const struct tk_point *point; /* NULL: no timing */
	struct tk_rate rate;
	double *samples;
	size_t sample_count;
	json_t *attributes;
	struct tk_kernel_use use; /* which of the kernels it ran */
};

static void detail_free(struct run_detail *d)
{
	tk_rows_free(&d->points);
	tk_rows_free(&d->kernels);
	free(d->samples);
	json_decref(d->attributes);
}

static struct tk_kernel_use used_kernels(const struct run_detail *d, const struct tk_lookup *l)
{
	const json_t *plan = tk_measurement_get_field(d->attributes, TK_MEASUREMENT_PLAN);
	const char *config =
	        json_string_value(tk_measurement_get_field(plan, TK_MEASUREMENT_PLAN_ALGORITHM));
	const struct tk_problem_row *p =
	        d->series ? tk_lookup_problem(l, d->series->problem_id) : NULL;

	if (!p) /* the run is of many series */
		return (struct tk_kernel_use){"", "", ""};
	return (struct tk_kernel_use){
	        d->series->backend, p->text, config ? config : d->series->config};
}

static int detail_load(struct tk_store *s, const struct tk_lookup *l, const struct tk_run_row *run,
        struct run_detail *d, struct tk_error *err)
{
	int status = tk_store_list_run_points(s, run, &d->points, err);

	d->run = run;
	d->series = tk_lookup_series(l, run->series_id);
	d->build = tk_lookup_build(l, run->build_id);
	d->revision = tk_lookup_build_revision(l, run->build_id);
	d->environment = tk_lookup_environment(l, run->environment_id);
	d->attributes = json_loads(run->attributes, 0, NULL);
	d->use = used_kernels(d, l);
	if (!status && d->points.count)
		d->point = TK_ROWS_AT(&d->points, struct tk_point, 0);
	d->rate = d->point ? tk_rate_from_point(l, d->point) : (struct tk_rate){NAN, NAN};
	if (!status)
		status = tk_store_list(s, TK_TABLE_kernel, "build_id=?1", TK_ARGS(run->build_id),
		        &d->kernels, err);
	if (!status)
		status = tk_store_read_samples(
		        s, run->id, run->series_id, &d->samples, &d->sample_count, err);
	return status;
}

static const char *code_hash(const struct run_detail *d)
{
	for (size_t i = 0; i < d->kernels.count; i++) {
		const struct tk_kernel_row *k = TK_ROWS_AT(&d->kernels, struct tk_kernel_row, i);

		if (d->series && !*k->name && !strcmp(k->backend, d->series->backend))
			return k->code_hash;
	}
	return "";
}

static void print_line(const char *text)
{
	tk_text_write_sanitized(stdout, text, "");
	putchar('\n');
}

static void print_pair(const char *name, const char *value)
{
	if (!value || !*value)
		return;
	printf("%-14s", name);
	print_line(value);
}

static bool ends_with(const char *s, const char *end)
{
	size_t n = strlen(s), m = strlen(end);

	return n >= m && !strcmp(s + n - m, end);
}

static void print_number(const char *key, double x)
{
	char text[TK_FORMAT_SIZE];

	if (ends_with(key, "bytes"))
		puts(tk_format_value(x, "bytes", text));
	else if (ends_with(key, "_ns"))
		puts(tk_format_value(x, "ns", text));
	else if (ends_with(key, "_j"))
		puts(tk_format_value(x, "J", text));
	else if (ends_with(key, "_s"))
		puts(tk_duration_format(x, text, sizeof text));
	else if (ends_with(key, "_mhz"))
		printf("%.6g MHz\n", x);
	else
		printf("%.*g\n", x == floor(x) ? 17 : 6, x);
}

/* One attribute per line, nested objects as "verify.method"; null values are skipped. */
static void print_attributes(const char *prefix, const json_t *object)
{
	const char *key;
	json_t *value;

	json_object_foreach ((json_t *)object, key, value) {
		char name[128];
		char *text = NULL;

		snprintf(name, sizeof name, "%s%s%s", prefix, *prefix ? "." : "", key);
		if (json_is_object(value)) {
			print_attributes(name, value);
			continue;
		}
		if (json_is_null(value))
			continue;
		tk_text_sanitize(name, "", '?');
		if (json_is_number(value)) {
			printf("  %-26s ", name);
			print_number(key, json_number_value(value));
			continue;
		}
		text = json_is_string(value) ? NULL
		                             : json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY |
		                                                         JSON_REAL_PRECISION(6));
		if (!json_is_string(value) || *json_string_value(value)) {
			printf("  %-26s ", name);
			print_line(json_is_string(value) ? json_string_value(value)
			           : text                ? text
			                                 : "?");
		}
		free(text);
	}
}

#define BINS 12
#define VALUE_WIDTH 10
#define BAR_WIDTH 40

/* 12 bins from the minimum to the 95 % quantile, the last one for all above: an outlier must not
 * flatten the rest. */
static void print_histogram(const struct run_detail *d)
{
	struct tk_summary summary;
	size_t bins[BINS] = {0}, most = 1;
	const char *unit = d->series ? d->series->unit : "ns";

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

static void print_value(const struct run_detail *d)
{
	const struct tk_point *p = d->point;
	const char *unit = d->series ? d->series->unit : "ns";
	char value[TK_FORMAT_SIZE], lo[TK_FORMAT_SIZE], hi[TK_FORMAT_SIZE], least[TK_FORMAT_SIZE],
	        most[TK_FORMAT_SIZE], q25[TK_FORMAT_SIZE], q75[TK_FORMAT_SIZE];

	if (!p)
		return;
	printf("%-14s%s", "median", tk_format_value(p->value, unit, value));
	if (tk_point_has_interval(p))
		printf(" (95 %% CI %s to %s)", tk_format_value(p->lo, unit, lo),
		        tk_format_value(p->hi, unit, hi));
	printf(", %" PRId64 " sample%s, minimum %s", p->n, p->n == 1 ? "" : "s",
	        tk_format_value(p->min, unit, least));
	if (isfinite(p->q25) && isfinite(p->q75))
		printf(", middle half %s to %s", tk_format_value(p->q25, unit, q25),
		        tk_format_value(p->q75, unit, q75));
	printf(", 95th percentile %s\n", tk_format_value(p->p95, unit, most));
}

static void print_rate(const struct tk_rate *rate)
{
	char value[TK_FORMAT_SIZE], share[TK_FORMAT_SIZE];

	if (isnan(rate->gflop_per_s))
		return;
	printf("%-14s%s", "rate", tk_format_value(rate->gflop_per_s, "gflop_per_s", value));
	if (!isnan(rate->peak_share))
		printf(", %s of the data sheet's peak", tk_format_percent(rate->peak_share, share));
	putchar('\n');
}

static void print_environment(const struct run_detail *d)
{
	json_t *environment =
	        d->environment ? json_loads(d->environment->attributes, 0, NULL) : NULL;

	if (json_object_size(environment)) {
		puts("\nenvironment");
		print_attributes("", environment);
	} else if (d->environment && !environment) {
		print_pair("environment", d->environment->attributes);
	}
	json_decref(environment);
}

static void print_text(const struct run_detail *d, bool samples)
{
	char when[TK_TIME_ISO_SIZE], text[64];

	printf("%-14s%" PRId64 " (%s)\n", "run", d->run->id, d->run->uid);
	print_pair("series", d->series ? d->series->slug : "many (imported)");
	printf("%-14s%" PRId64 ", job %" PRId64 "\n", "night", d->run->night_id, d->run->seq);
	print_pair("started", tk_time_format_iso(d->run->started_s, when));
	print_pair("took", tk_duration_format(d->run->wall_s, text, sizeof text));
	print_pair("outcome", tk_outcome_name(d->run->outcome));
	print_pair("message", d->run->message);
	print_value(d);
	print_rate(&d->rate);
	print_pair("revision", d->revision ? d->revision->rev : NULL);
	print_pair("", d->revision ? d->revision->subject : NULL);
	print_pair("build", d->build ? d->build->artifact_key : NULL);
	print_pair("", d->build ? d->build->message : NULL);
	print_pair("toolchain", d->build ? d->build->toolchain : NULL);
	print_pair("flags", d->build ? d->build->flags : NULL);
	print_pair("code", code_hash(d));
	if (json_object_size(d->attributes)) {
		puts("\nmeasurement");
		print_attributes("", d->attributes);
	}
	tk_show_print_kernels(&d->kernels, &d->use);
	print_environment(d);
	print_histogram(d);
	for (size_t i = 0; samples && i < d->sample_count; i++)
		printf("%s%.17g", i ? " " : "\n", d->samples[i]);
	if (samples && d->sample_count)
		putchar('\n');
	else if (samples)
		puts("\nno raw samples; `retention.samples` drops them after a while");
}

static json_t *value_json(const struct tk_point *p, const struct tk_rate *rate)
{
	json_t *json = json_pack(
	        "{s:o}", tk_measurement_field_key(TK_MEASUREMENT_MEDIAN), tk_json_number(p->value));

	tk_show_set_distribution(json, p);
	json_object_set_new(json, tk_measurement_field_key(TK_MEASUREMENT_N), json_integer(p->n));
	tk_rate_set_members(json, rate);
	return json;
}

static json_t *run_json(const struct run_detail *d, bool samples)
{
	json_t *json = json_pack("{s:I,s:s,s:s?,s:I,s:I,s:I,s:I,s:f,s:s,s:s}", "id",
	        (json_int_t)d->run->id, "uid", d->run->uid, "series",
	        d->series ? d->series->slug : NULL, "night", (json_int_t)d->run->night_id, "seq",
	        (json_int_t)d->run->seq, "as_of_s", (json_int_t)d->run->as_of_s, "started_s",
	        (json_int_t)d->run->started_s, "wall_s", d->run->wall_s, "outcome",
	        tk_outcome_name(d->run->outcome), "message", d->run->message);

	json_object_set_new(
	        json, "attributes", d->attributes ? json_incref(d->attributes) : json_null());
	if (d->point)
		json_object_set_new(json, "value", value_json(d->point, &d->rate));
	if (d->build)
		json_object_set_new(json, "build",
		        json_pack("{s:s,s:s,s:s,s:s,s:s?,s:s?,s:s}", "artifact",
		                d->build->artifact_key, "status",
		                tk_build_status_name(d->build->status), "toolchain",
		                d->build->toolchain, "flags", d->build->flags, "revision",
		                d->revision ? d->revision->rev : NULL, "subject",
		                d->revision ? d->revision->subject : NULL, "code_hash",
		                code_hash(d)));
	json_object_set_new(json, "kernels", tk_show_kernels_json(&d->kernels, &d->use));
	if (d->environment) {
		json_t *environment = json_loads(d->environment->attributes, 0, NULL);

		json_object_set_new(json, "environment",
		        environment ? environment : json_string(d->environment->attributes));
	}
	if (samples) {
		json_t *list = json_array();

		for (size_t i = 0; i < d->sample_count; i++)
			json_array_append_new(list, json_real(d->samples[i]));
		json_object_set_new(json, tk_measurement_field_key(TK_MEASUREMENT_SAMPLES), list);
	}
	return json;
}

int tk_show_run(struct tk_store *s, const struct tk_show_options *o, const struct tk_lookup *l,
        const struct tk_run_row *run, struct tk_error *err)
{
	struct run_detail d = {0};
	int status = detail_load(s, l, run, &d, err);

	if (!status && o->json) {
		status = tk_command_print_json(run_json(&d, o->samples), err);
	} else if (!status) {
		print_text(&d, o->samples);
	}
	detail_free(&d);
	return status;
}
