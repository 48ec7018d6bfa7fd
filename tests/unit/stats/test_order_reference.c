/* Order statistics, noise and weekly patterns against their definitions, computed with qsort and
 * plain loops, and what they must keep: another unit, another origin, another order. */
#include "stats_checks.h"

#include "stats/summary/noise.h"
#include "stats/summary/quantile.h"
#include "stats/summary/summary.h"
#include "stats/summary/weekday.h"
#include "stats/summary/winsorize.h"

#define N_MAX 500

/* ---- quantiles ---- */

/* Type 7 of Hyndman and Fan. */
static double plain_quantile(const double *x, size_t n, double p)
{
	double sorted[N_MAX];
	const double at = p * (double)(n - 1), below = floor(at);
	const size_t i = (size_t)below;

	memcpy(sorted, x, n * sizeof *x);
	sort_plainly(sorted, n);
	return i + 1 < n ? sorted[i] + (at - below) * (sorted[i + 1] - sorted[i]) : sorted[n - 1];
}

/* Values of a kind that timings have: spread, coarse, skewed, of two states. */
static void fill_kind(double *x, size_t n, uint64_t seed, int kind)
{
	fill_normal(x, n, seed, 0, 1);
	for (size_t i = 0; i < n; i++)
		x[i] = kind == 0   ? x[i]
		       : kind == 1 ? round(2 * x[i])
		       : kind == 2 ? exp(3 * x[i])
		                   : (x[i] > 0.5 ? 100 : 0) + 1e-3 * x[i];
}

static void summaries_follow_the_definition(void **state)
{
	static const size_t sizes[] = {1, 2, 3, 4, 5, 7, 8, 9, 31, 32, 33, 100, 257, 500};

	(void)state;
	for (size_t k = 0; k < 14; k++)
		for (int kind = 0; kind < 4; kind++) {
			const size_t n = sizes[k];
			double x[N_MAX], away[N_MAX] = {0}, sum = 0, squares = 0;
			struct tk_summary s;

			fill_kind(x, n, k + 1, kind);
			assert_int_equal(tk_summary_compute(x, n, &s), TK_OK);
			assert_int_equal(s.n, n);
			near(s.min, plain_quantile(x, n, 0)), near(s.max, plain_quantile(x, n, 1));
			near(s.p05, plain_quantile(x, n, 0.05));
			near(s.q25, plain_quantile(x, n, 0.25));
			near(s.median, plain_median(x, n));
			near(s.q75, plain_quantile(x, n, 0.75));
			near(s.p95, plain_quantile(x, n, 0.95));
			for (size_t i = 0; i < n; i++)
				sum += x[i], away[i] = fabs(x[i] - s.median);
			near(s.mad, plain_median(away, n));
			near(s.mean, sum / (double)n);
			for (size_t i = 0; i < n; i++)
				squares += pow(x[i] - sum / (double)n, 2);
			near(s.stddev, n > 1 ? sqrt(squares / (double)(n - 1)) : 0);
		}
}

/* Nanoseconds about a large level: the deviation keeps its digits. */
static void a_large_level_does_not_cancel(void **state)
{
	double x[101], y[101];
	struct tk_summary s, about_zero;

	(void)state;
	for (size_t i = 0; i < 101; i++)
		x[i] = (double)(i % 10);
	transform(x, 101, 1, 1e12, y);
	assert_int_equal(tk_summary_compute(x, 101, &about_zero), TK_OK);
	assert_int_equal(tk_summary_compute(y, 101, &s), TK_OK);
	near_by(s.stddev, about_zero.stddev, 1e-4); /* squares would be off by 1e8 */
	near_by(s.mean - 1e12, about_zero.mean, 1e-3);
	near_by(s.mad, about_zero.mad, 0);
}

static void out_is_kept_on_failure(void **state)
{
	const double bad[] = {1, -INFINITY};
	struct tk_summary s = {.n = 77, .median = 5};

	(void)state;
	assert_int_equal(tk_summary_compute(bad, 2, &s), TK_EDATA);
	assert_int_equal(tk_summary_compute(bad, 0, &s), TK_EDATA);
	assert_int_equal(s.n, 77);
	near(s.median, 5);
}

static void expect_equal(const double *x, const double *y, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (x[i] != y[i])
			fail_msg("value %zu of %zu is %g, expected %g", i, n, x[i], y[i]);
}

