/* Rank statistics against slow references: all orders of two samples and all signs of differences
 * are enumerated, and the estimates are taken from all pairs. */
#include "stats_checks.h"

#include "stats/compare.h"

#define N_MAX 10

/* ---- two samples ---- */

/* Pairs with b > a; ties count half. */
static double count_pairs(const double *a, size_t na, const double *b, size_t nb)
{
	double u = 0;

	for (size_t i = 0; i < na; i++)
		for (size_t j = 0; j < nb; j++)
			u += b[j] > a[i] ? 1 : b[j] == a[i] ? 0.5 : 0;
	return u;
}

/* orders[u]: how many of the choices of na of the ranks 0 .. na + nb - 1 have U = u; returns how
 * many choices there are. */
static double enumerate_orders(size_t na, size_t nb, double *orders)
{
	const size_t n = na + nb;
	double total = 0;

	memset(orders, 0, (na * nb + 1) * sizeof *orders);
	for (unsigned mask = 0; mask < 1u << n; mask++) {
		size_t chosen = 0, u = 0;

		for (size_t i = 0; i < n; i++)
			if (mask >> i & 1)
				chosen++;
			else
				u += chosen; /* this one of b is above so many of a */
		if (chosen != na)
			continue;
		orders[u]++;
		total++;
	}
	return total;
}

static double enumerated_p(const double *orders, double total, size_t top, size_t u)
{
	const size_t less = u < top - u ? u : top - u;
	double sum = 0;

	for (size_t i = 0; i <= less; i++)
		sum += orders[i];
	return fmin(1, 2 * sum / total);
}

/* The largest number of differences that lie outside on each side, 0: the confidence is not
 * reached. */
static size_t enumerated_rank(const double *orders, double total, size_t top, double confidence)
{
	double sum = 0;
	size_t k = 0;

	while (k <= top && (sum + orders[k]) / total <= (1 - confidence) / 2 + 1e-12)
		sum += orders[k++];
	return k;
}

static void check_two_samples(const double *a, size_t na, const double *b, size_t nb)
{
	static const double confidences[] = {0.5, 0.8, 0.9, 0.95, 0.99};
	double orders[N_MAX * N_MAX + 1], d[N_MAX * N_MAX] = {0};
	const double total = enumerate_orders(na, nb, orders);
	const size_t pairs = na * nb;

	for (size_t i = 0; i < pairs; i++)
		d[i] = b[i % nb] - a[i / nb];
	sort_plainly(d, pairs);
	for (size_t c = 0; c < 5; c++) {
		const size_t rank = enumerated_rank(orders, total, pairs, confidences[c]);
		struct tk_shift s;

		assert_int_equal(tk_shift_estimate(a, na, b, nb, confidences[c], &s), TK_OK);
		assert_true(s.exact);
		near(s.u, count_pairs(a, na, b, nb));
		near(s.p, enumerated_p(orders, total, pairs, (size_t)s.u));
		near(s.shift, plain_median(d, pairs));
		assert_int_equal(s.reached, rank > 0);
		near(s.lo, d[rank ? rank - 1 : 0]);
		near(s.hi, d[rank ? pairs - rank : pairs - 1]);
	}
}

static void two_samples_equal_the_enumeration(void **state)
{
	(void)state;
	for (size_t na = 1; na <= 6; na++)
		for (size_t nb = 1; nb <= 6; nb++)
			for (uint64_t seed = 1; seed <= 4; seed++) {
				double a[N_MAX], b[N_MAX];

				fill_normal(a, na, seed, 0, 1);
				fill_normal(b, nb, seed + 50, (double)seed - 1, 2);
				check_two_samples(a, na, b, nb);
			}
}

