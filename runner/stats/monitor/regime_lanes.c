/* Forward and backward over several hidden Markov chains at once: see regime_lanes.h. The formulas
 * are those of regime_em.c. */
#include "stats/monitor/regime_lanes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "stats/monitor/regime_constants.h"
#include "stats/monitor/simd.h"

#define STATES TK_REGIME_STATES_MAX
#define PHASES 4 /* sums that regime_em.c keeps: of every fourth point */
#define BLOCK 16 /* points that are counted together; a multiple of PHASES */

/* A number of each series. Where the processor has vectors of four, the compiler takes two. */
typedef double lanes __attribute__((vector_size(TK_REGIME_LANES * sizeof(double)), may_alias));
typedef int64_t lane_bits __attribute__((vector_size(TK_REGIME_LANES * sizeof(int64_t))));

TK_SIMD_DEFINE_EXP(exp_lanes, lanes, lane_bits)

/* As TK_SIMD_CLONES, and for vectors of eight. Nothing may be contracted to fused operations: see
 * CMakeLists.txt. */
#define LANES_CLONES TK_SIMD_TARGETS("avx512f", "avx2", "default")

/* Rows of `stride` elements; those from n on are zero. A copy is local to a function, so that no
 * store to a row can change it. */
struct rows {
	size_t n, stride;
	lanes *r, *scale, *part;
	lanes *density, *before, *behind; /* [k * stride + i]: of point i in state k */
};

struct tk_regime_lanes {
	lanes share[STATES], to[STATES][STATES], offset[STATES];
	lanes peak[STATES], by[STATES]; /* of a normal density */
	lanes spike_scale, spike_square;
	struct rows rows;
	lanes memory[];
};

struct tk_regime_lanes *tk_regime_lanes_new(size_t n)
{
	const size_t stride = (n + PHASES - 1) / PHASES * PHASES + PHASES,
	             bytes = sizeof(struct tk_regime_lanes) +
	                     (3 + 3 * STATES) * stride * sizeof(lanes);
	struct tk_regime_lanes *w = aligned_alloc(sizeof(lanes), bytes);

	if (!w)
		return NULL;
	memset(w, 0, bytes);
	w->rows = (struct rows){.n = n,
	        .stride = stride,
	        .r = w->memory,
	        .scale = w->memory + stride,
	        .part = w->memory + 2 * stride,
	        .density = w->memory + 3 * stride,
	        .before = w->memory + (3 + STATES) * stride,
	        .behind = w->memory + (3 + 2 * STATES) * stride};
	return w;
}

void tk_regime_lanes_free(struct tk_regime_lanes *w)
{
	free(w);
}

static double *in_lane(lanes *x, size_t lane)
{
	return (double *)(void *)x + lane;
}

void tk_regime_lanes_set_points(struct tk_regime_lanes *w, size_t lane, const double *r)
{
	for (size_t i = 0; i < w->rows.n; i++)
		*in_lane(&w->rows.r[i], lane) = r[i];
}

void tk_regime_lanes_set_model(
        struct tk_regime_lanes *w, size_t lane, const struct tk_regime_model *m)
{
	const size_t spike = m->count - 1;

	for (size_t k = 0; k < m->count; k++) {
		*in_lane(&w->share[k], lane) = m->share[k];
		for (size_t j = 0; j < m->count; j++)
			*in_lane(&w->to[k][j], lane) = m->to[k][j];
	}
	for (size_t k = 0; k < spike; k++) {
		*in_lane(&w->offset[k], lane) = m->offset[k];
		*in_lane(&w->peak[k], lane) = 1 / (TK_REGIME_SQRT_2PI * m->sd[k]);
		*in_lane(&w->by[k], lane) = -0.5 / (m->sd[k] * m->sd[k]);
	}
	*in_lane(&w->spike_scale, lane) = M_1_PI * m->sd[spike];
	*in_lane(&w->spike_square, lane) = m->sd[spike] * m->sd[spike];
}

TK_SIMD_INLINE void set_densities(
        const struct tk_regime_lanes *w, const struct rows rows, size_t states)
{
	const size_t spike = states - 1;

	for (size_t i = 0; i < rows.n; i++) {
		const lanes r = rows.r[i];

		rows.density[spike * rows.stride + i] = w->spike_scale / (w->spike_square + r * r);
		for (size_t k = 0; k < spike; k++) {
			lanes x = r - w->offset[k];

			x = w->by[k] * x * x;
			exp_lanes(&x);
			rows.density[k * rows.stride + i] = w->peak[k] * x;
		}
	}
}

