/* A hidden Markov chain over a wandering part, forward in time: see regime_model.h. */
#include "stats/monitor/regime_model.h"

#include <math.h>
#include <string.h>

#include "stats/monitor/regime_constants.h"
#include "stats/monitor/regime_filter.h"
#include "stats/monitor/simd.h"

double tk_likelihood_log(const struct tk_likelihood_product *p)
{
	return p->sum + log(p->factors);
}

struct tk_filtered_state tk_regime_filter_init(const struct tk_regime_model *m)
{
	struct tk_filtered_state b = {.x = 0, .variance = m->drift_sd * m->drift_sd};

	memcpy(b.p, m->share, sizeof b.p);
	return b;
}

/* Updates the AR(1) drift with the point: the mixture over the states is approximated by one normal
 * distribution. */
static void follow(const struct tk_regime_model *m, struct tk_filtered_state *b, double x,
        double variance, const double *step, const double *gain, double miss, bool jumps)
{
	size_t spike = m->count - 1;
	double moved = 0, after = 0;

	for (size_t j = 0; j < spike; j++)
		moved += b->p[j] * step[j];
	for (size_t j = 0; j < spike; j++)
		after += b->p[j] *
		         ((1 - gain[j]) * variance + (step[j] - moved) * (step[j] - moved));
	after += b->p[spike] * (variance + moved * moved);
	if (jumps && b->p[spike] > 0.5)
		after += miss * miss / 2;
	b->x = x + moved;
	b->variance = after;
}

/* fmax() without a call. NaN becomes the least. */
static inline double at_least(double x, double least)
{
	return x > least ? x : least;
}

/* A normal density of v, by the inverse of its variance. */
static double normal(double v, double precision)
{
	return exp(-0.5 * v * v * precision) * (sqrt(precision) / TK_REGIME_SQRT_2PI);
}

/* `count` is m->count: where it is a constant, what is within becomes straight code. */
TK_SIMD_INLINE struct tk_regime_update update(const struct tk_regime_model *m, size_t count,
        struct tk_filtered_state *b, double y, bool jumps)
{
	struct tk_regime_update o = {0};
	size_t spike = count - 1;
	double next[TK_REGIME_STATES_MAX],
	        precision[TK_REGIME_STATES_MAX] = {0}, miss[TK_REGIME_STATES_MAX] = {0},
	        step[TK_REGIME_STATES_MAX] = {0}, gain[TK_REGIME_STATES_MAX] = {0},
	        x = m->phi * b->x,
	        variance = m->phi * m->phi * b->variance +
	                   m->drift_sd * m->drift_sd * (1 - m->phi * m->phi),
	        scale;

	for (size_t j = 0; j < count; j++) {
		next[j] = 0;
		for (size_t i = 0; i < count; i++)
			next[j] += b->p[i] * m->to[i][j];
		if (j == spike) {
			next[j] *= M_1_PI * m->sd[j] / (m->sd[j] * m->sd[j] + (y - x) * (y - x));
		} else {
			precision[j] = 1 / (m->sd[j] * m->sd[j] + variance);
			miss[j] = y - x - m->offset[j];
			next[j] *= normal(miss[j], precision[j]);
		}
		o.likelihood += next[j];
	}
	o.likelihood = at_least(o.likelihood, TK_LIKELIHOOD_MIN);
	scale = 1 / o.likelihood;
	for (size_t j = 0; j < count; j++)
		b->p[j] = next[j] * scale;
	for (size_t j = 0; j < spike; j++) {
		double w = b->p[j] * precision[j];

		gain[j] = variance * precision[j];
		step[j] = gain[j] * miss[j];
		o.weight += w;
		o.pull += w * miss[j];
		o.gain += b->p[j] * gain[j];
	}
	if (m->drift_sd > 0) {
		follow(m, b, x, variance, step, gain, y - x, jumps);
		b->drift_share = m->phi * b->drift_share + o.gain * (1 - m->phi * b->drift_share);
	}
	return o;
}

struct tk_regime_update tk_regime_filter_update(
        const struct tk_regime_model *m, struct tk_filtered_state *b, double y, bool jumps)
{
	return update(m, m->count, b, y, jumps);
}

/* What is the same for every point where nothing drifts. */
struct densities {
	double precision[TK_REGIME_STATES_MAX], peak[TK_REGIME_STATES_MAX];
	double spike, spike_square;
};

static struct densities find_densities(const struct tk_regime_model *m)
{
	const size_t spike = m->count - 1;
	struct densities d = {
	        .spike = M_1_PI * m->sd[spike], .spike_square = m->sd[spike] * m->sd[spike]};

	for (size_t j = 0; j < spike; j++) {
		d.precision[j] = 1 / (m->sd[j] * m->sd[j]);
		d.peak[j] = sqrt(d.precision[j]) / TK_REGIME_SQRT_2PI;
	}
	return d;
}

