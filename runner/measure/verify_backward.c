/* Verifies the backward pass of attention by rows of dQ, dK and dV against the reference. As in the
 * forward pass, the tolerance of a row follows from its own terms:
 * docs/explanation/verification.md. */
#include "base/error.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "element.h"
#include "measure/verify.h"
#include "reference.h"
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

/* A row of a gradient: expected values and what a correct kernel's error may be. */
struct gradient {
	double *want;
	double *square; /* sum of squares of independent errors */
	double *bound;  /* sum of errors that may have the same sign */
	double *part;   /* sum of the current head */
	int64_t width;
};

static int gradient_init(struct gradient *g, int64_t width, struct tk_error *err)
{
	size_t n = (size_t)width;
	*g = (struct gradient){.want = tk_calloc(n, sizeof(double)),
	        .square = tk_calloc(n, sizeof(double)),
	        .bound = tk_calloc(n, sizeof(double)),
	        .part = tk_calloc(n, sizeof(double)),
	        .width = width};
	if (g->want && g->square && g->bound && g->part)
		return TK_OK;
	return tk_fail(err, TK_ENOMEM, "out of memory for verification");
}

static void gradient_free(struct gradient *g)
{
	free(g->want);
	free(g->square);
	free(g->bound);
	free(g->part);
}

static void gradient_clear(struct gradient *g)
{
	for (int64_t x = 0; x < g->width; x++)
		g->want[x] = g->square[x] = g->bound[x] = g->part[x] = 0;
}

/* Relative error of a weight or its gradient for each unit of 1 + |score|. */
static double precision(uint32_t dtype)
{
	double u = tk_element_roundoff(dtype);
	return dtype == TK_F32 ? 8 * u : u;
}

/* Adds `factor` * vector. `reach`: what the factor's error is relative to. The factor may be
 * rounded to the tensors' type and underflow there. */
static void gradient_add(struct gradient *g, const struct tk_attention *p,
        const struct tk_reference_pair *r, double factor, double reach, double outer,
        const double *vector)
{
	double relative = precision(p->dtype) * (1 + fabs(r->score));
	double error = outer * (relative * reach + (p->dtype == TK_F16 ? 0x1p-25 : 0));
	double floor_error = outer * reach * (p->dtype == TK_F64 ? 0x1p-44 : 0x1p-20);
	for (int64_t x = 0; x < g->width; x++) {
		g->part[x] += outer * factor * vector[x];
		g->square[x] += error * error * vector[x] * vector[x];
		g->bound[x] += floor_error * fabs(vector[x]);
	}
}

/* Ends a head: kernels may round its sum before they add up the heads of a group. */
static void gradient_end_head(struct gradient *g, uint32_t dtype, bool alone)
{
	double u = alone ? 0 : tk_element_roundoff(dtype),
	       tiny = !alone && dtype == TK_F16 ? 0x1p-25 : 0;
	for (int64_t x = 0; x < g->width; x++) {
		g->square[x] += u * u * g->part[x] * g->part[x] + tiny * tiny;
		g->want[x] += g->part[x];
		g->part[x] = 0;
	}
}

static void compare_row(struct tk_verify_state *v, const struct tk_tensor *t, int64_t start,
        const struct gradient *g, const char *where)
{
	double u = tk_element_roundoff(t->dtype), norm = 0;
	for (int64_t x = 0; x < g->width; x++)
		norm += g->want[x] * g->want[x];
	norm = sqrt(norm / (double)g->width);
	for (int64_t x = 0; x < g->width; x++) {
		double got = tk_element_load(t->dtype, t->data, start + x), want = g->want[x];
		double tolerance = 1.01 * u * fmax(fabs(want), fabs(got)) + 6 * sqrt(g->square[x]) +
		                   g->bound[x] + 0x1p-25 * (t->dtype == TK_F16);
		tk_verify_add_error(v, fabs(got - want), tolerance, norm,
		        "%s of %s, value %lld: got %g, expected %g", t->name, where, (long long)x,
		        got, want);
	}
	v->out->checked++;
}

struct backward {
	const struct tk_attention *p;
	const struct tk_tensor *t;
	struct tk_reference_pair pair;
	struct gradient dq, dk, dv;
};

static void check_query(struct tk_verify_state *v, struct backward *c, struct tk_verify_row at)
{
	const struct tk_attention *p = c->p;
	char where[96];
	snprintf(where, sizeof where, "row %lld of head %lld, batch %lld", (long long)at.i,
	        (long long)at.h, (long long)at.b);
	gradient_clear(&c->dq);
	tk_reference_pair_query(p, c->t, at.b, at.h, at.i, &c->pair);
	for (int64_t j = 0; j < p->skv && tk_reference_pair_visible(p, at.i, j); j++) {
		tk_reference_pair_key(p, c->t, at.b, at.kv, j, &c->pair);
		tk_reference_pair_compute(p, &c->pair);
		gradient_add(
		        &c->dq, p, &c->pair, c->pair.d_score, c->pair.reach, p->scale, c->pair.k);
	}
	gradient_end_head(&c->dq, p->dtype, true);
	compare_row(v, &c->t[TK_T_DQ], ((at.b * p->sq + at.i) * p->h + at.h) * p->d, &c->dq, where);
}

