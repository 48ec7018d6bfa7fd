/* What each op is made of: keys, defaults, and the rules between keys. Reading and writing the text
 * is problem_text.c.
 */
#include <math.h>
#include <stddef.h>

#include "base/error.h"
#include "core/problem_keys.h"

/* Bytes off an address that is aligned for everything, as allocations are. */
#define OFFSET_MAX 255
#define PAD_MAX 65536 /* elements */
#define AT(field) offsetof(struct tk_problem_spec, field)
/* clang-format off */
#define SIZE_REQUIRED(name, field) \
	{ name, TK_KEY_SIZE, AT(field), true, 1, TK_PROBLEM_SIZE_MAX, NULL }
#define SIZE_OPTIONAL(name, field, least) \
	{ name, TK_KEY_SIZE, AT(field), false, least, TK_PROBLEM_SIZE_MAX, NULL }
#define PLAIN(name, kind, field) { name, kind, AT(field), false, 0, 0, NULL }
#define DIST { "dist", TK_KEY_DIST, AT(dist), false, 0, 0, quiet_dist }
#define OFFSET \
	{ "offset", TK_KEY_SIZE, AT(offset), false, 0, OFFSET_MAX, quiet_offset }
/* clang-format on */

static bool quiet_dist(const struct tk_problem_spec *p)
{
	return p->dist == TK_DIST_NORMAL;
}

static bool quiet_offset(const struct tk_problem_spec *p)
{
	return p->offset == 0;
}

static bool quiet_pad(const struct tk_problem_spec *p)
{
	return p->pad == 0;
}

static double default_scale(int64_t d)
{
	return 1.0 / sqrt((double)d);
}

/* ---- gemm ---- */

static bool quiet_batch(const struct tk_problem_spec *p)
{
	return p->gemm.batch == 1;
}

/* clang-format off */
static const struct tk_problem_key gemm_keys[] = {
	PLAIN("a", TK_KEY_DTYPE, gemm.a),
	PLAIN("acc", TK_KEY_DTYPE, gemm.acc),
	PLAIN("b", TK_KEY_DTYPE, gemm.b),
	{ "batch", TK_KEY_SIZE, AT(gemm.batch), false, 1, TK_PROBLEM_SIZE_MAX, quiet_batch },
	PLAIN("c", TK_KEY_DTYPE, gemm.c),
	DIST,
	SIZE_REQUIRED("k", gemm.k),
	SIZE_REQUIRED("m", gemm.m),
	SIZE_REQUIRED("n", gemm.n),
	OFFSET,
	{ "pad", TK_KEY_SIZE, AT(pad), false, 0, PAD_MAX, quiet_pad },
	PLAIN("ta", TK_KEY_TRANSPOSE, gemm.ta),
	PLAIN("tb", TK_KEY_TRANSPOSE, gemm.tb),
	{ NULL },
};
/* clang-format on */

static void gemm_preset(struct tk_problem_spec *p)
{
	p->gemm.batch = 1;
	p->gemm.a = TK_F32;
}

static void gemm_derive(struct tk_problem_spec *p)
{
	struct tk_gemm *g = &p->gemm;
	bool narrow = g->a == TK_E4M3 || g->a == TK_E5M2;

	if (!g->b)
		g->b = g->a;
	if (!g->c)
		g->c = narrow ? TK_BF16 : g->a == TK_TF32 ? TK_F32 : g->a;
	if (!g->acc)
		g->acc = g->a == TK_F64 ? TK_F64 : TK_F32;
}

static int gemm_check(const struct tk_problem_spec *p, struct tk_error *err)
{
	const struct tk_gemm *g = &p->gemm;

	if (g->c == TK_TF32 || g->acc == TK_TF32)
		return tk_fail(err, TK_EDATA,
		        "gemm: %s is \"tf32\", expected a type that can hold a result, for "
		        "instance "
		        "f32",
		        g->c == TK_TF32 ? "c" : "acc");
	if (g->acc == TK_E4M3 || g->acc == TK_E5M2)
		return tk_fail(err, TK_EDATA, "gemm: acc is \"%s\", expected f16, bf16, f32 or f64",
		        tk_dtype_name(g->acc));
	return TK_OK;
}

/* ---- attention ---- */

static bool quiet_dv(const struct tk_problem_spec *p)
{
	return p->attention.dv == p->attention.d;
}

