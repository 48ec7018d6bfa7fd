/* Pairs in random order: known intervals, and how often the rule is wrong in noise that no formula
 * likes. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/base.h"
#include "stats/compare.h"

static void near(double a, double b)
{
	if (!(fabs(a - b) <= 1e-12 * (1 + fabs(b))))
		fail_msg("%.17g is not %.17g", a, b);
}

/* The i-th smallest mean of two, from 1. */
static double ranked_mean(const double *d, size_t n, size_t i)
{
	double w[200];
	size_t count = 0;

	for (size_t a = 0; a < n; a++)
		for (size_t b = a; b < n; b++)
			w[count++] = (d[a] + d[b]) / 2;
	for (size_t a = 0; a < count; a++)
		for (size_t b = a + 1; b < count; b++)
			if (w[b] < w[a]) {
				double keep = w[a];

				w[a] = w[b];
				w[b] = keep;
			}
	return w[i - 1];
}

static void interval_has_the_tabulated_ranks(void **state)
{
	const double d[] = {0.3, -1.2, 2.5, 0.8, 1.1, -0.4, 3.9, 0.05, 1.7, 2.2};
	struct tk_paired_shift p;

	/* P(T <= 8) = 0.0244 for ten differences: the 9th of the 55 means from either end
	 * (Hollander, Wolfe, Chicken, table A.4) */
	assert_int_equal(tk_paired_estimate(d, 10, 0.95, &p), TK_OK);
	near(p.lo, ranked_mean(d, 10, 9)), near(p.hi, ranked_mean(d, 10, 47)),
	        near(p.shift, ranked_mean(d, 10, 28));
	assert_true(p.reached && p.n == 10);
	/* 2 / 1024 is the least that ten differences can say */
	assert_int_equal(tk_paired_estimate(d, 10, 0.998, &p), TK_OK);
	assert_true(p.reached);
	near(p.lo, -1.2), near(p.hi, 3.9);
	assert_int_equal(tk_paired_estimate(d, 10, 0.999, &p), TK_OK);
	assert_false(p.reached);
}

static void what_is_no_difference_is_refused(void **state)
{
	const double d[] = {1, NAN};
	enum tk_paired_decision word;
	struct tk_paired_shift p;

	assert_int_equal(tk_paired_estimate(d, 0, 0.95, &p), TK_EDATA);
	assert_int_equal(tk_paired_estimate(d, 2, 0.95, &p), TK_EDATA);
	assert_int_equal(tk_paired_decide(d, 2, 0.01, &word, &p), TK_EDATA);
}

static void clear_cases_take_twelve_pairs(void **state)
{
	double slower[12], equal[12];
	enum tk_paired_decision word;
	struct tk_paired_shift p;

	for (int i = 0; i < 12; i++) {
		slower[i] = 0.012 + 0.0002 * i;
		equal[i] = 0.0001 * (i - 6);
	}
	assert_int_equal(tk_paired_decide(slower, 11, 0.005, &word, &p), TK_OK);
	assert_int_equal(word, TK_PAIRED_INCONCLUSIVE);
	assert_int_equal(tk_paired_decide(slower, 12, 0.005, &word, &p), TK_OK);
	assert_int_equal(word, TK_PAIRED_HIGHER);
	assert_true(p.lo > 0.012 && p.hi < 0.0143 && p.shift > p.lo && p.shift < p.hi);
	assert_int_equal(tk_paired_decide(slower, 12, 0.02, &word, NULL), TK_OK);
	assert_int_equal(word, TK_PAIRED_SAME);
	assert_int_equal(tk_paired_decide(equal, 12, 0.005, &word, NULL), TK_OK);
	assert_int_equal(word, TK_PAIRED_SAME);
	/* which side of 0: never the same */
	assert_int_equal(tk_paired_decide(equal, 12, 0, &word, NULL), TK_OK);
	assert_int_equal(word, TK_PAIRED_INCONCLUSIVE);
}

/* A machine with neighbours: mostly quiet, at times much slower for one of the two. */
static double noise(struct tk_rng *r, double sigma)
{
	double x = sigma * tk_rng_normal(r);

	return tk_rng_uniform(r) < 0.15
	               ? x + (tk_rng_uniform(r) < 0.5 ? 1 : -1) * 0.3 * tk_rng_uniform(r)
	               : x;
}

struct decisions {
	size_t same, higher, lower;
};

static struct decisions decide(double shift, double least, double sigma, size_t pairs, size_t tries)
{
	struct decisions count = {0};
	struct tk_rng rng;

