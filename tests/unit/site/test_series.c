/* Questions about one series of the model, and the performance index of all. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "made_model.h"

#include "base/error.h"
#include "site_gen/model/perf_index.h"
#include "site_gen/model/standings.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define DAY_S 86400

struct lab {
	struct made_model made;
	struct tk_site_series *s, *other;
	struct tk_trace traces[4];
};

static int setup(void **state)
{
	struct lab *lab = calloc(1, sizeof *lab);

	assert_non_null(lab);
	made_init(&lab->made);
	const struct tk_upstream_row *u = made_add_upstream(&lab->made, "lib", "git");
	const struct tk_site_device *d = made_add_device(&lab->made, "gpu", "a", "sm_90"),
	                            *e = made_add_device(&lab->made, "cpu", "b", "x86-64");
	const struct tk_problem_row *p = made_add_problem(&lab->made, "gemm", "f16", 4e6, 2e3);
	lab->s = made_add_series(&lab->made, d, u, p, "lib");
	lab->other = made_add_series(&lab->made, e, u, p, "lib");
	*state = lab;
	return 0;
}

static int teardown(void **state)
{
	struct lab *lab = *state;

	free(lab);
	return 0;
}

static void the_newest_value_is_of_the_last_point(void **state)
{
	struct lab *lab = *state;

	assert_null(tk_series_last_point(lab->s));
	assert_true(isnan(tk_series_newest_value(lab->s)));
	assert_true(isnan(tk_series_newest_value(NULL)));
	made_add_point(lab->s, DAY_S, 100, 0, 0, 0);
	made_add_point(lab->s, 2 * DAY_S, 90, 0, 0, 0);
	assert_float_equal(tk_series_newest_value(lab->s), 90, 0);
	lab->s->newest[1].value = 0;
	assert_true(isnan(tk_series_newest_value(lab->s)));
	lab->s->newest[1].value = 90;
	made_fail(&lab->made, lab->s, TK_OUTCOME_TIMEOUT, "");
	assert_true(isnan(tk_series_newest_value(lab->s)));
}

static void points_are_found_by_run(void **state)
{
	struct lab *lab = *state;
	struct tk_point points[] = {{.run_id = 5}, {.run_id = 6}, {.run_id = 5}};

	lab->s->points = (struct tk_rows){.rows = points, .count = 3};
	assert_ptr_equal(tk_series_find_run_point(lab->s, 5), &points[2]); /* the newest */
	assert_ptr_equal(tk_series_find_run_point(lab->s, 6), &points[1]);
	assert_null(tk_series_find_run_point(lab->s, 7));
}

static void a_time_has_a_rate(void **state)
{
	struct lab *lab = *state;
	struct tk_problem_row copy = {.bytes = 2e3}, nothing = {0};
	const char *unit;

	assert_float_equal(tk_series_rate(lab->s, 1e3, &unit), 4e3, 1e-9);
	assert_string_equal(unit, "gflop_per_s");
	assert_true(isnan(tk_series_rate(lab->s, 0, &unit)));
	lab->s->problem = &copy;
	assert_float_equal(tk_series_rate(lab->s, 1e3, &unit), 2, 1e-9);
	assert_string_equal(unit, "gb_per_s");
	lab->s->problem = &nothing;
	assert_true(isnan(tk_series_rate(lab->s, 1e3, &unit)));
	lab->s->problem = &copy;
	lab->s->metric = TK_METRIC_COMPILE;
	assert_true(isnan(tk_series_rate(lab->s, 1e3, &unit)));
	lab->s->metric = TK_METRIC_TIME;
	lab->s->unit = TK_UNIT_JOULE;
	assert_true(isnan(tk_series_rate(lab->s, 1e3, &unit)));
}

static void outcomes_of_the_last_night(void **state)
{
	static const struct {
		enum tk_outcome outcome;
		bool unsupported, skipped, result;
	} cases[] = {{TK_OUTCOME_UNSUPPORTED, true, false, false},
	        {TK_OUTCOME_SKIPPED, false, true, true}, {TK_OUTCOME_CRASHED, false, false, true}};
	struct lab *lab = *state;

	assert_false(tk_series_has_result(lab->s));
	for (size_t i = 0; i < 3; i++) {
		made_fail(&lab->made, lab->s, cases[i].outcome, "");
		assert_int_equal(tk_series_is_unsupported(lab->s), cases[i].unsupported);
		assert_int_equal(tk_series_is_skipped(lab->s), cases[i].skipped);
		assert_int_equal(tk_series_has_result(lab->s), cases[i].result);
	}
	made_fail(&lab->made, lab->s, TK_OUTCOME_UNSUPPORTED, "");
	made_add_point(lab->s, DAY_S, 1, 0, 0, 0);
	assert_true(tk_series_has_result(lab->s)); /* was supported before */
}