static void selection_keeps_the_values(void **state)
{
	static const double parts[] = {0, 0.25, 0.5, 0.75, 1};

	(void)state;
	for (size_t n = 1; n <= 300; n += n < 20 ? 1 : 37)
		for (int kind = 0; kind < 4; kind++) {
			double x[N_MAX], y[N_MAX];

			fill_kind(x, n, n, kind);
			memcpy(y, x, sizeof x);
			for (size_t i = 0; i < 5; i++)
				near(tk_quantile_select(y, n, parts[i]),
				        plain_quantile(x, n, parts[i]));
			sort_plainly(x, n);
			sort_plainly(y, n);
			expect_equal(x, y, n); /* reordered, no more */
		}
}

/* Quantiles in any order of their parts. */
static void quantiles_of_unsorted_parts(void **state)
{
	static const double parts[] = {0.9, 0.1, 0.5, 0.5, 0, 1, 0.3};

	(void)state;
	for (size_t n = 1; n <= 400; n += 19) {
		double x[N_MAX], y[N_MAX], got[7];

		fill_kind(x, n, n, (int)(n % 4));
		memcpy(y, x, sizeof x);
		tk_quantile_select_many(y, n, parts, 7, got);
		for (size_t i = 0; i < 7; i++)
			near(got[i], plain_quantile(x, n, parts[i]));
	}
}

static void sorting_equals_qsort(void **state)
{
	(void)state;
	for (size_t n = 0; n <= 400; n += n < 70 ? 1 : 33)
		for (int kind = 0; kind < 4; kind++) {
			double x[N_MAX], y[N_MAX];

			fill_kind(x, n, n + 1, kind);
			memcpy(y, x, sizeof x);
			tk_sort_values(x, n);
			sort_plainly(y, n);
			expect_equal(x, y, n);
			reverse(y, n, x);
			tk_sort_values(x, n);
			expect_equal(x, y, n);
		}
}

static void infinities_are_sorted_to_the_ends(void **state)
{
	double x[] = {1, INFINITY, NAN, -INFINITY, 0};

	(void)state;
	tk_sort_values(x, 5);
	assert_true(x[0] == -INFINITY && x[1] == 0 && x[2] == 1 && x[3] == INFINITY);
	assert_true(isnan(x[4]));
	near(tk_median((double[]){3, NAN, 1, 2}, 4), 2.5); /* NaN counts as the largest */
}

/* ---- winsorizing ---- */

static void winsorizing_mirrors_and_scales(void **state)
{
	(void)state;
	for (size_t n = 1; n <= 60; n += 7) {
		double x[60], y[60], out[60], out2[60], back[60];

		fill_kind(x, n, n, 2);
		tk_winsorize(x, n, 0.5, out);
		transform(x, n, -4, 3, y);
		tk_winsorize(y, n, 2, out2); /* scaled and upside down */
		for (size_t i = 0; i < n; i++)
			near(out2[i], 3 - 4 * out[i]);
		reverse(x, n, y);
		tk_winsorize(y, n, 0.5, back); /* backwards */
		for (size_t i = 0; i < n; i++)
			near(back[n - 1 - i], out[i]);
		tk_winsorize(x, n, 1e9, out);
		assert_memory_equal(out, x, n * sizeof *x);
	}
}

/* ---- noise ---- */

static void noise_scales_with_the_unit(void **state)
{
	static double x[400], y[400], work[801];
	struct tk_noise a, b;

	(void)state;
	for (size_t n = 3; n <= 400; n += 29) {
		fill_normal(x, n, n, 7, 0.5);
		transform(x, n, -20, 1000, y);
		assert_int_equal(tk_noise_estimate(x, n, work, &a), TK_OK);
		assert_int_equal(tk_noise_estimate(y, n, work, &b), TK_OK);
		near_by(b.sigma, 20 * a.sigma, 1e-9);
		near_by(b.tau, 20 * a.tau, 1e-9);
		near_by(b.rho, a.rho, 1e-9);
		assert_true(a.rho >= -0.9 && a.rho <= 0.99 && a.tau >= a.sigma);
		near_by(tk_noise_mad(y, n, work), 20 * tk_noise_mad(x, n, work), 1e-9);
	}
}

