/* Forward and backward over a hidden Markov chain (Baum and others 1970), and a grid of drifts: see
 * regime_model.h. This file is compiled for the vectors of the processor.
 *
 * Only the two recursions go point by point, interleaved. They are rescaled every few points only,
 * because a division at every point would take most of the time. */
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "stats/regime_model.h"

#define RESCALE 8   /* points: eight densities stay far from what a double holds */
#define TINY 1e-300 /* at least this likely is any point */
#define LANES 4

/* The processor may have more instructions than the compiler's target: these functions are compiled
 * for both, with equal results. Not by clang, whose clones other files cannot call. Not with
 * ThreadSanitizer, whose runtime is not loaded yet when a clone is chosen. */
#if defined(__x86_64__) && defined(__GLIBC__) && !defined(__clang__) && \
        !defined(__SANITIZE_THREAD__)
#define CLONES __attribute__((target_clones("avx2", "default")))
#else
#define CLONES
#endif

/* e^x of x <= 0 to 1e-14, without a branch; values below -700 count as -700. */
TK_REGIME_INLINE double exp_negative(double x)
{
	/* Added to a small number, its last bits are the nearest integer. */
	const double shift = 0x1.8p52;
	const double v = x > -700 ? x : -700;
	union {
		double value;
		int64_t bits;
	} k = {v * M_LOG2E + shift};
	const double r = v - (k.value - shift) * 0x1.62e42fefa3800p-1 -
	                 (k.value - shift) * 0x1.ef35793c76730p-45; /* ln 2 in two parts */
	double sum = r * (1.0 / 39916800) + 1.0 / 3628800;

	sum = sum * r + 1.0 / 362880;
	sum = sum * r + 1.0 / 40320;
	sum = sum * r + 1.0 / 5040;
	sum = sum * r + 1.0 / 720;
	sum = sum * r + 1.0 / 120;
	sum = sum * r + 1.0 / 24;
	sum = sum * r + 1.0 / 6;
	sum = sum * r + 0.5;
	sum = (sum * r + 1) * r + 1;
	k.bits = (int64_t)((uint64_t)k.bits << 52) + (INT64_C(1023) << 52);
	return sum * k.value;
}

