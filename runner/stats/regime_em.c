/* Forward and backward over a hidden Markov chain (Baum and others 1970): see regime_em.h.
 *
 * Only the two recursions go point by point, interleaved. They are rescaled every few points only,
 * because a division at every point would take most of the time. Everything before and after them
 * processes four points at once. */
#include <math.h>
#include <string.h>

#include "stats/regime_model.h"
#include "stats/simd.h"

/* A row of each state, and two more, of `n` points and what fills up the last four; those are zero.
 */
struct rows {
	size_t n, stride;
	double *density, *before, *behind; /* [k * stride + i]: of point i in state k; with all
	                                      before it; of all behind it */
	double *scale;                     /* before[.. i] was multiplied by */
	double *r;
};

static struct rows rows_of(double *work, size_t n)
{
	size_t stride = TK_REGIME_STRIDE(n);

	return (struct rows){.n = n,
	        .stride = stride,
	        .density = work,
	        .before = work + TK_REGIME_STATES_MAX * stride,
	        .behind = work + 2 * TK_REGIME_STATES_MAX * stride,
	        .scale = work + 3 * TK_REGIME_STATES_MAX * stride,
	        .r = work + (3 * TK_REGIME_STATES_MAX + 1) * stride};
}

static void fill_rows(const struct rows *w, const double *r)
{
	memcpy(w->r, r, w->n * sizeof *r);
	for (size_t i = w->n; i < w->stride; i++) {
		w->r[i] = w->scale[i] = 0;
		for (size_t k = 0; k < TK_REGIME_STATES_MAX; k++)
			w->before[k * w->stride + i] = w->behind[k * w->stride + i] = 0;
	}
}

TK_SIMD_INLINE void set_densities(const struct tk_regime_model *m, const struct rows *w)
{
	size_t spike = m->count - 1;
	double *out = w->density + spike * w->stride, square = m->sd[spike] * m->sd[spike];

	for (size_t i = 0; i < w->stride; i += TK_SIMD_WIDTH) {
		const tk_simd_f64 *r = (const tk_simd_f64 *)(w->r + i);

		*(tk_simd_f64 *)(out + i) = M_1_PI * m->sd[spike] / (square + *r * *r);
	}
	for (size_t k = 0; k < spike; k++) {
		double factor = 1 / (TK_REGIME_SQRT_2PI * m->sd[k]),
		       by = -0.5 / (m->sd[k] * m->sd[k]);

		out = w->density + k * w->stride;
		for (size_t i = 0; i < w->stride; i += TK_SIMD_WIDTH) {
			tk_simd_f64 v = *(const tk_simd_f64 *)(w->r + i) - m->offset[k];

			v = by * v * v;
			tk_simd_exp(&v);
			*(tk_simd_f64 *)(out + i) = factor * v;
		}
	}
}

TK_SIMD_INLINE double sum_of(const double *x, size_t count)
{
	double sum = 0;

	for (size_t k = 0; k < count; k++)
		sum += x[k];
	return fmax(sum, TK_REGIME_TINY);
}

/* One step forward: includes point i in p. */
TK_SIMD_INLINE void step_forward(
        const struct tk_regime_model *m, size_t count, const struct rows *w, size_t i, double *p)
{
	double next[TK_REGIME_STATES_MAX];

	for (size_t k = 0; k < count; k++) {
		next[k] = p[0] * m->to[0][k];
		for (size_t j = 1; j < count; j++)
			next[k] += p[j] * m->to[j][k];
		next[k] *= w->density[k * w->stride + i];
	}
	memcpy(p, next, sizeof next);
}

/* One step backward: p becomes the probability of all points after i - 1. */
TK_SIMD_INLINE void step_back(
        const struct tk_regime_model *m, size_t count, const struct rows *w, size_t i, double *p)
{
	double ahead[TK_REGIME_STATES_MAX];

	for (size_t k = 0; k < count; k++)
		ahead[k] = w->density[k * w->stride + i] * p[k];
	for (size_t j = 0; j < count; j++) {
		p[j] = m->to[j][0] * ahead[0];
		for (size_t k = 1; k < count; k++)
			p[j] += m->to[j][k] * ahead[k];
	}
}

