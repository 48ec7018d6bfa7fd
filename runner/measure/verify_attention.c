/* Verifies attention by rows against the reference: the first and the last one, every batch entry
 * and every kv head, and a seeded choice of others. The backward pass by rows of dQ, dK and dV. The
 * tolerance of a row follows from its own softmax weights: docs/explanation/verification.md. */
#include "base/base.h"
#include "element.h"
#include "measure/verify.h"
#include "reference.h"
#include <math.h>
#include <pthread.h>

#define ROW_COST_MAX 134217728.0 /* 2^27 multiply-adds for rows beyond the mandatory ones */
#define ROWS_MAX 256

/* ---- rows ---- */

/* One query row: batch entry, kv head, head, row. */
struct place {
	int64_t b, kv, h, i;
};

/* The rows to check, shared by the threads; each thread collects its own result. */
struct rows {
	const struct tk_attention *attention; /* exactly one of attention and nsa is set */
	const struct tk_nsa *nsa;
	const struct tk_tensor *t;
	struct place *places;
	int64_t keys; /* maximum of a row */
	/* of a backward pass: the first places are of dQ, the others of dK and dV */
	int64_t queries;
	/* of some of the places; false: no memory is left */
	bool (*check)(
	        const struct rows *r, struct tk_verify_state *v, int64_t first, int64_t count);
	pthread_mutex_t lock; /* protects the members below */
	struct tk_verify_state *v;
	bool no_memory;
};

/* Row n of the checked ones: first and last rows of all batch entries and kv heads, then random
 * ones. */
static struct place choose_row(struct tk_verify_state *v, int64_t n, int64_t batches, int64_t heads,
        int64_t kv_heads, int64_t rows)
{
	int64_t must = batches > kv_heads ? batches : kv_heads, group = heads / kv_heads;
	struct place at = {
	        n % batches, n % kv_heads, 0, (int64_t)(tk_verify_next_random(v) % (uint64_t)rows)};
	if (n >= must + 2) {
		at.b = (int64_t)(tk_verify_next_random(v) % (uint64_t)batches);
		at.kv = (int64_t)(tk_verify_next_random(v) % (uint64_t)kv_heads);
	} else if (n % 3 < 2) {
		at.i = n % 3 == 0 ? 0 : rows - 1;
	}
	at.h = at.kv * group + (int64_t)(tk_verify_next_random(v) % (uint64_t)group);
	return at;
}

/* Number of rows to check when each costs `cost` multiply-adds. */
static int64_t count_rows(
        int64_t batches, int64_t kv_heads, int64_t heads, int64_t rows, double cost)
{
	double must = (double)(batches > kv_heads ? batches : kv_heads) + 2,
	       can = fmin(ROW_COST_MAX / cost, ROWS_MAX);
	double all = (double)batches * (double)heads * (double)rows * 2;
	return (int64_t)fmax(must, fmin(can, all));
}

/* Adds the result of one thread to the whole. */
static void merge(struct tk_verify_state *whole, const struct tk_verify_state *part)
{
	struct tk_verify_result *to = whole->out;
	if (part->worst > whole->worst) {
		whole->worst = part->worst;
		to->max_error = part->out->max_error;
		to->tolerance = part->out->tolerance;
		if (part->out->detail[0])
			snprintf(to->detail, sizeof to->detail, "%s", part->out->detail);
	}
	to->checked += part->out->checked;
	to->passed &= part->out->passed;
}

static void check_part(void *arg, int64_t first, int64_t count)
{
	struct rows *all = arg;
	struct tk_verify_result numbers = {.passed = true};
	struct tk_verify_state v = {.out = &numbers, .worst = -1};
	bool good = all->check(all, &v, first, count);
	pthread_mutex_lock(&all->lock);
	merge(all->v, &v);
	all->no_memory |= !good;
	pthread_mutex_unlock(&all->lock);
}

/* Frees the places. */
static int check_rows(struct rows *all, int64_t count, struct tk_error *err)
{
	snprintf(all->v->out->method, sizeof all->v->out->method, "rows");
	pthread_mutex_init(&all->lock, NULL);
	tk_parallel_for(count, 1, check_part, all);
	pthread_mutex_destroy(&all->lock);
	free(all->places);
	return all->no_memory ? tk_fail(err, TK_ENOMEM, "out of memory for verification") : TK_OK;
}

