/* Noise models against slow references: all paths of hidden states, the whole covariance matrix of
 * a drift, derivatives by differences, and the t-test of a young series from its definition. */
#include "stats_checks.h"

#include "stats/monitor/regime_filter.h"
#include "stats/monitor/regime_model.h"
#include "stats/monitor/young_level.h"

#define STATES TK_REGIME_STATES_MAX

/* ---- hidden states ---- */

static double random_positive(struct tk_rng *r)
{
	return 0.05 + tk_rng_uniform(r);
}

/* Any chain of `count` states, the last one of which is the spike. */
static struct tk_regime_model make_chain(uint64_t seed, size_t count)
{
	struct tk_regime_model m = {.count = count};
	double shares = 0;
	struct tk_rng r;

	tk_rng_seed(&r, seed);
	for (size_t i = 0; i < count; i++) {
		double row = 0;

		m.offset[i] = i + 1 < count ? 0.5 * tk_rng_normal(&r) : 0;
		m.sd[i] = i + 1 < count ? 0.2 + 0.3 * tk_rng_uniform(&r) : 2;
		shares += m.share[i] = random_positive(&r);
		for (size_t j = 0; j < count; j++)
			row += m.to[i][j] = random_positive(&r);
		for (size_t j = 0; j < count; j++)
			m.to[i][j] /= row;
	}
	for (size_t i = 0; i < count; i++)
		m.share[i] /= shares;
	return m;
}

static double density(const struct tk_regime_model *m, size_t state, double y)
{
	const double u = (y - m->offset[state]) / m->sd[state];

	return state + 1 == m->count ? 1 / (M_PI * m->sd[state] * (1 + u * u))
	                             : exp(-u * u / 2) / (m->sd[state] * sqrt(2 * M_PI));
}

/* Likelihood of y[0 .. n) over all paths, also by the state of the last point. */
static double sum_over_paths(const struct tk_regime_model *m, const double *y, size_t n,
        double level, double last[STATES])
{
	size_t paths = m->count; /* the state before the first point is one of the path */
	double total = 0;

	memset(last, 0, STATES * sizeof *last);
	for (size_t i = 0; i < n; i++)
		paths *= m->count;
	for (size_t path = 0; path < paths; path++) {
		size_t rest = path / m->count, state = path % m->count;
		double p = m->share[state];

		for (size_t i = 0; i < n; i++, rest /= m->count) {
			const size_t next = rest % m->count;

			p *= m->to[state][next] * density(m, next, y[i] - level);
			state = next;
		}
		last[state] += p;
		total += p;
	}
	return total;
}

static void the_likelihood_is_the_sum_over_all_paths(void **state)
{
	(void)state;
	for (size_t count = 2; count <= STATES; count++)
		for (size_t n = 1; n <= 5; n++)
			for (uint64_t seed = 1; seed <= 5; seed++) {
				const struct tk_regime_model m = make_chain(seed, count);
				struct tk_filtered_state each[5];
				double y[5], last[STATES], known;

				fill_normal(y, n, seed + n, 3, 1);
				known = sum_over_paths(&m, y, n, 2.9, last);
				near(tk_regime_loglik(&m, y, n, 2.9, NULL, each, NULL), log(known));
				for (size_t k = 0; k < count; k++)
					near(each[n - 1].p[k], last[k] / known);
			}
}

/* From the state after some points on, the rest adds what is missing of the whole. */
static void a_series_can_be_continued(void **state)
{
	(void)state;
	for (size_t count = 2; count <= STATES; count++) {
		struct tk_regime_model m = make_chain(count, count);
		struct tk_filtered_state each[40];
		struct tk_likelihood_product so_far[40];
		double y[40];

		for (int drift = 0; drift < 2; drift++) {
			m.phi = drift ? 0.8 : 0, m.drift_sd = drift ? 0.4 : 0;
			fill_normal(y, 40, count, 0, 1);
			const double whole = tk_regime_loglik(&m, y, 40, 0.1, NULL, each, so_far);
			for (size_t split = 1; split < 40; split += 6)
				near(tk_likelihood_log(&so_far[split - 1]) +
				                tk_regime_loglik(&m, y + split, 40 - split, 0.1,
				                        &each[split - 1], NULL, NULL),
				        whole);
			near(tk_likelihood_log(&so_far[39]), whole);
		}
	}
}