TK_SIMD_INLINE double recur(const struct tk_regime_model *m, size_t count, const struct rows *w)
{
	double p[TK_REGIME_STATES_MAX] = {0}, q[TK_REGIME_STATES_MAX] = {1, 1, 1, 1}, total = 0;

	memcpy(p, m->share, sizeof p);
	for (size_t i = 0; i < w->n; i++) {
		size_t back = w->n - 1 - i;
		double scale = 1;

		step_forward(m, count, w, i, p);
		for (size_t k = 0; k < count; k++)
			w->behind[k * w->stride + back] = q[k];
		step_back(m, count, w, back, q);
		if (i % TK_REGIME_RESCALE == TK_REGIME_RESCALE - 1 || i + 1 == w->n) {
			double sum = sum_of(p, count), other = 1 / sum_of(q, count);

			total += log(sum);
			scale = 1 / sum;
			for (size_t k = 0; k < count; k++) {
				p[k] *= scale;
				q[k] *= other;
			}
		}
		w->scale[i] = scale;
		for (size_t k = 0; k < count; k++)
			w->before[k * w->stride + i] = p[k];
	}
	return total;
}

TK_SIMD_INLINE double across(const tk_simd_f64 *x)
{
	return (*x)[0] + (*x)[1] + (*x)[2] + (*x)[3];
}

/* part[i] becomes 1 / probability of all points, from the values at i. */
TK_SIMD_INLINE void count_states(
        size_t count, const struct rows *w, double *part, struct tk_regime_counts *c)
{
	tk_simd_f64 state[TK_REGIME_STATES_MAX] = {{0}}, sum[TK_REGIME_STATES_MAX] = {{0}},
	            square[TK_REGIME_STATES_MAX] = {{0}};

	for (size_t i = 0; i < w->stride; i += TK_SIMD_WIDTH) {
		tk_simd_f64 here[TK_REGIME_STATES_MAX],
		        all = {TK_REGIME_TINY, TK_REGIME_TINY, TK_REGIME_TINY, TK_REGIME_TINY},
		        r = *(const tk_simd_f64 *)(w->r + i);

		for (size_t k = 0; k < count; k++) {
			here[k] = *(const tk_simd_f64 *)(w->before + k * w->stride + i) *
			          *(const tk_simd_f64 *)(w->behind + k * w->stride + i);
			all += here[k];
		}
		all = 1 / all;
		*(tk_simd_f64 *)(part + i) = all;
		for (size_t k = 0; k < count; k++) {
			here[k] *= all;
			state[k] += here[k];
			here[k] *= r;
			sum[k] += here[k];
			square[k] += here[k] * r;
		}
	}
	for (size_t k = 0; k < count; k++) {
		c->state[k] = across(&state[k]);
		c->sum[k] = across(&sum[k]);
		c->square[k] = across(&square[k]);
	}
}

/* Transitions from point i - 1 to i, for i from 1 on: `part` less the scale that came between. */
TK_SIMD_INLINE void count_moves(const struct tk_regime_model *m, size_t count, const struct rows *w,
        double *part, struct tk_regime_counts *c)
{
	for (size_t k = 0; k < count; k++) {
		tk_simd_f64 moves[TK_REGIME_STATES_MAX] = {{0}};

		for (size_t i = 0; i + 1 < w->n; i += TK_SIMD_WIDTH) {
			tk_simd_f64 ahead =
			        *(const tk_simd_f64 *)(w->density + k * w->stride + i + 1) *
			        *(const tk_simd_f64 *)(w->behind + k * w->stride + i + 1) *
			        *(const tk_simd_f64 *)(part + i + 1) *
			        *(const tk_simd_f64 *)(w->scale + i + 1);

			for (size_t j = 0; j < count; j++)
				moves[j] += *(const tk_simd_f64 *)(w->before + j * w->stride + i) *
				            ahead;
		}
		for (size_t j = 0; j < count; j++)
			c->to[j][k] = across(&moves[j]) * m->to[j][k];
	}
}

/* The results of work(m, count, ...) with a constant count, so that work becomes straight code. */
#define SPECIALISE(work, m, ...) \
	switch ((m)->count) { \
	case 2: \
		return work(m, 2, __VA_ARGS__); \
	case 3: \
		return work(m, 3, __VA_ARGS__); \
	default: \
		return work(m, TK_REGIME_STATES_MAX, __VA_ARGS__); \
	}

TK_SIMD_CLONES double tk_regime_smooth(
        const struct tk_regime_model *m, const double *r, size_t n, double *work)
{
	const struct rows w = rows_of(work, n);

	fill_rows(&w, r);
	set_densities(m, &w);
	SPECIALISE(recur, m, &w)
}

TK_SIMD_INLINE void count_all(const struct tk_regime_model *m, size_t count, const struct rows *w,
        struct tk_regime_counts *c)
{
	double *part = w->r + w->stride;

