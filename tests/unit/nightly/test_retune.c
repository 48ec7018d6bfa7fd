/* Stage "tune" of a night: which winners are searched again, in which order, with which share of
 * the budget. The history is real; searches and the clock answer as the test says. */
#include "../store/history.h"
#include "base/clock.h"
#include "nightly/night.h"
#include "nightly/tune/tune.h"
#include "store/tuning.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NOW_S INT64_C(100000000)
#define DAY_S 86400
#define SLACK_S (DAY_S / 4)

static struct {
	int64_t now_s, now_ns;
	double search_s; /* what a search takes */
	int status;      /* of searches from number `fails_at` on, as many as `failures` */
	size_t fails_at, failures;
	char searches[600]; /* "TARGET PROBLEM_M BUDGET;" of each */
	size_t count, stopped;
	struct tk_tune_request last;
	char device[64], backend[64], revision[64];
} world;

int __wrap_tk_tune(const struct tk_config *config, const struct tk_night_options *options,
        const struct tk_tune_request *request, struct tk_tune_report *out, struct tk_error *err);
int64_t __wrap_tk_clock_now_s(void);
int64_t __wrap_tk_clock_monotonic_ns(void);
void __wrap_tk_night_device_stop_workers(struct tk_night_device *d);

int64_t __wrap_tk_clock_now_s(void)
{
	return world.now_s;
}

int64_t __wrap_tk_clock_monotonic_ns(void)
{
	return world.now_ns;
}

void __wrap_tk_night_device_stop_workers(struct tk_night_device *d)
{
	world.stopped++;
}

int __wrap_tk_tune(const struct tk_config *config, const struct tk_night_options *options,
        const struct tk_tune_request *q, struct tk_tune_report *out, struct tk_error *err)
{
	const size_t number = world.count++;
	const char *m = strstr(q->ab.problems[0], "m=");

	assert_int_equal(q->ab.problem_count, 1);
	assert_non_null(m);
	sprintf(world.searches + strlen(world.searches), "%s m%d %g;", q->target, atoi(m + 2),
	        q->ab.budget_s);
	world.last = *q;
	snprintf(world.device, sizeof world.device, "%s", options->devices[0]);
	assert_null(options->devices[1]);
	snprintf(world.backend, sizeof world.backend, "%s", q->ab.backend);
	snprintf(world.revision, sizeof world.revision, "%s", q->revision ? q->revision : "-");
	world.now_ns += (int64_t)(world.search_s * 1e9);
	*out = (struct tk_tune_report){0};
	if (world.status && number >= world.fails_at && number < world.fails_at + world.failures)
		return tk_fail(err, world.status, "no search");
	return 0;
}

/* ---- a night that has measured tuned series ---- */

static char blas_name[] = "blas", url[] = "u", layer_name[] = "cpu";

struct rig {
	struct history h;
	struct tk_config config;
	struct tk_upstream_config upstreams[2];
	struct tk_night_options options;
	struct tk_night_report report;
	struct tk_night night;
	struct tk_module layer;
	struct tk_night_device device;
	int64_t series[12]; /* by m */
	int64_t seq;
};

