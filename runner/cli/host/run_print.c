/* The results of `tracker run`: one record a problem, as a row of a table or JSON. */
#include "cli/host/run.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/present.h"
#include "cli/markup.h"
#include "cli/table.h"
#include "core/datasheet.h"
#include "core/fields.h"
#include "core/measurement_fields.h"
#include "core/outcome.h"

struct result {
	const struct tk_job_result *job;
	const char *backend, *device, *model, *arch, *mode, *outcome, *message, *text;
	char title[TK_PROBLEM_TEXT_MAX];
	struct tk_rate rate;
	double latency_ms, tflops, plan_s, wall_s;
	bool has_samples;
};

/* ---- JSON ------------------------------------------------------------------------------------ */

static json_t *parse_value(const char *text)
{
	char *end;
	double x = strtod(text, &end);

	if (end == text || *end || !isfinite(x))
		return json_string(text);
	return x == floor(x) && fabs(x) < 0x1p53 ? json_integer((json_int_t)x) : json_real(x);
}

/* The keys of the canonical text; `dtype` is the type of the operands in every operation. */
static json_t *make_problem_size(const void *row, const void *context)
{
	const char *colon = strchr(((const struct result *)row)->text, ':');
	char text[TK_PROBLEM_TEXT_MAX], *rest = colon ? text : NULL;
	json_t *o = json_object();

	if (rest)
		snprintf(text, sizeof text, "%s", colon + 1);
	for (char *word; rest && (word = strsep(&rest, ","));) {
		char *value = strchr(word, '=');

		if (!value)
			continue;
		*value++ = '\0';
		json_object_set_new(o, word, parse_value(value));
	}
	if (!json_object_get(o, "dtype") && json_object_get(o, "a"))
		json_object_set(o, "dtype", json_object_get(o, "a"));
	return o;
}

/* "sm_90" is 9.0, "sm_103" is 10.3, "sm_90a" is 9.0. */
static json_t *make_compute_capability(const void *row, const void *context)
{
	const char *arch = ((const struct result *)row)->arch;
	char text[16];
	char *end;
	long number = strncmp(arch, "sm_", 3) == 0 ? strtol(arch + 3, &end, 10) : 0;

	if (number < 10 || number > 9999)
		return json_null();
	snprintf(text, sizeof text, "%ld.%ld", number / 10, number % 10);
	return json_string(text);
}

static json_t *make_kernel(const void *row, const void *context)
{
	const char *text = ((const struct result *)row)->text;

	return json_stringn(text, strcspn(text, ":"));
}

static json_t *make_result(const void *row, const void *context)
{
	const struct result *r = row;
	json_t *o = r->job->result ? json_copy(r->job->result) : json_null();

	if (!r->has_samples && r->job->result)
		json_object_del(o, tk_measurement_field_key(TK_MEASUREMENT_SAMPLES));
	return o;
}

/* The first eight are those of public benchmark runners, so that scripts written for them read the
 * document; `tracker import` reads them too. */
static const struct tk_field fields[] = {
        {TK_FIELD_MAKE(MADE, "kernel", make_kernel, "The operation")},
        {TK_FIELD(TEXT, "gpu_model", struct result, model, "The model of the device")},
        {TK_FIELD(TEXT, "arch", struct result, arch, "Its architecture")},
        {TK_FIELD_MAKE(MADE, "compute_capability", make_compute_capability,
                "Its compute capability, of NVIDIA GPUs")},
        {TK_FIELD_MAKE(LIST, "problem_size", make_problem_size, "The sizes and types")},
        {TK_FIELD(REAL, "latency_ms", struct result, latency_ms, "The median")},
        {TK_FIELD(REAL, "tflops", struct result, tflops, "The rate")},
        {TK_FIELD(REAL, "compilation_time", struct result, plan_s, "Seconds of planning")},
        {TK_FIELD(TEXT, "backend", struct result, backend, "The backend")},
        {TK_FIELD(TEXT, "device", struct result, device, "The device")},
        {TK_FIELD(TEXT, "problem", struct result, text, "The problem")},
        {TK_FIELD(TEXT, "title", struct result, title, "Its title")},
        {TK_FIELD(TEXT, "mode", struct result, mode, "The mode of measuring")},
        {TK_FIELD(TEXT, "outcome", struct result, outcome, "How the job ended")},
        {TK_FIELD(TEXT, "message", struct result, message, "Why it failed")},
        {TK_FIELD(REAL, "gflop_per_s", struct result, rate.gflop_per_s, "The rate")},
        {TK_FIELD(REAL, "peak_share", struct result, rate.peak_share,
                "Its share of the peak of the device")},
        {TK_FIELD(REAL, "wall_s", struct result, wall_s, "Seconds that the job took")},
        {TK_FIELD_MAKE(LIST, "result", make_result, "What the worker measured")},
        {0},
};

/* ---- table ----------------------------------------------------------------------------------- */

static const char *color_outcome(const json_t *row)
{
	enum tk_outcome outcome = TK_OUTCOME_FAILED;

	tk_outcome_parse(tk_record_text(row, "outcome"), &outcome);
	return outcome == TK_OUTCOME_OK         ? "green"
	       : tk_outcome_has_timing(outcome) ? "yellow"
	                                        : "red";
}

static const char *color_verify(const json_t *row)
{
	const json_t *done = tk_record_get(row, "result.verify.done");

	return !json_is_true(done)                                        ? NULL
	       : json_is_true(tk_record_get(row, "result.verify.passed")) ? "green"
	                                                                  : "red";
}