	memset(c, 0, sizeof *c);
	count_states(count, w, part, c);
	count_moves(m, count, w, part, c);
}

TK_SIMD_CLONES void tk_regime_count(
        const struct tk_regime_model *m, size_t n, double *work, struct tk_regime_counts *c)
{
	const struct rows w = rows_of(work, n);

	SPECIALISE(count_all, m, &w, c)
}

/* ---- groups of four wandering parts at once ---- */

/* Of each of four chains. */
struct wander {
	tk_simd_f64 phi, innovation, variance_of_normal, scale_of_spike; /* of the chain */
	tk_simd_f64 normal, spike, x, variance;                          /* what is believed */
};

static struct wander start_wander(const struct tk_regime_model *m)
{
	struct wander w;

	for (int k = 0; k < TK_SIMD_WIDTH; k++) {
		w.phi[k] = m[k].phi;
		w.variance[k] = m[k].drift_sd * m[k].drift_sd;
		w.innovation[k] = w.variance[k] * (1 - m[k].phi * m[k].phi);
		w.variance_of_normal[k] = m[k].sd[0] * m[k].sd[0];
		w.scale_of_spike[k] = m[k].sd[1];
		w.normal[k] = m[k].share[0];
		w.spike[k] = m[k].share[1];
		w.x[k] = 0;
	}
	return w;
}

TK_SIMD_INLINE void root(tk_simd_f64 *x)
{
	for (int k = 0; k < TK_SIMD_WIDTH; k++)
		(*x)[k] = sqrt((*x)[k]);
}

/* One point further; *likelihood is multiplied by that of the point. */
TK_SIMD_INLINE void wander_on(
        struct wander *w, const struct tk_regime_model *m, double y, tk_simd_f64 *likelihood)
{
	tk_simd_f64 x = w->phi * w->x, variance = w->phi * w->phi * w->variance + w->innovation,
	            miss = y - x, precision = 1 / (w->variance_of_normal + variance),
	            width = precision, density, gain, step, moved, normal, spike;
	tk_simd_i64 jumps;

	density = -0.5 * miss * miss * precision;
	tk_simd_exp(&density);
	root(&width);
	density *= width * (1 / TK_REGIME_SQRT_2PI);
	normal = (w->normal * m->to[0][0] + w->spike * m->to[1][0]) * density;
	spike = (w->normal * m->to[0][1] + w->spike * m->to[1][1]) * M_1_PI * w->scale_of_spike /
	        (w->scale_of_spike * w->scale_of_spike + miss * miss);
	density = normal + spike; /* never 0: the spike reaches everywhere */
	*likelihood *= density;
	w->normal = normal / density;
	w->spike = spike / density;
	gain = variance * precision;
	step = gain * miss;
	moved = w->normal * step;
	jumps = w->spike > 0.5;
	w->variance = w->normal * ((1 - gain) * variance + (step - moved) * (step - moved)) +
	              w->spike * (variance + moved * moved) +
	              (tk_simd_f64)((tk_simd_i64)(miss * miss * 0.5) & jumps);
	w->x = x + moved;
}

TK_SIMD_CLONES void tk_regime_drift_logliks(
        const struct tk_regime_model *m, size_t groups, const double *r, size_t n, double *loglik)
{
	struct wander w[TK_REGIME_GROUPS_MAX];
	tk_simd_f64 likelihood[TK_REGIME_GROUPS_MAX];

	for (size_t g = 0; g < groups; g++) {
		w[g] = start_wander(m + g * TK_SIMD_WIDTH);
		likelihood[g] = (tk_simd_f64){1, 1, 1, 1};
	}
	for (size_t k = 0; k < groups * TK_SIMD_WIDTH; k++)
		loglik[k] = 0;
	for (size_t i = 0; i < n; i++) {
		for (size_t g = 0; g < groups; g++)
			wander_on(&w[g], m + g * TK_SIMD_WIDTH, r[i], &likelihood[g]);
		if (i % TK_REGIME_RESCALE != TK_REGIME_RESCALE - 1 && i + 1 < n)
			continue;
		for (size_t k = 0; k < groups * TK_SIMD_WIDTH; k++) {
			loglik[k] += log(fmax(
			        likelihood[k / TK_SIMD_WIDTH][k % TK_SIMD_WIDTH], TK_REGIME_TINY));
			likelihood[k / TK_SIMD_WIDTH][k % TK_SIMD_WIDTH] = 1;
		}
	}
}