	tk_rng_seed(&rng, 7);
	for (size_t i = 0; i < tries; i++) {
		double d[TK_PAIRED_COUNT_MAX];
		enum tk_paired_decision decision;

		for (size_t k = 0; k < pairs; k++)
			d[k] = shift + noise(&rng, sigma);
		assert_int_equal(tk_paired_decide(d, pairs, least, &decision, NULL), TK_OK);
		count.same += decision == TK_PAIRED_SAME;
		count.higher += decision == TK_PAIRED_HIGHER;
		count.lower += decision == TK_PAIRED_LOWER;
	}
	return count;
}

static void equal_things_are_not_slower(void **state)
{
	const struct decisions quiet = decide(0, 0.005, 0.003, 64, 100),
	                       noisy = decide(0, 0.005, 0.02, 64, 100);

	assert_in_range(quiet.higher, 0, 0);
	assert_in_range(quiet.same, 99, 100);
	assert_in_range(noisy.lower, 0, 0);
}

static void one_percent_is_found(void **state)
{
	const struct decisions slower = decide(0.01, 0.005, 0.003, 96, 100);

	assert_in_range(slower.higher, 99, 100);
	assert_in_range(slower.same, 0, 0);
	assert_in_range(decide(-0.01, 0.005, 0.006, 192, 40).lower, 38, 40);
}

/* Noise too wide for an interval beyond `least`: the last look says what is known, and nothing of
 * equal things. */
static void the_last_look_decides_what_can_be_decided(void **state)
{
	const struct decisions equal = decide(0, 0.005, 0.02, TK_PAIRED_COUNT_MAX, 40);

	assert_in_range(decide(0.0085, 0.005, 0.012, TK_PAIRED_COUNT_MAX - 1, 40).higher, 0, 20);
	assert_in_range(decide(0.0085, 0.005, 0.012, TK_PAIRED_COUNT_MAX, 40).higher, 38, 40);
	assert_in_range(equal.higher, 0, 0);
	assert_in_range(equal.lower, 0, 0);
}

/* Six pairs are enough for a decision that is not to wait, five are not. */
static void few_pairs_decide_at_the_end(void **state)
{
	const double faster[] = {-0.10, -0.101, -0.099, -0.103, -0.1, -0.098},
	             equal[] = {0.001, -0.002, 0.003, -0.001, 0.002, -0.003},
	             noisy[] = {-0.10, 0.05, -0.02, -0.2, 0.03, -0.01}, two[] = {1, NAN};
	const struct {
		const double *d;
		size_t n;
		double least;
		enum tk_paired_decision decision;
	} cases[] = {{faster, 6, 0.02, TK_PAIRED_LOWER}, {faster, 5, 0.02, TK_PAIRED_INCONCLUSIVE},
	        {faster, 6, 0.1005, TK_PAIRED_INCONCLUSIVE}, {equal, 6, 0.02, TK_PAIRED_SAME},
	        {equal, 6, 0.002, TK_PAIRED_INCONCLUSIVE},
	        {noisy, 6, 0.02, TK_PAIRED_INCONCLUSIVE}};
	enum tk_paired_decision decision;
	struct tk_paired_shift p;

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		assert_int_equal(tk_paired_decide_last(cases[i].d, cases[i].n, cases[i].least, 0.95,
		                         &decision, &p),
		        TK_OK);
		assert_int_equal(decision, cases[i].decision);
	}
	assert_int_equal(tk_paired_decide_last(two, 2, 0.02, 0.95, &decision, &p), TK_EDATA);
}

static void few_pairs_of_equal_things_are_seldom_different(void **state)
{
	struct tk_rng rng;
	size_t wrong = 0;

	tk_rng_seed(&rng, 11);
	for (size_t i = 0; i < 4000; i++) {
		double d[11];
		size_t n = TK_PAIRED_LAST_COUNT_MIN + i % 6;
		enum tk_paired_decision decision;
		struct tk_paired_shift p;

		for (size_t k = 0; k < n; k++)
			d[k] = noise(&rng, 0.02);
		assert_int_equal(tk_paired_decide_last(d, n, 0, 0.95, &decision, &p), TK_OK);
		wrong += decision == TK_PAIRED_HIGHER || decision == TK_PAIRED_LOWER;
	}
	assert_in_range(wrong, 20, 200); /* 5 % of 4000 at most, and the test can fail */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(interval_has_the_tabulated_ranks),
	        cmocka_unit_test(what_is_no_difference_is_refused),
	        cmocka_unit_test(clear_cases_take_twelve_pairs),
	        cmocka_unit_test(equal_things_are_not_slower),
	        cmocka_unit_test(one_percent_is_found),
	        cmocka_unit_test(the_last_look_decides_what_can_be_decided),
	        cmocka_unit_test(few_pairs_decide_at_the_end),
	        cmocka_unit_test(few_pairs_of_equal_things_are_seldom_different),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