/* square: per value, the sum of squares of independent errors; bound: the sum of errors that may
 * have the same sign. `where`: in the message. */
static void compare_row(struct tk_verify_state *v, const struct tk_tensor *t, int64_t start,
        int64_t width, const double *want, const double *square, const double *bound,
        const char *where)
{
	double u = tk_element_roundoff(t->dtype), norm = 0;
	for (int64_t x = 0; x < width; x++)
		norm += want[x] * want[x];
	norm = sqrt(norm / (double)width);
	for (int64_t x = 0; x < width; x++) {
		double got = tk_element_load(t->dtype, t->data, start + x);
		double tolerance = 1.01 * u * fmax(fabs(want[x]), fabs(got)) + 6 * sqrt(square[x]) +
		                   bound[x] + 0x1p-25 * (t->dtype == TK_F16);
		tk_verify_add_error(v, fabs(got - want[x]), tolerance, norm,
		        "%s, value %lld: got %g, expected %g", where, (long long)x, got, want[x]);
	}
	v->out->checked++;
}

/* ---- the forward pass ---- */

/* The rows of V that one query row sees. */
struct values {
	const struct tk_tensor *v;
	int64_t rows, heads, width, b, head;
};

struct tolerance {
	double *square; /* per output value: sum of squares of the weights' independent errors */
	double *bound;  /* per output value: sum of errors that may have the same sign */
	double *line;
	double lse; /* the same as `square`, for the log-sum-exp */
	uint32_t dtype;
};

static struct tolerance tolerance_new(uint32_t dtype, int64_t width)
{
	return (struct tolerance){tk_calloc((size_t)width, sizeof(double)),
	        tk_calloc((size_t)width, sizeof(double)), tk_calloc((size_t)width, sizeof(double)),
	        0, dtype};
}

static void tolerance_free(struct tolerance *e)
{
	free(e->square);
	free(e->bound);
	free(e->line);
}

static void tolerance_clear(struct tolerance *e, int64_t width)
{
	for (int64_t x = 0; x < width; x++)
		e->square[x] = e->bound[x] = 0;
	e->lse = 0;
}

/* Relative error of a weight: its own rounding and that of its score, which exp turns into a
 * factor, in the type of the tensors (kernels may keep both in it), and that of exp itself: 2^-20
 * is allowed in f32. */
static void tolerance_add(
        struct tolerance *e, const struct tk_reference_row *row, const struct values *at)
{
	double u = tk_element_roundoff(e->dtype),
	       floor_error = e->dtype == TK_F64 ? 0x1p-44 : 0x1p-20;
	if (e->dtype == TK_F32 || e->dtype == TK_TF32)
		u = e->dtype == TK_F32 ? 8 * u : u;
	for (int64_t j = 0; j < row->count; j++) {
		double relative = u * (1 + fabs(row->score[j])), p = row->weight[j];
		tk_elements_load(at->v->dtype, at->v->data,
		        ((at->b * at->rows + row->key[j]) * at->heads + at->head) * at->width,
		        at->width, e->line);
		for (int64_t x = 0; x < at->width; x++) {
			double reach = p * (fabs(e->line[x]) + fabs(row->out[x]));
			e->square[x] += relative * relative * reach * reach;
			e->bound[x] += floor_error * reach;
		}
		e->lse += relative * relative * p * p;
	}
}

static void attention_row(struct tk_verify_state *v, const struct tk_attention *p,
        const struct tk_tensor *t, struct place at, struct tk_reference_row *row,
        struct tolerance *e)
{
	char where[96];
	struct values values = {&t[TK_T_V], p->skv, p->hkv, p->dv, at.b, at.kv};
	snprintf(where, sizeof where, "row %lld of head %lld, batch %lld", (long long)at.i,
	        (long long)at.h, (long long)at.b);
	tk_reference_attention_row(p, t, at.b, at.h, at.i, row);
	tolerance_clear(e, p->dv);
	tolerance_add(e, row, &values);
	compare_row(v, &t[TK_T_O], ((at.b * p->sq + at.i) * p->h + at.h) * p->dv, p->dv, row->out,
	        e->square, e->bound, where);
	if (!t[TK_T_LSE].data || row->count == 0)
		return;
	double got = tk_element_load(
	        t[TK_T_LSE].dtype, t[TK_T_LSE].data, (at.b * p->h + at.h) * p->sq + at.i);
	tk_verify_add_error(v, fabs(got - row->lse),
	        0x1p-18 * (1 + fabs(row->lse)) + 6 * sqrt(e->lse), 1 + fabs(row->lse),
	        "log-sum-exp of %s: got %g, expected %g", where, got, row->lse);
}