/* The same as update(), bit for bit, where nothing drifts: x and its variance are 0. */
TK_SIMD_INLINE struct tk_regime_update update_steady(const struct tk_regime_model *m, size_t count,
        const struct densities *d, struct tk_filtered_state *b, double y)
{
	struct tk_regime_update o = {0};
	const size_t spike = count - 1;
	double next[TK_REGIME_STATES_MAX], miss[TK_REGIME_STATES_MAX] = {0}, scale;

	for (size_t j = 0; j < count; j++) {
		next[j] = 0;
		for (size_t i = 0; i < count; i++)
			next[j] += b->p[i] * m->to[i][j];
		if (j == spike) {
			next[j] *= d->spike / (d->spike_square + y * y);
		} else {
			miss[j] = y - m->offset[j];
			next[j] *= exp(-0.5 * miss[j] * miss[j] * d->precision[j]) * d->peak[j];
		}
		o.likelihood += next[j];
	}
	o.likelihood = at_least(o.likelihood, TK_LIKELIHOOD_MIN);
	scale = 1 / o.likelihood;
	for (size_t j = 0; j < count; j++)
		b->p[j] = next[j] * scale;
	for (size_t j = 0; j < spike; j++) {
		const double w = b->p[j] * d->precision[j];

		o.weight += w;
		o.pull += w * miss[j];
	}
	return o;
}

static bool is_steady(const struct tk_regime_model *m, const struct tk_filtered_state *b)
{
	return !(m->drift_sd > 0) && b->x == 0 && b->variance == 0;
}

/* The result of work(m, count, is_steady, ...), with constants for the second and the third. */
#define SPECIALISE(work, m, steady, ...) \
	switch ((m)->count) { \
	case 2: \
		return steady ? work(m, 2, true, __VA_ARGS__) : work(m, 2, false, __VA_ARGS__); \
	case 3: \
		return steady ? work(m, 3, true, __VA_ARGS__) : work(m, 3, false, __VA_ARGS__); \
	case TK_REGIME_STATES_MAX: \
		return steady ? work(m, TK_REGIME_STATES_MAX, true, __VA_ARGS__) \
		              : work(m, TK_REGIME_STATES_MAX, false, __VA_ARGS__); \
	default: \
		return work(m, (m)->count, false, __VA_ARGS__); \
	}

TK_SIMD_INLINE double find_loglik(const struct tk_regime_model *m, size_t count, bool steady,
        const double *y, size_t n, double level, struct tk_filtered_state b,
        struct tk_filtered_state *each, struct tk_likelihood_product *so_far)
{
	const struct densities d = find_densities(m);
	struct tk_likelihood_product p = {0, 1};

	for (size_t i = 0; i < n; i++) {
		const struct tk_regime_update o =
		        steady ? update_steady(m, count, &d, &b, y[i] - level)
		               : update(m, count, &b, y[i] - level, false);

		tk_likelihood_multiply(&p, o.likelihood);
		if (each)
			each[i] = b;
		if (so_far)
			so_far[i] = p;
	}
	return tk_likelihood_log(&p);
}

double tk_regime_loglik(const struct tk_regime_model *m, const double *y, size_t n, double level,
        const struct tk_filtered_state *from, struct tk_filtered_state *each,
        struct tk_likelihood_product *so_far)
{
	const struct tk_filtered_state b = from ? *from : tk_regime_filter_init(m);
	const bool steady = is_steady(m, &b);

	SPECIALISE(find_loglik, m, steady, y, n, level, b, each, so_far)
}

TK_SIMD_INLINE double newton_step(const struct tk_regime_model *m, size_t count, bool steady,
        const double *y, size_t n, struct tk_filtered_state b, double *level,
        struct tk_level_information *information)
{
	const struct densities d = find_densities(m);
	struct tk_likelihood_product p = {0, 1};
	struct tk_level_information known = {0};
	double pull = 0, follows = 0; /* what the wandering part takes of a change of level */

	for (size_t i = 0; i < n; i++) {
		const double seen = 1 - m->phi * follows, old = 1 - m->phi * b.drift_share;
		const struct tk_regime_update o =
		        steady ? update_steady(m, count, &d, &b, y[i] - *level)
		               : update(m, count, &b, y[i] - *level, false);

		known.new_level += seen * seen * o.weight;
		known.old_level += old * old * o.weight;
		known.cross += seen * old * o.weight;
		pull += seen * o.pull;
		follows = m->phi * follows + o.gain * seen;
		tk_likelihood_multiply(&p, o.likelihood);
	}
	*information = known;
	if (!(known.new_level > 0))
		return tk_likelihood_log(&p);
	*level += pull / known.new_level;
	return tk_likelihood_log(&p) + 0.5 * pull * pull / known.new_level;
}

double tk_regime_newton_step(const struct tk_regime_model *m, const double *y, size_t n,
        const struct tk_filtered_state *from, double *level,
        struct tk_level_information *information)
{
	const struct tk_filtered_state b = from ? *from : tk_regime_filter_init(m);
	const bool steady = is_steady(m, &b);

	SPECIALISE(newton_step, m, steady, y, n, b, level, information)
}