static bool quiet_attention_scale(const struct tk_problem_spec *p)
{
	return p->attention.scale == default_scale(p->attention.d);
}

/* clang-format off */
static const struct tk_problem_key attention_keys[] = {
	SIZE_REQUIRED("b", attention.b),
	PLAIN("causal", TK_KEY_FLAG, attention.causal),
	SIZE_REQUIRED("d", attention.d),
	PLAIN("dir", TK_KEY_DIRECTION, attention.dir),
	DIST,
	PLAIN("dtype", TK_KEY_DTYPE, attention.dtype),
	{ "dv", TK_KEY_SIZE, AT(attention.dv), false, 1, TK_PROBLEM_SIZE_MAX, quiet_dv },
	SIZE_REQUIRED("h", attention.h),
	SIZE_OPTIONAL("hkv", attention.hkv, 1),
	OFFSET,
	{ "scale", TK_KEY_SCALE, AT(attention.scale), false, 0, 0, quiet_attention_scale },
	SIZE_OPTIONAL("skv", attention.skv, 1),
	SIZE_REQUIRED("sq", attention.sq),
	{ NULL },
};
/* clang-format on */

static void attention_preset(struct tk_problem_spec *p)
{
	p->attention.dtype = TK_F16;
}

static void attention_derive(struct tk_problem_spec *p)
{
	struct tk_attention *a = &p->attention;

	a->hkv = a->hkv ? a->hkv : a->h;
	a->skv = a->skv ? a->skv : a->sq;
	a->dv = a->dv ? a->dv : a->d;
	a->scale = a->scale != 0 ? a->scale : default_scale(a->d);
}

static int check_heads(const char *op, int64_t h, int64_t hkv, struct tk_error *err)
{
	if (h % hkv != 0)
		return tk_fail(err, TK_EDATA,
		        "%s: h (%lld) is not a multiple of hkv (%lld), expected every kv head to "
		        "serve equally many "
		        "heads",
		        op, (long long)h, (long long)hkv);
	return TK_OK;
}

static int attention_check(const struct tk_problem_spec *p, struct tk_error *err)
{
	const struct tk_attention *a = &p->attention;

	if (a->causal && a->sq > a->skv)
		return tk_fail(err, TK_EDATA,
		        "attention: causal with sq (%lld) over skv (%lld) leaves queries without a "
		        "key, expected sq <= "
		        "skv",
		        (long long)a->sq, (long long)a->skv);
	return check_heads("attention", a->h, a->hkv, err);
}

/* ---- nsa ---- */

static bool quiet_nsa_scale(const struct tk_problem_spec *p)
{
	return p->nsa.scale == default_scale(p->nsa.d);
}

/* clang-format off */
static const struct tk_problem_key nsa_keys[] = {
	SIZE_REQUIRED("b", nsa.b),
	SIZE_OPTIONAL("block_size", nsa.block_size, 1),
	PLAIN("causal", TK_KEY_FLAG, nsa.causal),
	SIZE_REQUIRED("d", nsa.d),
	DIST,
	PLAIN("dtype", TK_KEY_DTYPE, nsa.dtype),
	SIZE_REQUIRED("h", nsa.h),
	SIZE_OPTIONAL("hkv", nsa.hkv, 1),
	OFFSET,
	SIZE_REQUIRED("s", nsa.s),
	{ "scale", TK_KEY_SCALE, AT(nsa.scale), false, 0, 0, quiet_nsa_scale },
	SIZE_OPTIONAL("selected_blocks", nsa.selected_blocks, 1),
	SIZE_OPTIONAL("window", nsa.window, 0),
	{ NULL },
};
/* clang-format on */

static void nsa_preset(struct tk_problem_spec *p)
{
	p->nsa.block_size = 64;
	p->nsa.selected_blocks = 16;
	p->nsa.dtype = TK_F16;
	p->nsa.causal = 1;
}

static void nsa_derive(struct tk_problem_spec *p)
{
	p->nsa.hkv = p->nsa.hkv ? p->nsa.hkv : p->nsa.h;
	p->nsa.scale = p->nsa.scale != 0 ? p->nsa.scale : default_scale(p->nsa.d);
}

