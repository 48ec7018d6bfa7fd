/* See schedule.h. */
#include "base/base.h"
#include "build/build.h"
#include "core/kernel_package.h"
#include "core/limits.h"
#include "core/measurement_fields.h"
#include "core/problem.h"
#include "core/vocabulary.h"
#include "nightly/night.h"
#include "nightly/schedule/schedule.h"
#include "store/tuning.h"
#include "worker/worker.h"
#include <math.h>

/* ---- points ---- */

#define POINTS_MAX TK_METRIC_OTHER /* one for each metric that the tracker measures */

/* The points of one run; only the first, the time, has samples. */
struct points {
	struct tk_point list[POINTS_MAX];
	size_t count;
	double *samples;
	size_t sample_count;
};

static struct tk_point make_time_point(const struct tk_job_result *r, int64_t series_id)
{
	const struct tk_measured_time *t = &r->time;
	return (struct tk_point){.series_id = series_id,
	        .value = t->median,
	        .lo = t->lo,
	        .hi = t->hi,
	        .min = t->min,
	        .q25 = t->q25,
	        .q75 = t->q75,
	        .p95 = t->p95,
	        .n = t->n,
	        .flags = r->outcome == TK_OUTCOME_THROTTLED  ? TK_POINT_THROTTLED
	                 : r->outcome == TK_OUTCOME_UNSTABLE ? TK_POINT_UNSTABLE
	                                                     : 0};
}

/* An additional metric of a run, which gets its own series. */
struct extra_metric {
	enum tk_metric metric;
	bool is_wanted;
	double value;  /* not recorded unless > 0 */
	double lo, hi; /* its interval; 0: none */
};

/* Of the configuration that was measured. */
static double read_compile_ns(const struct tk_night_job *job, const json_t *result)
{
	const char *configuration = json_string_value(
	        tk_measurement_get_field(tk_measurement_get_field(result, TK_MEASUREMENT_PLAN),
	                TK_MEASUREMENT_PLAN_ALGORITHM));
	if (!configuration ||
	        tk_kernel_package_device_kind(job->row->backend_path) == TK_DEVICE_OTHER)
		return NAN;
	return tk_kernel_package_compile_ns(
	        job->row->backend_path, job->problem.text, configuration);
}

static int add_extra_point(struct tk_night *n, const struct tk_series_row *series,
        const struct extra_metric *extra, struct points *out, struct tk_error *err)
{
	struct tk_series_row row = *series;
	row.slug = NULL;
	row.metric = tk_metric_name(extra->metric);
	row.unit = tk_unit_name(tk_metric_unit(extra->metric));
	TRY(tk_store_put(n->store, TK_TABLE_series, &row, &row.id, err));
	out->list[out->count++] = (struct tk_point){.series_id = row.id,
	        .value = extra->value,
	        .lo = extra->lo > 0 ? extra->lo : NAN,
	        .hi = extra->hi > 0 ? extra->hi : NAN,
	        .min = NAN,
	        .q25 = NAN,
	        .q75 = NAN,
	        .p95 = NAN,
	        .n = 1};
	return TK_OK;
}

static int add_extra_points(struct tk_night *n, const struct tk_night_job *job,
        const json_t *result, struct points *out, struct tk_error *err)
{
	const struct tk_measure_config *m = &n->config->measure;
	const struct extra_metric all[POINTS_MAX - 1] = {
	        {TK_METRIC_LAUNCH, m->launch_cost,
	                tk_measurement_get_number(result, TK_MEASUREMENT_LAUNCH_NS, NAN)},
	        {TK_METRIC_ENERGY, m->energy,
	                tk_measurement_get_number(result, TK_MEASUREMENT_ENERGY_J, NAN)},
	        {TK_METRIC_MEMORY, m->memory,
	                tk_measurement_get_number(result, TK_MEASUREMENT_DEVICE_BYTES, NAN)},
	        {TK_METRIC_COMPILE, m->compile_time,
	                m->compile_time ? read_compile_ns(job, result) : NAN},
	        {TK_METRIC_IN_CONTEXT_RATIO, true,
	                tk_measurement_get_number(result, TK_MEASUREMENT_IN_CONTEXT_RATIO, NAN),
	                tk_measurement_get_number(result, TK_MEASUREMENT_IN_CONTEXT_RATIO_LO, 0),
	                tk_measurement_get_number(result, TK_MEASUREMENT_IN_CONTEXT_RATIO_HI, 0)}};
	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		if (all[i].is_wanted && all[i].value > 0)
			TRY(add_extra_point(n, &job->series, &all[i], out, err));
	return TK_OK;
}