static void nsa_row(struct tk_verify_state *v, const struct tk_nsa *p, const struct tk_tensor *t,
        struct place at, struct tk_reference_row *row, double *want, struct tolerance *e)
{
	char where[96];
	struct values values = {&t[TK_T_V], p->s, p->hkv, p->d, at.b, at.kv};
	snprintf(where, sizeof where, "row %lld of head %lld, batch %lld", (long long)at.i,
	        (long long)at.h, (long long)at.b);
	tolerance_clear(e, p->d);
	for (int64_t x = 0; x < p->d; x++)
		want[x] = 0;
	for (int branch = TK_REFERENCE_SELECTED; branch <= TK_REFERENCE_WINDOW; branch++) {
		tk_reference_nsa_row(p, t, at.b, at.h, at.i, (enum tk_reference_branch)branch, row);
		tolerance_add(e, row, &values);
		for (int64_t x = 0; x < p->d; x++) {
			want[x] += row->out[x];
			/* a kernel may round each branch to the result's type before it adds
			 * them */
			e->bound[x] += tk_element_roundoff(p->dtype) * fabs(row->out[x]);
		}
	}
	compare_row(v, &t[TK_T_NSA_O], ((at.b * p->s + at.i) * p->h + at.h) * p->d, p->d, want,
	        e->square, e->bound, where);
}

static bool check_forward(
        const struct rows *all, struct tk_verify_state *v, int64_t first, int64_t count)
{
	int64_t width = all->nsa ? all->nsa->d : all->attention->dv,
	        reach = all->nsa || width > all->attention->d ? width : all->attention->d;
	struct tk_reference_row row = {0};
	struct tolerance e =
	        tolerance_new(all->nsa ? all->nsa->dtype : all->attention->dtype, width);
	double *want = tk_calloc((size_t)width, sizeof *want);
	bool good = !tk_reference_row_init(&row, all->keys, reach);
	for (int64_t n = first; good && n < first + count; n++)
		if (all->nsa)
			nsa_row(v, all->nsa, all->t, all->places[n], &row, want, &e);
		else
			attention_row(v, all->attention, all->t, all->places[n], &row, &e);
	free(want);
	tk_reference_row_free(&row);
	tolerance_free(&e);
	return good;
}

static int check_forward_rows(struct rows *all, int64_t count, int64_t batches, int64_t heads,
        int64_t kv_heads, int64_t length, struct tk_error *err)
{
	all->check = check_forward;
	all->places = tk_calloc((size_t)count, sizeof *all->places);
	for (int64_t n = 0; n < count; n++)
		all->places[n] = choose_row(all->v, n, batches, heads, kv_heads, length);
	return check_rows(all, count, err);
}

int tk_verify_attention(struct tk_verify_state *v, const struct tk_attention *p,
        const struct tk_tensor *t, struct tk_error *err)
{
	struct rows all = {.attention = p, .t = t, .v = v, .keys = p->skv};
	int64_t count =
	        count_rows(p->b, p->hkv, p->h, p->sq, (double)p->skv * (double)(p->d + 2 * p->dv));
	return check_forward_rows(&all, count, p->b, p->h, p->hkv, p->sq, err);
}

int tk_verify_nsa(struct tk_verify_state *v, const struct tk_nsa *p, const struct tk_tensor *t,
        struct tk_error *err)
{
	struct rows all = {.nsa = p, .t = t, .v = v, .keys = tk_reference_nsa_max_keys(p)};
	int64_t count = count_rows(
	        p->b, p->hkv, p->h, p->s, (double)(all.keys + p->window) * 3 * (double)p->d);
	return check_forward_rows(&all, count, p->b, p->h, p->hkv, p->s, err);
}

/* ---- the backward pass ---- */

/* A row of a gradient: expected values and what a correct kernel's error may be. */
struct gradient {
	double *want;
	double *square; /* sum of squares of independent errors */
	double *bound;  /* sum of errors that may have the same sign */
	double *part;   /* sum of the current head */
	int64_t width;
};