static int setup(void **state)
{
	struct rig *r = calloc(1, sizeof *r);

	assert_non_null(r);
	memset(&world, 0, sizeof world);
	world.now_s = NOW_S;
	history_new(&r->h);
	history_fill(&r->h);
	r->upstreams[0] = (struct tk_upstream_config){.name = blas_name,
	        .kind = TK_UPSTREAM_GIT,
	        .url = url,
	        .enabled = true,
	        .is_tuned = true};
	r->config = (struct tk_config){.upstreams = r->upstreams, .upstream_count = 1};
	r->config.budgets.tune_s = 1000;
	r->layer.name = layer_name;
	r->device = (struct tk_night_device){.layer = &r->layer, .device_id = r->h.device};
	r->night = (struct tk_night){.config = &r->config,
	        .store = r->h.store,
	        .options = &r->options,
	        .report = &r->report,
	        .night_id = r->h.night,
	        .devices = &r->device,
	        .device_count = 1};
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

static int64_t put_problem(struct rig *r, int m)
{
	char text[64];
	const struct tk_problem_row row = {.text = text,
	        .op = "gemm",
	        .dtype = "f32",
	        .title = text,
	        .source = "",
	        .family = ""};
	int64_t id;

	snprintf(text, sizeof text, "gemm:a=f32,k=8,m=%d,n=8", m);
	MUST(tk_store_put_problem(r->h.store, &row, &id, &err));
	return id;
}

/* A series of the problem with this m, and its run of tonight. */
static int64_t measure_series(
        struct rig *r, int m, const char *config, const char *mode, const char *metric)
{
	const struct tk_series_row row = {.device_id = r->h.device,
	        .upstream_id = r->h.upstream,
	        .problem_id = put_problem(r, m),
	        .backend = "blas",
	        .config = config,
	        .mode = mode,
	        .metric = metric,
	        .unit = "ns",
	        .better = TK_BETTER_LOWER,
	        .role = TK_ROLE_SUITE};
	int64_t run;

	MUST(tk_store_put_series(r->h.store, &row, &r->h.series, &err));
	MUST(history_put_run(&r->h, r->seq++, 100, 3, &run, &err));
	r->h.problem = row.problem_id;
	return run;
}

static int64_t measure(struct rig *r, int m)
{
	return measure_series(r, m, TK_TUNE_CONFIG, "cold", "time");
}

/* A decided result for the newest problem, of the revision that the nights measure. */
static struct tk_tuning_row result(const struct rig *r, int64_t started_s)
{
	struct tk_tuning_row row = history_tuning_row(&r->h, started_s);

	row.options = "";
	row.revision = "0123abcd";
	return row;
}

static void put_result(struct rig *r, struct tk_tuning_row row)
{
	int64_t id;

	MUST(tk_store_put_tuning(r->h.store, &row, &id, &err));
}

static void tune(struct rig *r)
{
	r->report = (struct tk_night_report){0};
	world.searches[0] = 0;
	world.count = world.stopped = 0;
	MUST(tk_night_tune(&r->night, &err));
}

/* ---- what is due ---- */

static void a_problem_without_a_result_is_searched(void **state)
{
	struct rig *r = *state;

	measure(r, 3);
	tune(r);
	assert_string_equal(world.searches, "blas m3 1000;");
	assert_string_equal(world.revision, "0123abcd"); /* that this night has measured */
	assert_string_equal(world.backend, "blas");
	assert_string_equal(world.device, "cpu:0");
	assert_int_equal(world.last.ab.mode, TK_MODE_COLD);
	assert_true(isnan(world.last.ab.min_effect));
	assert_string_equal(world.last.ab.db_path, ""); /* the night holds the lock */
	assert_ptr_equal(world.last.store, r->h.store);
	assert_int_equal(r->report.stale_tunings, 1);
	assert_int_equal(r->report.tuned, 1);
	assert_int_equal(world.stopped, 1);
}

static void a_night_without_anything_due_keeps_its_workers(void **state)
{
	struct rig *r = *state;

	tune(r);
	measure(r, 3);
	put_result(r, result(r, NOW_S - 1000));
	tune(r);
	assert_int_equal(world.count, 0);
	assert_int_equal(world.stopped, 0);
	assert_int_equal(r->report.stale_tunings, 0);
}

/* Nights of the past, of another machine's builds, and without a budget search nothing. */
static void some_nights_search_nothing(void **state)
{
	struct rig *r = *state;

	measure(r, 3);
	r->options.backfill_revision = "abc";
	tune(r);
	r->options = (struct tk_night_options){.import_file = "bundle"};
	tune(r);
	r->options = (struct tk_night_options){0};
	r->config.budgets.tune_s = 0;
	tune(r);
	assert_int_equal(world.count, 0);
	r->config.budgets.tune_s = 1;
	tune(r);
	assert_int_equal(world.count, 1);
}

/* Each verdict of a result of the newest revision, of an older one, and of another mode. */
static void every_result_is_current_or_stale(void **state)
{
	static const enum tk_tune_verdict verdicts[] = {TK_TUNE_VERDICT_FASTER,
	        TK_TUNE_VERDICT_DEFAULT, TK_TUNE_VERDICT_FAILING, TK_TUNE_VERDICT_INCONCLUSIVE};
	struct rig *r = *state;

	measure(r, 3);
	for (size_t i = 0; i < sizeof verdicts / sizeof *verdicts; i++)
		for (int k = 0; k < 3; k++) {
			struct tk_tuning_row row = result(r, NOW_S - 1000 + (int64_t)i);
			history_run_sql(&r->h, "DELETE FROM tuning");
			row.verdict = verdicts[i];
			row.revision = k == 1 ? "older" : row.revision;
			row.mode = k == 2 ? "hot" : row.mode;
			put_result(r, row);
			tune(r);
			if (world.count != (k > 0))
				fail_msg("%s, case %d: %zu", tk_tune_verdict_name(verdicts[i]), k,
				        world.count);
		}
}

static int64_t put_environment(struct rig *r, const char *attributes)
{
	const struct tk_environment_row row = {.device_id = r->h.device, .attributes = attributes};
	int64_t id;

	MUST(tk_store_put_environment(r->h.store, &row, &id, &err));
	return id;
}

static void a_new_driver_makes_a_result_stale(void **state)
{
	struct rig *r = *state;

	r->h.environment = put_environment(r, "{\"driver\":\"550.1\"}");
	measure(r, 3);
	put_result(r, result(r, NOW_S - 1000));
	tune(r);
	assert_int_equal(world.count, 0);
	r->h.environment = put_environment(r, "{\"driver\":\"560.2\"}");
	measure(r, 3);
	tune(r);
	assert_int_equal(world.count, 1);
}

/* After one that stayed inconclusive a day, then twice as long after each further one, up to 16
 * days; nights do not start at the same second. */
static void inconclusive_results_wait_longer_and_longer(void **state)
{
	static const int64_t days[] = {1, 2, 4, 8, 16, 16, 16};
	struct rig *r = *state;

	measure(r, 3);
	for (size_t i = 0; i < sizeof days / sizeof *days; i++) {
		const int64_t started_s = NOW_S + (int64_t)i * 1000000;
		struct tk_tuning_row row = result(r, started_s);
		row.verdict = TK_TUNE_VERDICT_INCONCLUSIVE;
		put_result(r, row);
		world.now_s = started_s + days[i] * DAY_S - SLACK_S - 1;
		tune(r);
		assert_int_equal(world.count, 0);
		world.now_s++;
		tune(r);
		assert_int_equal(world.count, 1);
	}
	/* one that decides begins anew */
	put_result(r, result(r, NOW_S + 20000000));
	struct tk_tuning_row row = result(r, NOW_S + 30000000);
	row.verdict = TK_TUNE_VERDICT_INCONCLUSIVE;
	put_result(r, row);
	world.now_s = NOW_S + 30000000 + DAY_S;
	tune(r);
	assert_int_equal(world.count, 1);
}

/* ---- what is no candidate ---- */

static void only_tuned_series_of_tonight_are_candidates(void **state)
{
	struct rig *r = *state;

	measure_series(r, 1, "", "cold", "time");
	measure_series(r, 2, "tile=8", "cold", "time");
	tune(r);
	assert_int_equal(world.count, 0);
	measure(r, 3);
	r->night.night_id++; /* another night measured it */
	tune(r);
	assert_int_equal(world.count, 0);
	r->night.night_id--;
	tune(r);
	assert_int_equal(world.count, 1);
}

static void a_run_without_a_timing_is_no_candidate(void **state)
{
	static const char *const outcomes[] = {"failed", "crashed", "wrong", "skipped"};
	struct rig *r = *state;
	char sql[100];
	const int64_t run = measure(r, 3);

	for (size_t i = 0; i < sizeof outcomes / sizeof *outcomes; i++) {
		snprintf(sql, sizeof sql, "UPDATE run SET outcome='%s' WHERE id=%lld", outcomes[i],
		        (long long)run);
		history_run_sql(&r->h, sql);
		tune(r);
		assert_int_equal(world.count, 0);
	}
	history_run_sql(&r->h, "UPDATE run SET outcome='unstable'");
	tune(r);
	assert_int_equal(world.count, 1);
}

static void the_upstream_and_the_device_must_be_of_tonight(void **state)
{
	struct rig *r = *state;

	measure(r, 3);
	r->upstreams[0].is_tuned = false;
	tune(r);
	r->upstreams[0].is_tuned = true;
	r->config.upstream_count = 0; /* it was taken out of the configuration */
	tune(r);
	r->config.upstream_count = 1;
	r->device.device_id++;
	tune(r);
	r->night.device_count = 0;
	tune(r);
	assert_int_equal(world.count, 0);
}

/* Several metrics and runs of a problem are one search; each mode is its own. */
static void a_problem_is_searched_once_for_each_mode(void **state)
{
	struct rig *r = *state;

	measure(r, 3);
	measure(r, 3);
	measure_series(r, 3, TK_TUNE_CONFIG, "cold", "energy");
	tune(r);
	assert_string_equal(world.searches, "blas m3 1000;");
	measure_series(r, 3, TK_TUNE_CONFIG, "hot", "time");
	tune(r);
	assert_int_equal(world.count, 2);
	assert_int_equal(r->report.stale_tunings, 2);
}

/* ---- order and budget ---- */

/* Never tuned ones, then the oldest results; of equal ones by their names. */
static void the_oldest_comes_first(void **state)
{
	struct rig *r = *state;
	static const struct {
		int m;
		int64_t age_s; /* 0: never tuned */
	} cases[] = {{1, 100}, {2, 300}, {5, 0}, {3, 200}, {4, 0}};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		measure(r, cases[i].m);
		struct tk_tuning_row row = result(r, NOW_S - cases[i].age_s);
		row.revision = "older";
		if (cases[i].age_s)
			put_result(r, row);
	}
	r->config.budgets.tune_s = 5e6;
	tune(r);
	assert_string_equal(world.searches, "blas m4 1e+06;blas m5 1.25e+06;blas m2 1.66667e+06;"
	                                    "blas m3 2.5e+06;blas m1 5e+06;");
}

