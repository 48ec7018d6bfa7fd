/* Parts of the search for change points against slow references: all partitions by dynamic
 * programming, generalised least squares with the whole covariance matrix, and constructed states,
 * seasons and lines. */
#include "stats_checks.h"

#include "stats/changepoint/ar1.h"
#include "stats/changepoint/partition.h"
#include "stats/changepoint/recurrent_state.h"
#include "stats/changepoint/season.h"
#include "stats/changepoint/trend.h"

#define N_MAX 240

/* ---- optimal partitioning ---- */

struct fitted {
	size_t candidates[N_MAX + 1], count; /* starts that were tried; at [count]: n */
	size_t bounds[N_MAX + 1], segments;
};

static void prefix_sums(const double *y, size_t n, double *sum)
{
	sum[0] = 0;
	for (size_t i = 0; i < n; i++)
		sum[i + 1] = sum[i] + y[i];
}

static struct fitted partition(const double *y, size_t n, double min_contrast, double penalty)
{
	double sum[N_MAX + 1], numbers[5][N_MAX + 1];
	bool may_start[N_MAX + 1];
	size_t from[N_MAX + 1], open[N_MAX + 1];
	struct fitted f;
	struct tk_partition_workspace w = {.may_start = may_start,
	        .start = f.candidates,
	        .from = from,
	        .open = open,
	        .contrast = numbers[0],
	        .at = numbers[1],
	        .sum = numbers[2],
	        .before = numbers[3],
	        .cost = numbers[4]};

	prefix_sums(y, n, sum);
	f.segments = tk_partition_fit(&w, sum, n, 1, min_contrast, penalty, f.bounds);
	for (f.count = 0; f.candidates[f.count] != n;)
		f.count++;
	return f;
}

static double squares_about_mean(const double *y, size_t from, size_t to)
{
	double mean = 0, squares = 0;

	for (size_t i = from; i < to; i++)
		mean += y[i] / (double)(to - from);
	for (size_t i = from; i < to; i++)
		squares += (y[i] - mean) * (y[i] - mean);
	return squares;
}

static double cost_of(const double *y, const size_t *bounds, size_t segments, double penalty)
{
	double cost = penalty * (double)(segments - 1);

	for (size_t g = 0; g < segments; g++)
		cost += squares_about_mean(y, bounds[g], bounds[g + 1]);
	return cost;
}

/* The least cost of all ways to cut at some of these starts. */
static double least_cost(const double *y, const size_t *starts, size_t count, double penalty)
{
	double best[N_MAX + 1] = {-penalty};

	for (size_t e = 1; e <= count; e++) {
		best[e] = INFINITY;
		for (size_t a = 0; a < e; a++)
			best[e] = fmin(best[e],
			        best[a] + penalty + squares_about_mean(y, starts[a], starts[e]));
	}
	return best[count];
}

/* A level that changes every `every` nights. */
static void make_levels(double *y, size_t n, uint64_t seed, size_t every, double size)
{
	struct tk_rng r;
	double level = 0;

	fill_normal(y, n, seed, 0, 1);
	tk_rng_seed(&r, seed + 99);
	for (size_t i = 0; i < n; i++) {
		if (i && i % every == 0)
			level += size * (tk_rng_below(&r, 2) ? 1 : -1);
		y[i] += level;
	}
}

static void the_partition_is_the_best_of_all(void **state)
{
	static const double sizes[] = {0, 1.5, 4, 9};
	double y[N_MAX];
	size_t cut = 0;

	(void)state;
	for (size_t n = 1; n <= N_MAX; n = n * 3 / 2 + 1)
		for (uint64_t seed = 1; seed <= 4; seed++)
			for (size_t k = 0; k < 4; k++) {
				const double penalty = 2 * log((double)n + 1);

				make_levels(y, n, seed, 12, sizes[k]);
				const struct fitted f = partition(y, n, 0.5, penalty);
				assert_int_equal(f.bounds[0], 0);
				assert_int_equal(f.bounds[f.segments], n);
				for (size_t g = 0; g < f.segments; g++)
					assert_true(f.bounds[g] < f.bounds[g + 1]);
				near(cost_of(y, f.bounds, f.segments, penalty),
				        least_cost(y, f.candidates, f.count, penalty));
				cut += f.segments > 3;
			}
	assert_true(cut > 20);
}

