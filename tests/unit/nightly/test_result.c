/* From a worker's answer to the history: the run with its points and samples, the ceiling that it
 * measured, and what the night counts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../quoted_json.h"
#include "../store/history.h"
#include "base/file.h"
#include "nightly/night.h"
#include "nightly/schedule/result.h"
#include "store/tuning.h"
#include "worker/worker.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char cpu_name[] = "cpu", backend_path[] = "/nowhere/backend.so";
static const struct tk_module cpu = {.name = cpu_name};

struct rig {
	struct history h;
	struct tk_config config;
	struct tk_night_report report;
	struct tk_night night;
	struct tk_night_device device;
	struct tk_job_row row;
	struct tk_problem_row problem;
	struct tk_night_job job;
};

static int setup(void **state)
{
	struct rig *r = calloc(1, sizeof *r);

	assert_non_null(r);
	history_new(&r->h);
	history_fill(&r->h);
	r->night = (struct tk_night){.config = &r->config,
	        .store = r->h.store,
	        .report = &r->report,
	        .night_id = r->h.night,
	        .as_of_s = 1000};
	r->device = (struct tk_night_device){.layer = &cpu,
	        .device_id = r->h.device,
	        .environment_id = r->h.environment,
	        .has_limits = true};
	r->row =
	        (struct tk_job_row){.seq = 3, .build_id = r->h.build, .backend_path = backend_path};
	r->problem = (struct tk_problem_row){.id = r->h.problem,
	        .text = "gemm:a=f32,k=512,m=512,n=512",
	        .flops = 268435456.0,
	        .bytes = 3145728.0};
	r->job = (struct tk_night_job){.row = &r->row,
	        .series = {.id = r->h.series,
	                .device_id = r->h.device,
	                .upstream_id = r->h.upstream,
	                .problem_id = r->h.problem,
	                .slug = "s",
	                .backend = "blas",
	                .config = "",
	                .mode = "cold",
	                .metric = "time",
	                .unit = "ns",
	                .better = TK_BETTER_LOWER,
	                .role = TK_ROLE_SUITE},
	        .problem = &r->problem,
	        .device = &r->device,
	        .started_s = 1234};
	*state = r;
	return 0;
}

static int teardown(void **state)
{
	struct rig *r = *state;

	history_free(&r->h);
	free(r);
	return 0;
}

/* `answer`: JSON with ' for ", NULL: none. */
static void store(struct rig *r, enum tk_outcome outcome, const char *answer)
{
	struct tk_job_result result = {.outcome = outcome, .wall_s = 2.5};

	result.result = answer ? read_quoted(answer) : NULL;
	snprintf(result.message, sizeof result.message, "%s", answer ? "" : "no answer");
	MUST(tk_night_store_result(&r->night, &r->job, &result, &err));
	assert_null(result.result); /* freed */
}

static struct tk_rows points_of(struct rig *r, int64_t series)
{
	struct tk_rows points = {0};

	MUST(tk_store_list_points(r->h.store, series, INT64_MIN, 0, &points, &err));
	return points;
}

/* The points of another metric of the series; none where there is no such series. */
static struct tk_rows points_of_metric(struct rig *r, const char *metric, const char *unit)
{
	struct tk_rows all = {0}, points = {0};

	MUST(tk_store_list_series(r->h.store, &all, &err));
	for (size_t i = 0; i < all.count; i++) {
		const struct tk_series_row *s = TK_ROWS_AT(&all, struct tk_series_row, i);
		if (strcmp(s->metric, metric))
			continue;
		assert_string_equal(s->unit, unit);
		assert_string_equal(s->backend, "blas");
		points = points_of(r, s->id);
	}
	tk_rows_free(&all);
	return points;
}

static const char full[] = "{'median':100,'lo':99,'hi':101,'min':95,'q25':97,'q75':103,'p95':110,"
                           "'n':4,'samples':[95,97,103,110],'launch_ns':7,'energy_j':0.5,"
                           "'device_bytes':4096,'stop':'tight',"
                           "'verify':{'done':true,'passed':true}}";