/* Old and new in each other's place: the shift changes its sign, the evidence does not change. */
static void exchanged_samples_mirror_the_result(void **state)
{
	static const size_t sizes[][2] = {{4, 7}, {1, 5}, {25, 25}, {26, 25}, {60, 30}};

	(void)state;
	for (size_t k = 0; k < 5; k++)
		for (int ties = 0; ties < 2; ties++) {
			const size_t na = sizes[k][0], nb = sizes[k][1];
			double a[60], b[60];
			struct tk_shift s, mirrored;

			fill_normal(a, na, k + 1, 0, 3);
			fill_normal(b, nb, k + 11, 1, 3);
			for (size_t i = 0; ties && i < 60; i++) {
				a[i] = i < na ? round(a[i]) : 0;
				b[i] = i < nb ? round(b[i]) : 0;
			}
			assert_int_equal(tk_shift_estimate(a, na, b, nb, 0.9, &s), TK_OK);
			assert_int_equal(tk_shift_estimate(b, nb, a, na, 0.9, &mirrored), TK_OK);
			near(mirrored.shift, -s.shift);
			near(mirrored.lo, -s.hi);
			near(mirrored.hi, -s.lo);
			near(mirrored.u, (double)(na * nb) - s.u);
			near(mirrored.p, s.p);
			assert_int_equal(mirrored.reached, s.reached);
			assert_int_equal(mirrored.exact, s.exact);
		}
}

/* Another unit, another origin, another order of the samples. */
static void units_and_order_do_not_count(void **state)
{
	double a[12], b[9], a2[12], b2[9];
	struct tk_shift s, scaled, moved, shuffled;
	struct tk_rng r;

	(void)state;
	fill_normal(a, 12, 3, 100, 2);
	fill_normal(b, 9, 4, 101, 2);
	assert_int_equal(tk_shift_estimate(a, 12, b, 9, 0.95, &s), TK_OK);
	transform(a, 12, 1000, 0, a2);
	transform(b, 9, 1000, 0, b2);
	assert_int_equal(tk_shift_estimate(a2, 12, b2, 9, 0.95, &scaled), TK_OK);
	near(scaled.shift, 1000 * s.shift), near(scaled.lo, 1000 * s.lo);
	near(scaled.hi, 1000 * s.hi), near(scaled.p, s.p);
	transform(b, 9, 1, 7, b2);
	assert_int_equal(tk_shift_estimate(a, 12, b2, 9, 0.95, &moved), TK_OK);
	near(moved.shift, s.shift + 7), near(moved.lo, s.lo + 7), near(moved.hi, s.hi + 7);
	memcpy(a2, a, sizeof a);
	tk_rng_seed(&r, 5);
	tk_rng_shuffle(&r, a2, 12, sizeof *a2);
	assert_int_equal(tk_shift_estimate(a2, 12, b, 9, 0.95, &shuffled), TK_OK);
	near(shuffled.shift, s.shift), near(shuffled.p, s.p), near(shuffled.u, s.u);
}

/* The further apart, the smaller p; the surer, the wider the interval. */
static void evidence_grows_with_the_distance(void **state)
{
	static const double confidences[] = {0.5, 0.7, 0.8, 0.9, 0.95, 0.99};
	double a[15], b[15], moved[15], least = 1.1;
	struct tk_shift s, wider;

	(void)state;
	fill_normal(a, 15, 8, 0, 1);
	fill_normal(b, 15, 9, 0, 1);
	assert_int_equal(tk_shift_estimate(a, 15, b, 15, 0.95, &s), TK_OK);
	for (double shift = -s.shift; shift < 4; shift += 0.25) {
		struct tk_shift now;

		transform(b, 15, 1, shift, moved);
		assert_int_equal(tk_shift_estimate(a, 15, moved, 15, 0.95, &now), TK_OK);
		assert_true(now.p <= least + 1e-12);
		least = now.p;
	}
	near(least, 2 / 155117520.0); /* no value of a above one of b: 2 of the C(30, 15) orders */
	for (size_t i = 0; i + 1 < 6; i++) {
		assert_int_equal(tk_shift_estimate(a, 15, b, 15, confidences[i], &s), TK_OK);
		assert_int_equal(
		        tk_shift_estimate(a, 15, b, 15, confidences[i + 1], &wider), TK_OK);
		assert_true(wider.lo <= s.lo && wider.hi >= s.hi);
		assert_true(s.lo <= s.shift && s.shift <= s.hi);
	}
}