static void check_key(struct tk_verify_state *v, struct backward *c, struct tk_verify_row at)
{
	const struct tk_attention *p = c->p;
	int64_t group = p->h / p->hkv, row = (at.b * p->skv + at.i) * p->hkv + at.kv;
	char where[96];
	snprintf(where, sizeof where, "key %lld of kv head %lld, batch %lld", (long long)at.i,
	        (long long)at.kv, (long long)at.b);
	gradient_clear(&c->dk);
	gradient_clear(&c->dv);
	tk_reference_pair_key(p, c->t, at.b, at.kv, at.i, &c->pair);
	for (int64_t h = at.kv * group; h < (at.kv + 1) * group; h++) {
		for (int64_t i = 0; i < p->sq; i++) {
			if (!tk_reference_pair_visible(p, i, at.i))
				continue;
			tk_reference_pair_query(p, c->t, at.b, h, i, &c->pair);
			tk_reference_pair_compute(p, &c->pair);
			gradient_add(&c->dk, p, &c->pair, c->pair.d_score, c->pair.reach, p->scale,
			        c->pair.q);
			gradient_add(&c->dv, p, &c->pair, c->pair.weight, c->pair.weight, 1,
			        c->pair.d_o);
		}
		gradient_end_head(&c->dk, p->dtype, group == 1);
		gradient_end_head(&c->dv, p->dtype, group == 1);
	}
	compare_row(v, &c->t[TK_T_DK], row * p->d, &c->dk, where);
	compare_row(v, &c->t[TK_T_DV], row * p->dv, &c->dv, where);
}

/* The rows to check, first those of dQ, then those of dK and dV, shared by the threads. */
struct rows {
	const struct tk_attention *p;
	const struct tk_tensor *t;
	struct tk_verify_row *places;
	int64_t queries;
	pthread_mutex_t lock; /* protects the members below */
	struct tk_verify_state *v;
	bool no_memory;
};

static void check_part(void *arg, int64_t first, int64_t count)
{
	struct rows *all = arg;
	const struct tk_attention *p = all->p;
	struct tk_verify_result numbers = {.passed = true};
	struct tk_verify_state v = {.out = &numbers, .worst = -1};
	struct backward c = {.p = p, .t = all->t};
	bool good = !gradient_init(&c.dq, p->d, NULL) && !gradient_init(&c.dk, p->d, NULL) &&
	            !gradient_init(&c.dv, p->dv, NULL) && !tk_reference_pair_init(&c.pair, p);
	for (int64_t n = first; good && n < first + count; n++)
		if (n < all->queries)
			check_query(&v, &c, all->places[n]);
		else
			check_key(&v, &c, all->places[n]);
	pthread_mutex_lock(&all->lock);
	tk_verify_merge(all->v, &v);
	all->no_memory |= !good;
	pthread_mutex_unlock(&all->lock);
	tk_reference_pair_free(&c.pair);
	gradient_free(&c.dq);
	gradient_free(&c.dk);
	gradient_free(&c.dv);
}

int tk_verify_attention_backward(struct tk_verify_state *v, const struct tk_attention *p,
        const struct tk_tensor *t, struct tk_error *err)
{
	double pair_cost = 4 * (double)(p->d + p->dv), group = (double)(p->h / p->hkv);
	int64_t queries =
	        tk_verify_row_count(p->b, p->hkv, p->h, p->sq, (double)p->skv * pair_cost);
	int64_t keys = tk_verify_row_count(
	        p->b, p->hkv, p->hkv, p->skv, group * (double)p->sq * pair_cost);
	struct rows all = {.p = p, .t = t, .queries = queries, .v = v};
	snprintf(v->out->method, sizeof v->out->method, "rows");
	if (!(all.places = tk_calloc((size_t)(queries + keys), sizeof *all.places)))
		return tk_fail(err, TK_ENOMEM, "out of memory for verification");
	for (int64_t n = 0; n < queries; n++)
		all.places[n] = tk_verify_choose_row(v, n, p->b, p->h, p->hkv, p->sq);
	for (int64_t n = 0; n < keys; n++)
		all.places[queries + n] = tk_verify_choose_row(v, n, p->b, p->h, p->hkv, p->skv);
	pthread_mutex_init(&all.lock, NULL);
	tk_parallel_for(queries + keys, 1, check_part, &all);
	pthread_mutex_destroy(&all.lock);
	free(all.places);
	return all.no_memory ? tk_fail(err, TK_ENOMEM, "out of memory for verification") : TK_OK;
}
