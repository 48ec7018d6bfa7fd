/* The night as a whole: its stages in order, what is stored of them, and how it ends. The stages do
 * what the test says; the history is a real one. */
#include "../store/history.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/file.h"
#include "core/night.h"
#include "nightly/night.h"
#include "nightly/night_start.h"
#include "store/lock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Status of each stage, and what ran: "probe resolve ". */
static struct {
	int status[TK_STAGE_PUBLISH + 1], start_status;
	char log[400];
	int64_t night_id;
	struct tk_night_report counts; /* of the stage "measure" */
} world;

static int run_stage(struct tk_night *n, enum tk_stage stage, struct tk_error *err)
{
	strcat(world.log, tk_stage_name(stage));
	strcat(world.log, " ");
	if (stage == TK_STAGE_MEASURE) {
		world.counts.stages_failed = n->report->stages_failed;
		*n->report = world.counts;
	}
	return world.status[stage] ? tk_fail(err, world.status[stage], "it failed") : TK_OK;
}

#define FAKE_STAGE(name, id) \
	int __wrap_tk_night_##name(struct tk_night *n, struct tk_error *err); \
	int __wrap_tk_night_##name(struct tk_night *n, struct tk_error *err) \
	{ \
		return run_stage(n, id, err); \
	}
FAKE_STAGE(probe, TK_STAGE_PROBE)
FAKE_STAGE(resolve, TK_STAGE_RESOLVE)
FAKE_STAGE(build, TK_STAGE_BUILD)
FAKE_STAGE(plan, TK_STAGE_PLAN)
FAKE_STAGE(measure, TK_STAGE_MEASURE)
FAKE_STAGE(confirm, TK_STAGE_CONFIRM)
FAKE_STAGE(detect, TK_STAGE_DETECT)
FAKE_STAGE(bisect, TK_STAGE_BISECT)
FAKE_STAGE(trace, TK_STAGE_TRACE)
FAKE_STAGE(tune, TK_STAGE_TUNE)
FAKE_STAGE(tidy, TK_STAGE_TIDY)
FAKE_STAGE(publish, TK_STAGE_PUBLISH)

int __wrap_tk_night_start(
        struct tk_night *n, struct tk_night_options *options, struct tk_error *err);
int __wrap_tk_modules_load(const char *program, struct tk_modules **out, struct tk_error *err);

int __wrap_tk_night_start(
        struct tk_night *n, struct tk_night_options *options, struct tk_error *err)
{
	if (world.start_status)
		return tk_fail(err, world.start_status, "no night to resume");
	n->night_id = world.night_id;
	n->request = json_pack("{s:s}", "upstream", "blas");
	return 0;
}

int __wrap_tk_modules_load(const char *program, struct tk_modules **out, struct tk_error *err)
{
	*out = calloc(1, sizeof **out);
	return *out ? 0 : tk_fail(err, TK_ENOMEM, "out of memory");
}

#define BEFORE_PUBLISH "probe resolve build plan measure confirm detect bisect trace tune tidy "

static int set_up(void **state)
{
	const int status = history_set_up(state);
	const struct history *h = *state;

	memset(&world, 0, sizeof world);
	world.night_id = h->night;
	return status;
}

static int run_night(struct history *h, struct tk_night_report *report, struct tk_error *err)
{
	const struct tk_config config = {.budgets = {.night_s = 100}};
	const struct tk_night_options options = {.program = "/tracker"};

	world.log[0] = '\0';
	return tk_night_run(&config, h->store, &options, report, err);
}

/* ---- what is stored ---- */

/* "probe=done measure=failed: it failed " of the stages that are not done, or "all done". */
static void expect_stages(struct history *h, const char *expected)
{
	struct tk_rows rows;
	char text[400] = "";

	MUST(tk_store_list_stages(h->store, h->night, &rows, &err));
	for (size_t i = 0; i < rows.count; i++) {
		const struct tk_stage_row *s = TK_ROWS_AT(&rows, struct tk_stage_row, i);
		assert_int_equal(s->finished_s == 0, s->status == TK_STAGE_RUNNING);
		if (s->status != TK_STAGE_DONE)
			sprintf(text + strlen(text), "%s=%s%s%s ", s->name,
			        tk_stage_status_name(s->status), *s->detail ? ": " : "", s->detail);
	}
	assert_string_equal(text, expected);
	tk_rows_free(&rows);
}