static int make_points(struct tk_night *n, const struct tk_night_job *job,
        const struct tk_job_result *r, struct points *out, struct tk_error *err)
{
	if (!r->result || !tk_outcome_has_timing(r->outcome))
		return TK_OK;
	const json_t *samples = tk_measurement_get_field(r->result, TK_MEASUREMENT_SAMPLES);
	out->list[out->count++] = make_time_point(r, job->series.id);
	out->sample_count = json_array_size(samples);
	out->samples = tk_calloc(out->sample_count + 1, sizeof *out->samples);
	for (size_t i = 0; i < out->sample_count; i++)
		out->samples[i] = json_number_value(json_array_get(samples, i));
	return job->series.role == TK_ROLE_SUITE ? add_extra_points(n, job, r->result, out, err)
	                                         : TK_OK;
}

/* ---- the run ---- */

/* The worker's answer without what has columns: of the run, and of its point if there is one. */
static char *encode_attributes(const struct tk_night_job *job, json_t *result, bool has_point)
{
	static const enum tk_measurement_field stored[] = {TK_MEASUREMENT_OUTCOME,
	        TK_MEASUREMENT_MESSAGE, TK_MEASUREMENT_SAMPLES, TK_MEASUREMENT_MEDIAN,
	        TK_MEASUREMENT_LO, TK_MEASUREMENT_HI, TK_MEASUREMENT_N, TK_MEASUREMENT_MIN,
	        TK_MEASUREMENT_Q25, TK_MEASUREMENT_Q75, TK_MEASUREMENT_P95};
	json_auto_t *copy = tk_check_memory(result ? json_copy(result) : json_object());

	for (size_t i = 0; i < (has_point ? sizeof stored / sizeof *stored : 3); i++)
		json_object_del(copy, tk_measurement_field_key(stored[i]));
	json_object_set_new(copy, "sandbox",
	        json_string(tk_worker_sandbox_name(job->device ? job->device->layer->name : NULL)));
	if (job->tuning) {
		json_object_set_new(copy, TK_RUN_CONFIG, json_string(job->tuning->config));
		json_object_set_new(copy, TK_RUN_TUNING, json_string(job->tuning->uid));
	}
	return tk_check_memory(json_dumps(copy, JSON_COMPACT | JSON_SORT_KEYS));
}

static int put_run(struct tk_night *n, const struct tk_night_job *job,
        const struct tk_job_result *r, const struct points *points, struct tk_error *err)
{
	AUTO_TEXT attributes = encode_attributes(job, r->result, points->count);
	struct tk_run_row run = {.night_id = n->night_id,
	        .seq = job->row->seq,
	        .series_id = job->series.id,
	        .build_id = job->row->build_id,
	        .environment_id = job->device ? job->device->environment_id : 0,
	        .as_of_s = n->as_of_s,
	        .started_s = job->started_s,
	        .wall_s = r->wall_s,
	        .outcome = r->outcome,
	        .message = r->message,
	        .attributes = attributes};
	const double *const samples[POINTS_MAX] = {points->samples};
	const size_t sample_counts[POINTS_MAX] = {points->sample_count};
	int64_t id;
	return tk_store_put_run(
	        n->store, &run, points->list, samples, sample_counts, points->count, &id, err);
}

/* ---- ceilings ---- */

static enum tk_unit find_ceiling_unit(const struct tk_problem_spec *p)
{
	if (tk_limits_is_launch(p))
		return TK_UNIT_NS;
	return p->abi.op == TK_OP_COPY || p->abi.op == TK_OP_READ ? TK_UNIT_GB_PER_S
	                                                          : TK_UNIT_GFLOP_PER_S;
}

/* "launch"; "copy", "read", "l2 read" for the bandwidth of a cache; the type for a rate. */
static void name_ceiling(const struct tk_problem_spec *p, enum tk_unit unit, char *out, size_t size)
{
	if (unit == TK_UNIT_NS)
		snprintf(out, size, TK_LIMITS_LAUNCH);
	else if (unit == TK_UNIT_GFLOP_PER_S)
		snprintf(out, size, "%s", tk_problem_dtype_name(p));
	else if (p->abi.op == TK_OP_READ && p->ceiling.cache)
		snprintf(out, size, "l%u read", p->ceiling.cache);
	else
		snprintf(out, size, "%s", tk_problem_op_name(p));
}