/* Of the states, at least TK_REGIME_TINY. */
TK_SIMD_INLINE void sum_of(const lanes *x, size_t states, lanes *out)
{
	const lanes least = (lanes){0} + TK_REGIME_TINY;
	lanes sum = x[0];
	lane_bits large;

	for (size_t k = 1; k < states; k++)
		sum += x[k];
	large = sum > least;
	*out = (lanes)(((lane_bits)sum & large) | ((lane_bits)least & ~large));
}

/* One step forward: includes point i in p. */
TK_SIMD_INLINE void step_forward(
        const struct tk_regime_lanes *w, const struct rows rows, size_t states, size_t i, lanes *p)
{
	lanes next[STATES];

	for (size_t k = 0; k < states; k++) {
		next[k] = p[0] * w->to[0][k];
		for (size_t j = 1; j < states; j++)
			next[k] += p[j] * w->to[j][k];
		next[k] *= rows.density[k * rows.stride + i];
	}
	for (size_t k = 0; k < states; k++)
		p[k] = next[k];
}

/* One step backward: p becomes the probability of all points after i - 1. */
TK_SIMD_INLINE void step_back(
        const struct tk_regime_lanes *w, const struct rows rows, size_t states, size_t i, lanes *p)
{
	lanes ahead[STATES];

	for (size_t k = 0; k < states; k++)
		ahead[k] = rows.density[k * rows.stride + i] * p[k];
	for (size_t j = 0; j < states; j++) {
		p[j] = w->to[j][0] * ahead[0];
		for (size_t k = 1; k < states; k++)
			p[j] += w->to[j][k] * ahead[k];
	}
}

/* Rescales p and q; *scale: what p was multiplied by. */
TK_SIMD_INLINE void rescale(size_t states, lanes *p, lanes *q, lanes *scale, double *total)
{
	lanes sum, other;

	sum_of(p, states, &sum);
	sum_of(q, states, &other);
	other = 1 / other;
	for (size_t lane = 0; lane < TK_REGIME_LANES; lane++)
		total[lane] += log(sum[lane]);
	*scale = 1 / sum;
	for (size_t k = 0; k < states; k++) {
		p[k] *= *scale;
		q[k] *= other;
	}
}

TK_SIMD_INLINE void recur(
        const struct tk_regime_lanes *w, const struct rows rows, size_t states, double *total)
{
	lanes p[STATES], q[STATES];

	for (size_t k = 0; k < states; k++) {
		p[k] = w->share[k];
		q[k] = (lanes){0} + 1;
	}
	for (size_t i = 0; i < rows.n; i++) {
		const size_t back = rows.n - 1 - i;
		lanes scale = (lanes){0} + 1;

		step_forward(w, rows, states, i, p);
		for (size_t k = 0; k < states; k++)
			rows.behind[k * rows.stride + back] = q[k];
		step_back(w, rows, states, back, q);
		if (i % TK_REGIME_RESCALE == TK_REGIME_RESCALE - 1 || i + 1 == rows.n)
			rescale(states, p, q, &scale, total);
		rows.scale[i] = scale;
		for (size_t k = 0; k < states; k++)
			rows.before[k * rows.stride + i] = p[k];
	}
}

TK_SIMD_INLINE void smooth(struct tk_regime_lanes *w, size_t states, double *loglik)
{
	memset(loglik, 0, TK_REGIME_LANES * sizeof *loglik);
	set_densities(w, w->rows, states);
	recur(w, w->rows, states, loglik);
}

LANES_CLONES void tk_regime_lanes_smooth(
        struct tk_regime_lanes *w, size_t states, double loglik[TK_REGIME_LANES])
{
	if (states == 2)
		smooth(w, 2, loglik);
	else if (states == 3)
		smooth(w, 3, loglik);
	else
		smooth(w, STATES, loglik);
}

/* ---- counts: of every fourth point, as regime_em.c adds them up ---- */

struct sums {
	lanes state[STATES][PHASES], sum[STATES][PHASES], square[STATES][PHASES];
	lanes to[STATES][STATES][PHASES];
};

