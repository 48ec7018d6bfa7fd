/* How much a problem is: its tensors, its floating-point operations, its compulsory bytes. */
#include <math.h>

#include "base/base.h"
#include "core/problem_internal.h"

/* fma works in registers: it reads this many start values and writes this many results, so that
 * nothing can be optimised away. */
#define FMA_ELEMENTS 64

struct tensor_list {
	struct tk_tensor *out;
	uint32_t count;
	int64_t bytes; /* of all; -1 once over the limit */
};

/* Appends one tensor; a dimension of 0 ends the list of dimensions. */
static void add(
        struct tensor_list *l, const char *name, bool output, uint32_t dtype, const int64_t dim[5])
{
	struct tk_tensor *t = &l->out[l->count++];
	int64_t bytes = (int64_t)tk_dtype_bytes(dtype);

	*t = (struct tk_tensor){.size = sizeof *t, .dtype = dtype, .output = output, .name = name};
	for (; t->ndim < 5 && dim[t->ndim] > 0; t->ndim++) {
		t->dim[t->ndim] = dim[t->ndim];
		if (bytes > TK_PROBLEM_BYTES_MAX ||
		        __builtin_mul_overflow(bytes, dim[t->ndim], &bytes))
			bytes = TK_PROBLEM_BYTES_MAX + 1;
	}
	if (bytes > TK_PROBLEM_BYTES_MAX || l->bytes < 0 ||
	        l->bytes + bytes > TK_PROBLEM_BYTES_MAX) {
		l->bytes = -1;
		return;
	}
	t->bytes = (size_t)bytes;
	l->bytes += bytes;
}

/* clang-format off */
#define DIMS(...) (const int64_t[5]){ __VA_ARGS__ }
/* clang-format on */

static void gemm_tensors(struct tensor_list *l, const struct tk_gemm *g, int64_t pad)
{
	int64_t m = g->m + pad, n = g->n + pad, k = g->k + pad; /* as the length of a row */

	add(l, "A", false, g->a, g->ta ? DIMS(g->batch, g->k, m) : DIMS(g->batch, g->m, k));
	add(l, "B", false, g->b, g->tb ? DIMS(g->batch, g->n, k) : DIMS(g->batch, g->k, n));
	add(l, "C", true, g->c, DIMS(g->batch, g->m, n));
}

static void attention_tensors(struct tensor_list *l, const struct tk_attention *a)
{
	const int64_t *q = DIMS(a->b, a->sq, a->h, a->d), *k = DIMS(a->b, a->skv, a->hkv, a->d);
	const int64_t *v = DIMS(a->b, a->skv, a->hkv, a->dv), *o = DIMS(a->b, a->sq, a->h, a->dv);
	bool forward = a->dir == TK_FWD;

	add(l, "Q", false, a->dtype, q);
	add(l, "K", false, a->dtype, k);
	add(l, "V", false, a->dtype, v);
	add(l, "O", forward, a->dtype, o);
	add(l, "lse", forward, TK_F32, DIMS(a->b, a->h, a->sq));
	if (forward)
		return;
	add(l, "dO", false, a->dtype, o);
	add(l, "dQ", true, a->dtype, q);
	add(l, "dK", true, a->dtype, k);
	add(l, "dV", true, a->dtype, v);
}

static void nsa_tensors(struct tensor_list *l, const struct tk_nsa *a)
{
	add(l, "Q", false, a->dtype, DIMS(a->b, a->s, a->h, a->d));
	add(l, "K", false, a->dtype, DIMS(a->b, a->s, a->hkv, a->d));
	add(l, "V", false, a->dtype, DIMS(a->b, a->s, a->hkv, a->d));
	add(l, "O", true, a->dtype, DIMS(a->b, a->s, a->h, a->d));
	add(l, "blocks", false, TK_I32, DIMS(a->b, a->s, a->hkv, a->selected_blocks));
}

static void ceiling_tensors(struct tensor_list *l, uint32_t op, const struct tk_ceiling_op *c)
{
	int64_t elements =
	        op == TK_OP_FMA ? FMA_ELEMENTS : c->bytes / (int64_t)tk_dtype_bytes(c->dtype);

	add(l, "in", false, c->dtype, DIMS(elements));
	add(l, "out", true, c->dtype, DIMS(op == TK_OP_READ ? 1 : elements));
}