static void the_word_of_a_verdict(void **state)
{
	struct lab *lab = *state;
	struct tk_verdict_row v = {
	        .status = TK_VERDICT_MISSING, .before_value = 1, .after_value = 2, .change = 1};

	assert_string_equal(tk_series_status_word(lab->s), "");
	assert_int_equal(tk_series_status(lab->s), TK_VERDICT_STATUS_COUNT);
	assert_false(tk_series_has_change(lab->s));
	lab->s->verdict = &v;
	assert_string_equal(tk_series_status_word(lab->s), "missing");
	assert_int_equal(tk_series_status(lab->s), TK_VERDICT_MISSING);
	assert_true(tk_series_has_change(lab->s));
	made_fail(&lab->made, lab->s, TK_OUTCOME_SKIPPED, "");
	assert_string_equal(tk_series_status_word(lab->s), "skipped");
	v.status = TK_VERDICT_REGRESSED;
	assert_string_equal(tk_series_status_word(lab->s), "regressed");
	lab->s->is_unplanned = true;
	assert_string_equal(tk_series_status_word(lab->s), "not planned");
	assert_int_equal(tk_series_status(lab->s), TK_VERDICT_STATUS_COUNT);
	v.change = NAN;
	assert_false(tk_series_has_change(lab->s));
	v.change = 1;
	v.before_value = NAN;
	assert_false(tk_series_has_change(lab->s));
	v.before_value = 1;
	v.after_value = NAN;
	assert_false(tk_series_has_change(lab->s));
}

static void ranked_are_times_of_a_suite_in_the_mode_of_the_device(void **state)
{
	struct lab *lab = *state;
	struct tk_series_row *row = &lab->made.series_rows[0];

	assert_true(tk_series_is_suite_time(lab->s) && tk_series_is_ranked(lab->s));
	row->mode = "hot";
	assert_true(tk_series_is_suite_time(lab->s));
	assert_false(tk_series_is_ranked(lab->s));
	row->mode = "paced";
	row->role = TK_ROLE_CONTROL;
	assert_false(tk_series_is_suite_time(lab->s) || tk_series_is_ranked(lab->s));
	row->role = TK_ROLE_SUITE;
	lab->s->metric = TK_METRIC_COMPILE;
	assert_false(tk_series_is_suite_time(lab->s));
	lab->s->metric = TK_METRIC_TIME;
	lab->s->unit = TK_UNIT_JOULE;
	assert_false(tk_series_is_suite_time(lab->s));
}

static void comparable_are_equal_kinds_in_one_mode_or_in_the_defaults(void **state)
{
	struct lab *lab = *state;
	struct tk_series_row *a = &lab->made.series_rows[0], *b = &lab->made.series_rows[1];

	assert_true(tk_series_are_comparable(lab->s, lab->other));
	lab->made.devices[1].mode = "cold"; /* its default */
	b->mode = "cold";
	assert_true(tk_series_are_comparable(lab->s, lab->other));
	a->mode = "hot";
	assert_false(tk_series_are_comparable(lab->s, lab->other));
	b->mode = "hot";
	assert_true(tk_series_are_comparable(lab->s, lab->other));
	b->unit = "J";
	assert_false(tk_series_are_comparable(lab->s, lab->other));
	b->unit = "ns";
	b->metric = "compile";
	assert_false(tk_series_are_comparable(lab->s, lab->other));
	b->metric = "time";
	b->role = TK_ROLE_CONTROL;
	assert_false(tk_series_are_comparable(lab->s, lab->other));
}

/* ---- standings ---- */

static void vendors_are_known_by_their_backends(void **state)
{
	static const struct {
		const char *backend;
		bool vendor;
	} cases[] = {{"cublaslt", true}, {"cudnn", true}, {"onednn", true}, {"rocblas", true},
	        {"accelerate", true}, {"cublas_native", false}, {"openblas", false}, {"", false},
	        {"xcublas", false}};
	struct lab *lab = *state;

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		lab->made.series_rows[0].backend = cases[i].backend;
		assert_int_equal(tk_series_is_vendor(lab->s), cases[i].vendor);
	}
}

static void gpus_come_first(void **state)
{
	struct lab *lab = *state;
	struct tk_model *m = &lab->made.model;

	lab->made.device_rows[0].kind = "cpu";
	lab->made.device_rows[1].kind = "cuda";
	made_add_device(&lab->made, "cpu", "c", "x86-64");
	assert_ptr_equal(tk_model_ordered_device(m, 0), &m->devices[1]);
	assert_ptr_equal(tk_model_ordered_device(m, 1), &m->devices[0]);
	assert_ptr_equal(tk_model_ordered_device(m, 2), &m->devices[2]);
	assert_null(tk_model_ordered_device(m, 3));
}

