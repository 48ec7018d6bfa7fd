/* Two histories become one: what is added, what is described better, which ids are translated, and
 * when a site has to show its nights again. */
#include "history.h"
#include "store/db/internal.h"
#include <math.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Two histories with the same rows up to the night. */
struct two {
	struct history a, b;
};

static int set_up(void **state)
{
	struct two *t = calloc(1, sizeof *t);

	assert_non_null(t);
	history_new(&t->a);
	history_new(&t->b);
	history_fill(&t->a);
	history_fill(&t->b);
	*state = t;
	return 0;
}

static int tear_down(void **state)
{
	struct two *t = *state;

	history_free(&t->a);
	history_free(&t->b);
	free(t);
	return 0;
}

static struct tk_merge_counts merge(struct history *into, struct history *from)
{
	struct tk_merge_counts counts = {{0}};

	from->store->is_trusted = true; /* the checks of foreign files take 0.1 s each */
	MUST(tk_store_merge(into->store, from->store, &counts, &err));
	return counts;
}

/* "nights series points others" */
static void expect_added(struct tk_merge_counts counts, const char *expected)
{
	char text[100];

	snprintf(text, sizeof text, "%d %d %d %d", (int)counts.added[TK_MERGE_NIGHTS],
	        (int)counts.added[TK_MERGE_SERIES], (int)counts.added[TK_MERGE_POINTS],
	        (int)counts.added[TK_MERGE_OTHERS]);
	assert_string_equal(text, expected);
}

static int64_t verdict_version(struct history *h)
{
	int64_t times;

	MUST(tk_store_get_verdict_version(h->store, INT64_MAX, &times, &err));
	return times;
}

/* ---- what is added ---- */

static void equal_histories_add_nothing(void **state)
{
	struct two *t = *state;

	expect_added(merge(&t->a, &t->b), "0 0 0 0");
	expect_added(merge(&t->b, &t->a), "0 0 0 0");
	assert_int_equal(verdict_version(&t->a), 0);
}

static void a_result_is_added_once(void **state)
{
	struct two *t = *state;
	int64_t id;

	MUST(history_put_run(&t->b, 1, 100, 5, &id, &err));
	expect_added(merge(&t->a, &t->b), "0 0 1 2"); /* a run and its samples beside the point */
	expect_added(merge(&t->a, &t->b), "0 0 0 0");
	assert_int_equal(history_count(&t->a, "measurement"), 1);
	assert_int_equal(history_count(&t->a, "run"), 1);
}

/* Ids of the other history are other numbers here. */
static void references_are_translated(void **state)
{
	struct two *t = *state;
	const struct tk_machine_row machine = {.name = "another", .attributes = "{}"};
	const struct tk_upstream_row upstream = {.name = "first", .kind = "git", .url = "u"};
	int64_t id, run;
	struct tk_rows runs;

	/* a has rows before those of b, so that their ids differ */
	MUST(tk_store_put_machine(t->a.store, &machine, &id, &err));
	MUST(tk_store_put_upstream(t->a.store, &upstream, &id, &err));
	struct tk_problem_row problem = {.text = "new",
	        .op = "gemm",
	        .dtype = "f32",
	        .title = "new",
	        .source = "",
	        .family = ""};
	MUST(tk_store_put_problem(t->a.store, &problem, &id, &err));
	struct tk_series_row series = {.device_id = t->a.device,
	        .upstream_id = t->a.upstream,
	        .problem_id = id,
	        .backend = "a",
	        .config = "",
	        .mode = "cold",
	        .metric = "time",
	        .unit = "ns",
	        .better = TK_BETTER_LOWER,
	        .role = TK_ROLE_SUITE};
	MUST(tk_store_put_series(t->a.store, &series, &id, &err));
	problem.text = problem.title = "other";
	MUST(tk_store_put_problem(t->b.store, &problem, &id, &err));
	series.device_id = t->b.device;
	series.upstream_id = t->b.upstream;
	series.problem_id = id;
	series.backend = "b";
	MUST(tk_store_put_series(t->b.store, &series, &t->b.series, &err));
	MUST(history_put_run(&t->b, 1, 100, 0, &run, &err));
	expect_added(merge(&t->a, &t->b), "0 1 1 2"); /* and a problem and a run */
	assert_int_equal(
	        history_count(&t->a, "run JOIN series s ON s.id=run.series_id JOIN problem p"
	                             " ON p.id=problem_id WHERE p.text='other'"),
	        1);
	MUST(tk_store_list_night_runs(t->a.store, t->a.night, &runs, &err));
	assert_int_equal(runs.count, 1);
	assert_int_equal(TK_ROWS_AT(&runs, struct tk_run_row, 0)->build_id, t->a.build);
	tk_rows_free(&runs);
}