static void measure_many(struct rig *r, int count)
{
	for (int m = 1; m <= count; m++)
		measure(r, m);
}

/* What is left is shared by those that are left: a short search leaves its time to the others. */
static void the_rest_of_the_budget_is_shared(void **state)
{
	struct rig *r = *state;

	measure_many(r, 3);
	r->config.budgets.tune_s = 300;
	world.search_s = 100;
	tune(r);
	assert_string_equal(world.searches, "blas m1 100;blas m2 100;blas m3 100;");
	world.search_s = 20;
	tune(r);
	assert_string_equal(world.searches, "blas m1 100;blas m2 140;blas m3 260;");
	assert_int_equal(r->report.tuned, 3);
}

/* A minute at least, or what is left: less would leave all undecided. */
static void a_small_budget_is_for_the_first_ones(void **state)
{
	struct rig *r = *state;

	measure_many(r, 5);
	r->config.budgets.tune_s = 100;
	world.search_s = 60;
	tune(r);
	assert_string_equal(world.searches, "blas m1 60;blas m2 40;");
	assert_int_equal(r->report.stale_tunings, 5);
	assert_int_equal(r->report.tuned, 2);
	r->config.budgets.tune_s = 10;
	tune(r);
	assert_string_equal(world.searches, "blas m1 10;");
}