static void a_timing_is_a_run_with_its_point_and_samples(void **state)
{
	struct rig *r = *state;
	struct tk_rows runs = {0};
	double *samples = NULL;
	size_t count;

	store(r, TK_OUTCOME_OK, full);
	MUST(tk_store_list_night_runs(r->h.store, r->h.night, &runs, &err));
	assert_int_equal(runs.count, 1);
	const struct tk_run_row *run = runs.rows;
	assert_int_equal(run->seq, 3);
	assert_int_equal(run->build_id, r->h.build);
	assert_int_equal(run->environment_id, r->h.environment);
	assert_int_equal(run->as_of_s, 1000);
	assert_int_equal(run->started_s, 1234);
	assert_float_equal(run->wall_s, 2.5, 0);
	assert_int_equal(run->outcome, TK_OUTCOME_OK);
	assert_null(strstr(run->attributes, "samples"));
	assert_non_null(strstr(run->attributes, "\"stop\":\"tight\""));
	assert_non_null(strstr(run->attributes, "\"sandbox\":"));
	struct tk_rows points = points_of(r, r->h.series);
	assert_int_equal(points.count, 1);
	const struct tk_point *p = points.rows;
	assert_float_equal(p->value, 100, 0);
	assert_float_equal(p->lo, 99, 0);
	assert_float_equal(p->hi, 101, 0);
	assert_float_equal(p->min, 95, 0);
	assert_float_equal(p->q25, 97, 0);
	assert_float_equal(p->q75, 103, 0);
	assert_float_equal(p->p95, 110, 0);
	assert_int_equal(p->n, 4);
	assert_int_equal(p->flags, 0);
	MUST(tk_store_read_samples(r->h.store, run->id, r->h.series, &samples, &count, &err));
	assert_int_equal(count, 4);
	assert_float_equal(samples[0], 95, 1e-3);
	assert_float_equal(samples[3], 110, 1e-3);
	free(samples);
	tk_rows_free(&points);
	tk_rows_free(&runs);
}

static void quantiles_that_are_missing_are_the_median(void **state)
{
	struct rig *r = *state;

	store(r, TK_OUTCOME_OK, "{'median':100}");
	struct tk_rows points = points_of(r, r->h.series);
	assert_int_equal(points.count, 1);
	const struct tk_point *p = points.rows;
	const double all[] = {p->value, p->lo, p->hi, p->min, p->q25, p->q75, p->p95};
	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		assert_float_equal(all[i], 100, 0);
	assert_int_equal(p->n, 0);
	tk_rows_free(&points);
}

static void outcomes_with_a_timing_flag_their_point(void **state)
{
	static const struct {
		enum tk_outcome outcome;
		uint32_t flags;
	} cases[] = {{TK_OUTCOME_OK, 0}, {TK_OUTCOME_THROTTLED, TK_POINT_THROTTLED},
	        {TK_OUTCOME_UNSTABLE, TK_POINT_UNSTABLE}};
	struct rig *r = *state;

	for (size_t i = 0; i < 3; i++) {
		r->row.seq = (int64_t)i + 1;
		store(r, cases[i].outcome, full);
		struct tk_rows points = points_of(r, r->h.series);
		assert_int_equal(points.count, i + 1);
		assert_int_equal(TK_ROWS_AT(&points, struct tk_point, i)->flags, cases[i].flags);
		tk_rows_free(&points);
	}
	assert_int_equal(r->report.unstable, 1);
	assert_int_equal(r->report.measured, 3);
}

static void what_has_no_timing_has_no_point(void **state)
{
	static const enum tk_outcome outcomes[] = {
	        TK_OUTCOME_WRONG, TK_OUTCOME_IMPLAUSIBLE, TK_OUTCOME_CRASHED};
	struct rig *r = *state;

	for (size_t i = 0; i < 3; i++) {
		r->row.seq = (int64_t)i + 1;
		store(r, outcomes[i], full);
	}
	r->row.seq = 4;
	store(r, TK_OUTCOME_OK, NULL);
	r->row.seq = 5;
	store(r, TK_OUTCOME_OK, "{'median':null}");
	struct tk_rows points = points_of(r, r->h.series);
	assert_int_equal(points.count, 0);
	tk_rows_free(&points);
}