static void put_night(struct history *h, int64_t as_of_s, int64_t *id)
{
	const struct tk_night_row night = {.machine_id = h->machine,
	        .kind = TK_NIGHT_NIGHTLY,
	        .as_of_s = as_of_s,
	        .started_s = as_of_s,
	        .status = TK_NIGHT_RUNNING,
	        .config_hash = "c",
	        .tracker_version = "0.1.0",
	        .summary = "{}"};

	MUST(tk_store_begin_night(h->store, &night, id, &err));
}

/* A night that comes with its rows is an addition: pages of older nights stay. */
static void a_new_night_leaves_the_known_ones(void **state)
{
	struct two *t = *state;
	int64_t id;

	put_night(&t->b, 5000, &t->b.night);
	MUST(history_put_run(&t->b, 1, 100, 0, &id, &err));
	expect_added(merge(&t->a, &t->b), "1 0 1 1");
	assert_int_equal(verdict_version(&t->a), 0);
}

/* A run that comes into a night that was there changes its page. */
static void a_run_of_a_known_night_is_news(void **state)
{
	struct two *t = *state;
	int64_t id;

	MUST(history_put_run(&t->b, 1, 100, 0, &id, &err));
	merge(&t->a, &t->b);
	assert_int_equal(verdict_version(&t->a), 1);
	merge(&t->a, &t->b); /* brings nothing */
	assert_int_equal(verdict_version(&t->a), 1);
}

/* A night that is described better, here as finished, changes as well. */
static void a_better_description_of_a_night_is_news(void **state)
{
	struct two *t = *state;

	MUST(tk_store_finish_night(
	        t->b.store, t->b.night, TK_NIGHT_COMPLETE, "{\"jobs\":1}", 2000, &err));
	expect_added(merge(&t->a, &t->b), "0 0 0 0");
	assert_int_equal(history_count(&t->a, "night WHERE finished_s = 2000"), 1);
	assert_int_equal(verdict_version(&t->a), 1);
}

/* Alerts, triage and jobs are on pages that every build writes. */
static void alerts_and_triage_are_no_news_of_nights(void **state)
{
	struct two *t = *state;
	const struct tk_alert_row alert = {.uid = "a1",
	        .kind = TK_ALERT_CHANGE,
	        .machine_id = t->b.machine,
	        .upstream_id = t->b.upstream,
	        .series_id = t->b.series,
	        .night_id = t->b.night,
	        .status = TK_ALERT_OPEN,
	        .opened_s = 1,
	        .change = 0.1,
	        .title = "slower"};
	const struct tk_triage_row triage = {
	        .alert_uid = "a1", .at_s = 5, .author = "ann", .action = TK_ACTION_ACK, .note = ""};
	const struct tk_job_row job = {.night_id = t->b.night,
	        .seq = 1,
	        .series_id = t->b.series,
	        .build_id = t->b.build,
	        .backend_path = "",
	        .options = ""};

	MUST(tk_store_put_alert(t->b.store, &alert, &err));
	MUST(tk_store_append_triage(t->b.store, &triage, &err));
	MUST(tk_store_put_jobs(t->b.store, &job, 1, &err));
	expect_added(merge(&t->a, &t->b), "0 0 0 3");
	assert_int_equal(verdict_version(&t->a), 0);
	assert_int_equal(history_count(&t->a, "alert JOIN series ON series.id = series_id"), 1);
}

/* Machine code of a build that was there is on the pages of its series; that of a new build is
 * not yet. */
static void machine_code_of_a_known_build_is_news(void **state)
{
	for (int is_new = 0; is_new < 2; is_new++) {
		if (is_new) {
			tear_down(state);
			set_up(state);
		}
		struct two *t = *state;
		struct tk_kernel_row kernel = {.build_id = t->b.build,
		        .backend = "blas",
		        .name = "k",
		        .code_hash = "aaaa",
		        .instructions = ""};
		const struct tk_build_row build = {.revision_id = t->b.revision,
		        .artifact_key = "new",
		        .adapter = "",
		        .toolchain = "",
		        .flags = "",
		        .arch = "",
		        .message = "",
		        .log = ""};
		int64_t id;
		if (is_new)
			MUST(tk_store_put_build(t->b.store, &build, &kernel.build_id, &err));
		MUST(tk_store_put_kernel(t->b.store, &kernel, &id, &err));
		merge(&t->a, &t->b);
		assert_int_equal(verdict_version(&t->a), is_new ? 0 : 1);
		assert_int_equal(history_count(&t->a, "kernel"), 1);
	}
}

/* ---- the order of merging does not matter ---- */

static void expect_equal(struct history *a, struct history *b)
{
	history_expect_same("a and b", history_export(a->store), history_export(b->store));
}