int tk_problem_list_tensors(const struct tk_problem_spec *p, struct tk_tensor out[TK_T_MAX],
        uint32_t *count, struct tk_error *err)
{
	struct tk_tensor tensors[TK_T_MAX];
	struct tensor_list l = {.out = tensors};

	switch (p->abi.op) {
	case TK_OP_GEMM:
		gemm_tensors(&l, &p->gemm, p->pad);
		break;
	case TK_OP_ATTENTION:
		attention_tensors(&l, &p->attention);
		break;
	case TK_OP_NSA:
		nsa_tensors(&l, &p->nsa);
		break;
	case TK_OP_COPY:
	case TK_OP_READ:
	case TK_OP_FMA:
		ceiling_tensors(&l, p->abi.op, &p->ceiling);
		break;
	default:
		return tk_fail(err, TK_EDATA, "op %u is not known", p->abi.op);
	}
	if (l.bytes < 0)
		return tk_fail(err, TK_EDATA,
		        "%s: its tensors are larger than 1 PiB, expected sizes that a machine can "
		        "hold",
		        tk_problem_op_name(p));
	memcpy(out, tensors, l.count * sizeof *out);
	*count = l.count;
	return TK_OK;
}

/* Causal masks are aligned to the bottom right: query i sees i + skv - sq + 1 keys, none where that
 * is negative. */
static double attention_pairs(const struct tk_attention *a)
{
	double sq = (double)a->sq, skv = (double)a->skv;

	if (!a->causal)
		return sq * skv;
	return sq <= skv ? sq * (skv - sq) + sq * (sq + 1) / 2 : skv * (skv + 1) / 2;
}

/* Forward: 2 B H pairs (D + Dv). Backward: 2.5 times (FlashAttention): five products, not two. */
static double attention_flops(const struct tk_attention *a)
{
	double forward =
	        2.0 * (double)a->b * (double)a->h * attention_pairs(a) * (double)(a->d + a->dv);

	return a->dir == TK_BWD ? 2.5 * forward : forward;
}

/* Query i of block n sees n + 1 blocks, of its own only the keys up to itself, and its own block is
 * always in its list. The others of the list are whole. */
static double nsa_causal_pairs(const struct tk_nsa *a)
{
	double size = (double)a->block_size, listed = (double)a->selected_blocks;
	double whole = (double)(a->s / a->block_size), rest = (double)(a->s % a->block_size);
	double ramp = whole < listed ? whole : listed;
	double others = ramp * (ramp - 1) / 2 + (whole - ramp) * (listed - 1);
	double others_of_rest = whole < listed - 1 ? whole : listed - 1;

	return others * size * size + whole * size * (size + 1) / 2 + others_of_rest * size * rest +
	       rest * (rest + 1) / 2;
}

/* Share of the queries of block n that list the last block; there are `blocks`. The block of the
 * query, the first and the one before are always listed, the others at random. */
static double share_with_last_block(const struct tk_nsa *a, int64_t n, int64_t blocks)
{
	int64_t fixed = n == 0 ? 1 : n == 1 ? 2 : 3;

	if (n == blocks - 1)
		return 1;
	if (fixed > a->selected_blocks)
		fixed = a->selected_blocks;
	return (double)(a->selected_blocks - fixed) / (double)(blocks - fixed);
}

/* Exact unless the last block is short and not in every list: then the mean over the lists. */
static double nsa_full_pairs(const struct tk_nsa *a)
{
	double size = (double)a->block_size, s = (double)a->s;
	int64_t rest = a->s % a->block_size, blocks = a->s / a->block_size + (rest > 0);
	double pairs = s * size * (double)a->selected_blocks, with_last = (double)rest;

	if (!rest)
		return pairs;
	for (int64_t n = 0; n < 2 && n < blocks - 1; n++)
		with_last += size * share_with_last_block(a, n, blocks);
	if (blocks > 3)
		with_last += size * (double)(blocks - 3) * share_with_last_block(a, 2, blocks);
	return pairs - with_last * (size - (double)rest);
}