/* The order and the names of the normal states do not count. */
static void states_can_be_exchanged(void **state)
{
	const struct tk_regime_model a = make_chain(9, 3);
	struct tk_regime_model b = a;
	double y[30];

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		const size_t other = i < 2 ? 1 - i : 2;

		b.offset[i] = a.offset[other], b.sd[i] = a.sd[other], b.share[i] = a.share[other];
		for (size_t j = 0; j < 3; j++)
			b.to[i][j] = a.to[other][j < 2 ? 1 - j : 2];
	}
	fill_normal(y, 30, 4, 0, 1);
	near(tk_regime_loglik(&a, y, 30, 0, NULL, NULL, NULL),
	        tk_regime_loglik(&b, y, 30, 0, NULL, NULL, NULL));
}

/* ---- drift ---- */

#define DENSE 12

/* Logarithm of the density of y under AR(1) drift and white noise, by Cholesky's factors. */
static double dense_loglik(double phi, double drift_sd, double white, const double *y, size_t n)
{
	double c[DENSE][DENSE], u[DENSE], sum = 0;

	for (size_t i = 0; i < n; i++)
		for (size_t j = 0; j <= i; j++) {
			double rest = drift_sd * drift_sd * pow(phi, (double)(i - j)) +
			              (i == j ? white * white : 0);

			for (size_t k = 0; k < j; k++)
				rest -= c[i][k] * c[j][k];
			c[i][j] = i == j ? sqrt(rest) : rest / c[j][j];
		}
	for (size_t i = 0; i < n; i++) {
		u[i] = y[i];
		for (size_t k = 0; k < i; k++)
			u[i] -= c[i][k] * u[k];
		u[i] /= c[i][i];
		sum -= log(c[i][i] * sqrt(2 * M_PI)) + u[i] * u[i] / 2;
	}
	return sum;
}

/* One normal state: nothing is to be merged, and the filter is exact. */
static struct tk_regime_model make_drift(double phi, double drift_sd, double white)
{
	return (struct tk_regime_model){.count = 2,
	        .sd = {white, 1},
	        .share = {1, 0},
	        .to = {{1, 0}, {1, 0}},
	        .phi = phi,
	        .drift_sd = drift_sd};
}

static void a_drift_is_that_of_the_covariance_matrix(void **state)
{
	static const double cases[][3] = {
	        {0.9, 1, 0.5}, {0.5, 0.3, 1}, {0.99, 2, 0.1}, {0.1, 1, 1}, {0.95, 0.01, 1}};

	(void)state;
	for (size_t k = 0; k < 5; k++)
		for (size_t n = 1; n <= DENSE; n++) {
			const struct tk_regime_model m =
			        make_drift(cases[k][0], cases[k][1], cases[k][2]);
			double y[DENSE];

			fill_normal(y, n, n, 0, 1);
			near(tk_regime_loglik(&m, y, n, 0, NULL, NULL, NULL),
			        dense_loglik(cases[k][0], cases[k][1], cases[k][2], y, n));
		}
}

/* Where the likelihood is normal, one step reaches the maximum from anywhere. */
static void newton_reaches_the_top_of_a_parabola(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 10; seed++) {
		const struct tk_regime_model m = make_drift(0.9, seed % 2 ? 0.7 : 0, 0.5);
		struct tk_level_information known, at_top;
		double y[60], level = -4, again, top;

		fill_normal(y, 60, seed, 2, 1);
		top = tk_regime_newton_step(&m, y, 60, NULL, &level, &known);
		near_by(top, tk_regime_loglik(&m, y, 60, level, NULL, NULL, NULL), 1e-6);
		again = level;
		tk_regime_newton_step(&m, y, 60, NULL, &again, &at_top);
		near_by(again, level, 1e-9);
		near(at_top.new_level, known.new_level);
		for (int side = -1; side <= 1; side += 2) /* a parabola of that information */
			near_by(top - tk_regime_loglik(
			                      &m, y, 60, level + 0.1 * side, NULL, NULL, NULL),
			        0.5 * 0.01 * known.new_level, 1e-6);
	}
}