/* p is that of all orders up to fifty values; the approximation from there on is close to it. */
static void the_exact_test_ends_at_fifty_values(void **state)
{
	double a[25], b[26];
	struct tk_shift exact, near_exact;

	(void)state;
	for (uint64_t seed = 1; seed <= 5; seed++) {
		fill_normal(a, 25, seed, 0, 1);
		fill_normal(b, 26, seed + 20, 0.5, 1);
		assert_int_equal(tk_shift_estimate(a, 25, b, 25, 0.95, &exact), TK_OK);
		assert_int_equal(tk_shift_estimate(a, 25, b, 26, 0.95, &near_exact), TK_OK);
		assert_true(exact.exact);
		assert_false(near_exact.exact);
		near_by(tk_normal_z(near_exact.p), tk_normal_z(exact.p), 0.35);
		b[0] = b[1]; /* a tie */
		assert_int_equal(tk_shift_estimate(a, 25, b, 25, 0.95, &near_exact), TK_OK);
		assert_false(near_exact.exact);
	}
}

/* Differences beyond the largest double are possible between finite values. */
static void differences_that_overflow(void **state)
{
	const double a[] = {-1e308, 1e308}, b[] = {-1.5e308, 1.5e308};
	struct tk_shift s;

	(void)state;
	assert_int_equal(tk_shift_estimate(a, 2, b, 2, 0.95, &s), TK_OK);
	assert_false(isnan(s.shift) || isnan(s.lo) || isnan(s.hi));
	near(s.u, 2);
	assert_true(s.lo <= s.shift && s.shift <= s.hi);
	assert_int_equal(tk_shift_estimate(a, 1, b + 1, 1, 0.95, &s), TK_OK);
	assert_true(isfinite(s.shift) && s.shift > 1.7e308);
}

/* ---- pairs ---- */

/* P(T < c) <= tail for the largest c, T the sum of the positive ranks over all signs. */
static size_t enumerated_critical(size_t n, double tail)
{
	double count[N_MAX * (N_MAX + 1) / 2 + 1] = {0}, sum = 0;
	size_t c = 0;

	for (unsigned signs = 0; signs < 1u << n; signs++) {
		size_t t = 0;

		for (size_t i = 0; i < n; i++)
			t += signs >> i & 1 ? i + 1 : 0;
		count[t]++;
	}
	while ((sum + count[c]) / (double)(1u << n) <= tail + 1e-12)
		sum += count[c++];
	return c;
}

static void pairs_equal_the_enumeration(void **state)
{
	static const double confidences[] = {0.5, 0.8, 0.9, 0.95, 0.98};

	(void)state;
	for (size_t n = 1; n <= N_MAX; n++)
		for (size_t k = 0; k < 5; k++) {
			const size_t total = n * (n + 1) / 2,
			             c = enumerated_critical(n, (1 - confidences[k]) / 2);
			double d[N_MAX], w[N_MAX * (N_MAX + 1) / 2] = {0};
			size_t count = 0;
			struct tk_paired_shift p;

			fill_normal(d, n, n, 0.3, 1);
			for (size_t i = 0; i < n; i++)
				for (size_t j = i; j < n; j++)
					w[count++] = (d[i] + d[j]) / 2;
			sort_plainly(w, total);
			assert_int_equal(tk_paired_estimate(d, n, confidences[k], &p), TK_OK);
			assert_int_equal(p.n, n);
			near(p.shift, plain_median(w, total));
			assert_int_equal(p.reached, c > 0);
			near(p.lo, w[c ? c - 1 : 0]);
			near(p.hi, w[c ? total - c : total - 1]);
		}
}

static void exchanged_builds_mirror_the_pairs(void **state)
{
	double d[40], opposite[40];
	enum tk_paired_decision word, mirrored_word;
	struct tk_paired_shift p, mirrored;

	(void)state;
	for (uint64_t seed = 1; seed <= 20; seed++) {
		fill_normal(d, 40, seed, 0.002 * (double)seed, 0.01);
		transform(d, 40, -1, 0, opposite);
		assert_int_equal(tk_paired_decide(d, 40, 0.005, &word, &p), TK_OK);
		assert_int_equal(
		        tk_paired_decide(opposite, 40, 0.005, &mirrored_word, &mirrored), TK_OK);
		near(mirrored.shift, -p.shift);
		near(mirrored.lo, -p.hi);
		near(mirrored.hi, -p.lo);
		assert_int_equal(mirrored_word, word == TK_PAIRED_HIGHER  ? TK_PAIRED_LOWER
		                                : word == TK_PAIRED_LOWER ? TK_PAIRED_HIGHER
		                                                          : word);
	}
}