static const struct tk_column columns[] = {
        {"PROBLEM", TK_COLUMN_CUT, "title"},
        {"DEVICE", TK_COLUMN_CUT | TK_COLUMN_VARIED, "device"},
        {"MEDIAN", TK_COLUMN_RIGHT, "result.median", TK_SHOW_NS},
        {"INTERVAL", TK_COLUMN_RIGHT | TK_COLUMN_DROP(4)},
        {"N", TK_COLUMN_RIGHT | TK_COLUMN_DROP(1), "result.n"},
        {"RATE", TK_COLUMN_RIGHT},
        {"IN CONTEXT", TK_COLUMN_RIGHT | TK_COLUMN_OPTIONAL},
        {"PEAK", TK_COLUMN_RIGHT | TK_COLUMN_OPTIONAL | TK_COLUMN_DROP(2)},
        {"VERIFY", TK_COLUMN_DROP(3), .color = color_verify},
        {"OUTCOME", TK_COLUMN_LEFT, "outcome", .color = color_outcome},
        {"WHY", TK_COLUMN_WRAP | TK_COLUMN_OPTIONAL, "message"},
        {0},
};

struct tk_table *tk_run_table_new(const struct tk_globals *g)
{
	return tk_table_new(g, columns);
}

static void set_verify(struct tk_table *t, const json_t *row)
{
	if (!json_is_true(tk_record_get(row, "result.verify.done")))
		tk_table_set_cell(t, "VERIFY", "-");
	else
		tk_table_set_cell(t, "VERIFY", "%s %.1e of %.1e",
		        json_is_true(tk_record_get(row, "result.verify.passed")) ? "ok" : "wrong",
		        tk_record_number(row, "result.verify.max_error"),
		        tk_record_number(row, "result.verify.tolerance"));
}

static void set_rate(struct tk_table *t, const struct tk_rate *rate, const json_t *row)
{
	tk_rate_set_cells(t, rate);
	if (isnan(rate->gflop_per_s) && tk_record_number(row, "result.bytes") > 0)
		tk_table_set_value(t, "RATE",
		        tk_record_number(row, "result.bytes") /
		                tk_record_number(row, "result.median"),
		        "gb_per_s");
}

/* One sample has no interval. In context: "1.034 ±0.2 %" of the time alone. */
static void set_intervals(struct tk_table *t, const json_t *row)
{
	const double ratio = tk_record_number(row, "result.in_context_ratio");
	char number[TK_FORMAT_SIZE], width[TK_FORMAT_SIZE];

	if (tk_record_number(row, "result.n") > 1)
		tk_table_set_cell(t, "INTERVAL", "%s",
		        tk_format_half_width(tk_record_number(row, "result.median"),
		                tk_record_number(row, "result.lo"),
		                tk_record_number(row, "result.hi"), width));
	if (isfinite(ratio))
		tk_table_set_cell(t, "IN CONTEXT", "%s %s", tk_format_value(ratio, "ratio", number),
		        tk_format_half_width(ratio,
		                tk_record_number(row, "result.in_context_ratio_lo"),
		                tk_record_number(row, "result.in_context_ratio_hi"), width));
}

static void add_row(struct tk_table *t, const struct result *result, const json_t *row)
{
	tk_table_add_record(t, row);
	set_verify(t, row);
	if (!tk_outcome_has_timing(result->job->outcome))
		return;
	set_intervals(t, row);
	set_rate(t, &result->rate, row);
}

/* One line per problem, in time order. */
static void print_samples(const char *title, const struct tk_job_result *job)
{
	const json_t *samples = tk_measurement_get_field(job->result, TK_MEASUREMENT_SAMPLES);
	size_t i;
	json_t *x;
	if (!samples)
		return;
	printf("%s ns:", title);
	json_array_foreach (samples, i, x)
		printf(" %.10g", json_number_value(x));
	putchar('\n');
}

int tk_run_print(struct tk_run_session *r, struct tk_error *err)
{
	if (!r->o->json)
		return tk_table_print(r->table, stdout, err);
	return tk_json_write(json_incref(r->json),
	        JSON_INDENT(2) | JSON_ENSURE_ASCII | JSON_REAL_PRECISION(10), stdout, err);
}

void tk_run_add_result(struct tk_run_session *r, const struct tk_run_device *device,
        const struct tk_problem_spec *problem, const struct tk_job_result *job)
{
	const double ns =
	        tk_outcome_has_timing(job->outcome)
	                ? tk_measurement_get_number(job->result, TK_MEASUREMENT_MEDIAN, NAN)
	                : NAN;
	struct result result = {.job = job,
	        .text = problem->text,
	        .backend = r->o->backend,
	        .device = device->name,
	        .model = device->model,
	        .arch = device->arch,
	        .mode = r->mode_word,
	        .outcome = tk_outcome_name(job->outcome),
	        .message = job->message,
	        .rate = tk_rate_compute(
	                tk_measurement_get_number(job->result, TK_MEASUREMENT_FLOPS, 0),
	                tk_datasheet_find_peak(device->model, problem), ns),
	        .latency_ms = ns / 1e6,
	        .plan_s = isnan(ns) ? NAN
	                            : tk_measurement_get_number(
	                                      job->result, TK_MEASUREMENT_PLAN_S, NAN),
	        .wall_s = job->wall_s,
	        .has_samples = r->o->samples};
	json_t *row;

	result.tflops = result.rate.gflop_per_s / 1e3;
	tk_problem_format_title(problem, result.title, sizeof result.title);
	row = tk_fields_to_json(fields, &result, NULL);
	add_row(r->table, &result, row);
	json_array_append_new(r->json, row);
	if (r->o->samples && !r->o->json)
		print_samples(result.title, job);
}