/* In any mixture the step follows the derivative of the log-likelihood. */
static void the_step_follows_the_derivative(void **state)
{
	(void)state;
	for (size_t count = 2; count <= STATES; count++)
		for (uint64_t seed = 1; seed <= 6; seed++) {
			const struct tk_regime_model m = make_chain(seed, count);
			const double h = 1e-5, start = 0.2;
			struct tk_level_information known;
			double y[25], level = start, slope;

			fill_normal(y, 25, seed, 0, 0.5);
			slope = (tk_regime_loglik(&m, y, 25, start + h, NULL, NULL, NULL) -
			                tk_regime_loglik(&m, y, 25, start - h, NULL, NULL, NULL)) /
			        (2 * h);
			tk_regime_newton_step(&m, y, 25, NULL, &level, &known);
			assert_true(known.new_level > 0);
			/* the filter's weights are those of each point given the ones before it:
			 * the direction is right, the size about */
			if (fabs(slope) > 20)
				assert_true((level - start) * slope > 0);
			near_by(known.old_level, known.new_level, 1e-9 * known.new_level);
			near_by(known.cross, known.new_level, 1e-9 * known.new_level);
		}
}

/* ---- fits ---- */

static struct tk_regime_model fit(const double *r, size_t n, double sigma, bool drift)
{
	struct tk_regime_fit_job job = {.r = r, .n = n, .sigma = sigma};

	assert_int_equal(
	        drift ? tk_regime_fit_drift_many(&job, 1) : tk_regime_fit_many(&job, 1), TK_OK);
	return job.model;
}

static void expect_model(const struct tk_regime_model *m)
{
	double shares = 0;

	assert_in_range(m->count, 2, STATES);
	assert_true(m->offset[m->count - 1] == 0 && isfinite(m->loglik));
	for (size_t i = 0; i < m->count; i++) {
		double row = 0;

		assert_true(m->sd[i] > 0 && m->share[i] >= 0);
		shares += m->share[i];
		for (size_t j = 0; j < m->count; j++) {
			assert_true(m->to[i][j] >= 0);
			row += m->to[i][j];
		}
		near_by(row, 1, 1e-6);
	}
	near_by(shares, 1, 1e-6);
	assert_true(m->phi >= 0 && m->phi < 1 && m->drift_sd >= 0);
}

/* Series of all kinds: the result is a model, and a fit with states is likelier than a normal
 * distribution where there are states. */
static void fits_are_models(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 12; seed++) {
		const size_t n = 8 + (seed - 1) * 15;
		double r[180];
		struct tk_rng rng;

		fill_normal(r, n, seed, 0, 0.01);
		tk_rng_seed(&rng, seed);
		for (size_t i = 0; i < n; i++)
			r[i] += seed % 3 == 1   ? (tk_rng_below(&rng, 3) ? 0 : 0.06)
			        : seed % 3 == 2 ? (tk_rng_below(&rng, 30) ? 0 : 0.5)
			                        : 0;
		for (int drift = 0; drift < 2; drift++) {
			const struct tk_regime_model m = fit(r, n, 0.012, drift);

			expect_model(&m);
			assert_true(drift || m.drift_sd == 0);
			assert_true(tk_regime_penalty(&m, n) > 0);
			assert_true(tk_regime_penalty(&m, 2 * n) > tk_regime_penalty(&m, n));
		}
	}
}