static void expect_night(struct history *h, enum tk_night_status status)
{
	struct tk_rows rows;

	MUST(tk_store_list_nights(h->store, &rows, &err));
	const struct tk_night_row *row = TK_ROWS_AT(&rows, struct tk_night_row, 0);
	if (row->status != status)
		fail_msg("%s", tk_night_status_name(row->status));
	assert_int_equal(
	        row->finished_s != 0, status != TK_NIGHT_RUNNING && status != TK_NIGHT_STOPPED);
	tk_rows_free(&rows);
}

static double summary_number(struct history *h, const char *key)
{
	struct tk_rows rows;

	MUST(tk_store_list_nights(h->store, &rows, &err));
	json_t *o = json_loads(TK_ROWS_AT(&rows, struct tk_night_row, 0)->summary, 0, NULL);
	const double value = json_number_value(json_object_get(o, key));
	json_decref(o);
	tk_rows_free(&rows);
	return value;
}

/* ---- nights ---- */

static void stages_run_in_order(void **state)
{
	struct history *h = *state;
	struct tk_night_report report;

	MUST(run_night(h, &report, &err));
	assert_string_equal(world.log, BEFORE_PUBLISH "publish ");
	expect_stages(h, "");
	expect_night(h, TK_NIGHT_COMPLETE);
	assert_true(report.complete);
	assert_true(report.is_stored);
	assert_int_equal(report.stages_failed, 0);
	assert_true(report.wall_s >= 0);
}

/* One of each count: all are in the summary, and most make the night incomplete. */
static void every_count_is_in_the_summary(void **state)
{
	struct tk_night_report *c = &world.counts;
	const struct {
		size_t *count;
		const char *key;
		bool is_complete;
	} counts[] = {{&c->builds, "builds", true}, {&c->builds_failed, "builds_failed", false},
	        {&c->upstreams_unreachable, "unreachable", false}, {&c->jobs, "jobs", true},
	        {&c->measured, "measured", true}, {&c->verified, "verified", true},
	        {&c->wrong, "wrong", false}, {&c->implausible, "implausible", false},
	        {&c->failed, "failed", false}, {&c->unsupported, "unsupported", true},
	        {&c->skipped, "skipped", false}, {&c->unstable, "unstable", true},
	        {&c->suspects, "suspects", true}, {&c->pairs, "pairs", true},
	        {&c->by_status[TK_VERDICT_REGRESSED], "regressed", true},
	        {&c->by_status[TK_VERDICT_IMPROVED], "improved", true}};
	struct history *h = *state;

	for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
		struct tk_night_report report;
		memset(&world.counts, 0, sizeof world.counts);
		*counts[i].count = 3;
		MUST(run_night(h, &report, &err));
		assert_int_equal(report.complete, counts[i].is_complete);
		expect_night(h, counts[i].is_complete ? TK_NIGHT_COMPLETE : TK_NIGHT_INCOMPLETE);
		for (size_t k = 0; k < sizeof counts / sizeof *counts; k++)
			if (summary_number(h, counts[k].key) != (k == i ? 3 : 0))
				fail_msg("%s: %g", counts[k].key, summary_number(h, counts[k].key));
	}
}

/* The others do not need it: the night goes on, and says so. */
static void a_stage_that_others_do_not_need_may_fail(void **state)
{
	static const enum tk_stage optional[] = {TK_STAGE_CONFIRM, TK_STAGE_DETECT, TK_STAGE_BISECT,
	        TK_STAGE_TRACE, TK_STAGE_TUNE, TK_STAGE_TIDY};
	struct history *h = *state;

	for (size_t i = 0; i < sizeof optional / sizeof *optional; i++) {
		struct tk_night_report report;
		char expected[60];
		memset(world.status, 0, sizeof world.status);
		world.status[optional[i]] = TK_EIO;
		history_run_sql(h, "DELETE FROM stage");
		MUST(run_night(h, &report, &err));
		assert_string_equal(world.log, BEFORE_PUBLISH "publish ");
		snprintf(expected, sizeof expected, "%s=failed: it failed ",
		        tk_stage_name(optional[i]));
		expect_stages(h, expected);
		expect_night(h, TK_NIGHT_INCOMPLETE);
		assert_int_equal(report.stages_failed, 1);
	}
}

