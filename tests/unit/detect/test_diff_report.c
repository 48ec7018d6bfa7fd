/* Reports without a history: how rows are counted and sorted, and what the whole says of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "detect/detect.h"
#include "detect/report/diff_row.h"

#define ROWS 60

/* A row of a status and a severity, which was not compared. */
static struct tk_diff_row make_row(
        enum tk_verdict_status status, double severity, const char *series)
{
	struct tk_diff_row row = {.lower_is_better = true, .machine = "box"};

	tk_verdict_init(&row.verdict);
	row.verdict.status = row.verdict.status_before_ack = status;
	row.verdict.severity = severity;
	snprintf(row.series, sizeof row.series, "%s", series);
	return row;
}

/* Owns copies of the rows. */
static struct tk_diff_report make_report(const struct tk_diff_row *rows, size_t count)
{
	struct tk_diff_report r = {.rows = calloc(count + 1, sizeof *rows), .count = count};

	assert_non_null(r.rows);
	if (count)
		memcpy(r.rows, rows, count * sizeof *rows);
	return r;
}

static void expect_order(struct tk_diff_report *r, const char *series)
{
	char got[200] = "";

	for (size_t i = 0; i < r->count; i++)
		snprintf(got + strlen(got), sizeof got - strlen(got), "%s%s", i ? " " : "",
		        r->rows[i].series);
	assert_string_equal(got, series);
}

/* ---- order ---- */

static void the_most_severe_rows_come_first(void **state)
{
	const struct tk_diff_row rows[] = {make_row(TK_VERDICT_SAME, 9, "same"),
	        make_row(TK_VERDICT_REGRESSED, 1, "small"),
	        make_row(TK_VERDICT_REGRESSED, NAN, "unknown"),
	        make_row(TK_VERDICT_REGRESSED, 5, "large"),
	        make_row(TK_VERDICT_REGRESSED, 0, "none"),
	        make_row(TK_VERDICT_NEWLY_FAILED, NAN, "failed"),
	        make_row(TK_VERDICT_IMPROVED, 7, "improved")};
	struct tk_diff_report r = make_report(rows, 7);

	(void)state;
	tk_diff_report_finish(&r);
	expect_order(&r, "large small none unknown failed improved same");
	tk_diff_report_free(&r);
}

static void equal_rows_are_sorted_by_name(void **state)
{
	const struct tk_diff_row rows[] = {make_row(TK_VERDICT_SAME, 1, "b"),
	        make_row(TK_VERDICT_SAME, NAN, "d"), make_row(TK_VERDICT_SAME, 1, "a"),
	        make_row(TK_VERDICT_SAME, NAN, "c")};
	struct tk_diff_report r = make_report(rows, 4);

	(void)state;
	tk_diff_report_finish(&r);
	expect_order(&r, "a b c d");
	tk_diff_report_free(&r);
}

/* Rows of every status, some with equal severities, on three machines. */
static void draw_rows(struct tk_diff_row *rows)
{
	struct tk_rng rng;

	tk_rng_seed(&rng, 4);
	for (int i = 0; i < ROWS; i++) {
		char series[16];

		snprintf(series, sizeof series, "s%02d", i);
		rows[i] = make_row(
		        (enum tk_verdict_status)tk_rng_below(&rng, TK_VERDICT_STATUS_COUNT),
		        i % 7 ? (double)tk_rng_below(&rng, 4) : NAN, series);
		snprintf(rows[i].machine, sizeof rows[i].machine, "m%d", i % 3);
		rows[i].newest_s = (int64_t)tk_rng_below(&rng, 1000);
		if (i % 2)
			rows[i].verdict.before.value = 100,
			rows[i].verdict.after.value = 100 * exp(0.1 * tk_rng_normal(&rng));
	}
}

static void the_order_of_the_input_does_not_count(void **state)
{
	struct tk_diff_row rows[ROWS];
	struct tk_rng rng;

	(void)state;
	draw_rows(rows);
	struct tk_diff_report first = make_report(rows, ROWS);
	tk_diff_report_finish(&first);
	tk_rng_seed(&rng, 8);
	for (int i = 0; i < 20; i++) {
		tk_rng_shuffle(&rng, rows, ROWS, sizeof *rows);
		struct tk_diff_report again = make_report(rows, ROWS);
		tk_diff_report_finish(&again);
		for (size_t k = 0; k < ROWS; k++)
			assert_string_equal(again.rows[k].series, first.rows[k].series);
		assert_memory_equal(again.by_status, first.by_status, sizeof again.by_status);
		assert_int_equal(again.machines, first.machines);
		assert_int_equal(again.compared, first.compared);
		assert_int_equal(again.newest_s, first.newest_s);
		assert_float_equal(again.mean.change, first.mean.change, 1e-6);
		tk_diff_report_free(&again);
	}
	for (size_t k = 1; k < ROWS; k++)
		assert_true(first.rows[k - 1].verdict.status <= first.rows[k].verdict.status);
	tk_diff_report_free(&first);
}