/* Two speeds of a clock: how slow, how often and for how long. */
static void the_states_of_a_clock_are_learnt(void **state)
{
	double r[180];
	bool slow = false;
	struct tk_rng rng;
	double slow_nights = 0, fell = 0, was_fast = 0, stayed = 0, was_slow = 0;

	(void)state;
	fill_normal(r, 180, 21, 0, 0.004);
	tk_rng_seed(&rng, 22);
	for (size_t i = 0; i < 180; i++) {
		const bool before = slow;

		slow = tk_rng_uniform(&rng) < (slow ? 0.7 : 0.1);
		r[i] += slow ? 0.05 : 0;
		slow_nights += slow;
		was_slow += i && before, stayed += i && before && slow;
		was_fast += i && !before, fell += i && !before && slow;
	}
	const struct tk_regime_model m = fit(r, 180, 0.01, false);
	assert_int_equal(m.count, 3);
	const size_t low = m.offset[0] < m.offset[1] ? 0 : 1, high = 1 - low;
	near_by(m.offset[high] - m.offset[low], 0.05, 0.004);
	near_by(m.sd[low], 0.004, 0.0012);
	near_by(m.share[high], slow_nights / 180, 0.05);
	near_by(m.to[high][high], stayed / was_slow, 0.05);
	near_by(m.to[low][high], fell / was_fast, 0.05);
}

/* A wandering level is a drift where the model may have one. */
static void a_wandering_level_is_a_drift(void **state)
{
	size_t found = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= 6; seed++) {
		double r[180], x = 0;

		fill_normal(r, 180, seed, 0, 1);
		for (size_t i = 0; i < 180; i++) {
			x = 0.9 * x + sqrt(1 - 0.81) * r[i];
			r[i] = 0.02 * x;
		}
		const struct tk_regime_model m = fit(r, 180, 0.009, true);
		found += m.drift_sd > 0.008 && m.phi >= 0.7;
		assert_true(tk_regime_loglik(&m, r, 180, 0, NULL, NULL, NULL) >
		            fit(r, 180, 0.009, false).loglik);
	}
	assert_true(found >= 5);
}

/* ---- young series ---- */

static const struct tk_noise_prior no_prior;

static void steps_are_mirrored_and_moved(void **state)
{
	const struct tk_noise_prior prior = {1e-4, 10};

	(void)state;
	for (uint64_t seed = 1; seed <= 20; seed++) {
		const size_t n = 10 + seed, at = TK_YOUNG_BEFORE_MIN + seed % 4;
		double y[30], other[30];
		struct tk_young_step a, b;

		fill_normal(y, n, seed, 0, 0.01);
		for (size_t i = at; i < n; i++)
			y[i] += 0.005 * (double)seed;
		a = tk_young_step_find(y, n, 0.005, &prior);
		transform(y, n, -1, 0, other);
		b = tk_young_step_find(other, n, 0.005, &prior);
		assert_int_equal(a.split, b.split);
		near(b.before, -a.before), near(b.after, -a.after), near(b.log_lr, a.log_lr);
		transform(y, n, 1, 100, other);
		b = tk_young_step_find(other, n, 0.005, &prior);
		assert_int_equal(a.split, b.split);
		near_by(b.log_lr, a.log_lr, 1e-6);
		if (a.log_lr > 0)
			near(b.before, a.before + 100);
	}
}

/* The log-likelihood ratio of a split by its definition: a t-test, less the logarithm of the nights
 * at the new level over three. Residuals without autocorrelation. */
static void the_ratio_is_that_of_a_t_test(void **state)
{
	static const double residuals[] = {1, -1, 1, -1, 1, -1, 1, -1};
	const struct tk_noise_prior prior = {4e-4, 6};
	double y[16];

	(void)state;
	for (size_t after = TK_YOUNG_AFTER_MIN; after <= 8; after += 2) {
		const size_t before = 8, n = before + after;
		const double step = 0.06, df = (double)n - 2, all = df + prior.df,
		             squares = (double)n * 1e-4,
		             variance = (squares + prior.df * prior.variance) / all,
		             error2 = variance * (1 / (double)before + 1 / (double)after),
		             known = all / 2 * log1p(step * step / (error2 * all)) -
		                     log((double)after / 3);
		struct tk_young_step s;

		for (size_t i = 0; i < n; i++)
			y[i] = 0.01 * residuals[i % 8] + (i >= before ? step : 0);
		s = tk_young_step_find(y, n, 0.005, &prior);
		assert_int_equal(s.split, before);
		near(s.before, 0), near(s.after, step);
		assert_true(s.log_lr <= known + 1e-9); /* a drift may explain it as well */
		if (known < 5)
			near(s.log_lr, known);
	}
}