static void metrics_are_recorded_where_the_configuration_wants_them(void **state)
{
	static const struct {
		const char *metric, *unit;
		double value;
	} cases[] = {{"launch", "ns", 7}, {"energy", "J", 0.5}, {"memory", "bytes", 4096}};
	struct rig *r = *state;

	store(r, TK_OUTCOME_OK, full);
	for (size_t i = 0; i < 3; i++) {
		struct tk_rows none = points_of_metric(r, cases[i].metric, cases[i].unit);
		assert_int_equal(none.count, 0);
		tk_rows_free(&none);
	}
	r->config.measure.launch_cost = r->config.measure.energy = r->config.measure.memory = true;
	r->row.seq = 4;
	store(r, TK_OUTCOME_OK, full);
	for (size_t i = 0; i < 3; i++) {
		struct tk_rows points = points_of_metric(r, cases[i].metric, cases[i].unit);
		assert_int_equal(points.count, 1);
		const struct tk_point *p = points.rows;
		assert_float_equal(p->value, cases[i].value, 0);
		assert_true(isnan(p->lo) && isnan(p->hi) && isnan(p->min) && isnan(p->p95));
		assert_int_equal(p->n, 1);
		tk_rows_free(&points);
	}
}

static void metrics_need_a_value_and_a_problem_of_the_suite(void **state)
{
	struct rig *r = *state;

	r->config.measure.launch_cost = r->config.measure.energy = true;
	store(r, TK_OUTCOME_OK, "{'median':100,'launch_ns':0,'energy_j':null}");
	r->job.series.role = TK_ROLE_CONTROL;
	r->row.seq = 4;
	store(r, TK_OUTCOME_OK, full);
	struct tk_rows launch = points_of_metric(r, "launch", "ns");
	assert_int_equal(launch.count, 0);
	tk_rows_free(&launch);
}

static void the_tuned_configuration_is_stored_with_the_run(void **state)
{
	struct rig *r = *state;
	struct tk_tuning_row tuning = {.config = "tile-128", .uid = "0abc"};
	struct tk_rows runs = {0};

	r->job.tuning = &tuning;
	store(r, TK_OUTCOME_OK, full);
	MUST(tk_store_list_night_runs(r->h.store, r->h.night, &runs, &err));
	const struct tk_run_row *run = runs.rows;
	assert_non_null(strstr(run->attributes, "\"tile-128\""));
	assert_non_null(strstr(run->attributes, "\"0abc\""));
	tk_rows_free(&runs);
}

static void a_device_that_is_gone_leaves_a_run_without_environment(void **state)
{
	struct rig *r = *state;
	struct tk_rows runs = {0};

	r->job.device = NULL;
	r->job.series.role = TK_ROLE_CEILING;
	MUST(tk_night_store_outcome(
	        &r->night, &r->job, TK_OUTCOME_SKIPPED, "device is not present", &err));
	MUST(tk_store_list_night_runs(r->h.store, r->h.night, &runs, &err));
	const struct tk_run_row *run = runs.rows;
	assert_int_equal(runs.count, 1);
	assert_int_equal(run->environment_id, 0);
	assert_int_equal(run->outcome, TK_OUTCOME_SKIPPED);
	assert_string_equal(run->message, "device is not present");
	assert_int_equal(r->report.skipped, 1);
	tk_rows_free(&runs);
}

/* ---- ceilings ---- */

static void a_ceiling_is_made_of_the_fastest_sample(void **state)
{
	static const struct {
		const char *problem, *name, *unit;
		double value;
	} cases[] = {
	        {"copy:bytes=1000", "copy", "gb_per_s", 1000 / 50.0},
	        {"read:bytes=1000", "read", "gb_per_s", 1000 / 50.0},
	        {"read:bytes=1000,cache=l2", "l2 read", "gb_per_s", 1000 / 50.0},
	        {"gemm:a=f32,k=512,m=512,n=512", "f32", "gflop_per_s", 4000 / 50.0},
	};
	struct rig *r = *state;

	r->job.series.role = TK_ROLE_CEILING;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct tk_rows rows = {0};
		const struct tk_ceiling_row *found = NULL;

		r->problem = (struct tk_problem_row){
		        .text = cases[i].problem, .flops = 4000, .bytes = 1000};
		r->row.seq = (int64_t)i + 1;
		r->device.has_limits = true;
		store(r, TK_OUTCOME_OK, "{'median':100,'min':50}");
		assert_false(r->device.has_limits); /* they are read again */
		MUST(tk_store_list_ceilings(r->h.store, r->h.night, &rows, &err));
		for (size_t k = 0; k < rows.count; k++) {
			const struct tk_ceiling_row *c =
			        TK_ROWS_AT(&rows, struct tk_ceiling_row, k);
			found = strcmp(c->name, cases[i].name) ? found : c;
		}
		assert_non_null(found);
		assert_string_equal(found->unit, cases[i].unit);
		assert_float_equal(found->value, cases[i].value, 1e-9);
		assert_int_equal(found->source, TK_CEILING_MEASURED);
		tk_rows_free(&rows);
	}
}