/* ---- counts ---- */

static void the_whole_is_counted(void **state)
{
	struct tk_diff_row rows[ROWS];
	size_t by_status[TK_VERDICT_STATUS_COUNT] = {0}, compared = 0;
	int64_t newest_s = 0;

	(void)state;
	draw_rows(rows);
	for (size_t i = 0; i < ROWS; i++) {
		by_status[rows[i].verdict.status]++;
		compared += i % 2;
		newest_s = rows[i].newest_s > newest_s ? rows[i].newest_s : newest_s;
	}
	struct tk_diff_report r = make_report(rows, ROWS);
	tk_diff_report_finish(&r);
	assert_memory_equal(r.by_status, by_status, sizeof by_status);
	assert_int_equal(r.compared, compared);
	assert_int_equal(r.machines, 3);
	assert_int_equal(r.newest_s, newest_s);
	/* again, with other statuses: nothing is left of the counts before */
	for (size_t i = 0; i < ROWS; i++)
		tk_diff_row_set_status(&r.rows[i], TK_VERDICT_NEW);
	tk_diff_report_count(&r);
	for (size_t k = 0; k < TK_VERDICT_STATUS_COUNT; k++)
		assert_int_equal(r.by_status[k], k == TK_VERDICT_NEW ? ROWS : 0);
	tk_diff_report_free(&r);
}

static void an_empty_report(void **state)
{
	struct tk_diff_report r = make_report(NULL, 0);

	(void)state;
	r.machines = r.compared = r.waiting = 9;
	r.newest_s = 9;
	tk_diff_report_finish(&r);
	assert_int_equal(r.machines, 0);
	assert_int_equal(r.compared, 0);
	assert_int_equal(r.waiting, 0);
	assert_int_equal(r.newest_s, 0);
	assert_true(isnan(r.mean.change));
	tk_diff_report_free(&r);
	assert_null(r.rows);
	tk_diff_report_free(NULL);
}

/* Machines side by side and apart from each other. */
static void machines_are_counted_once(void **state)
{
	static const char *const machines[] = {"b", "a", "b", "c", "a", "a", "bb"};
	struct tk_diff_row rows[7];

	(void)state;
	for (size_t i = 0; i < 7; i++) {
		rows[i] = make_row(TK_VERDICT_SAME, 1, machines[i]);
		snprintf(rows[i].machine, sizeof rows[i].machine, "%s", machines[i]);
	}
	static const size_t expected[] = {0, 1, 2, 2, 3, 3, 3, 4};
	for (size_t count = 0; count <= 7; count++) {
		struct tk_diff_report r = make_report(rows, count);

		tk_diff_report_finish(&r);
		assert_int_equal(r.machines, expected[count]);
		tk_diff_report_free(&r);
	}
}

/* A row waits for its turn as long as fewer nights went by than its rotation has. */
static void rows_that_wait_for_their_turn(void **state)
{
	static const struct {
		double nights_ago, rotation;
		bool waits;
	} cases[] = {{0, 7, false}, {1, 7, true}, {6, 7, true}, {7, 7, false}, {3, 0, false},
	        {2, 4, true}, {NAN, 7, false}, {3, NAN, false}};
	struct tk_diff_row rows[9];
	size_t waiting = 0;

	(void)state;
	for (size_t i = 0; i < 8; i++) {
		const struct tk_fact fact = {.kind = TK_FACT_LAST_MEASURED,
		        .number = {cases[i].nights_ago, cases[i].rotation}};

		rows[i] = make_row(TK_VERDICT_SAME, 1, "s");
		tk_verdict_add_fact(&rows[i].verdict, fact, NULL);
		waiting += cases[i].waits;
	}
	rows[8] = make_row(TK_VERDICT_SAME, 1, "without");
	struct tk_diff_report r = make_report(rows, 9);
	tk_diff_report_finish(&r);
	assert_int_equal(r.waiting, waiting);
	assert_int_equal(r.waiting_nights, 6);
	r.count = 1; /* counted again: nobody waits */
	r.rows[0] = rows[8];
	tk_diff_report_finish(&r);
	assert_int_equal(r.waiting, 0);
	assert_int_equal(r.waiting_nights, 0);
	tk_diff_report_free(&r);
}

/* ---- the mean ---- */

/* A row that was `factor` times as slow. */
static struct tk_diff_row compared_row(double factor)
{
	struct tk_diff_row row = make_row(TK_VERDICT_SAME, 1, "s");

