/* What is computed four points or four chains at a time is what one point after the other gives. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "base/error.h"
#include "base/rng.h"
#include "stats/monitor/regime_em.h"
#include "stats/monitor/regime_filter.h"
#include "stats/monitor/simd.h"

#define N_MAX 203

static void near(double a, double b, double tolerance)
{
	if (!(fabs(a - b) <= tolerance * (1 + fabs(b))))
		fail_msg("%.17g is not %.17g", a, b);
}

static struct tk_regime_model chain(struct tk_rng *rng, size_t count)
{
	struct tk_regime_model m = {.count = count};
	double shares = 0;

	for (size_t k = 0; k < count; k++) {
		double row = 0;

		m.offset[k] = k + 1 == count ? 0 : 0.02 * (double)k;
		m.sd[k] = k + 1 == count ? 0.1 : 0.004 * (1 + (double)k);
		shares += m.share[k] = 0.1 + tk_rng_uniform(rng);
		for (size_t j = 0; j < count; j++)
			row += m.to[k][j] = 0.05 + tk_rng_uniform(rng) + (j == k);
		for (size_t j = 0; j < count; j++)
			m.to[k][j] /= row;
	}
	for (size_t k = 0; k < count; k++)
		m.share[k] /= shares;
	return m;
}

/* A few normal points and a spike now and then, up to where the densities are next to nothing. */
static void points(struct tk_rng *rng, double *r, size_t n)
{
	for (size_t i = 0; i < n; i++)
		r[i] = i % 17 == 5 ? 3 * tk_rng_uniform(rng)
		                   : 0.02 * (tk_rng_uniform(rng) + tk_rng_uniform(rng) - 1);
}

static double density(const struct tk_regime_model *m, size_t k, double x)
{
	double u = (x - m->offset[k]) / m->sd[k];

	return k + 1 == m->count ? M_1_PI / (m->sd[k] * (1 + u * u))
	                         : exp(-0.5 * u * u) / (sqrt(2 * M_PI) * m->sd[k]);
}

/* Forward and backward with a division at every point. */
static double plain(
        const struct tk_regime_model *m, const double *r, size_t n, struct tk_regime_counts *c)
{
	static double before[N_MAX][TK_REGIME_STATES_MAX], likelihood[N_MAX];
	double after[TK_REGIME_STATES_MAX] = {1, 1, 1, 1}, total = 0;

	for (size_t i = 0; i < n; i++) {
		likelihood[i] = 0;
		for (size_t k = 0; k < m->count; k++) {
			before[i][k] = 0;
			for (size_t j = 0; j < m->count; j++)
				before[i][k] += (i ? before[i - 1][j] : m->share[j]) * m->to[j][k];
			likelihood[i] += before[i][k] *= density(m, k, r[i]);
		}
		total += log(likelihood[i]);
		for (size_t k = 0; k < m->count; k++)
			before[i][k] /= likelihood[i];
	}
	*c = (struct tk_regime_counts){0};
	for (size_t i = n; i-- > 0;) {
		double next[TK_REGIME_STATES_MAX] = {0};

		for (size_t k = 0; k < m->count; k++) {
			double here = before[i][k] * after[k],
			       ahead = density(m, k, r[i]) * after[k] / likelihood[i];

			c->state[k] += here;
			c->sum[k] += here * r[i];
			c->square[k] += here * r[i] * r[i];
			for (size_t j = 0; j < m->count; j++) {
				next[j] += m->to[j][k] * ahead;
				c->to[j][k] += i ? before[i - 1][j] * m->to[j][k] * ahead : 0;
			}
		}
		for (size_t k = 0; k < m->count; k++)
			after[k] = next[k];
	}
	return total;
}

static void counts_are_those_of_one_point_after_the_other(void **state)
{
	struct tk_rng rng;
	double r[N_MAX], *work = malloc(TK_REGIME_WORK_COUNT(N_MAX) * sizeof *work);

	(void)state;
	assert_non_null(work);
	tk_rng_seed(&rng, 5);
	for (size_t n = 1; n <= N_MAX; n += n < 40 ? 1 : 23)
		for (size_t count = 2; count <= TK_REGIME_STATES_MAX; count++) {
			const struct tk_regime_model m = chain(&rng, count);
			struct tk_regime_counts fast, slow;

			points(&rng, r, n);
			near(tk_regime_smooth(&m, r, n, work), plain(&m, r, n, &slow), 1e-11);
			tk_regime_count(&m, n, work, &fast);
			for (size_t k = 0; k < count; k++) {
				near(fast.state[k], slow.state[k], 1e-10);
				near(fast.sum[k], slow.sum[k], 1e-10);
				near(fast.square[k], slow.square[k], 1e-10);
				for (size_t j = 0; j < count; j++)
					near(fast.to[k][j], slow.to[k][j], 1e-10);
			}
		}
	free(work);
}

static void groups_of_wandering_parts_are_chains(void **state)
{
	struct tk_regime_model m[TK_REGIME_GROUPS_MAX * TK_SIMD_WIDTH];
	struct tk_rng rng;
	double r[N_MAX], loglik[TK_REGIME_GROUPS_MAX * TK_SIMD_WIDTH];

	(void)state;
	tk_rng_seed(&rng, 6);
	m[0] = chain(&rng, 2);
	for (int k = 0; k < TK_REGIME_GROUPS_MAX * TK_SIMD_WIDTH; k++) {
		m[k] = m[0];
		m[k].sd[0] = 0.003 + 0.0005 * k;
		m[k].phi = 0.5 + 0.02 * k;
		m[k].drift_sd = 0.002 * (k + 1);
	}
	for (size_t n = 1; n <= N_MAX; n += 1 + n / 3) {
		const size_t groups = 1 + n % TK_REGIME_GROUPS_MAX;

		points(&rng, r, n);
		tk_regime_drift_logliks(m, groups, r, n, loglik);
		for (size_t k = 0; k < groups * TK_SIMD_WIDTH; k++) {
			struct tk_filtered_state b = tk_regime_filter_init(&m[k]);
			double total = 0;

			for (size_t i = 0; i < n; i++)
				total += log(
				        tk_regime_filter_update(&m[k], &b, r[i], true).likelihood);
			near(loglik[k], total, 1e-11);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(counts_are_those_of_one_point_after_the_other),
	        cmocka_unit_test(groups_of_wandering_parts_are_chains),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
