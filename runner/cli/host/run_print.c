/* The results of `tracker run`: a table or JSON. */
#include "cli/host/run.h"

#include <math.h>

#include "base/present.h"
#include "cli/rate.h"
#include "core/datasheet.h"
#include "core/measurement_fields.h"
#include "core/outcome.h"

static const struct tk_column columns[] = {
        {"PROBLEM", TK_COLUMN_CUT},
        {"DEVICE", TK_COLUMN_CUT | TK_COLUMN_OPTIONAL},
        {"MEDIAN", TK_COLUMN_RIGHT},
        {"INTERVAL", TK_COLUMN_RIGHT | TK_COLUMN_DROP(4)},
        {"N", TK_COLUMN_RIGHT | TK_COLUMN_DROP(1)},
        {"RATE", TK_COLUMN_RIGHT},
        {"IN CONTEXT", TK_COLUMN_RIGHT | TK_COLUMN_OPTIONAL},
        {"PEAK", TK_COLUMN_RIGHT | TK_COLUMN_OPTIONAL | TK_COLUMN_DROP(2)},
        {"VERIFY", TK_COLUMN_DROP(3)},
        {"OUTCOME", TK_COLUMN_LEFT},
        {"WHY", TK_COLUMN_WRAP | TK_COLUMN_OPTIONAL},
        {NULL, 0},
};

struct tk_table *tk_run_table_new(const struct tk_globals *g)
{
	return tk_table_new(g, columns);
}

static double value(const json_t *result, enum tk_measurement_field field)
{
	return tk_measurement_get_number(result, field, 0);
}

static void set_time(struct tk_table *t, const char *column, double ns)
{
	char text[TK_FORMAT_SIZE];
	tk_table_set_cell(t, column, "%s", tk_format_value(ns, "ns", text));
}

static struct tk_rate compute_rate(const struct tk_run_device *device,
        const struct tk_problem_spec *problem, const struct tk_job_result *job)
{
	if (!tk_outcome_has_timing(job->outcome))
		return (struct tk_rate){NAN, NAN};
	return tk_rate_compute(value(job->result, TK_MEASUREMENT_FLOPS),
	        tk_datasheet_find_peak(device->model, problem),
	        value(job->result, TK_MEASUREMENT_MEDIAN));
}

static void set_bandwidth(struct tk_table *t, const json_t *result, double median_ns)
{
	double bytes = value(result, TK_MEASUREMENT_BYTES);
	char text[TK_FORMAT_SIZE];
	if (bytes > 0)
		tk_table_set_cell(
		        t, "RATE", "%s", tk_format_value(bytes / median_ns, "gb_per_s", text));
}

static void set_verify(struct tk_table *t, const json_t *result)
{
	const json_t *v = tk_measurement_get_field(result, TK_MEASUREMENT_VERIFY);
	if (!json_is_true(tk_measurement_get_field(v, TK_MEASUREMENT_VERIFY_DONE))) {
		tk_table_set_cell(t, "VERIFY", "-");
		return;
	}
	bool passed = json_is_true(tk_measurement_get_field(v, TK_MEASUREMENT_VERIFY_PASSED));
	tk_table_set_cell(t, "VERIFY", "%s %.1e of %.1e", passed ? "ok" : "wrong",
	        value(v, TK_MEASUREMENT_VERIFY_MAX_ERROR),
	        value(v, TK_MEASUREMENT_VERIFY_TOLERANCE));
	tk_table_set_color(t, "VERIFY", passed ? "green" : "red");
}

/* "1.034 ±0.2 %" of the time alone. */
static void set_context(struct tk_table *t, const json_t *result)
{
	double ratio = tk_measurement_get_number(result, TK_MEASUREMENT_IN_CONTEXT_RATIO, NAN);
	char number[TK_FORMAT_SIZE], width[TK_FORMAT_SIZE];
	if (isfinite(ratio))
		tk_table_set_cell(t, "IN CONTEXT", "%s %s", tk_format_value(ratio, "ratio", number),
		        tk_format_half_width(ratio,
		                value(result, TK_MEASUREMENT_IN_CONTEXT_RATIO_LO),
		                value(result, TK_MEASUREMENT_IN_CONTEXT_RATIO_HI), width));
}