/* Clear levels, cut at every night that is possible: the same as with the candidates alone. */
static void no_better_cut_is_left_out(void **state)
{
	size_t all[N_MAX + 1];
	double y[N_MAX];

	(void)state;
	for (size_t i = 0; i <= N_MAX; i++)
		all[i] = i;
	for (uint64_t seed = 1; seed <= 20; seed++) {
		const double penalty = 4 * log(120);

		make_levels(y, 120, seed, 20, 8);
		const struct fitted f = partition(y, 120, 2, penalty);
		near(cost_of(y, f.bounds, f.segments, penalty), least_cost(y, all, 120, penalty));
	}
}

static void a_higher_penalty_cuts_less(void **state)
{
	double y[N_MAX];

	(void)state;
	for (uint64_t seed = 1; seed <= 10; seed++) {
		size_t before = N_MAX + 1;

		make_levels(y, N_MAX, seed, 15, 2);
		for (double penalty = 1; penalty < 1e4; penalty *= 2) {
			const struct fitted f = partition(y, N_MAX, 0.5, penalty);

			assert_true(f.segments <= before);
			before = f.segments;
		}
		assert_int_equal(before, 1);
		assert_int_equal(partition(y, N_MAX, 1e6, 1).segments, 1); /* no contrast */
	}
}

/* ---- steps in autocorrelated noise ---- */

#define DENSE 40

/* Solves a x = b in place for a positive definite a, by Cholesky's factors. */
static void solve_dense(double a[DENSE][DENSE], double *b, size_t n)
{
	for (size_t i = 0; i < n; i++)
		for (size_t j = 0; j <= i; j++) {
			double sum = a[i][j];

			for (size_t k = 0; k < j; k++)
				sum -= a[i][k] * a[j][k];
			a[i][j] = i == j ? sqrt(sum) : sum / a[j][j];
		}
	for (size_t i = 0; i < n; i++) {
		for (size_t k = 0; k < i; k++)
			b[i] -= a[i][k] * b[k];
		b[i] /= a[i][i];
	}
	for (size_t i = n; i-- > 0;) {
		for (size_t k = i + 1; k < n; k++)
			b[i] -= a[k][i] * b[k];
		b[i] /= a[i][i];
	}
}

static double product_with_inverse(
        const struct tk_ar1_model *m, const double *u, const double *v, size_t n)
{
	static double c[DENSE][DENSE];
	double x[DENSE], sum = 0;

	for (size_t i = 0; i < n; i++)
		for (size_t j = 0; j < n; j++)
			c[i][j] = m->drift_sd * m->drift_sd *
			                  pow(m->phi, fabs((double)i - (double)j)) +
			          (i == j ? m->white * m->white : 0);
	memcpy(x, v, n * sizeof *x);
	solve_dense(c, x, n);
	for (size_t i = 0; i < n; i++)
		sum += u[i] * x[i];
	return sum;
}

/* Generalised least squares of a level and a step. */
static struct tk_ar1_step dense_step(
        const struct tk_ar1_model *m, const double *y, size_t n, size_t split)
{
	double one[DENSE], step[DENSE], a11, a12, a22, b1, b2, det;
	struct tk_ar1_step out;

	for (size_t i = 0; i < n; i++)
		one[i] = 1, step[i] = i >= split;
	a11 = product_with_inverse(m, one, one, n), a12 = product_with_inverse(m, one, step, n);
	a22 = product_with_inverse(m, step, step, n);
	b1 = product_with_inverse(m, one, y, n), b2 = product_with_inverse(m, step, y, n);
	det = a11 * a22 - a12 * a12;
	out.shift = (a11 * b2 - a12 * b1) / det;
	out.error = sqrt(a11 / det);
	out.z = out.shift / out.error;
	return out;
}

