/* What an analysis reads of a history: bounds that hold when the history is not as expected. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "detect/history/case_set.h"
#include "world.h"

static void load(struct world *w, struct tk_case_set *c)
{
	const struct tk_detect_options o = world_options(w);
	const struct tk_diff_range range = {.since_s = WORLD_START, .until_s = INT64_MAX};

	assert_int_equal(tk_case_set_load(w->store, &o, &range, NULL, c, &w->err), 0);
}

static void write_nights(struct world *w, int count)
{
	world_open(w, NULL);
	world_build(w, "aaa", 1, "b", "h1", "");
	for (int day = 0; day < count; day++) {
		world_night(w, day, "nightly");
		world_point(w, "b", "p", 1e6 + day);
	}
}

static void a_machine_without_expected_series(void **state)
{
	struct tk_case_set c;
	struct world w;

	write_nights(&w, 3);
	load(&w, &c);
	assert_int_equal(c.count, 1);
	assert_non_null(tk_case_set_find_expected(&c, c.at[0].machine->id));
	assert_null(tk_case_set_find_expected(&c, 999));
	assert_null(tk_case_set_find_expected(&c, 0));
	tk_case_set_free(&c);
	assert_null(tk_case_set_find_expected(&c, 1));
	world_close(&w);
}

static void series_that_are_not_there(void **state)
{
	struct tk_case_set c;
	struct world w;

	write_nights(&w, 3);
	load(&w, &c);
	assert_ptr_equal(tk_case_set_find(&c, c.at[0].series->id), &c.at[0]);
	assert_null(tk_case_set_find(&c, c.at[0].series->id + 1));
	assert_null(tk_case_set_find(&c, -1));
	tk_case_set_free(&c);
	world_close(&w);
}

/* Points of the range that another process has removed in the meantime. */
static void a_range_that_is_gone(void **state)
{
	struct tk_point later[2] = {{.as_of_s = WORLD_START + 90 * WORLD_DAY, .value = 1e6},
	        {.as_of_s = WORLD_START + 91 * WORLD_DAY, .value = 1e6}};
	double memory[6] = {0};
	struct tk_case_set c;
	struct tk_series_case k;
	struct world w;

	write_nights(&w, 10);
	load(&w, &c);
	k = c.at[0];
	k.points = later;
	k.count = 2;
	k.range = 1;
	k.y = memory, k.adjusted_y = memory + 2, k.se = memory + 4;
	assert_int_equal(tk_series_case_extend_history(&c, &k, WORLD_START, &w.err), 0);
	assert_int_equal(k.count, 10);
	assert_int_equal(k.range, 0); /* nothing to compare with */
	free(k.owned_points);
	tk_case_set_free(&c);
	world_close(&w);
}

static void a_history_further_back(void **state)
{
	struct tk_case_set c;
	struct tk_series_case *k;
	struct world w;

	write_nights(&w, 10);
	load(&w, &c);
	k = &c.at[0];
	assert_int_equal(k->count, 10);
	k->points += 5, k->count -= 5, k->range = 3;
	assert_int_equal(tk_series_case_extend_history(&c, k, WORLD_START, &w.err), 0);
	assert_int_equal(k->count, 10);
	assert_int_equal(k->range, 8);
	assert_int_equal(k->earlier, 8);
	tk_case_set_free(&c);
	world_close(&w);
}

/* A control is measured several times a night; a night without time skips the last of them. */
static void a_skipped_run_after_others_of_its_night(void **state)
{
	struct tk_diff_report r;
	struct tk_case_set c;
	struct world w;
	int64_t measured, failed, skipped;

	world_open(&w, NULL);
	world_build(&w, "aaa", 1, "b", "h1", "");
	world_night(&w, 0, "nightly");
	world_point(&w, "b", "control", 1e6);
	measured = world_point(&w, "b", "control", 1e6);
	world_fail(&w, "b", "control", "skipped", "the budget was spent");
	failed = world_fail(&w, "b", "crashes", "crashed", "signal 11");
	world_fail(&w, "b", "crashes", "no_device", "");
	world_fail(&w, "b", "late", "skipped", "the budget was spent");
	skipped = world_fail(&w, "b", "late", "skipped", "the budget was spent");
	load(&w, &c);
	assert_int_equal(c.count, 3);
	assert_int_equal(c.at[0].window->last_within.run_id, measured);
	assert_int_equal(c.at[0].window->last_within.outcome, TK_OUTCOME_OK);
	assert_int_equal(c.at[1].window->last_within.run_id, failed);
	assert_int_equal(c.at[2].window->last_within.run_id, skipped);
	tk_case_set_free(&c);
	r = world_detect_night(&w);
	assert_int_equal(world_row(&r, "b", "control")->verdict.status, TK_VERDICT_NEW);
	tk_diff_report_free(&r);

	world_night(&w, 1, "nightly"); /* skipped altogether: the night before does not count */
	world_point(&w, "b", "late", 1e6);
	skipped = world_fail(&w, "b", "control", "skipped", "the budget was spent");
	load(&w, &c);
	assert_int_equal(c.at[0].window->last_within.run_id, skipped);
	tk_case_set_free(&c);
	r = world_detect_night(&w);
	assert_int_equal(world_row(&r, "b", "control")->verdict.status, TK_VERDICT_MISSING);
	tk_diff_report_free(&r);
	world_close(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(a_machine_without_expected_series),
	        cmocka_unit_test(series_that_are_not_there),
	        cmocka_unit_test(a_range_that_is_gone),
	        cmocka_unit_test(a_history_further_back),
	        cmocka_unit_test(a_skipped_run_after_others_of_its_night),
	};

	return cmocka_run_group_tests_name("case_set", tests, NULL, NULL);
}