/* part[i] becomes 1 / probability of all points, from the values at i. */
TK_SIMD_INLINE void find_parts(const struct rows rows, size_t states, size_t from, size_t to)
{
	for (size_t i = from; i < to; i++) {
		lanes all = (lanes){0} + TK_REGIME_TINY;

		for (size_t k = 0; k < states; k++)
			all += rows.before[k * rows.stride + i] * rows.behind[k * rows.stride + i];
		rows.part[i] = 1 / all;
	}
}

/* Of one state. */
TK_SIMD_INLINE void count_state(
        const struct rows rows, size_t k, size_t from, size_t to, struct sums *s)
{
	for (size_t at = 0; at < PHASES; at++) {
		lanes state = s->state[k][at], sum = s->sum[k][at], square = s->square[k][at];

		for (size_t i = from + at; i < to; i += PHASES) {
			lanes here =
			        rows.before[k * rows.stride + i] * rows.behind[k * rows.stride + i];

			here *= rows.part[i];
			state += here;
			here *= rows.r[i];
			sum += here;
			square += here * rows.r[i];
		}
		s->state[k][at] = state;
		s->sum[k][at] = sum;
		s->square[k][at] = square;
	}
}

/* Transitions to one state, from the points [from, to). */
TK_SIMD_INLINE void count_moves(
        const struct rows rows, size_t states, size_t k, size_t from, size_t to, struct sums *s)
{
	for (size_t at = 0; at < PHASES; at++) {
		lanes moves[STATES];

		for (size_t j = 0; j < states; j++)
			moves[j] = s->to[j][k][at];
		for (size_t i = from + at; i < to; i += PHASES) {
			const lanes ahead = rows.density[k * rows.stride + i + 1] *
			                    rows.behind[k * rows.stride + i + 1] *
			                    rows.part[i + 1] * rows.scale[i + 1];

			for (size_t j = 0; j < states; j++)
				moves[j] += rows.before[j * rows.stride + i] * ahead;
		}
		for (size_t j = 0; j < states; j++)
			s->to[j][k][at] = moves[j];
	}
}

static void store_sum(lanes phase[PHASES], double *first, struct tk_regime_counts *c)
{
	const size_t apart = sizeof *c;

	for (size_t lane = 0; lane < TK_REGIME_LANES; lane++)
		*(double *)(void *)((char *)first + lane * apart) =
		        *in_lane(&phase[0], lane) + *in_lane(&phase[1], lane) +
		        *in_lane(&phase[2], lane) + *in_lane(&phase[3], lane);
}

/* In blocks of points that stay in the nearest cache. */
TK_SIMD_INLINE void count_all(const struct rows rows, size_t states, struct sums *s)
{
	const size_t end = rows.stride - PHASES;

	find_parts(rows, states, 0, 1);
	for (size_t from = 0; from < end; from += BLOCK) {
		const size_t to = from + BLOCK < end ? from + BLOCK : end;

		find_parts(rows, states, from + 1, to + 1);
		for (size_t k = 0; k < states; k++) {
			count_state(rows, k, from, to, s);
			count_moves(rows, states, k, from, to, s);
		}
	}
}

LANES_CLONES static void count_blocks(
        const struct tk_regime_lanes *w, size_t states, struct sums *s)
{
	if (states == 2)
		count_all(w->rows, 2, s);
	else if (states == 3)
		count_all(w->rows, 3, s);
	else
		count_all(w->rows, STATES, s);
}

void tk_regime_lanes_count(
        struct tk_regime_lanes *w, size_t states, struct tk_regime_counts c[TK_REGIME_LANES])
{
	struct sums s = {0};

	count_blocks(w, states, &s);
	for (size_t k = 0; k < states; k++) {
		store_sum(s.state[k], &c->state[k], c);
		store_sum(s.sum[k], &c->sum[k], c);
		store_sum(s.square[k], &c->square[k], c);
		for (size_t j = 0; j < states; j++)
			store_sum(s.to[j][k], &c->to[j][k], c);
	}
	for (size_t lane = 0; lane < TK_REGIME_LANES; lane++)
		for (size_t j = 0; j < states; j++)
			for (size_t k = 0; k < states; k++)
				c[lane].to[j][k] *= *in_lane(&w->to[j][k], lane);
}