static const struct tk_ar1_model models[] = {
        {0, 0, 1}, {0.5, 1, 0.2}, {0.9, 1, 0.3}, {0.97, 2, 1}, {0.9, 0.05, 1}, {0.6, 1, 1e-3}};

static void a_step_is_that_of_least_squares(void **state)
{
	double y[DENSE];

	(void)state;
	for (size_t k = 0; k < sizeof models / sizeof *models; k++)
		for (size_t n = 2; n <= DENSE; n = n * 2 + 1)
			for (size_t split = 1; split < n; split += 1 + n / 6) {
				struct tk_ar1_step got, known;

				fill_normal(y, n, n + split, 50, 1);
				known = dense_step(&models[k], y, n, split);
				tk_ar1_step(&models[k], y, n, split, &got);
				near_by(got.shift, known.shift, 1e-7 * (1 + fabs(known.shift)));
				near_by(got.error / known.error, 1, 1e-7);
				near_by(got.z, known.z, 1e-6 * (1 + fabs(known.z)));
			}
}

/* In white noise this is the t-test with a known deviation. */
static void without_drift_it_is_the_difference_of_means(void **state)
{
	const struct tk_ar1_model white = {0, 0, 2};
	double y[30], before = 0, after = 0;
	struct tk_ar1_step step;

	(void)state;
	fill_normal(y, 30, 3, 7, 2);
	for (size_t i = 0; i < 30; i++)
		*(i < 12 ? &before : &after) += y[i] / (i < 12 ? 12 : 18);
	tk_ar1_step(&white, y, 30, 12, &step);
	near(step.shift, after - before);
	near(step.error, 2 * sqrt(1.0 / 12 + 1.0 / 18));
}

/* The scan finds the split that the single tests find. */
static void the_scan_finds_the_largest_z(void **state)
{
	double y[200], work[200];
	size_t found = 0;

	(void)state;
	for (size_t k = 0; k < sizeof models / sizeof *models; k++)
		for (uint64_t seed = 1; seed <= 4; seed++) {
			const size_t least = 5, n = 120 + 20 * seed;
			struct tk_ar1_table table;
			struct tk_ar1_step at;
			double largest = 0, z;
			size_t split;

			fill_normal(y, n, seed, 0, 1);
			for (size_t i = 70; i < n; i++)
				y[i] += 12;
			assert_true(tk_ar1_table_init(&models[k], n, &table));
			split = tk_ar1_scan_steps(&table, y, n, least, work, &z);
			for (size_t s = least; s + least <= n; s++) {
				tk_ar1_step(&models[k], y, n, s, &at);
				largest = fmax(largest, fabs(at.z));
			}
			tk_ar1_step(&models[k], y, n, split, &at);
			near_by(z / at.z, 1, 0.02);
			assert_true(fabs(at.z) > 0.98 * largest);
			found += split == 70;
			assert_int_equal(
			        tk_ar1_scan_steps(&table, y, 2 * least - 1, least, work, &z), 0);
			near(z, 0);
			tk_ar1_table_free(&table);
		}
	assert_true(found > 20);
}

/* ---- states that come again ---- */

/* Segments of these lengths with these levels, all of them `higher`; returns how many are left. */
static size_t levels_left(
        const size_t *lengths, const double *levels, size_t count, double higher, size_t *bounds)
{
	double sum[N_MAX + 1], work[N_MAX], y[N_MAX];
	size_t n = 0, segments = count;

	for (size_t g = 0; g < count; g++) {
		bounds[g] = n;
		for (size_t i = 0; i < lengths[g]; i++)
			y[n++] = levels[g] + higher;
	}
	bounds[count] = n;
	prefix_sums(y, n, sum);
	tk_recurrent_state_remove(sum, bounds, &segments, work);
	assert_int_equal(bounds[0], 0);
	assert_int_equal(bounds[segments], n);
	for (size_t g = 0; g < segments; g++)
		assert_true(bounds[g] < bounds[g + 1]);
	return segments;
}