static void the_vendor_is_compared_over_common_problems(void **state)
{
	struct lab *lab = *state;
	struct made_model *m = &lab->made;
	static const struct {
		size_t problem; /* 0: that of setup() */
		const char *backend, *mode;
		double ns;
	} times[] = {{1, "cublas", "paced", 200}, {1, "cublaslt", "paced", 100},
	        {1, "mine", "paced", 50}, {1, "mine", "hot", 1}, {2, "cublas", "paced", 100},
	        {2, "mine", "paced", 200}, {2, "theirs", "paced", 400}, {3, "mine", "paced", 5},
	        {4, "cublas", "paced", 5}};
	size_t problems;

	for (int i = 0; i < 4; i++)
		made_add_problem(m, i == 3 ? "nsa" : "gemm", "f16", 1, 1);
	for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
		struct tk_site_series *s = made_add_series(m, &m->devices[0], &m->upstreams[0],
		        &m->problems[times[i].problem], times[i].backend);
		m->series_rows[i + 2].mode = times[i].mode;
		made_add_point(s, DAY_S, times[i].ns, 0, 0, 0);
	}
	/* twice as fast and half as fast */
	assert_float_equal(
	        tk_standing_against_vendor(&m->model, &m->devices[0], "gemm", &problems), 1, 1e-9);
	assert_int_equal(problems, 2);
	m->series[4].newest[0].value = 25;
	assert_float_equal(tk_standing_against_vendor(&m->model, &m->devices[0], "gemm", &problems),
	        sqrt(2), 1e-9);
	assert_true(
	        isnan(tk_standing_against_vendor(&m->model, &m->devices[1], "gemm", &problems)));
	assert_int_equal(problems, 0);
	assert_true(isnan(tk_standing_against_vendor(&m->model, &m->devices[0], "nsa", &problems)));
}

/* ---- performance index ---- */

static void trace(struct lab *lab, size_t series, const double *values, size_t count)
{
	struct tk_trace *t = &lab->traces[series];

	for (size_t i = 0; i < count; i++)
		t->at[t->count++] = (struct tk_trace_point){
		        (uint32_t)((i + 1) * DAY_S), (float)values[i], NAN, NAN};
	lab->made.series[series].trace = t;
}

static void add_to_first_device(struct lab *lab, const double *values, size_t count)
{
	struct made_model *m = &lab->made;

	made_add_series(m, &m->devices[0], &m->upstreams[0], &m->problems[0], "lib");
	trace(lab, m->model.series_count - 1, values, count);
}

static struct tk_perf_index index_of(struct lab *lab)
{
	struct tk_perf_index out;
	struct tk_error err;

	assert_int_equal(
	        tk_perf_index_load(&lab->made.model, &lab->made.devices[0], "gemm", &out, &err), 0);
	return out;
}

static void the_index_is_the_mean_of_the_speed_ups(void **state)
{
	struct lab *lab = *state;

	trace(lab, 0, (const double[]){100, 50, 50}, 3);
	trace(lab, 1, (const double[]){100, 1, 1}, 3); /* of another device */
	add_to_first_device(lab, (const double[]){100, 100, 25}, 3);
	struct tk_perf_index index = index_of(lab);
	assert_int_equal(index.count, 3);
	assert_int_equal(index.series, 2);
	assert_int_equal(index.at[0].as_of_s, DAY_S);
	assert_float_equal(index.at[0].value, 1, 0);
	assert_float_equal(index.at[1].value, sqrt(2), 1e-6);
	assert_float_equal(index.at[2].value, sqrt(2) * 2, 1e-6);
	/* changes of log 2 and log 4: the standard error of their mean is log(2) / 2 */
	assert_float_equal(index.hi / index.at[2].value, exp(1.96 * log(2) / 2), 1e-5);
	assert_float_equal(index.at[2].value / index.lo, exp(1.96 * log(2) / 2), 1e-5);
	assert_float_equal(tk_perf_index_change(&index, 1), 1, 1e-6);
	assert_float_equal(tk_perf_index_change(&index, 2), sqrt(2) * 2 - 1, 1e-6);
	assert_true(isnan(tk_perf_index_change(&index, 3)));
}

