/* The geometric mean of a report: what has a part in it, what that is, and how it is said. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <math.h>

#include "detect/detect.h"

#define NEAR 1e-9

/* Of a series whose timings doubled. */
static struct tk_diff_row doubled(enum tk_verdict_status status)
{
	return (struct tk_diff_row){.verdict.status = status,
	        .lower_is_better = true,
	        .verdict.before.value = 10,
	        .verdict.after.value = 20,
	        .verdict.change.value = 1,
	        .unstable = true};
}

static struct tk_diff_mean mean_of(const struct tk_diff_row *rows, size_t count)
{
	struct tk_diff_mean m = {.change = NAN};

	for (size_t i = 0; i < count; i++)
		tk_diff_mean_add(&m, &rows[i]);
	return m;
}

static void timings_of_nights(void **state)
{
	struct tk_diff_row rows[] = {doubled(TK_VERDICT_REGRESSED), doubled(TK_VERDICT_REGRESSED),
	        doubled(TK_VERDICT_NEW)};
	rows[1].lower_is_better = false;
	rows[2].verdict.before.value = NAN;
	struct tk_diff_mean m = mean_of(rows, 3);

	assert_int_equal(m.rows, 2);
	assert_float_equal(m.change, 0, NEAR);
	assert_true(tk_diff_mean_is_unstable(&m));
	rows[0].unstable = rows[1].unstable = false;
	m = mean_of(rows, 3);
	assert_false(tk_diff_mean_is_unstable(&m));
}

static void environment_rows_do_not_count(void **state)
{
	struct tk_diff_row rows[] = {
	        doubled(TK_VERDICT_ENVIRONMENT), doubled(TK_VERDICT_NOT_COMPARABLE)};

	assert_int_equal(mean_of(rows, 2).rows, 0);
	assert_true(isnan(mean_of(rows, 2).change));
}

static void equal_code_counts_as_unchanged(void **state)
{
	struct tk_diff_row rows[] = {doubled(TK_VERDICT_SAME), doubled(TK_VERDICT_RECOVERED)};
	rows[0].same_code = rows[1].same_code = true;
	struct tk_diff_mean m = mean_of(rows, 2);

	assert_int_equal(m.rows, 2);
	assert_int_equal(m.nightly, 0);
	assert_float_equal(m.change, 0, NEAR);
	assert_false(tk_diff_mean_is_unstable(&m));
}

static void changes_before_the_range_count_as_unchanged(void **state)
{
	struct tk_diff_row rows[] = {doubled(TK_VERDICT_SAME), doubled(TK_VERDICT_REGRESSED)};
	rows[0].verdict.decided_by = TK_RULE_CHANGED_BEFORE;
	rows[1].ab = (struct tk_ab_result){.decision = TK_AB_HIGHER, .count = 12, .change = 0.21};
	struct tk_diff_mean m = mean_of(rows, 2);

	assert_int_equal(m.rows, 2);
	assert_int_equal(m.nightly, 0);
	assert_float_equal(m.change, 0.1, NEAR);
}

/* The timings of the nights doubled by chance; pairs of both builds say what the code did. */
static void ab_runs_count_with_their_change(void **state)
{
	struct tk_diff_row rows[] = {doubled(TK_VERDICT_SAME), doubled(TK_VERDICT_REGRESSED)};
	rows[0].ab = (struct tk_ab_result){.decision = TK_AB_SAME, .count = 12, .change = 0.001};
	rows[1].ab = (struct tk_ab_result){.decision = TK_AB_HIGHER, .count = 12, .change = 0.21};
	struct tk_diff_mean m = mean_of(rows, 2);

	assert_float_equal(m.change, 0.1, NEAR);
	assert_false(tk_diff_mean_is_unstable(&m));
	rows[0].ab.decision = rows[1].ab.decision = TK_AB_INCONCLUSIVE;
	m = mean_of(rows, 2);
	assert_float_equal(m.change, 1, NEAR);
	assert_true(tk_diff_mean_is_unstable(&m));
}

static void texts(void **state)
{
	char text[TK_DIFF_MEAN_TEXT_SIZE];

	assert_string_equal(tk_diff_mean_format(&(struct tk_diff_mean){.change = NAN}, text), "-");
	assert_string_equal(
	        tk_diff_mean_format(&(struct tk_diff_mean){.change = 0.0123}, text), "+1.2 %");
	assert_string_equal(
	        tk_diff_mean_format(&(struct tk_diff_mean){.change = -0.0004}, text), "+0.0 %");
	assert_string_equal(
	        tk_diff_mean_format(&(struct tk_diff_mean){.change = -0.0006}, text), "-0.1 %");
	assert_string_equal(tk_diff_mean_format(
	                            &(struct tk_diff_mean){
	                                    .change = 0.2, .rows = 4, .nightly = 4, .unstable = 3},
	                            text),
	        "+20.0 % (unreliable: 3 of 4 timings are unstable)");
	/* a history of others may have any timings */
	assert_string_equal(
	        tk_diff_mean_format(
	                &(struct tk_diff_mean){
	                        .change = 1e200, .rows = 1, .nightly = 1, .unstable = 1},
	                text),
	        "+1.0e+202 % (unreliable: 1 of 1 timings are unstable)");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(timings_of_nights),
	        cmocka_unit_test(environment_rows_do_not_count),
	        cmocka_unit_test(equal_code_counts_as_unchanged),
	        cmocka_unit_test(changes_before_the_range_count_as_unchanged),
	        cmocka_unit_test(ab_runs_count_with_their_change),
	        cmocka_unit_test(texts),
	};
	return cmocka_run_group_tests_name("detect_mean", tests, NULL, NULL);
}