/* A ceiling is what the device can do, so it comes from the fastest sample: other work on the
 * machine cannot lower that. */
static int put_ceiling(struct tk_night *n, const struct tk_night_job *job,
        const struct tk_job_result *r, struct tk_error *err)
{
	double fastest_ns = r->time.min;
	struct tk_problem_spec spec;
	char name[32];
	if (!job->device || !tk_outcome_has_timing(r->outcome) || !(fastest_ns > 0))
		return TK_OK;
	TRY(tk_problem_parse(&spec, job->problem.text, err));
	enum tk_unit unit = find_ceiling_unit(&spec);
	double work = unit == TK_UNIT_GB_PER_S ? job->problem.bytes : job->problem.flops;
	name_ceiling(&spec, unit, name, sizeof name);
	struct tk_ceiling_row row = {.night_id = n->night_id,
	        .device_id = job->device->device_id,
	        .name = name,
	        .source = TK_CEILING_MEASURED,
	        .unit = tk_unit_name(unit),
	        .value = unit == TK_UNIT_NS ? fastest_ns : work / fastest_ns};
	job->device->has_limits = false;
	return tk_store_put(n->store, TK_TABLE_ceiling, &row, NULL, err);
}

/* ---- counts ---- */

static void count_result(
        struct tk_night_report *report, enum tk_outcome outcome, const json_t *result)
{
	const json_t *verify = tk_measurement_get_field(result, TK_MEASUREMENT_VERIFY);
	report->jobs++;
	report->verified +=
	        json_is_true(tk_measurement_get_field(verify, TK_MEASUREMENT_VERIFY_DONE)) &&
	        json_is_true(tk_measurement_get_field(verify, TK_MEASUREMENT_VERIFY_PASSED));
	report->unstable += outcome == TK_OUTCOME_UNSTABLE;
	if (tk_outcome_has_timing(outcome))
		report->measured++;
	else if (outcome == TK_OUTCOME_UNSUPPORTED)
		report->unsupported++;
	else if (outcome == TK_OUTCOME_WRONG)
		report->wrong++;
	else if (outcome == TK_OUTCOME_IMPLAUSIBLE)
		report->implausible++;
	else if (outcome == TK_OUTCOME_SKIPPED)
		report->skipped++;
	else
		report->failed++;
}

int tk_night_count_stored_results(struct tk_night *n, struct tk_error *err)
{
	AUTO(tk_rows) runs = {0};
	TRY(tk_store_list(n->store, TK_TABLE_run, "night_id=?1 ORDER BY seq", TK_ARGS(n->night_id),
	        &runs, err));
	for (size_t i = 0; i < runs.count; i++) {
		const struct tk_run_row *run = TK_ROWS_AT(&runs, struct tk_run_row, i);
		json_auto_t *attributes = json_loads(run->attributes, 0, NULL);
		if (run->outcome < TK_OUTCOME_COUNT)
			count_result(n->report, run->outcome, attributes);
	}
	return TK_OK;
}

int tk_night_store_result(struct tk_night *n, const struct tk_night_job *job,
        struct tk_job_result *result, struct tk_error *err)
{
	struct points points = {0};
	int status = make_points(n, job, result, &points, err);
	if (!status)
		status = put_run(n, job, result, &points, err);
	if (!status && job->series.role == TK_ROLE_CEILING)
		status = put_ceiling(n, job, result, err);
	if (!status) {
		count_result(n->report, result->outcome, result->result);
		if (!tk_outcome_has_timing(result->outcome) &&
		        result->outcome != TK_OUTCOME_UNSUPPORTED)
			tk_log(TK_LOG_WARN, tk_outcome_name(result->outcome), NULL, "%s: %s%s%s",
			        job->series.slug, tk_outcome_name(result->outcome),
			        *result->message ? ": " : "", result->message);
	}
	free(points.samples);
	tk_job_result_free(result);
	return status;
}

int tk_night_store_outcome(struct tk_night *n, const struct tk_night_job *job,
        enum tk_outcome outcome, const char *message, struct tk_error *err)
{
	struct tk_job_result result = {.outcome = outcome};
	snprintf(result.message, sizeof result.message, "%s", message);
	return tk_night_store_result(n, job, &result, err);
}
