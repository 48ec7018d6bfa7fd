/* Every allocation that fails while a history is analysed: the call says so, and writes no half of
 * an analysis. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "alloc_sweep.h"
#include "detect/history/case_set.h"
#include "detect/history/catalog.h"
#include "detect/triage/missing_data.h"
#include "world.h"

#define NIGHTS 14
#define STEP 10 /* the night since which a series is slower */

static struct world w;

static int set_up(void **state)
{
	(void)state;
	world_open(&w, NULL);
	world_build(&w, "aaa", 1, "b", "h1", "");
	for (int day = 0; day < NIGHTS; day++) {
		if (day == STEP)
			world_build(&w, "bbb", 2, "b", "h2", "slower");
		world_night(&w, day, "nightly");
		world_point(&w, "b", "p", day < STEP ? 1e6 : 1.3e6);
		world_point(&w, "b", "q", 2e6 + day % 3);
		if (day == NIGHTS - 1)
			world_fail(&w, "b", "r", "crashed", "signal 11");
	}
	if (tk_store_commit(w.store, &w.err))
		return -1;
	w.open = false;
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	world_close(&w);
	return 0;
}

/* A list that cannot give back what it does not need stays as long as it is. */
static void sweep(const char *name, int (*call)(void *, struct tk_error *), void (*before)(void *),
        void (*after)(void *, int))
{
	alloc_sweep(&(struct alloc_sweep){
	        .name = name, .call = call, .before = before, .after = after, .may_succeed = true});
}

static const struct tk_diff_range range = {
        .since_s = WORLD_START + STEP * WORLD_DAY, .until_s = INT64_MAX};

static int read_catalog(void *arg, struct tk_error *err)
{
	struct tk_catalog c;
	int status = tk_catalog_load(w.store, &c, err);

	(void)arg;
	if (!status)
		assert_int_equal(c.series.rows.count, 3);
	tk_catalog_free(&c);
	return status;
}

static int read_cases(void *arg, struct tk_error *err)
{
	const struct tk_detect_options o = world_options(&w);
	struct tk_case_set c;
	int status = tk_case_set_load(w.store, &o, &range, NULL, &c, err);

	(void)arg;
	if (!status)
		status = tk_case_set_evaluate(&c, err);
	if (!status)
		assert_int_equal(c.count, 3);
	tk_case_set_free(&c);
	return status;
}

static int diff(void *arg, struct tk_error *err)
{
	const struct tk_detect_options o = world_options(&w);
	struct tk_diff_report r;
	int status = tk_detect_diff(w.store, &o, &range, &r, err);

	(void)arg;
	if (status)
		return status;
	assert_int_equal(r.count, 3);
	assert_int_equal(world_row(&r, "b", "p")->verdict.status, TK_VERDICT_REGRESSED);
	tk_diff_report_free(&r);
	return TK_OK;
}

static void reading(void **state)
{
	(void)state;
	sweep("catalog", read_catalog, NULL, NULL);
	sweep("case_set", read_cases, NULL, NULL);
	sweep("diff", diff, NULL, NULL);
}

/* ---- writing --------------------------------------------------------------------------------- */

/* What an analysis left, to be told apart from half of it. */
struct left {
	size_t verdicts, alerts, change_points, events;
};

static struct left read_left(void)
{
	struct tk_rows rows;
	struct left left = {0};

	assert_int_equal(tk_store_list_verdicts(w.store, w.night, &rows, NULL), TK_OK);
	left.verdicts = rows.count;
	tk_rows_free(&rows);
	assert_int_equal(tk_store_list_alerts(w.store, &rows, NULL), TK_OK);
	left.alerts = rows.count;
	tk_rows_free(&rows);
	assert_int_equal(tk_store_list_change_points(w.store, 0, &rows, NULL), TK_OK);
	left.change_points = rows.count;
	tk_rows_free(&rows);
	assert_int_equal(tk_store_list_monitor_events(w.store, 0, INT64_MAX, &rows, NULL), TK_OK);
	left.events = rows.count;
	tk_rows_free(&rows);
	return left;
}

/* In a transaction that is taken back, so that each call begins with the same history. */
static void begin(void *arg)
{
	(void)arg;
	assert_int_equal(tk_store_begin(w.store, NULL), TK_OK);
}

static void take_back(void *arg, int status)
{
	const struct left none = {0};
	struct left left = read_left();

	(void)arg;
	if (!status) {
		assert_int_equal(left.verdicts, 3);
		assert_true(left.alerts > 0);
	}
	tk_store_rollback(w.store);
	left = read_left();
	assert_memory_equal(&left, &none, sizeof none);
}

static int detect_night(void *arg, struct tk_error *err)
{
	const struct tk_detect_options o = world_options(&w);

	(void)arg;
	return tk_detect_night(w.store, w.night, &o, NULL, err);
}

static int replay(void *arg, struct tk_error *err)
{
	const struct tk_detect_options o = world_options(&w);
	const struct tk_detect_replay all = {.since_s = INT64_MIN};
	struct tk_detect_replay_counts counts;

	(void)arg;
	return tk_detect_replay(w.store, &o, &all, &counts, err);
}

/* Outside of another transaction: one that failed changes nothing. */
static struct left found;

static void look(void *arg)
{
	(void)arg;
	found = read_left();
}

static void nothing_or_all(void *arg, int status)
{
	struct left left = read_left();

	(void)arg;
	if (status)
		assert_memory_equal(&left, &found, sizeof left);
	else
		assert_int_equal(left.verdicts, 3);
}

static void a_night(void **state)
{
	(void)state;
	sweep("night", detect_night, begin, take_back);
	sweep("night alone", detect_night, look, nothing_or_all);
}

static void a_replay(void **state)
{
	(void)state;
	assert_int_equal(tk_store_finish_night(
	                         w.store, w.night, TK_NIGHT_COMPLETE, "{}", w.as_of_s + 60, NULL),
	        TK_OK);
	sweep("replay", replay, begin, take_back);
}

static int rename_machine(void *arg, struct tk_error *err)
{
	(void)arg;
	return tk_detect_rename_machine(w.store, "box", "crate", err);
}

static void name_it_box(void *arg)
{
	tk_detect_rename_machine(w.store, "crate", "box", NULL); /* after a call that succeeded */
}

static void all_or_no_names(void *arg, int status)
{
	struct tk_rows rows;

	(void)arg;
	assert_int_equal(tk_store_list_machines(w.store, &rows, NULL), TK_OK);
	assert_string_equal(
	        TK_ROWS_AT(&rows, struct tk_machine_row, 0)->name, status ? "box" : "crate");
	tk_rows_free(&rows);
}

static void a_new_name(void **state)
{
	(void)state;
	assert_int_equal(detect_night(NULL, &w.err), TK_OK);
	sweep("rename_machine", rename_machine, name_it_box, all_or_no_names);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
	        TEST(reading),
	        TEST(a_night),
	        TEST(a_replay),
	        TEST(a_new_name),
	};

	return cmocka_run_group_tests_name("detect out of memory", tests, NULL, NULL);
}