	row.verdict.before.value = 1e5;
	row.verdict.after.value = 1e5 * factor;
	return row;
}

static double mean_change(const struct tk_diff_row *rows, size_t count)
{
	struct tk_diff_report r = make_report(rows, count);
	double change;

	tk_diff_report_finish(&r);
	change = r.mean.change;
	tk_diff_report_free(&r);
	return change;
}

/* A row twice as slow and one twice as fast cancel out; times and rates count alike; a unit does
 * not. */
static void the_mean_is_geometric(void **state)
{
	struct tk_diff_row rows[3] = {compared_row(2), compared_row(0.5), compared_row(1.1)};

	(void)state;
	assert_float_equal(mean_change(rows, 2), 0, 1e-6);
	assert_float_equal(mean_change(rows, 3), cbrt(1.1) - 1, 1e-6);
	for (size_t i = 0; i < 3; i++)
		rows[i].verdict.before.value *= 1e-9, rows[i].verdict.after.value *= 1e-9;
	assert_float_equal(mean_change(rows, 3), cbrt(1.1) - 1, 1e-6);
	for (size_t i = 0; i < 3; i++) {
		rows[i].lower_is_better = false;
		const double before = rows[i].verdict.before.value;
		rows[i].verdict.before.value = rows[i].verdict.after.value;
		rows[i].verdict.after.value = before;
	}
	assert_float_equal(mean_change(rows, 3), cbrt(1.1) - 1, 1e-6);
}

/* Values that cannot be compared do not make the mean infinite. */
static void values_without_a_ratio_do_not_count(void **state)
{
	static const double values[] = {0, -1, NAN};

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		struct tk_diff_row rows[3] = {compared_row(1.2), compared_row(1), compared_row(1)};

		rows[1].verdict.before.value = values[i];
		rows[2].verdict.after.value = values[i];
		assert_float_equal(mean_change(rows, 3), 0.2, 1e-6);
		assert_false(tk_diff_row_is_compared(&rows[1]));
		assert_false(tk_diff_row_is_compared(&rows[2]));
	}
}

/* Half of the nightly timings are enough to make the mean unreliable; rows known by A/B runs are
 * not among them. */
static void unreliable_from_one_half_on(void **state)
{
	struct tk_diff_row rows[4];

	(void)state;
	for (size_t unstable = 0; unstable <= 4; unstable++) {
		for (size_t i = 0; i < 4; i++) {
			rows[i] = compared_row(1.1);
			rows[i].unstable = i < unstable;
		}
		struct tk_diff_report r = make_report(rows, 4);
		tk_diff_report_finish(&r);
		assert_int_equal(tk_diff_mean_is_unstable(&r.mean), unstable >= 2);
		assert_int_equal(r.mean.nightly, 4);
		assert_int_equal(r.mean.unstable, unstable);
		tk_diff_report_free(&r);
	}
	for (size_t i = 0; i < 4; i++)
		rows[i].ab =
		        (struct tk_ab_result){.decision = TK_AB_HIGHER, .count = 12, .change = 0.1};
	struct tk_diff_report r = make_report(rows, 4);
	tk_diff_report_finish(&r);
	assert_int_equal(r.mean.nightly, 0);
	assert_false(tk_diff_mean_is_unstable(&r.mean));
	tk_diff_report_free(&r);
}

/* A status that is set takes the facts of the old one with it. */
static void a_new_status_has_no_facts(void **state)
{
	struct tk_diff_row row = make_row(TK_VERDICT_SAME, 1, "s");

	(void)state;
	tk_verdict_add_fact(&row.verdict, (struct tk_fact){.kind = TK_FACT_SAME_CODE}, "text");
	tk_diff_row_set_status(&row, TK_VERDICT_REGRESSED);
	assert_int_equal(row.verdict.status, TK_VERDICT_REGRESSED);
	assert_int_equal(row.verdict.status_before_ack, TK_VERDICT_REGRESSED);
	assert_int_equal(row.verdict.fact_count, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(the_most_severe_rows_come_first),
	        cmocka_unit_test(equal_rows_are_sorted_by_name),
	        cmocka_unit_test(the_order_of_the_input_does_not_count),
	        cmocka_unit_test(the_whole_is_counted),
	        cmocka_unit_test(an_empty_report),
	        cmocka_unit_test(machines_are_counted_once),
	        cmocka_unit_test(rows_that_wait_for_their_turn),
	        cmocka_unit_test(the_mean_is_geometric),
	        cmocka_unit_test(values_without_a_ratio_do_not_count),
	        cmocka_unit_test(unreliable_from_one_half_on),
	        cmocka_unit_test(a_new_status_has_no_facts),
	};

	return cmocka_run_group_tests_name("reports", tests, NULL, NULL);
}
