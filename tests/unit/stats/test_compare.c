/* Two samples: known answers, claimed error rates, degenerate input. */
#include "stats_checks.h"

#include "stats/summary/compare.h"
#include "stats/summary/summary.h"

static const double low[] = {1.1, 2.2, 3.3, 4.4}, high[] = {5.5, 6.6, 2.5, 9.9, 7.0};

static void exact_test_equals_enumeration(void **state)
{
	struct tk_shift s;

	/* SciPy 1.17 mannwhitneyu(method='exact'); the interval from all 126 orders: ranks 2 and 19
	 * of the 20 differences */
	assert_int_equal(tk_shift_estimate(low, 4, high, 5, 0.95, &s), TK_OK);
	near(s.u, 18), near(s.p, 0.06349206349206349), near(s.shift, 3.5), near(s.lo, -0.8),
	        near(s.hi, 7.7);
	assert_true(s.exact && s.reached);
	assert_int_equal(tk_shift_estimate(high, 5, low, 4, 0.95, &s), TK_OK);
	near(s.u, 2), near(s.p, 0.06349206349206349), near(s.shift, -3.5), near(s.lo, -7.7),
	        near(s.hi, 0.8);
}

static void too_few_values_are_said(void **state)
{
	struct tk_shift s;

	assert_int_equal(tk_shift_estimate(low, 1, high, 1, 0.95, &s), TK_OK);
	assert_false(s.reached);
	near(s.shift, 4.4), near(s.lo, 4.4), near(s.hi, 4.4), near(s.p, 1);
	assert_int_equal(tk_shift_estimate(low, 2, high, 2, 0.95, &s), TK_OK);
	assert_false(s.reached);
}

static void equal_constants_do_not_differ(void **state)
{
	const double c[] = {5, 5, 5, 5, 5, 5, 5, 5};
	struct tk_shift s;

	assert_int_equal(tk_shift_estimate(c, 8, c, 8, 0.95, &s), TK_OK);
	assert_false(s.exact);
	near(s.p, 1), near(s.shift, 0), near(s.lo, 0), near(s.hi, 0);
}

static void ties_use_the_corrected_approximation(void **state)
{
	const double a[] = {1, 2, 2, 3, 4, 5, 5, 6}, b[] = {2, 4, 5, 6, 7, 7, 8, 9};
	struct tk_shift s;

	/* SciPy 1.17: mannwhitneyu(a, b, method='asymptotic'): U of b is 52, p 0.03895 */
	assert_int_equal(tk_shift_estimate(a, 8, b, 8, 0.95, &s), TK_OK);
	near(s.u, 52);
	near_by(s.p, 0.0389535432708663, 1e-9);
}

static void refuses_what_is_not_a_sample(void **state)
{
	const double nan[] = {1, NAN}, inf[] = {INFINITY, 2};
	struct tk_shift s;

	assert_int_equal(tk_shift_estimate(NULL, 0, high, 5, 0.95, &s), TK_EDATA);
	assert_int_equal(tk_shift_estimate(low, 4, nan, 2, 0.95, &s), TK_EDATA);
	assert_int_equal(tk_shift_estimate(inf, 2, high, 5, 0.95, &s), TK_EDATA);
}

/* What the interval and the test claim, on 2,000 seeded pairs of samples that really are 0.3
 * standard deviations apart, or not at all. */
static void rates_are_as_claimed(void **state)
{
	struct tk_rng r;
	int covered = 0, alarms = 0;

	tk_rng_seed(&r, 7);
	for (int trial = 0; trial < 2000; trial++) {
		double a[9], b[12];
		struct tk_shift s;

		for (int i = 0; i < 9; i++)
			a[i] = tk_rng_normal(&r);
		for (int i = 0; i < 12; i++)
			b[i] = tk_rng_normal(&r);
		assert_int_equal(tk_shift_estimate(a, 9, b, 12, 0.95, &s), TK_OK);
		alarms += s.p <= 0.05;
		for (int i = 0; i < 12; i++)
			b[i] += 0.3;
		assert_int_equal(tk_shift_estimate(a, 9, b, 12, 0.95, &s), TK_OK);
		covered += s.lo <= 0.3 && 0.3 <= s.hi;
	}
	assert_in_range(alarms, 60, 130);
	assert_in_range(covered, 1880, 1945);
}

static void large_samples_need_no_table_of_pairs(void **state)
{
	static double a[3000], b[2000];
	struct tk_rng r;
	struct tk_shift s;

	tk_rng_seed(&r, 9);
	for (int i = 0; i < 3000; i++)
		a[i] = tk_rng_normal(&r);
	for (int i = 0; i < 2000; i++)
		b[i] = tk_rng_normal(&r) + 0.5;
	assert_int_equal(tk_shift_estimate(a, 3000, b, 2000, 0.95, &s), TK_OK);
	near_by(s.shift, 0.5, 0.1);
	assert_true(s.lo > 0.35 && s.hi < 0.65 && s.hi - s.lo < 0.15 && s.p < 1e-20);
}

static void normal_deviates(void **state)
{
	near_by(tk_normal_p(1.959963984540054), 0.05, 1e-12);
	near_by(tk_normal_z(0.05), 1.959963984540054, 1e-9);
	near(tk_normal_z(1), 0);
}

/* Above 50 values the ranks come from the normal approximation. Against all differences, sorted:
 * the median and both ends are those of the ranks that the textbook names. */
static void estimates_are_ranks_of_all_differences(void **state)
{
	enum { NA = 41, NB = 29 };
	double a[NA], b[NB], all[NA * NB];
	struct tk_rng r;

	(void)state;
	for (uint64_t seed = 1; seed <= 20; seed++) {
		struct tk_shift s;
		const double pairs = NA * NB;
		const size_t rank = (size_t)floor(
		        pairs / 2 - 1.959963984540054 * sqrt(pairs * (NA + NB + 1) / 12));

		tk_rng_seed(&r, seed);
		for (int i = 0; i < NA; i++)
			a[i] = tk_rng_normal(&r);
		for (int i = 0; i < NB; i++)
			b[i] = 2 * tk_rng_normal(&r) + 1;
		for (int i = 0; i < NA * NB; i++)
			all[i] = b[i % NB] - a[i / NB];
		sort_plainly(all, NA * NB);
		assert_int_equal(tk_shift_estimate(a, NA, b, NB, 0.95, &s), TK_OK);
		assert_true(s.reached && !s.exact);
		near(s.lo, all[rank - 1]);
		near(s.hi, all[NA * NB - rank]);
		near(s.shift, (all[(NA * NB - 1) / 2] + all[NA * NB / 2]) / 2);
		sort_plainly(a, NA);
		sort_plainly(b, NB);
		/* by bisection: between the differences whose share is half, up to 0.2 % */
		const double half = tk_hodges_lehmann(a, NA, b, NB, 1e-9);
		const size_t few = (size_t)(pairs * 0.002);
		assert_true(
		        half >= all[NA * NB / 2 - few - 1] && half <= all[NA * NB / 2 + few + 1]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(estimates_are_ranks_of_all_differences),
	        cmocka_unit_test(exact_test_equals_enumeration),
	        cmocka_unit_test(too_few_values_are_said),
	        cmocka_unit_test(equal_constants_do_not_differ),
	        cmocka_unit_test(ties_use_the_corrected_approximation),
	        cmocka_unit_test(refuses_what_is_not_a_sample),
	        cmocka_unit_test(rates_are_as_claimed),
	        cmocka_unit_test(large_samples_need_no_table_of_pairs),
	        cmocka_unit_test(normal_deviates),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