static void a_stage_that_others_need_ends_the_night(void **state)
{
	static const enum tk_stage needed[] = {
	        TK_STAGE_PROBE, TK_STAGE_RESOLVE, TK_STAGE_BUILD, TK_STAGE_PLAN, TK_STAGE_MEASURE};
	struct history *h = *state;

	for (size_t i = 0; i < sizeof needed / sizeof *needed; i++) {
		struct tk_night_report report;
		char message[60];
		memset(world.status, 0, sizeof world.status);
		world.status[needed[i]] = TK_EDATA;
		history_run_sql(h, "DELETE FROM stage");
		snprintf(message, sizeof message, "%s: it failed", tk_stage_name(needed[i]));
		MUST_FAIL(TK_EDATA, message, run_night(h, &report, &err));
		assert_null(strstr(world.log, "publish")); /* nor any stage after it */
		expect_night(h, TK_NIGHT_FAILED);
		assert_false(report.complete);
		assert_true(report.is_stored);
	}
}

/* A night that was stopped keeps its status, and so does its stage: --resume looks for it. */
static void a_stopped_night_can_be_resumed(void **state)
{
	static const int statuses[] = {TK_ECANCELED, TK_ENOSPC, TK_EBUSY};
	struct history *h = *state;

	for (size_t i = 0; i < sizeof statuses / sizeof *statuses; i++) {
		struct tk_night_report report;
		history_run_sql(h, "DELETE FROM stage");
		world.status[TK_STAGE_DETECT] = statuses[i]; /* also where it is not needed */
		MUST_FAIL(statuses[i], "detect: it failed", run_night(h, &report, &err));
		expect_stages(h, "detect=running ");
		assert_false(report.is_stored);
		assert_int_equal(report.stages_failed, 0);
	}
	world.status[TK_STAGE_DETECT] = 0;
	struct tk_night_report report;
	MUST(run_night(h, &report, &err)); /* its plan is there: nothing is built again */
	assert_string_equal(
	        world.log, "probe measure confirm detect bisect trace tune tidy publish ");
	expect_stages(h, "");
	expect_night(h, TK_NIGHT_COMPLETE);
}

/* Without a plan it resolves and builds again. */
static void a_night_that_was_stopped_early_starts_over(void **state)
{
	struct history *h = *state;
	struct tk_night_report report;

	world.status[TK_STAGE_PLAN] = TK_ECANCELED;
	MUST_FAIL(TK_ECANCELED, "plan: ", run_night(h, &report, &err));
	world.status[TK_STAGE_PLAN] = 0;
	MUST(run_night(h, &report, &err));
	assert_string_equal(world.log, BEFORE_PUBLISH "publish ");
}

/* What a night does about a stage that ends with a status. */
static bool is_stop(int status)
{
	return status == TK_ECANCELED || status == TK_ENOSPC || status == TK_EBUSY;
}

/* The log after a resume: with a plan nothing is resolved, built and planned again. */
static void expect_resumed(struct history *h, enum tk_stage stopped)
{
	struct tk_night_report report;

	world.status[stopped] = 0;
	MUST(run_night(h, &report, &err));
	assert_string_equal(
	        world.log, stopped > TK_STAGE_PLAN
	                           ? "probe measure confirm detect bisect trace tune tidy publish "
	                           : BEFORE_PUBLISH "publish ");
	expect_stages(h, "");
	expect_night(h, TK_NIGHT_COMPLETE);
}

/* Each stage with each status: a stop leaves the night to be resumed there, a failure ends it where
 * the other stages need this one, else it goes on and is incomplete. */