/* Of few points: the scaled median of the absolute differences, and of the deviations. */
static void noise_of_few_points_is_the_definition(void **state)
{
	static double work[50];
	double sigma;

	(void)state;
	for (size_t n = 3; n <= 10; n++) {
		double x[10], d[10] = {0};

		fill_normal(x, n, n, 0, 1);
		for (size_t i = 0; i + 1 < n; i++)
			d[i] = fabs(x[i + 1] - x[i]);
		assert_int_equal(tk_noise_estimate_sigma(x, n, work, &sigma), TK_OK);
		near(sigma, 1.4826 * plain_median(d, n - 1) / sqrt(2));
		for (size_t i = 0; i < n; i++)
			d[i] = fabs(x[i] - plain_median(x, n));
		near(tk_noise_mad(x, n, work), 1.4826 * plain_median(d, n));
	}
	for (size_t n = 0; n < 3; n++) {
		const double two[] = {1, 5};

		assert_int_equal(tk_noise_estimate_sigma(two, n, work, &sigma), TK_OK);
		assert_true(sigma == 0 && tk_noise_mad(two, n, work) == 0);
	}
}

/* The estimate is right on average, and a step or a spike hardly changes it. */
static void noise_is_that_of_the_points(void **state)
{
	static double x[300], work[601];
	double sum = 0, with_steps = 0, with_spikes = 0, sigma, tau;

	(void)state;
	for (uint64_t seed = 1; seed <= 100; seed++) {
		fill_normal(x, 300, seed, 0, 2);
		assert_int_equal(tk_noise_estimate_scale(x, 300, work, &sigma, &tau), TK_OK);
		sum += sigma;
		for (size_t i = 100; i < 300; i++)
			x[i] += i < 200 ? 50 : -30;
		assert_int_equal(tk_noise_estimate_scale(x, 300, work, &sigma, &tau), TK_OK);
		with_steps += sigma;
		for (size_t i = 20; i < 300; i += 60)
			x[i] += 500;
		assert_int_equal(tk_noise_estimate_scale(x, 300, work, &sigma, &tau), TK_OK);
		with_spikes += sigma;
	}
	near_by(sum / 100, 2, 0.12);
	near_by(with_steps, sum, 0.05 * sum);
	near_by(with_spikes, sum, 0.1 * sum);
}

/* Values alternate: differences to the next but one are nothing, to the next they are all. */
static void alternating_values_are_anticorrelated(void **state)
{
	double x[60], work[121];
	struct tk_noise noise;

	(void)state;
	for (size_t i = 0; i < 60; i++)
		x[i] = i % 2 ? 1 : -1;
	assert_int_equal(tk_noise_estimate(x, 60, work, &noise), TK_OK);
	near(noise.rho, -0.9);
	near(noise.sigma, 2 * 1.4826 / sqrt(2));
	near(noise.tau, noise.sigma);
	for (size_t i = 0; i < 60; i++)
		x[i] = (double)i; /* a ramp: the difference doubles with the distance */
	assert_int_equal(tk_noise_estimate(x, 60, work, &noise), TK_OK);
	near(noise.rho, 0.99);
	assert_true(noise.tau > 3 * noise.sigma);
}

static void the_scale_of_a_lag(void **state)
{
	double x[200], work[200];

	(void)state;
	for (size_t i = 0; i < 200; i++)
		x[i] = 3 * (double)i;
	/* all differences are equal: the largest of the three quantiles' scales counts */
	for (size_t lag = 1; lag <= 28; lag *= 3)
		near(tk_noise_lag_scale(x, 200, lag, work), 1.4826 * 3 * (double)lag / sqrt(2));
	near(tk_noise_lag_scale(x, 30, 1, work), 1.4826 * 3 / sqrt(2));
	near(tk_noise_lag_scale(x, 5, 5, work), 0);
	near(tk_noise_lag_scale(x, 0, 1, work), 0);
	for (size_t i = 0; i < 200; i++)
		x[i] = i % 14 < 3 ? 10 : 0; /* one difference of seven is not 0 */
	near(tk_noise_lag_scale(x, 30, 1, work), 0);
	near_by(tk_noise_lag_scale(x, 200, 1, work), 10 * 0.608 / sqrt(2), 0.05);
}

/* ---- weekly patterns ---- */

#define WEEKS 12
#define NIGHTS (7 * WEEKS)

static void make_weeks(double *y, int64_t *day, const double pattern[7], int64_t first)
{
	fill_normal(y, NIGHTS, 5, 2, 0.004);
	for (size_t i = 0; i < NIGHTS; i++) {
		day[i] = first + (int64_t)i;
		y[i] += pattern[tk_weekday_from_day(day[i])];
	}
}