static void add_row(struct tk_run_session *r, const struct tk_run_device *device, const char *title,
        const struct tk_rate *rate, const struct tk_job_result *job)
{
	struct tk_table *t = r->table;
	double median = value(job->result, TK_MEASUREMENT_MEDIAN);
	char text[TK_FORMAT_SIZE];
	tk_table_add_row(t);
	tk_table_set_cell(t, "PROBLEM", "%s", title);
	if (r->device_count > 1)
		tk_table_set_cell(t, "DEVICE", "%s", device->name);
	tk_table_set_cell(t, "OUTCOME", "%s", tk_outcome_name(job->outcome));
	tk_table_set_color(t, "OUTCOME",
	        job->outcome == TK_OUTCOME_OK         ? "green"
	        : tk_outcome_has_timing(job->outcome) ? "yellow"
	                                              : "red");
	tk_table_set_cell(t, "WHY", "%s", job->message);
	set_verify(t, job->result);
	if (!tk_outcome_has_timing(job->outcome))
		return;
	set_time(t, "MEDIAN", median);
	if (value(job->result, TK_MEASUREMENT_N) > 1) /* one sample has none */
		tk_table_set_cell(t, "INTERVAL", "%s",
		        tk_format_half_width(median, value(job->result, TK_MEASUREMENT_LO),
		                value(job->result, TK_MEASUREMENT_HI), text));
	tk_table_set_cell(t, "N", "%.0f", value(job->result, TK_MEASUREMENT_N));
	if (isnan(rate->gflop_per_s))
		set_bandwidth(t, job->result, median);
	tk_rate_set_cells(t, rate);
	set_context(t, job->result);
}

static void add_json(struct tk_run_session *r, const struct tk_run_device *device,
        const struct tk_problem_spec *problem, const char *title, const struct tk_rate *rate,
        const struct tk_job_result *job)
{
	json_t *o = json_object(), *result = job->result ? json_copy(job->result) : json_null();
	if (!r->o->samples && job->result)
		json_object_del(result, tk_measurement_field_key(TK_MEASUREMENT_SAMPLES));
	tk_run_set_runner_members(o, device, problem, rate, job);
	json_object_set_new(o, "backend", json_string(r->o->backend));
	json_object_set_new(o, "device", json_string(device->name));
	json_object_set_new(o, "problem", json_string(problem->text));
	json_object_set_new(o, "title", json_string(title));
	json_object_set_new(o, "mode", json_string(r->mode_word));
	json_object_set_new(o, "outcome", json_string(tk_outcome_name(job->outcome)));
	json_object_set_new(o, "message", json_string(job->message));
	tk_rate_set_members(o, rate);
	json_object_set_new(o, "wall_s", json_real(job->wall_s));
	json_object_set_new(o, "result", result);
	json_array_append_new(r->json, o);
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
	if (json_dumpf(r->json, stdout,
	            JSON_INDENT(2) | JSON_ENSURE_ASCII | JSON_REAL_PRECISION(10)) ||
	        putchar('\n') == EOF)
		return tk_fail(err, TK_EIO, "cannot write the result as JSON");
	return TK_OK;
}

void tk_run_add_result(struct tk_run_session *r, const struct tk_run_device *device,
        const struct tk_problem_spec *problem, const struct tk_job_result *job)
{
	const struct tk_rate rate = compute_rate(device, problem, job);
	char title[TK_PROBLEM_TEXT_MAX];
	tk_problem_format_title(problem, title, sizeof title);
	add_row(r, device, title, &rate, job);
	add_json(r, device, problem, title, &rate, job);
	if (r->o->samples && !r->o->json)
		print_samples(title, job);
}