/* A decision is made at a look and stays: later pairs do not take it back, and an interrupted test
 * decides as one that was not interrupted. */
static void a_decision_stays(void **state)
{
	static const size_t looks[] = {12, 16, 20, 24, 32, 40, 48, 64, 80, 96};

	(void)state;
	for (uint64_t seed = 1; seed <= 30; seed++) {
		enum tk_paired_decision before = TK_PAIRED_INCONCLUSIVE, now;
		double d[96];
		size_t look = 0;

		fill_normal(d, 96, seed, 0.001 * (double)(seed % 13), 0.006);
		for (size_t n = 1; n <= 96; n++) {
			assert_int_equal(tk_paired_decide(d, n, 0.005, &now, NULL), TK_OK);
			if (before != TK_PAIRED_INCONCLUSIVE)
				assert_int_equal(now, before);
			while (look < 10 && looks[look] < n)
				look++;
			if (now != before) /* only at a look */
				assert_int_equal(looks[look], n);
			before = now;
		}
	}
}

/* What is far beyond the least effect is never called the same, and what is far within it is never
 * called a change. */
static void decisions_respect_the_least_effect(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 40; seed++) {
		double d[64];
		enum tk_paired_decision word;

		fill_normal(d, 64, seed, 0.02, 0.004);
		assert_int_equal(tk_paired_decide(d, 64, 0.005, &word, NULL), TK_OK);
		assert_int_equal(word, TK_PAIRED_HIGHER);
		assert_int_equal(tk_paired_decide(d, 64, 0.1, &word, NULL), TK_OK);
		assert_int_equal(word, TK_PAIRED_SAME);
		assert_int_equal(tk_paired_decide(d, 64, 0, &word, NULL), TK_OK);
		assert_int_equal(word, TK_PAIRED_HIGHER);
	}
}

/* One look at few pairs: the interval is that of tk_paired_estimate, and the words follow it. */
static void the_last_decision_follows_its_interval(void **state)
{
	size_t decided[4] = {0};

	(void)state;
	for (uint64_t seed = 1; seed <= 300; seed++) {
		const size_t n = 1 + seed % 14;
		const double least = 0.01;
		double d[14];
		enum tk_paired_decision word, expected = TK_PAIRED_INCONCLUSIVE;
		struct tk_paired_shift p, known;

		fill_normal(d, n, seed, 0.01 * (double)(seed % 7) - 0.03, 0.01);
		assert_int_equal(tk_paired_estimate(d, n, 0.95, &known), TK_OK);
		assert_int_equal(tk_paired_decide_last(d, n, least, 0.95, &word, &p), TK_OK);
		near(p.lo, known.lo), near(p.hi, known.hi), near(p.shift, known.shift);
		assert_int_equal(known.reached, n >= TK_PAIRED_LAST_COUNT_MIN);
		if (known.reached && (known.lo > 0 || known.hi < 0) && fabs(known.shift) > least)
			expected = known.shift > 0 ? TK_PAIRED_HIGHER : TK_PAIRED_LOWER;
		else if (known.reached && fmax(fabs(known.lo), fabs(known.hi)) < least)
			expected = TK_PAIRED_SAME;
		assert_int_equal(word, expected);
		decided[word]++;
	}
	for (size_t i = 0; i < 4; i++)
		assert_true(decided[i] > 5); /* each word was decided at times */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(two_samples_equal_the_enumeration),
	        cmocka_unit_test(exchanged_samples_mirror_the_result),
	        cmocka_unit_test(units_and_order_do_not_count),
	        cmocka_unit_test(evidence_grows_with_the_distance),
	        cmocka_unit_test(the_exact_test_ends_at_fifty_values),
	        cmocka_unit_test(differences_that_overflow),
	        cmocka_unit_test(pairs_equal_the_enumeration),
	        cmocka_unit_test(exchanged_builds_mirror_the_pairs),
	        cmocka_unit_test(a_decision_stays),
	        cmocka_unit_test(decisions_respect_the_least_effect),
	        cmocka_unit_test(the_last_decision_follows_its_interval),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