static void the_budget_of_the_night_is_respected(void **state)
{
	struct rig *r = *state;

	measure(r, 3);
	r->config.budgets.night_s = 500;
	world.now_ns = INT64_C(470) * 1000000000;
	tune(r);
	assert_string_equal(world.searches, "blas m3 30;");
	world.now_ns = INT64_C(500) * 1000000000;
	tune(r);
	assert_string_equal(world.searches, "");
	assert_int_equal(r->report.stale_tunings, 1);
	assert_int_equal(r->report.tuned, 0);
}

/* ---- what is searched ---- */

/* As `tracker tune` names it: a built upstream by its name, an installed library by its backend and
 * options. */
static void a_target_is_named_as_tune_does(void **state)
{
	static char options[] = "threads=4";
	static const struct {
		enum tk_upstream_kind kind;
		const char *with_options, *without;
	} cases[] = {{TK_UPSTREAM_GIT, "blas m3 1000;", "blas m3 1000;"},
	        {TK_UPSTREAM_SELF, "blas m3 1000;", "blas m3 1000;"},
	        {TK_UPSTREAM_PACKAGE, "blas m3 1000;", "blas m3 1000;"},
	        {TK_UPSTREAM_SYSTEM, "blas:threads=4 m3 1000;", "blas: m3 1000;"},
	        {TK_UPSTREAM_BUILTIN, "blas:threads=4 m3 1000;", "blas: m3 1000;"}};
	struct rig *r = *state;

	measure(r, 3);
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		r->upstreams[0].kind = cases[i].kind;
		r->upstreams[0].options = options;
		tune(r);
		assert_string_equal(world.searches, cases[i].with_options);
		r->upstreams[0].options = NULL;
		tune(r);
		assert_string_equal(world.searches, cases[i].without);
	}
}