static void ages_and_sizes_that_are_too_small(void **state)
{
	double y[30];
	size_t reported = 0;

	(void)state;
	for (size_t i = 0; i < 30; i++)
		y[i] = i >= 15 ? 1 : 0;
	for (size_t n = 0; n < 15 + TK_YOUNG_AFTER_MIN; n++)
		near(tk_young_step_find(y, n, 0.005, &no_prior).log_lr, 0);
	assert_true(tk_young_step_find(y, 30, 0.005, &no_prior).log_lr > 10);
	near(tk_young_step_find(y, 30, 1.0001, &no_prior).log_lr, 0);
	for (size_t at = 0; at < TK_YOUNG_BEFORE_MIN; at++) { /* too few nights before it */
		for (size_t i = 0; i < 30; i++)
			y[i] = i >= at ? 1 : 0;
		reported += tk_young_step_find(y, at + 4, 0.005, &no_prior).log_lr > 0;
	}
	assert_int_equal(reported, 0);
}

/* The variance of one night is right on average, without and with a step. */
static void the_variance_of_young_series(void **state)
{
	(void)state;
	for (size_t n = TK_NOISE_PRIOR_NIGHTS_MIN; n <= TK_NOISE_PRIOR_NIGHTS_MAX; n += 5)
		for (int step = 0; step < 2; step++) {
			double mean = 0, y[TK_NOISE_PRIOR_NIGHTS_MAX], df;

			for (uint64_t seed = 1; seed <= 400; seed++) {
				fill_normal(y, n, seed, 0, 0.1);
				for (size_t i = n / 2; step && i < n; i++)
					y[i] += 5;
				mean += exp(tk_noise_log_variance(y, n, &df)) / 400;
			}
			near_by(mean, 0.01, step ? 0.006 : 0.002);
			near(df, 0.65 * (double)(n - 1));
		}
}

static void the_prior_of_a_machine(void **state)
{
	double equal[40], apart[40], df[40];
	struct tk_noise_prior p;

	(void)state;
	fill_normal(apart, 40, 3, log(1e-4), 3);
	for (size_t i = 0; i < 40; i++)
		equal[i] = log(1e-4), df[i] = 10;
	p = tk_noise_prior_estimate(equal, df, 40);
	near(p.variance, 1e-4);
	near(p.df, 40); /* the most that it may count */
	const double middle = plain_median(apart, 40);
	p = tk_noise_prior_estimate(apart, df, 40);
	near(p.variance, exp(middle));
	assert_true(p.df > 0 && p.df < 3);
	for (size_t i = 0; i < 5; i++)
		equal[i] = 0;
	p = tk_noise_prior_estimate(equal, df, 4);
	assert_true(p.df == 0 && p.variance == 0);
	assert_true(tk_noise_prior_estimate(equal, df, 5).df > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(the_likelihood_is_the_sum_over_all_paths),
	        cmocka_unit_test(a_series_can_be_continued),
	        cmocka_unit_test(states_can_be_exchanged),
	        cmocka_unit_test(a_drift_is_that_of_the_covariance_matrix),
	        cmocka_unit_test(newton_reaches_the_top_of_a_parabola),
	        cmocka_unit_test(the_step_follows_the_derivative),
	        cmocka_unit_test(fits_are_models),
	        cmocka_unit_test(the_states_of_a_clock_are_learnt),
	        cmocka_unit_test(a_wandering_level_is_a_drift),
	        cmocka_unit_test(steps_are_mirrored_and_moved),
	        cmocka_unit_test(the_ratio_is_that_of_a_t_test),
	        cmocka_unit_test(ages_and_sizes_that_are_too_small),
	        cmocka_unit_test(the_variance_of_young_series),
	        cmocka_unit_test(the_prior_of_a_machine),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