static void what_is_a_state_and_what_is_a_change(void **state)
{
	static const struct {
		size_t lengths[7];
		double levels[7];
		size_t count, left;
	} cases[] = {
	        {{20, 6, 20, 5, 20}, {0, 1, 0, 1, 0}, 5, 1},
	        {{20, 6, 20, 5, 20}, {0, -1, 0, -1, 0}, 5, 1},     /* faster states as well */
	        {{20, 6, 20, 5, 20}, {0, 1, 0, -1, 0}, 5, 5},      /* another direction */
	        {{20, 6, 20, 5, 20}, {0, 1, 0, 1.4, 0}, 5, 1},     /* 30 % apart, of the larger */
	        {{20, 6, 20, 5, 20}, {0, 1, 0, 1.5, 0}, 5, 5},     /* more */
	        {{40, 21, 40, 21, 40}, {0, 1, 0, 1, 0}, 5, 1},     /* three weeks */
	        {{40, 22, 40, 22, 40}, {0, 1, 0, 1, 0}, 5, 5},     /* more */
	        {{40, 21, 40, 22, 40}, {0, 1, 0, 1, 0}, 5, 5},     /* one alone is a change */
	        {{20, 6, 20, 5, 20}, {0, 1, 0.6, 1.6, 0.6}, 5, 5}, /* the first does not return */
	        {{20, 6, 20, 5, 20, 40}, {0, 1, 0, 1, 0, 3}, 6, 2},
	        {{20, 6, 20, 5, 20, 9}, {0, 1, 0, 1, 0, 1}, 6, 1},  /* it is in the state now */
	        {{9, 20, 6, 20, 5, 20}, {1, 0, 1, 0, 1, 0}, 6, 1},  /* and was at the start */
	        {{20, 6, 20, 5, 20, 30}, {0, 1, 0, 1, 0, 1}, 6, 2}, /* too long for a visit */
	        {{30, 10}, {0, 1}, 2, 2},
	        {{40}, {5}, 1, 1},
	};
	size_t bounds[N_MAX + 1];

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		for (double higher = -13; higher <= 13; higher += 13) {
			const size_t left = levels_left(
			        cases[i].lengths, cases[i].levels, cases[i].count, higher, bounds);

			if (left != cases[i].left)
				fail_msg("case %zu: %zu segments are left, expected %zu", i, left,
				        cases[i].left);
		}
}

/* The change beside the visits stays where it is. */
static void the_change_is_kept_in_its_place(void **state)
{
	const size_t lengths[] = {20, 6, 20, 5, 20, 40};
	const double levels[] = {0, 1, 0, 1, 0, 3};
	size_t bounds[N_MAX + 1];

	(void)state;
	assert_int_equal(levels_left(lengths, levels, 6, 4, bounds), 2);
	assert_int_equal(bounds[1], 71);
}

/* ---- seasons and trends ---- */

static void every_period_is_found(void **state)
{
	double y[N_MAX];
	size_t period;

	(void)state;
	for (size_t p = 3; p <= 40; p++) {
		double pattern[40];

		fill_normal(pattern, p, p, 0, 1);
		fill_normal(y, N_MAX, p + 7, 3, 0.05);
		for (size_t i = 0; i < N_MAX; i++)
			y[i] += pattern[i % p];
		assert_int_equal(tk_season_remove(y, N_MAX, &period), TK_OK);
		assert_int_equal(period, p);
		for (size_t i = 0; i < N_MAX; i++) /* the level stays */
			near_by(y[i] - y[N_MAX / 2], 0, 0.5);
	}
}