TK_REGIME_INLINE double dot(const double *a, const double *b, size_t n)
{
	double sum[LANES] = {0};
	size_t i = 0;

	for (; i + LANES <= n; i += LANES)
		for (size_t k = 0; k < LANES; k++)
			sum[k] += a[i + k] * b[i + k];
	for (; i < n; i++)
		sum[0] += a[i] * b[i];
	return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

TK_REGIME_INLINE void set_densities(const struct tk_regime_model *m, struct tk_regime_points *w)
{
	const size_t spike = m->count - 1, n = w->n;
	const double *r = w->r, square = m->sd[spike] * m->sd[spike], peak = M_1_PI * m->sd[spike];
	double *restrict out = w->density[spike];

	for (size_t i = 0; i < n; i++)
		out[i] = peak / (square + r[i] * r[i]);
	for (size_t k = 0; k < spike; k++) {
		const double factor = 1 / (TK_REGIME_SQRT_2PI * m->sd[k]),
		             by = -0.5 / (m->sd[k] * m->sd[k]), offset = m->offset[k];

		out = w->density[k];
		for (size_t i = 0; i < n; i++)
			out[i] = factor * exp_negative(by * (r[i] - offset) * (r[i] - offset));
	}
}

/* One step forward: includes point i in p. */
TK_REGIME_INLINE void step_forward(const struct tk_regime_model *m, size_t count,
        struct tk_regime_points *w, size_t i, double *p)
{
	double next[TK_REGIME_STATES_MAX];

	for (size_t k = 0; k < count; k++) {
		next[k] = p[0] * m->to[0][k];
		for (size_t j = 1; j < count; j++)
			next[k] += p[j] * m->to[j][k];
		next[k] *= w->density[k][i];
	}
	memcpy(p, next, count * sizeof *p);
}

/* One step backward: p becomes the probability of all points after i - 1. */
TK_REGIME_INLINE void step_back(const struct tk_regime_model *m, size_t count,
        struct tk_regime_points *w, size_t i, double *p)
{
	double ahead[TK_REGIME_STATES_MAX];

	for (size_t k = 0; k < count; k++)
		ahead[k] = w->density[k][i] * p[k];
	for (size_t j = 0; j < count; j++) {
		p[j] = m->to[j][0] * ahead[0];
		for (size_t k = 1; k < count; k++)
			p[j] += m->to[j][k] * ahead[k];
	}
}

/* By how much to multiply, so that the sum is 1. */
TK_REGIME_INLINE double scale_of(const double *x, size_t count)
{
	double sum = 0;

	for (size_t k = 0; k < count; k++)
		sum += x[k];
	return 1 / fmax(sum, TINY);
}

TK_REGIME_INLINE double recur(
        const struct tk_regime_model *m, size_t count, struct tk_regime_points *w)
{
	double p[TK_REGIME_STATES_MAX], q[TK_REGIME_STATES_MAX] = {1, 1, 1, 1}, total = 0;

	memcpy(p, m->share, sizeof p);
	for (size_t i = 0; i < w->n; i++) {
		const size_t back = w->n - 1 - i;

		step_forward(m, count, w, i, p);
		for (size_t k = 0; k < count; k++)
			w->behind[k][back] = q[k];
		step_back(m, count, w, back, q);
		w->scale[i] = 1;
		if (i % RESCALE == RESCALE - 1 || i + 1 == w->n) {
			const double scale = scale_of(p, count), other = scale_of(q, count);

			total -= log(scale);
			w->scale[i] = scale;
			for (size_t k = 0; k < count; k++) {
				p[k] *= scale;
				q[k] *= other;
			}
		}
		for (size_t k = 0; k < count; k++)
			w->before[k][i] = p[k];
	}
	return total;
}

CLONES double tk_regime_smooth(const struct tk_regime_model *m, struct tk_regime_points *w)
{
	set_densities(m, w);
	switch (m->count) { /* a constant count makes straight code */
	case 2:
		return recur(m, 2, w);
	case 3:
		return recur(m, 3, w);
	default:
		return recur(m, TK_REGIME_STATES_MAX, w);
	}
}

CLONES void tk_regime_count(const struct tk_regime_model *m, const struct tk_regime_points *w,
        struct tk_regime_counts *c)
{
	const size_t n = w->n;
	double all[TK_REGIME_POINTS_MAX], row[TK_REGIME_POINTS_MAX], one[TK_REGIME_POINTS_MAX];

	*c = (struct tk_regime_counts){0};
	for (size_t i = 0; i < n; i++) {
		all[i] = TINY;
		one[i] = 1;
	}
	for (size_t k = 0; k < m->count; k++)
		for (size_t i = 0; i < n; i++)
			all[i] += w->before[k][i] * w->behind[k][i];
	for (size_t i = 0; i < n; i++)
		all[i] = 1 / all[i];
	for (size_t k = 0; k < m->count; k++) {
		for (size_t i = 0; i < n; i++)
			row[i] = w->before[k][i] * w->behind[k][i] * all[i];
		c->state[k] = dot(row, one, n);
		c->sum[k] = dot(row, w->r, n);
		for (size_t i = 0; i < n; i++)
			row[i] *= w->r[i];
		c->square[k] = dot(row, w->r, n);
		/* Moves from point i - 1 to i: `all` less the scale that came between. */
		for (size_t i = 0; i < n; i++)
			row[i] = w->density[k][i] * w->behind[k][i] * all[i] * w->scale[i];
		for (size_t j = 0; j < m->count; j++)
			c->to[j][k] = dot(w->before[j], row + 1, n - 1) * m->to[j][k];
	}
}

/* ---- many drifts at once ---- */

/* Of each chain. */
struct drifts {
	double phi[TK_REGIME_DRIFTS], innovation[TK_REGIME_DRIFTS], noise[TK_REGIME_DRIFTS],
	        width[TK_REGIME_DRIFTS]; /* of the spike */
	double normal[TK_REGIME_DRIFTS], spike[TK_REGIME_DRIFTS], x[TK_REGIME_DRIFTS],
	        variance[TK_REGIME_DRIFTS]; /* what is believed */
};

/* One point further; likelihoods are multiplied by that of the point. */
TK_REGIME_INLINE void step_drifts(
        struct drifts *d, const struct tk_regime_model *m, double y, double *restrict likelihood)
{
	const double stay = m->to[0][0], leave = m->to[0][1], end = m->to[1][0], last = m->to[1][1];

	for (size_t k = 0; k < TK_REGIME_DRIFTS; k++) {
		const double x = d->phi[k] * d->x[k],
		             variance = d->phi[k] * d->phi[k] * d->variance[k] + d->innovation[k],
		             miss = y - x, precision = 1 / (d->noise[k] + variance),
		             density = exp_negative(-0.5 * miss * miss * precision) *
		                       sqrt(precision) * (1 / TK_REGIME_SQRT_2PI),
		             normal = (d->normal[k] * stay + d->spike[k] * end) * density,
		             spike = (d->normal[k] * leave + d->spike[k] * last) * M_1_PI *
		                     d->width[k] / (d->width[k] * d->width[k] + miss * miss),
		             both = normal + spike, /* never 0: the spike reaches everywhere */
		        gain = variance * precision, step = gain * miss, p = normal / both,
		             moved = p * step;

		likelihood[k] *= both;
		d->normal[k] = p;
		d->spike[k] = spike / both;
		d->variance[k] = p * ((1 - gain) * variance + (step - moved) * (step - moved)) +
		                 d->spike[k] * (variance + moved * moved) +
		                 (d->spike[k] > 0.5 ? miss * miss * 0.5 : 0);
		d->x[k] = x + moved;
	}
}

CLONES void tk_regime_drift_logliks(
        const struct tk_regime_model *m, const double *r, size_t n, double *loglik)
{
	struct drifts d;
	double likelihood[TK_REGIME_DRIFTS];

	for (size_t k = 0; k < TK_REGIME_DRIFTS; k++) {
		d.phi[k] = m[k].phi;
		d.variance[k] = m[k].drift_sd * m[k].drift_sd;
		d.innovation[k] = d.variance[k] * (1 - m[k].phi * m[k].phi);
		d.noise[k] = m[k].sd[0] * m[k].sd[0];
		d.width[k] = m[k].sd[1];
		d.normal[k] = m[k].share[0];
		d.spike[k] = m[k].share[1];
		d.x[k] = loglik[k] = 0;
		likelihood[k] = 1;
	}
	for (size_t i = 0; i < n; i++) {
		step_drifts(&d, m, r[i], likelihood);
		if (i % RESCALE != RESCALE - 1 && i + 1 < n)
			continue;
		for (size_t k = 0; k < TK_REGIME_DRIFTS; k++) {
			loglik[k] += log(fmax(likelihood[k], TINY));
			likelihood[k] = 1;
		}
	}
}