static void every_stage_ends_in_every_way(void **state)
{
	struct history *h = *state;

	for (int stage = TK_STAGE_PROBE; stage < TK_STAGE_PUBLISH; stage++)
		for (int status = TK_EUSAGE; status >= TK_ECANCELED; status--) {
			struct tk_night_report report;
			struct tk_error failure = {0};
			char expected[60];
			const bool is_needed = stage <= TK_STAGE_MEASURE;
			memset(world.status, 0, sizeof world.status);
			world.status[stage] = status;
			history_run_sql(h, "DELETE FROM stage; UPDATE night SET status='running',"
			                   "finished_s=NULL");
			const int got = run_night(h, &report, &failure);
			snprintf(expected, sizeof expected, "%s=%s ", tk_stage_name(stage),
			        is_stop(status) ? "running" : "failed: it failed");
			expect_stages(h, expected);
			assert_int_equal(got, is_stop(status) || is_needed ? status : TK_OK);
			assert_int_equal(report.is_stored, !is_stop(status));
			assert_int_equal(report.stages_failed, !is_stop(status));
			assert_false(report.complete);
			expect_night(h, is_stop(status) ? TK_NIGHT_RUNNING
			                : is_needed     ? TK_NIGHT_FAILED
			                                : TK_NIGHT_INCOMPLETE);
			if (is_stop(status))
				expect_resumed(h, stage);
		}
}

/* The pages show the final status of the night; one that cannot be written changes it. */
static void a_site_that_fails_makes_a_night_incomplete(void **state)
{
	struct history *h = *state;
	struct tk_night_report report;

	world.status[TK_STAGE_PUBLISH] = TK_EIO;
	MUST(run_night(h, &report, &err));
	expect_stages(h, "publish=failed: it failed ");
	expect_night(h, TK_NIGHT_INCOMPLETE);
	assert_false(report.complete);
	assert_int_equal(report.stages_failed, 1);
}

static void one_night_runs_at_a_time(void **state)
{
	struct history *h = *state;
	struct tk_night_report report;
	struct tk_lock *lock;

	world.start_status = TK_ENOTFOUND;
	MUST_FAIL(TK_ENOTFOUND, "no night to resume", run_night(h, &report, &err));
	assert_string_equal(world.log, "");
	world.start_status = 0;
	MUST(tk_store_lock(h->path, &lock, &err)); /* the night before has released it */
	MUST_FAIL(TK_EBUSY, "lock", run_night(h, &report, &err));
	assert_string_equal(world.log, "");
	tk_lock_release(lock);
	MUST(run_night(h, &report, &err));
}

/* ---- budgets ---- */

static void a_stage_gets_no_more_than_what_is_left(void **state)
{
	const struct tk_config config = {.budgets = {.night_s = 100}}, unlimited = {0};
	struct tk_night n = {.config = &config, .started_mono_ns = tk_clock_monotonic_ns()};

	assert_float_equal(tk_night_find_share_s(&n, 30), 30, 1e-6);
	assert_true(tk_night_find_share_s(&n, 1000) <= 100);
	n.started_mono_ns -= INT64_C(90000000000);
	assert_true(tk_night_find_share_s(&n, 30) <= 10);
	assert_true(tk_night_find_share_s(&n, 30) > 5);
	assert_float_equal(tk_night_find_share_s(&n, 2), 2, 1e-6);
	n.started_mono_ns -= INT64_C(90000000000);
	assert_true(tk_night_find_share_s(&n, 30) < 0); /* nothing */
	n.config = &unlimited;
	assert_float_equal(tk_night_find_share_s(&n, 30), 30, 1e-6);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, history_tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
	        TEST(stages_run_in_order),
	        TEST(every_count_is_in_the_summary),
	        TEST(a_stage_that_others_do_not_need_may_fail),
	        TEST(a_stage_that_others_need_ends_the_night),
	        TEST(a_stopped_night_can_be_resumed),
	        TEST(a_night_that_was_stopped_early_starts_over),
	        TEST(every_stage_ends_in_every_way),
	        TEST(a_site_that_fails_makes_a_night_incomplete),
	        TEST(one_night_runs_at_a_time),
	        cmocka_unit_test(a_stage_gets_no_more_than_what_is_left),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