/* A pattern that explains less than half of the squares, because of spikes, is left alone. */
static void a_pattern_beside_large_spikes_is_kept(void **state)
{
	double y[N_MAX], before[N_MAX], pattern[10];
	size_t period = 9;

	(void)state;
	fill_normal(pattern, 10, 2, 0, 1);
	fill_normal(y, N_MAX, 4, 0, 0.05);
	for (size_t i = 0; i < N_MAX; i++)
		y[i] += pattern[i % 10] + (i == 47 || i == 151 ? 400 : 0);
	memcpy(before, y, sizeof y);
	assert_int_equal(tk_season_remove(y, N_MAX, &period), TK_OK);
	assert_int_equal(period, 0);
	assert_memory_equal(y, before, sizeof y);
	for (size_t i = 0; i < N_MAX; i++) /* without them it is removed */
		y[i] -= i == 47 || i == 151 ? 400 : 0;
	assert_int_equal(tk_season_remove(y, N_MAX, &period), TK_OK);
	assert_int_equal(period, 10);
}

static void short_or_constant_series_have_no_season(void **state)
{
	double y[12];
	size_t period = 9;

	(void)state;
	for (size_t n = 0; n < 12; n++) {
		for (size_t i = 0; i < 12; i++)
			y[i] = (double)(i % 2);
		assert_int_equal(tk_season_remove(y, n, &period), TK_OK);
		assert_int_equal(period, 0);
		for (size_t i = 0; i < 12; i++)
			assert_true(y[i] == (double)(i % 2));
	}
	for (size_t i = 0; i < 12; i++)
		y[i] = 4;
	assert_int_equal(tk_season_remove(y, 12, &period), TK_OK);
	assert_int_equal(period, 0);
}

/* Lines that bend at a night, from levels that a search for steps had cut them into. */
static void a_line_that_bends_is_cut_there(void **state)
{
	double y[N_MAX], tau;
	size_t found = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= 10; seed++)
		for (int down = 0; down < 2; down++) {
			size_t bounds[N_MAX + 1], segments = 12;

			fill_normal(y, N_MAX, seed, 0, 0.02);
			for (size_t i = 0; i < N_MAX; i++)
				y[i] += (down ? -0.01 : 0.01) * (double)(i < 150 ? i : 300 - i);
			for (size_t g = 0; g <= 12; g++)
				bounds[g] = 20 * g;
			tau = -1;
			assert_int_equal(tk_trend_fit(y, N_MAX, bounds, &segments, &tau), TK_OK);
			assert_int_equal(bounds[0], 0);
			assert_int_equal(bounds[segments], N_MAX);
			found += segments == 2 && labs((long)bounds[1] - 150) <= 4;
			near_by(tau, 0.02, 0.02);
		}
	assert_true(found >= 19);
}

static void short_series_have_no_trend(void **state)
{
	double y[19], tau = 5;
	size_t bounds[20] = {0, 9, 19}, segments = 2;

	(void)state;
	for (size_t i = 0; i < 19; i++)
		y[i] = (double)i;
	assert_int_equal(tk_trend_fit(y, 19, bounds, &segments, &tau), TK_OK);
	assert_int_equal(segments, 2);
	assert_int_equal(bounds[1], 9);
	near(tau, 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(the_partition_is_the_best_of_all),
	        cmocka_unit_test(no_better_cut_is_left_out),
	        cmocka_unit_test(a_higher_penalty_cuts_less),
	        cmocka_unit_test(a_step_is_that_of_least_squares),
	        cmocka_unit_test(without_drift_it_is_the_difference_of_means),
	        cmocka_unit_test(the_scan_finds_the_largest_z),
	        cmocka_unit_test(what_is_a_state_and_what_is_a_change),
	        cmocka_unit_test(the_change_is_kept_in_its_place),
	        cmocka_unit_test(every_period_is_found),
	        cmocka_unit_test(a_pattern_beside_large_spikes_is_kept),
	        cmocka_unit_test(short_or_constant_series_have_no_season),
	        cmocka_unit_test(a_line_that_bends_is_cut_there),
	        cmocka_unit_test(short_series_have_no_trend),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
