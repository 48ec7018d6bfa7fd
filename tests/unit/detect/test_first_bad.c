/* The commit that a bisection found, in the row of its series. */
#include "verdict_checks.h"

/* Of all bisections the one of this series and this range counts, where it found a commit. */
static void a_bisection_names_the_first_bad_commit(void **state)
{
	static const struct {
		const char *problem, *good, *bad, *first_bad;
		enum tk_bisect_outcome outcome;
	} rows[] = {{"other", "aaa", "bbb", "wrong-series", TK_BISECT_FOUND},
	        {"p", "aaa", "bbb", "not-found", TK_BISECT_RANGE},
	        {"p", "aaa", "ccc", "wrong-bad", TK_BISECT_FOUND},
	        {"p", "abc", "bbb", "wrong-good", TK_BISECT_FOUND},
	        {"p", "aaa", "bbb", "abb", TK_BISECT_FOUND}};
	struct world w;

	(void)state;
	world_open(&w, NULL);
	world_build(&w, "aaa", 10, "b", "h1", "Good");
	world_night(&w, 0, "nightly");
	world_point(&w, "b", "p", 1e6), world_point(&w, "b", "other", 1e6);
	world_build(&w, "bbb", 13, "b", "h2", "Bad");
	world_night(&w, 1, "nightly");
	world_point(&w, "b", "p", 1.4e6), world_point(&w, "b", "other", 1.4e6);
	for (size_t n = 0; n <= sizeof rows / sizeof *rows; n++) {
		struct tk_diff_report r = world_diff(&w, 1);
		const struct tk_diff_row *row = world_row(&r, "b", "p");
		const bool is_found = n == sizeof rows / sizeof *rows;

		assert_string_equal(row->first_bad_commit, is_found ? "abb" : "");
		assert_string_equal(row->first_bad_author, is_found ? "A. Author" : "");
		if (is_found) {
			assert_string_equal(row->first_bad_subject, "Slower");
			assert_int_equal(row->first_bad_time_s, 77);
			assert_float_equal(row->first_bad_change, 0.25, 0);
			assert_float_equal(row->first_bad_confidence, 0.99, 0);
		}
		tk_diff_report_free(&r);
		if (is_found)
			break;
		const struct tk_bisection_row b = {
		        .series_id = world_series(&w, "b", rows[n].problem),
		        .night_id = w.night,
		        .outcome = rows[n].outcome,
		        .good_rev = rows[n].good,
		        .bad_rev = rows[n].bad,
		        .first_bad_rev = rows[n].first_bad,
		        .last_good_rev = rows[n].good,
		        .subject = "Slower",
		        .author = "A. Author",
		        .author_time_s = 77,
		        .change = 0.25,
		        .change_lo = 0.2,
		        .change_hi = 0.3,
		        .confidence = 0.99,
		        .finished_s = w.as_of_s + (int64_t)n};
		assert_int_equal(tk_store_put_bisection(w.store, &b, &w.err), 0);
	}
	world_close(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(a_bisection_names_the_first_bad_commit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