static void merging_is_the_same_in_both_directions(void **state)
{
	struct two *t = *state;
	int64_t id, night;

	MUST(history_put_run(&t->a, 1, 100, 3, &id, &err));
	MUST(history_put_run(&t->a, 2, 110, 0, &id, &err));
	MUST(history_put_run(&t->b, 2, 120, 4, &id, &err)); /* the same run with other values */
	put_night(&t->b, 7000, &night);
	MUST(tk_store_finish_night(t->b.store, t->b.night, TK_NIGHT_INCOMPLETE, "{}", 3000, &err));
	MUST(tk_store_finish_night(t->a.store, t->a.night, TK_NIGHT_COMPLETE, "{}", 2000, &err));
	merge(&t->a, &t->b);
	merge(&t->b, &t->a);
	expect_equal(&t->a, &t->b);
	/* and again brings nothing */
	expect_added(merge(&t->a, &t->b), "0 0 0 0");
	expect_equal(&t->a, &t->b);
}

static void merging_with_itself_changes_nothing(void **state)
{
	struct two *t = *state;
	struct history copy;
	int64_t id;
	char *before, *after;

	MUST(history_put_run(&t->a, 1, 100, 3, &id, &err));
	history_new(&copy);
	expect_added(merge(&copy, &t->a), "1 1 1 9");
	before = history_export(t->a.store);
	merge(&t->a, &copy);
	after = history_export(t->a.store);
	assert_string_equal(before, after);
	free(before);
	free(after);
	history_free(&copy);
}

/* A device and a series of one slug each: both get another one, the same in both histories. */
static void equal_slugs_are_told_apart(void **state)
{
	struct two *t = *state;
	struct tk_device_row device = {.machine_id = t->a.machine,
	        .kind = "cpu",
	        .name = "Another CPU",
	        .uuid = "x",
	        .arch = "x86-64",
	        .slug = "same"};
	int64_t id;

	MUST(tk_store_put_device(t->a.store, &device, &id, &err));
	device.machine_id = t->b.machine;
	device.name = "A third CPU";
	MUST(tk_store_put_device(t->b.store, &device, &id, &err));
	merge(&t->a, &t->b);
	merge(&t->b, &t->a);
	assert_int_equal(history_count(&t->a, "device"), 3);
	assert_int_equal(history_count(&t->a, "(SELECT DISTINCT slug FROM device)"), 3);
	expect_equal(&t->a, &t->b);
}

/* ---- failures ---- */

/* A trigger of another program could change what is merged. */
static void a_history_with_a_trigger_takes_nothing(void **state)
{
	struct two *t = *state;
	int64_t id;

	MUST(history_put_run(&t->b, 1, 100, 0, &id, &err));
	history_run_sql(&t->a, "CREATE TRIGGER no BEFORE INSERT ON measurement BEGIN"
	                       " SELECT raise(ABORT, 'no more points'); END");
	history_reopen(&t->a, TK_STORE_WRITE);
	MUST_FAIL(TK_EDATA, "trigger", tk_store_merge(t->a.store, t->b.store, NULL, &err));
	assert_int_equal(history_count(&t->a, "run"), 0);
	assert_int_equal(history_count(&t->a, "measurement"), 0);
}

/* A row that does not fit ends the merge, and what came before it is taken back. */
static void a_failed_merge_leaves_nothing(void **state)
{
	struct two *t = *state;
	int64_t id;

	MUST(history_put_run(&t->b, 1, 100, 0, &id, &err));
	MUST(history_put_run(&t->b, 2, 100, 0, &id, &err));
	history_run_sql(&t->b, "UPDATE run SET message = hex(zeroblob(100000)) WHERE seq = 2");
	sqlite3_limit(t->a.store->db, SQLITE_LIMIT_LENGTH, 50000);
	t->b.store->is_trusted = true;
	MUST_FAIL(TK_EDATA, "too big", tk_store_merge(t->a.store, t->b.store, NULL, &err));
	assert_int_equal(history_count(&t->a, "run"), 0);
}

static void a_history_that_is_read_only_takes_nothing(void **state)
{
	struct two *t = *state;
	int64_t id;

	MUST(history_put_run(&t->b, 1, 100, 0, &id, &err));
	history_reopen(&t->a, TK_STORE_READ);
	struct tk_error failure = {0};
	assert_int_not_equal(tk_store_merge(t->a.store, t->b.store, NULL, &failure), 0);
	assert_true(*failure.message);
	assert_int_equal(history_count(&t->a, "run"), 0);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
	        TEST(equal_histories_add_nothing),
	        TEST(a_result_is_added_once),
	        TEST(references_are_translated),
	        TEST(a_new_night_leaves_the_known_ones),
	        TEST(a_run_of_a_known_night_is_news),
	        TEST(a_better_description_of_a_night_is_news),
	        TEST(alerts_and_triage_are_no_news_of_nights),
	        TEST(machine_code_of_a_known_build_is_news),
	        TEST(merging_is_the_same_in_both_directions),
	        TEST(merging_with_itself_changes_nothing),
	        TEST(equal_slugs_are_told_apart),
	        TEST(a_history_with_a_trigger_takes_nothing),
	        TEST(a_failed_merge_leaves_nothing),
	        TEST(a_history_that_is_read_only_takes_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