/* A result with other options is none. */
static void results_are_of_the_configured_options(void **state)
{
	static char options[] = "threads=1";
	struct rig *r = *state;
	struct tk_tuning_row row;

	measure(r, 3);
	row = result(r, NOW_S - 1000);
	row.options = "threads=1";
	put_result(r, row);
	tune(r);
	assert_int_equal(world.count, 1);
	r->upstreams[0].options = options;
	tune(r);
	assert_int_equal(world.count, 0);
}

/* ---- failures ---- */

/* It costs its own problem; what ends a night ends the stage. */
static void each_failure_of_a_search(void **state)
{
	static const int statuses[] = {TK_EUSAGE, TK_EDATA, TK_ENOTFOUND, TK_EIO, TK_ECONFIG,
	        TK_EUNSUPPORTED, TK_ECANCELED, TK_ENOSPC, TK_ENOMEM};
	struct rig *r = *state;

	measure_many(r, 3);
	world.fails_at = 1;
	world.failures = 1;
	for (size_t i = 0; i < sizeof statuses / sizeof *statuses; i++) {
		struct tk_error failure = {0};
		const bool is_fatal = i >= 6;
		world.status = statuses[i];
		world.count = 0;
		world.searches[0] = 0;
		r->report = (struct tk_night_report){0};
		const int status = tk_night_tune(&r->night, &failure);
		assert_int_equal(status, is_fatal ? statuses[i] : TK_OK);
		if (is_fatal)
			assert_string_equal(failure.message, "no search");
		assert_int_equal(world.count, is_fatal ? 2 : 3);
		assert_int_equal(r->report.tuned, is_fatal ? 1 : 2);
		assert_int_equal(r->report.stale_tunings, 3);
	}
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
	        TEST(a_problem_without_a_result_is_searched),
	        TEST(a_night_without_anything_due_keeps_its_workers),
	        TEST(some_nights_search_nothing),
	        TEST(every_result_is_current_or_stale),
	        TEST(a_new_driver_makes_a_result_stale),
	        TEST(inconclusive_results_wait_longer_and_longer),
	        TEST(only_tuned_series_of_tonight_are_candidates),
	        TEST(a_run_without_a_timing_is_no_candidate),
	        TEST(the_upstream_and_the_device_must_be_of_tonight),
	        TEST(a_problem_is_searched_once_for_each_mode),
	        TEST(the_oldest_comes_first),
	        TEST(the_rest_of_the_budget_is_shared),
	        TEST(a_small_budget_is_for_the_first_ones),
	        TEST(the_budget_of_the_night_is_respected),
	        TEST(a_target_is_named_as_tune_does),
	        TEST(results_are_of_the_configured_options),
	        TEST(each_failure_of_a_search),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