static double nsa_selected_pairs(const struct tk_nsa *a)
{
	return a->causal ? nsa_causal_pairs(a) : nsa_full_pairs(a);
}

/* Query i sees min(i + 1, window) keys. */
static double nsa_window_pairs(const struct tk_nsa *a)
{
	double s = (double)a->s, w = (double)(a->window < a->s ? a->window : a->s);

	return w > 0 ? w * s - w * (w - 1) / 2 : 0;
}

static double nsa_flops(const struct tk_nsa *a, double pairs)
{
	return 4.0 * (double)a->b * (double)a->h * (double)a->d * pairs;
}

double tk_problem_flops(const struct tk_problem_spec *p)
{
	switch (p->abi.op) {
	case TK_OP_GEMM:
		return 2.0 * (double)p->gemm.batch * (double)p->gemm.m * (double)p->gemm.n *
		       (double)p->gemm.k;
	case TK_OP_ATTENTION:
		return attention_flops(&p->attention);
	case TK_OP_NSA:
		return nsa_flops(&p->nsa, nsa_selected_pairs(&p->nsa) + nsa_window_pairs(&p->nsa));
	case TK_OP_FMA:
		return 2.0 * (double)p->ceiling.bytes;
	default:
		return 0;
	}
}

/* Both branches of nsa may use the same keys: a kernel need not compute those twice. */
double tk_problem_min_flops(const struct tk_problem_spec *p)
{
	return p->abi.op == TK_OP_NSA ? nsa_flops(&p->nsa, fmax(nsa_selected_pairs(&p->nsa),
	                                                           nsa_window_pairs(&p->nsa)))
	                              : tk_problem_flops(p);
}

/* Of a row: without its padding. */
static double used_share(const struct tk_problem_spec *p, const struct tk_tensor *t)
{
	double row = (double)t->dim[t->ndim - 1];

	return p->abi.op == TK_OP_GEMM ? (row - (double)p->pad) / row : 1;
}

/* The optional LSE of the forward pass does not count, so that the figure is the usual one:
 * e (B Sq H D + B Sk Hkv (D + Dv) + B Sq H Dv). */
static bool is_counted(const struct tk_problem_spec *p, uint32_t tensor, bool output)
{
	return !(p->abi.op == TK_OP_ATTENTION && tensor == TK_T_LSE && output);
}

/* A backward pass may compute O and the log-sum-exp again, and queries that see no key need not be
 * read. Every block of nsa is in some list: that of its own queries. */
static bool is_always_moved(const struct tk_problem_spec *p, uint32_t tensor, bool output)
{
	const struct tk_attention *a = &p->attention;

	if (p->abi.op != TK_OP_ATTENTION)
		return true;
	if (tensor == TK_T_LSE || (tensor == TK_T_O && !output))
		return false;
	return output || tensor == TK_T_K || tensor == TK_T_V || !a->causal || a->sq <= a->skv;
}

/* Each input `passes` times; 0: the problem is invalid. */
static double sum_bytes(const struct tk_problem_spec *p, double passes,
        bool (*counts)(const struct tk_problem_spec *p, uint32_t tensor, bool output))
{
	struct tk_tensor t[TK_T_MAX];
	uint32_t count = 0;
	double sum = 0;

	if (tk_problem_list_tensors(p, t, &count, NULL))
		return 0;
	for (uint32_t i = 0; i < count; i++)
		if (counts(p, i, t[i].output))
			sum += (t[i].output ? 1 : passes) * (double)t[i].bytes *
			       used_share(p, &t[i]);
	return sum;
}

double tk_problem_bytes(const struct tk_problem_spec *p)
{
	/* A cache is read as often as the problem says: its traffic is what is asked for. */
	return sum_bytes(p, p->abi.op == TK_OP_READ ? (double)p->ceiling.passes : 1, is_counted);
}

double tk_problem_min_bytes(const struct tk_problem_spec *p)
{
	return sum_bytes(p, 1, is_always_moved);
}
