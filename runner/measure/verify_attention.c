/* Verifies attention by rows against the reference: the first and the last one, every batch entry
 * and every kv head, and a seeded choice of others. The tolerance of a row follows from its own
 * softmax weights. */
#include "base/error.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "measure/verify.h"
#include "reference.h"
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define ROW_COST_MAX 134217728.0 /* 2^27 multiply-adds for rows beyond the mandatory ones */
#define ROWS_MAX 256

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

static int tolerance_init(struct tolerance *e, uint32_t dtype, int64_t width, struct tk_error *err)
{
	*e = (struct tolerance){tk_calloc((size_t)width, sizeof(double)),
	        tk_calloc((size_t)width, sizeof(double)), tk_calloc((size_t)width, sizeof(double)),
	        0, dtype};
	return e->square && e->bound && e->line
	               ? TK_OK
	               : tk_fail(err, TK_ENOMEM, "out of memory for verification");
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

static void compare_row(struct tk_verify_state *v, const struct tk_tensor *o, int64_t start,
        int64_t width, const double *want, const struct tolerance *e, const char *where)
{
	double u = tk_element_roundoff(o->dtype), norm = 0;
	for (int64_t x = 0; x < width; x++)
		norm += want[x] * want[x];
	norm = sqrt(norm / (double)width);
	for (int64_t x = 0; x < width; x++) {
		double got = tk_element_load(o->dtype, o->data, start + x);
		double tolerance = 1.01 * u * fmax(fabs(want[x]), fabs(got)) +
		                   6 * sqrt(e->square[x]) + e->bound[x] +
		                   0x1p-25 * (o->dtype == TK_F16);
		tk_verify_add_error(v, fabs(got - want[x]), tolerance, norm,
		        "%s, value %lld: got %g, expected %g", where, (long long)x, got, want[x]);
	}
	v->out->checked++;
}

struct tk_verify_row tk_verify_choose_row(struct tk_verify_state *v, int64_t n, int64_t batches,
        int64_t heads, int64_t kv_heads, int64_t rows)
{
	int64_t must = batches > kv_heads ? batches : kv_heads, group = heads / kv_heads;
	struct tk_verify_row at = {
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

int64_t tk_verify_row_count(
        int64_t batches, int64_t kv_heads, int64_t heads, int64_t rows, double cost)
{
	double must = (double)(batches > kv_heads ? batches : kv_heads) + 2,
	       can = fmin(ROW_COST_MAX / cost, ROWS_MAX);
	double all = (double)batches * (double)heads * (double)rows * 2;
	return (int64_t)fmax(must, fmin(can, all));
}

static void attention_row(struct tk_verify_state *v, const struct tk_attention *p,
        const struct tk_tensor *t, struct tk_verify_row at, struct tk_reference_row *row,
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
	        e, where);
	if (!t[TK_T_LSE].data || row->count == 0)
		return;
	double got = tk_element_load(
	        t[TK_T_LSE].dtype, t[TK_T_LSE].data, (at.b * p->h + at.h) * p->sq + at.i);
	tk_verify_add_error(v, fabs(got - row->lse),
	        0x1p-18 * (1 + fabs(row->lse)) + 6 * sqrt(e->lse), 1 + fabs(row->lse),
	        "log-sum-exp of %s: got %g, expected %g", where, got, row->lse);
}

/* The rows to check, shared by the threads; each thread collects its own result. */
struct rows {
	const struct tk_attention *attention; /* exactly one of attention and nsa is set */
	const struct tk_nsa *nsa;
	const struct tk_tensor *t;
	const struct tk_verify_row *places;
	int64_t keys;         /* maximum of a row */
	pthread_mutex_t lock; /* protects the members below */
	struct tk_verify_state *v;
	bool no_memory;
};

static void nsa_row(struct tk_verify_state *v, const struct tk_nsa *p, const struct tk_tensor *t,
        struct tk_verify_row at, struct tk_reference_row *row, double *want, struct tolerance *e);

static void check_part(void *arg, int64_t first, int64_t count)
{
	struct rows *all = arg;
	int64_t width = all->nsa ? all->nsa->d : all->attention->dv,
	        reach = all->nsa || width > all->attention->d ? width : all->attention->d;
	struct tk_verify_result numbers = {.passed = true};
	struct tk_verify_state v = {.out = &numbers, .worst = -1};
	struct tk_reference_row row = {0};
	struct tolerance e = {0};
	bool no_memory = false;
	double *want = tk_calloc((size_t)width, sizeof *want);
	uint32_t dtype = all->nsa ? all->nsa->dtype : all->attention->dtype;
	if (!want || tolerance_init(&e, dtype, width, NULL) ||
	        tk_reference_row_init(&row, all->keys, reach)) {
		no_memory = true;
		count = 0;
	}
	for (int64_t n = first; n < first + count; n++)
		if (all->nsa)
			nsa_row(&v, all->nsa, all->t, all->places[n], &row, want, &e);
		else
			attention_row(&v, all->attention, all->t, all->places[n], &row, &e);
	pthread_mutex_lock(&all->lock);
	tk_verify_merge(all->v, &v);
	all->no_memory |= no_memory;
	pthread_mutex_unlock(&all->lock);
	free(want);
	tk_reference_row_free(&row);
	tolerance_free(&e);
}

static int check_rows(struct rows *all, int64_t count, int64_t batches, int64_t heads,
        int64_t kv_heads, int64_t length, struct tk_error *err)
{
	struct tk_verify_row *places = tk_calloc((size_t)count, sizeof *places);
	for (int64_t n = 0; n < count; n++)
		places[n] = tk_verify_choose_row(all->v, n, batches, heads, kv_heads, length);
	all->places = places;
	snprintf(all->v->out->method, sizeof all->v->out->method, "rows");
	pthread_mutex_init(&all->lock, NULL);
	tk_parallel_for(count, 1, check_part, all);
	pthread_mutex_destroy(&all->lock);
	free(places);
	return all->no_memory ? tk_fail(err, TK_ENOMEM, "out of memory for verification") : TK_OK;
}

int tk_verify_attention(struct tk_verify_state *v, const struct tk_attention *p,
        const struct tk_tensor *t, struct tk_error *err)
{
	struct rows all = {.attention = p, .t = t, .v = v, .keys = p->skv};
	int64_t count = tk_verify_row_count(
	        p->b, p->hkv, p->h, p->sq, (double)p->skv * (double)(p->d + 2 * p->dv));
	return check_rows(&all, count, p->b, p->h, p->hkv, p->sq, err);
}

static void nsa_row(struct tk_verify_state *v, const struct tk_nsa *p, const struct tk_tensor *t,
        struct tk_verify_row at, struct tk_reference_row *row, double *want, struct tolerance *e)
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
	compare_row(v, &t[TK_T_NSA_O], ((at.b * p->s + at.i) * p->h + at.h) * p->d, p->d, want, e,
	        where);
}

int tk_verify_nsa(struct tk_verify_state *v, const struct tk_nsa *p, const struct tk_tensor *t,
        struct tk_error *err)
{
	struct rows all = {.nsa = p, .t = t, .v = v, .keys = tk_reference_nsa_max_keys(p)};
	int64_t count = tk_verify_row_count(
	        p->b, p->hkv, p->h, p->s, (double)(all.keys + p->window) * 3 * (double)p->d);
	return check_rows(&all, count, p->b, p->h, p->hkv, p->s, err);
}