static int nsa_check(const struct tk_problem_spec *p, struct tk_error *err)
{
	const struct tk_nsa *a = &p->nsa;
	int64_t blocks = (a->s + a->block_size - 1) / a->block_size;

	if (a->selected_blocks > blocks)
		return tk_fail(err, TK_EDATA,
		        "nsa: selected_blocks is %lld, but s=%lld has only %lld blocks of %lld",
		        (long long)a->selected_blocks, (long long)a->s, (long long)blocks,
		        (long long)a->block_size);
	return check_heads("nsa", a->h, a->hkv, err);
}

/* ---- ceilings ---- */

static bool quiet_cache(const struct tk_problem_spec *p)
{
	return p->ceiling.cache == 0;
}

static bool quiet_passes(const struct tk_problem_spec *p)
{
	return p->ceiling.passes == 1;
}

/* clang-format off */
static const struct tk_problem_key bytes_keys[] = {
	{ "bytes", TK_KEY_SIZE, AT(ceiling.bytes), true, 1, TK_PROBLEM_BYTES_MAX, NULL },
	DIST,
	PLAIN("dtype", TK_KEY_DTYPE, ceiling.dtype),
	OFFSET,
	{ NULL },
};
/* clang-format on */

/* clang-format off */
static const struct tk_problem_key read_keys[] = {
	{ "bytes", TK_KEY_SIZE, AT(ceiling.bytes), true, 1, TK_PROBLEM_BYTES_MAX, NULL },
	{ "cache", TK_KEY_CACHE, AT(ceiling.cache), false, 0, 0, quiet_cache },
	DIST,
	PLAIN("dtype", TK_KEY_DTYPE, ceiling.dtype),
	OFFSET,
	{ "passes", TK_KEY_SIZE, AT(ceiling.passes), false, 1, TK_PROBLEM_SIZE_MAX, quiet_passes },
	{ NULL },
};
/* clang-format on */

/* clang-format off */
static const struct tk_problem_key count_keys[] = {
	{ "count", TK_KEY_SIZE, AT(ceiling.bytes), true, 1, TK_PROBLEM_BYTES_MAX, NULL },
	DIST,
	PLAIN("dtype", TK_KEY_DTYPE, ceiling.dtype),
	OFFSET,
	{ NULL },
};
/* clang-format on */

static void ceiling_preset(struct tk_problem_spec *p)
{
	p->ceiling.dtype = TK_F32;
	p->ceiling.passes = 1;
}

static void ceiling_derive(struct tk_problem_spec *p)
{
	(void)p;
}

static int bytes_check(const struct tk_problem_spec *p, struct tk_error *err)
{
	int64_t element = (int64_t)tk_dtype_bytes(p->ceiling.dtype);

	if (p->ceiling.bytes % element != 0)
		return tk_fail(err, TK_EDATA,
		        "%s: bytes is %lld, expected a multiple of the %lld bytes of %s",
		        tk_problem_op_name(p), (long long)p->ceiling.bytes, (long long)element,
		        tk_dtype_name(p->ceiling.dtype));
	if (p->ceiling.passes > TK_PROBLEM_BYTES_MAX / p->ceiling.bytes)
		return tk_fail(err, TK_EDATA, "%s: %lld passes over %lld bytes are more than 1 PiB",
		        tk_problem_op_name(p), (long long)p->ceiling.passes,
		        (long long)p->ceiling.bytes);
	return TK_OK;
}

static int count_check(const struct tk_problem_spec *p, struct tk_error *err)
{
	(void)p, (void)err;
	return TK_OK;
}

/* clang-format off */
const struct tk_problem_op tk_problem_ops[] = {
	{ "gemm", TK_OP_GEMM, gemm_keys, gemm_preset, gemm_derive, gemm_check },
	{ "attention", TK_OP_ATTENTION, attention_keys, attention_preset, attention_derive,
	  attention_check },
	{ "nsa", TK_OP_NSA, nsa_keys, nsa_preset, nsa_derive, nsa_check },
	{ "copy", TK_OP_COPY, bytes_keys, ceiling_preset, ceiling_derive, bytes_check },
	{ "read", TK_OP_READ, read_keys, ceiling_preset, ceiling_derive, bytes_check },
	{ "fma", TK_OP_FMA, count_keys, ceiling_preset, ceiling_derive, count_check },
	{ NULL },
};
/* clang-format on */
