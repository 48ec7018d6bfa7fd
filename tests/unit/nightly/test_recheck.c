/* A job that was measured again by a new process: what its result becomes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "nightly/schedule/recheck.h"
#include "worker/worker.h"

static struct tk_job_result result(enum tk_outcome outcome, double lo, double median, double hi)
{
	struct tk_job_result r = {.outcome = outcome, .wall_s = 0.5};
	if (tk_outcome_has_timing(outcome))
		r.result = json_pack("{s:s,s:s,s:f,s:f,s:f,s:i,s:{s:b}}", "outcome",
		        tk_outcome_name(outcome), "message", "", "lo", lo, "median", median, "hi",
		        hi, "n", 10, "verify", "passed", 1);
	else
		snprintf(r.message, sizeof r.message, "row 3: got nan");
	return r;
}

static const char *text(const struct tk_job_result *r, const char *key)
{
	return json_string_value(json_object_get(r->result, key));
}

/* Compares times with those of a first process of 90 to 110 ns. */
static void expect_times(double lo, double hi, double min_ns, enum tk_outcome outcome)
{
	struct tk_job_result first = result(TK_OUTCOME_OK, 90, 100, 110);
	struct tk_job_result again = result(TK_OUTCOME_UNSTABLE, lo, (lo + hi) / 2, hi);
	bool is_changed = tk_recheck_compare(&first, &again, min_ns);
	assert_int_equal(first.outcome, outcome);
	assert_true(is_changed == (outcome != TK_OUTCOME_OK));
	assert_string_equal(text(&first, "outcome"), tk_outcome_name(outcome));
	assert_string_equal(text(&first, "message"), first.message);
	assert_true(is_changed == (strstr(first.message, "a new process took ") != NULL));
	assert_non_null(json_object_get(json_object_get(first.result, "recheck"), "median"));
	tk_job_result_free(&first);
	tk_job_result_free(&again);
}

static void times(void **state)
{
	expect_times(90, 110, 0, TK_OUTCOME_OK);
	expect_times(219, 400, 0, TK_OUTCOME_OK);
	expect_times(221, 400, 0, TK_OUTCOME_UNSTABLE);
	expect_times(46, 80, 0, TK_OUTCOME_OK);
	expect_times(20, 44, 0, TK_OUTCOME_UNSTABLE);
	expect_times(100, 1000, 0, TK_OUTCOME_OK); /* wide, but not apart */
}

static void differences_too_small_to_measure(void **state)
{
	expect_times(300, 310, 200, TK_OUTCOME_OK);
	expect_times(300, 310, 180, TK_OUTCOME_UNSTABLE);
}

static void wrong_and_implausible(void **state)
{
	const enum tk_outcome outcomes[] = {TK_OUTCOME_WRONG, TK_OUTCOME_IMPLAUSIBLE};
	for (size_t i = 0; i < 2; i++) {
		struct tk_job_result first = result(TK_OUTCOME_THROTTLED, 90, 100, 110);
		struct tk_job_result again = result(outcomes[i], 0, 0, 0);
		again.result = json_pack("{s:{s:b}}", "verify", "passed", 0);
		assert_true(tk_recheck_compare(&first, &again, 100));
		assert_int_equal(first.outcome, outcomes[i]);
		assert_string_equal(first.message, "in a new process: row 3: got nan");
		assert_string_equal(text(&first, "message"), first.message);
		assert_string_equal(text(&first, "outcome"), tk_outcome_name(outcomes[i]));
		assert_true(json_is_false(
		        json_object_get(json_object_get(first.result, "verify"), "passed")));
		assert_non_null(json_object_get(first.result, "median"));
		tk_job_result_free(&first);
		tk_job_result_free(&again);
	}
}

/* A new process that found no memory, or died, proves nothing; it is only written down. */
static void no_result(void **state)
{
	const enum tk_outcome outcomes[] = {TK_OUTCOME_OUT_OF_MEMORY, TK_OUTCOME_CRASHED,
	        TK_OUTCOME_TIMEOUT, TK_OUTCOME_NO_DEVICE, TK_OUTCOME_UNSUPPORTED};
	for (size_t i = 0; i < sizeof outcomes / sizeof *outcomes; i++) {
		struct tk_job_result first = result(TK_OUTCOME_OK, 90, 100, 110);
		struct tk_job_result again = result(outcomes[i], 0, 0, 0);
		assert_false(tk_recheck_compare(&first, &again, 0));
		assert_int_equal(first.outcome, TK_OUTCOME_OK);
		assert_string_equal(first.message, "");
		const json_t *recheck = json_object_get(first.result, "recheck");
		assert_string_equal(json_string_value(json_object_get(recheck, "outcome")),
		        tk_outcome_name(outcomes[i]));
		assert_string_equal(
		        json_string_value(json_object_get(recheck, "message")), "row 3: got nan");
		tk_job_result_free(&first);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(times),
	        cmocka_unit_test(differences_too_small_to_measure),
	        cmocka_unit_test(wrong_and_implausible),
	        cmocka_unit_test(no_result),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