static void only_ceilings_with_a_timing_are_stored(void **state)
{
	struct rig *r = *state;
	struct tk_rows rows = {0};

	r->problem.text = "copy:bytes=1000";
	r->problem.bytes = 1000;
	store(r, TK_OUTCOME_OK, full); /* a problem of the suite */
	r->job.series.role = TK_ROLE_CEILING;
	r->row.seq = 4;
	store(r, TK_OUTCOME_WRONG, full);
	r->row.seq = 5;
	store(r, TK_OUTCOME_OK, "{'median':100,'min':0}");
	MUST(tk_store_list_ceilings(r->h.store, r->h.night, &rows, &err));
	assert_int_equal(rows.count, 0);
	assert_true(r->device.has_limits);
	tk_rows_free(&rows);
}

/* ---- counts ---- */

/* A night that goes on counts its stored results like new ones. */
static void results_are_counted_by_outcome(void **state)
{
	static const struct {
		enum tk_outcome outcome;
		size_t offset; /* of the counter */
	} cases[] = {{TK_OUTCOME_OK, offsetof(struct tk_night_report, measured)},
	        {TK_OUTCOME_UNSUPPORTED, offsetof(struct tk_night_report, unsupported)},
	        {TK_OUTCOME_WRONG, offsetof(struct tk_night_report, wrong)},
	        {TK_OUTCOME_IMPLAUSIBLE, offsetof(struct tk_night_report, implausible)},
	        {TK_OUTCOME_SKIPPED, offsetof(struct tk_night_report, skipped)},
	        {TK_OUTCOME_CRASHED, offsetof(struct tk_night_report, failed)},
	        {TK_OUTCOME_TIMEOUT, offsetof(struct tk_night_report, failed)}};
	struct rig *r = *state;
	struct tk_night_report again = {0};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		const size_t *counter = (size_t *)((char *)&r->report + cases[i].offset);
		const size_t before = *counter;

		r->row.seq = (int64_t)i + 1;
		store(r, cases[i].outcome, full);
		assert_int_equal(*counter, before + 1);
		assert_int_equal(r->report.jobs, i + 1);
	}
	assert_int_equal(r->report.verified, r->report.jobs); /* every answer says so */
	r->night.report = &again;
	MUST(tk_night_count_stored_results(&r->night, &err));
	assert_memory_equal(&again, &r->report, sizeof again);
}

static void verified_is_what_was_done_and_passed(void **state)
{
	struct rig *r = *state;

	store(r, TK_OUTCOME_OK, "{'median':1,'verify':{'done':true,'passed':false}}");
	r->row.seq = 4;
	store(r, TK_OUTCOME_OK, "{'median':1,'verify':{'done':false,'passed':true}}");
	r->row.seq = 5;
	store(r, TK_OUTCOME_OK, "{'median':1}");
	assert_int_equal(r->report.verified, 0);
	r->row.seq = 6;
	store(r, TK_OUTCOME_OK, full);
	assert_int_equal(r->report.verified, 1);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
	        TEST(a_timing_is_a_run_with_its_point_and_samples),
	        TEST(quantiles_that_are_missing_are_the_median),
	        TEST(outcomes_with_a_timing_flag_their_point),
	        TEST(what_has_no_timing_has_no_point),
	        TEST(metrics_are_recorded_where_the_configuration_wants_them),
	        TEST(metrics_need_a_value_and_a_problem_of_the_suite),
	        TEST(the_tuned_configuration_is_stored_with_the_run),
	        TEST(a_device_that_is_gone_leaves_a_run_without_environment),
	        TEST(a_ceiling_is_made_of_the_fastest_sample),
	        TEST(only_ceilings_with_a_timing_are_stored),
	        TEST(results_are_counted_by_outcome),
	        TEST(verified_is_what_was_done_and_passed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