static void one_series_has_no_interval(void **state)
{
	struct lab *lab = *state;

	trace(lab, 0, (const double[]){100, 0, 50, 40}, 4);
	struct tk_perf_index index = index_of(lab);
	assert_int_equal(index.series, 1);
	assert_int_equal(index.count, 2); /* nothing spans the night without a time */
	assert_float_equal(index.at[1].value, 1.25, 1e-6);
	assert_true(isnan(index.lo) && isnan(index.hi));
}

static void without_steps_there_is_no_index(void **state)
{
	struct lab *lab = *state;
	struct tk_perf_index index = index_of(lab);

	assert_int_equal(index.count, 0);
	assert_true(isnan(tk_perf_index_change(&index, 0)));
	trace(lab, 0, (const double[]){100}, 1);
	index = index_of(lab);
	assert_int_equal(index.count, 0);
	assert_int_equal(index.series, 0);
}

static void an_index_has_at_most_ninety_nights(void **state)
{
	struct lab *lab = *state;
	struct made_model *m = &lab->made;

	/* two series, one after the other, span 2 x 63 nights: each halves every night */
	for (size_t k = 0; k < 2; k++) {
		struct tk_trace *t = &lab->traces[k + 2];
		for (size_t i = 0; i < TK_SITE_WINDOW_POINTS; i++)
			t->at[t->count++] = (struct tk_trace_point){
			        (uint32_t)((k * TK_SITE_WINDOW_POINTS + i + 1) * DAY_S),
			        ldexpf(1, -(int)i), NAN, NAN};
		made_add_series(m, &m->devices[0], &m->upstreams[0], &m->problems[0], "lib")
		        ->trace = t;
	}
	struct tk_perf_index index = index_of(lab);
	assert_int_equal(index.count, TK_PERF_INDEX_NIGHTS);
	assert_float_equal(index.at[0].value, 1, 1e-9);
	assert_float_equal(index.at[1].value, 2, 1e-9);
	assert_int_equal(index.at[TK_PERF_INDEX_NIGHTS - 1].as_of_s,
	        2 * TK_SITE_WINDOW_POINTS * (int64_t)DAY_S);
	assert_float_equal(
	        log2(index.at[TK_PERF_INDEX_NIGHTS - 1].value), TK_PERF_INDEX_NIGHTS - 1, 1e-6);
}

static void a_series_waits_until_its_turn(void **state)
{
	struct lab *lab = *state;
	const struct tk_model *m = &lab->made.model;
	const struct tk_site_machine *other = made_add_machine(&lab->made, "other");

	made_add_point(lab->s, DAY_S, 100, 0, 0, 0);
	for (int day = 5; day > 0; day--) {
		made_add_night(&lab->made, lab->s->device->machine, day * DAY_S);
		lab->made.nights[m->night_count - 1].is_turn = day != 4;
		if (day == 3)
			made_add_night(&lab->made, other, day * DAY_S);
	}
	lab->made.nights[3].is_turn = true; /* of the other machine */
	assert_int_equal(tk_series_count_waiting_nights(m, lab->s), 0);
	lab->made.series_rows[0].rotate_nights = 4;
	assert_int_equal(tk_series_count_waiting_nights(m, lab->s), 3);
	/* a backfill of an old day, started between those nights */
	lab->made.night_rows[1].kind = TK_NIGHT_BACKFILL;
	lab->made.night_rows[1].as_of_s = 0;
	lab->made.nights[1].is_turn = false;
	assert_int_equal(tk_series_count_waiting_nights(m, lab->s), 3);
	/* its turn has passed */
	lab->made.series_rows[0].rotate_nights = 3;
	assert_int_equal(tk_series_count_waiting_nights(m, lab->s), 0);
	/* measured in the last night */
	lab->made.series_rows[0].rotate_nights = 4;
	made_add_point(lab->s, 5 * DAY_S, 100, 0, 0, 0);
	assert_int_equal(tk_series_count_waiting_nights(m, lab->s), 0);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
	        TEST(the_newest_value_is_of_the_last_point),
	        TEST(points_are_found_by_run),
	        TEST(a_time_has_a_rate),
	        TEST(outcomes_of_the_last_night),
	        TEST(the_word_of_a_verdict),
	        TEST(a_series_waits_until_its_turn),
	        TEST(ranked_are_times_of_a_suite_in_the_mode_of_the_device),
	        TEST(comparable_are_equal_kinds_in_one_mode_or_in_the_defaults),
	        TEST(vendors_are_known_by_their_backends),
	        TEST(gpus_come_first),
	        TEST(the_vendor_is_compared_over_common_problems),
	        TEST(the_index_is_the_mean_of_the_speed_ups),
	        TEST(one_series_has_no_interval),
	        TEST(without_steps_there_is_no_index),
	        TEST(an_index_has_at_most_ninety_nights),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