static void the_pattern_is_estimated(void **state)
{
	static const double pattern[7] = {0, 0.02, -0.01, 0, 0.05, -0.04, 0};
	double y[NIGHTS], work[2 * NIGHTS], found[7];
	int64_t day[NIGHTS];

	(void)state;
	for (int64_t first = -10; first <= 20000; first += 6670) {
		make_weeks(y, day, pattern, first);
		assert_true(tk_weekday_estimate(y, day, NIGHTS, work, found));
		for (size_t d = 0; d < 7; d++)
			near_by(found[d], pattern[d], 0.006);
	}
}

/* Nights that are missing do not shift the pattern: the day decides, not the place. */
static void missing_nights_keep_the_pattern(void **state)
{
	static const double pattern[7] = {0, 0, 0, 0, 0, 0.05, 0.05};
	double y[NIGHTS], work[2 * NIGHTS], found[7];
	int64_t day[NIGHTS];
	size_t kept = 0;

	(void)state;
	make_weeks(y, day, pattern, 100);
	for (size_t i = 0; i < NIGHTS; i++)
		if (i % 9 != 4) {
			y[kept] = y[i];
			day[kept++] = day[i];
		}
	assert_true(tk_weekday_estimate(y, day, kept, work, found));
	for (size_t d = 0; d < 7; d++)
		near_by(found[d], pattern[d], 0.012);
}

/* A weekday that was measured fewer than four times has no pattern of its own. */
static void rare_weekdays_are_left_alone(void **state)
{
	static const double pattern[7] = {0, 0, 0, 0, 0, 0.05, 0.05};
	double y[NIGHTS], work[2 * NIGHTS], found[7];
	int64_t day[NIGHTS];
	size_t kept = 0, rare = 0;

	(void)state;
	make_weeks(y, day, pattern, 0);
	for (size_t i = 0; i < NIGHTS; i++) {
		const bool is_rare = tk_weekday_from_day(day[i]) == 6;

		if (is_rare && rare == 3)
			continue;
		rare += is_rare;
		y[kept] = y[i];
		day[kept++] = day[i];
	}
	assert_true(tk_weekday_estimate(y, day, kept, work, found));
	near_by(found[6], 0, 0.012);
	near_by(found[5], 0.05, 0.012);
}

static void six_weeks_are_required(void **state)
{
	static const double pattern[7] = {0, 0, 0, 0, 0, 0, 0.05};
	double y[NIGHTS], before[NIGHTS], work[2 * NIGHTS], found[7] = {9, 9, 9, 9, 9, 9, 9};
	int64_t day[NIGHTS];
	bool removed;

	(void)state;
	make_weeks(y, day, pattern, 0);
	memcpy(before, y, sizeof y);
	assert_false(tk_weekday_estimate(y, day, 41, work, found));
	for (size_t d = 0; d < 7; d++)
		assert_true(found[d] == 0);
	assert_int_equal(tk_weekday_remove(y, day, 41, &removed), TK_OK);
	assert_false(removed);
	assert_memory_equal(y, before, sizeof y);
	assert_true(tk_weekday_estimate(y, day, 42, work, found));
	assert_int_equal(tk_weekday_remove(y, day, 0, &removed), TK_OK);
	assert_false(removed);
	assert_int_equal(tk_weekday_remove(y, day, NIGHTS, &removed), TK_OK);
	assert_true(removed);
	for (size_t i = 0; i < NIGHTS; i++)
		near_by(y[i], 2, 0.025);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(summaries_follow_the_definition),
	        cmocka_unit_test(a_large_level_does_not_cancel),
	        cmocka_unit_test(out_is_kept_on_failure),
	        cmocka_unit_test(selection_keeps_the_values),
	        cmocka_unit_test(quantiles_of_unsorted_parts),
	        cmocka_unit_test(sorting_equals_qsort),
	        cmocka_unit_test(infinities_are_sorted_to_the_ends),
	        cmocka_unit_test(winsorizing_mirrors_and_scales),
	        cmocka_unit_test(noise_scales_with_the_unit),
	        cmocka_unit_test(noise_of_few_points_is_the_definition),
	        cmocka_unit_test(noise_is_that_of_the_points),
	        cmocka_unit_test(alternating_values_are_anticorrelated),
	        cmocka_unit_test(the_scale_of_a_lag),
	        cmocka_unit_test(the_pattern_is_estimated),
	        cmocka_unit_test(missing_nights_keep_the_pattern),
	        cmocka_unit_test(rare_weekdays_are_left_alone),
	        cmocka_unit_test(six_weeks_are_required),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