static struct gradient gradient_new(int64_t width)
{
	size_t n = (size_t)width;
	return (struct gradient){.want = tk_calloc(n, sizeof(double)),
	        .square = tk_calloc(n, sizeof(double)),
	        .bound = tk_calloc(n, sizeof(double)),
	        .part = tk_calloc(n, sizeof(double)),
	        .width = width};
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

static void compare_gradient(struct tk_verify_state *v, const struct tk_tensor *t, int64_t start,
        const struct gradient *g, const char *where)
{
	compare_row(v, t, start, g->width, g->want, g->square, g->bound, where);
}

struct backward {
	const struct tk_attention *p;
	const struct tk_tensor *t;
	struct tk_reference_pair pair;
	struct gradient dq, dk, dv;
};

static void check_query(struct tk_verify_state *v, struct backward *c, struct place at)
{
	const struct tk_attention *p = c->p;
	char where[96];
	snprintf(where, sizeof where, "%s of row %lld of head %lld, batch %lld", c->t[TK_T_DQ].name,
	        (long long)at.i, (long long)at.h, (long long)at.b);
	gradient_clear(&c->dq);
	tk_reference_pair_query(p, c->t, at.b, at.h, at.i, &c->pair);
	for (int64_t j = 0; j < p->skv && tk_reference_pair_visible(p, at.i, j); j++) {
		tk_reference_pair_key(p, c->t, at.b, at.kv, j, &c->pair);
		tk_reference_pair_compute(p, &c->pair);
		gradient_add(
		        &c->dq, p, &c->pair, c->pair.d_score, c->pair.reach, p->scale, c->pair.k);
	}
	gradient_end_head(&c->dq, p->dtype, true);
	compare_gradient(
	        v, &c->t[TK_T_DQ], ((at.b * p->sq + at.i) * p->h + at.h) * p->d, &c->dq, where);
}

static void check_key(struct tk_verify_state *v, struct backward *c, struct place at)
{
	const struct tk_attention *p = c->p;
	int64_t group = p->h / p->hkv, row = (at.b * p->skv + at.i) * p->hkv + at.kv;
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
	const struct gradient *results[] = {&c->dk, &c->dv};
	for (int k = 0; k < 2; k++) {
		const struct tk_tensor *t = &c->t[k ? TK_T_DV : TK_T_DK];
		char where[96];
		snprintf(where, sizeof where, "%s of key %lld of kv head %lld, batch %lld", t->name,
		        (long long)at.i, (long long)at.kv, (long long)at.b);
		compare_gradient(v, t, row * results[k]->width, results[k], where);
	}
}

static bool check_backward(
        const struct rows *all, struct tk_verify_state *v, int64_t first, int64_t count)
{
	const struct tk_attention *p = all->attention;
	struct backward c = {.p = p,
	        .t = all->t,
	        .dq = gradient_new(p->d),
	        .dk = gradient_new(p->d),
	        .dv = gradient_new(p->dv)};
	bool good = !tk_reference_pair_init(&c.pair, p);
	for (int64_t n = first; good && n < first + count; n++)
		if (n < all->queries)
			check_query(v, &c, all->places[n]);
		else
			check_key(v, &c, all->places[n]);
	tk_reference_pair_free(&c.pair);
	gradient_free(&c.dq);
	gradient_free(&c.dk);
	gradient_free(&c.dv);
	return good;
}

int tk_verify_attention_backward(struct tk_verify_state *v, const struct tk_attention *p,
        const struct tk_tensor *t, struct tk_error *err)
{
	double pair_cost = 4 * (double)(p->d + p->dv), group = (double)(p->h / p->hkv);
	int64_t queries = count_rows(p->b, p->hkv, p->h, p->sq, (double)p->skv * pair_cost);
	int64_t keys = count_rows(p->b, p->hkv, p->hkv, p->skv, group * (double)p->sq * pair_cost);
	struct rows all = {.attention = p,
	        .t = t,
	        .places = tk_calloc((size_t)(queries + keys), sizeof *all.places),
	        .queries = queries,
	        .check = check_backward,
	        .v = v};
	for (int64_t n = 0; n < queries; n++)
		all.places[n] = choose_row(v, n, p->b, p->h, p->hkv, p->sq);
	for (int64_t n = 0; n < keys; n++)
		all.places[queries + n] = choose_row(v, n, p->b, p->h, p->hkv, p->skv);
	return check_rows(&all, queries + keys, err);
}
