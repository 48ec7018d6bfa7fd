/* What each op is made of: keys, titles, defaults, and the rules between keys; element types and
 * operations. Reading and writing the text is problem_text.c. */
#include <math.h>

#include "base/base.h"
#include "core/problem_internal.h"

/* Bytes off an address that is aligned for everything, as allocations are. */
#define OFFSET_MAX 255
#define PAD_MAX 65536 /* elements */
#define AT(field) offsetof(struct tk_problem_spec, field)
/* clang-format off */
#define REQUIRED(name, field) \
	{ name, TK_KEY_SIZE, AT(field), NULL, 1, TK_PROBLEM_SIZE_MAX, false }
#define SIZE(name, field, fallback, least) \
	{ name, TK_KEY_SIZE, AT(field), fallback, least, TK_PROBLEM_SIZE_MAX, false }
#define QUIET_SIZE(name, field, fallback, least, most) \
	{ name, TK_KEY_SIZE, AT(field), fallback, least, most, true }
#define WORD(name, kind, field, fallback) { name, kind, AT(field), fallback, 0, 0, false }
#define QUIET_WORD(name, kind, field, fallback) { name, kind, AT(field), fallback, 0, 0, true }
#define DIST QUIET_WORD("dist", TK_KEY_DIST, dist, "normal")
#define OFFSET QUIET_SIZE("offset", offset, "0", 0, OFFSET_MAX)

#define NUMBERS(lead, separator, ...) { TK_TITLE_NUMBERS, lead, separator, { __VA_ARGS__ } }
#define ALL_NUMBERS(...) { TK_TITLE_ALL_NUMBERS, "", 'x', { __VA_ARGS__ } }
#define NAMED(name) { TK_TITLE_NAMED, name, 0, { name } }
#define VALUE(name) { TK_TITLE_VALUE, NULL, 0, { name } }
#define FLAG(lead, ...) { TK_TITLE_FLAG, lead, 0, { __VA_ARGS__ } }
/* clang-format on */

static double default_scale(int64_t d)
{
	return 1.0 / sqrt((double)d);
}

/* ---- gemm ---- */

/* clang-format off */
static const struct tk_problem_key gemm_keys[] = {
	WORD("a", TK_KEY_DTYPE, gemm.a, "f32"),
	WORD("acc", TK_KEY_DTYPE, gemm.acc, ""),
	WORD("b", TK_KEY_DTYPE, gemm.b, ""),
	QUIET_SIZE("batch", gemm.batch, "1", 1, TK_PROBLEM_SIZE_MAX),
	WORD("c", TK_KEY_DTYPE, gemm.c, ""),
	DIST,
	REQUIRED("k", gemm.k),
	REQUIRED("m", gemm.m),
	REQUIRED("n", gemm.n),
	OFFSET,
	QUIET_SIZE("pad", pad, "0", 0, PAD_MAX),
	WORD("ta", TK_KEY_TRANSPOSE, gemm.ta, "n"),
	WORD("tb", TK_KEY_TRANSPOSE, gemm.tb, "n"),
	{ NULL },
};
static const struct tk_title_word gemm_title[] = {
	NAMED("acc"), ALL_NUMBERS("m", "n", "k"), { TK_TITLE_TRANSPOSES, NULL, 0, { "ta", "tb" } },
	NUMBERS("x", 0, "batch"), VALUE("dist"), NAMED("offset"), NAMED("pad"), { 0 },
};
/* clang-format on */

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

/* clang-format off */
static const struct tk_problem_key attention_keys[] = {
	REQUIRED("b", attention.b),
	WORD("causal", TK_KEY_FLAG, attention.causal, "0"),
	REQUIRED("d", attention.d),
	WORD("dir", TK_KEY_DIRECTION, attention.dir, "fwd"),
	DIST,
	WORD("dtype", TK_KEY_DTYPE, attention.dtype, "f16"),
	QUIET_SIZE("dv", attention.dv, "", 1, TK_PROBLEM_SIZE_MAX),
	REQUIRED("h", attention.h),
	SIZE("hkv", attention.hkv, "", 1),
	OFFSET,
	QUIET_WORD("scale", TK_KEY_SCALE, attention.scale, ""),
	SIZE("skv", attention.skv, "", 1),
	REQUIRED("sq", attention.sq),
	{ NULL },
};
static const struct tk_title_word attention_title[] = {
	NUMBERS("B", 0, "b"), NUMBERS("H", '/', "h", "hkv"), NUMBERS("S", 'x', "sq", "skv"),
	NUMBERS("D", '/', "d", "dv"), FLAG("causal", "causal", "1", "0"),
	FLAG("bwd", "dir", "bwd", "fwd"), NAMED("scale"), VALUE("dist"), NAMED("offset"), { 0 },
};
/* clang-format on */

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

/* clang-format off */
static const struct tk_problem_key nsa_keys[] = {
	REQUIRED("b", nsa.b),
	SIZE("block_size", nsa.block_size, "64", 1),
	WORD("causal", TK_KEY_FLAG, nsa.causal, "1"),
	REQUIRED("d", nsa.d),
	DIST,
	WORD("dtype", TK_KEY_DTYPE, nsa.dtype, "f16"),
	REQUIRED("h", nsa.h),
	SIZE("hkv", nsa.hkv, "", 1),
	OFFSET,
	REQUIRED("s", nsa.s),
	QUIET_WORD("scale", TK_KEY_SCALE, nsa.scale, ""),
	SIZE("selected_blocks", nsa.selected_blocks, "16", 1),
	SIZE("window", nsa.window, "0", 0),
	{ NULL },
};
static const struct tk_title_word nsa_title[] = {
	NUMBERS("B", 0, "b"), NUMBERS("H", '/', "h", "hkv"), NUMBERS("S", 0, "s"),
	NUMBERS("D", 0, "d"), ALL_NUMBERS("selected_blocks", "block_size"), NAMED("window"),
	FLAG("causal", "causal", "1", "0"), NAMED("scale"), VALUE("dist"), NAMED("offset"), { 0 },
};
/* clang-format on */

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

/* clang-format off */
static const struct tk_problem_key copy_keys[] = {
	{ "bytes", TK_KEY_SIZE, AT(ceiling.bytes), NULL, 1, TK_PROBLEM_BYTES_MAX, false },
	DIST,
	WORD("dtype", TK_KEY_DTYPE, ceiling.dtype, "f32"),
	OFFSET,
	{ NULL },
};
static const struct tk_title_word copy_title[] = {
	NUMBERS("", 0, "bytes"), { TK_TITLE_UNIT, "B", 0, { NULL } }, VALUE("dist"),
	NAMED("offset"), { 0 },
};
static const struct tk_problem_key read_keys[] = {
	{ "bytes", TK_KEY_SIZE, AT(ceiling.bytes), NULL, 1, TK_PROBLEM_BYTES_MAX, false },
	QUIET_WORD("cache", TK_KEY_CACHE, ceiling.cache, ""),
	DIST,
	WORD("dtype", TK_KEY_DTYPE, ceiling.dtype, "f32"),
	OFFSET,
	QUIET_SIZE("passes", ceiling.passes, "", 1, TK_PROBLEM_SIZE_MAX),
	{ NULL },
};
static const struct tk_title_word read_title[] = {
	VALUE("cache"), NUMBERS("", 0, "bytes"), { TK_TITLE_UNIT, "B", 0, { NULL } },
	NUMBERS("x", 0, "passes"), VALUE("dist"), NAMED("offset"), { 0 },
};
static const struct tk_problem_key fma_keys[] = {
	{ "count", TK_KEY_SIZE, AT(ceiling.bytes), NULL, 1, TK_PROBLEM_BYTES_MAX, false },
	DIST,
	WORD("dtype", TK_KEY_DTYPE, ceiling.dtype, "f32"),
	OFFSET,
	{ NULL },
};
static const struct tk_title_word fma_title[] = {
	NUMBERS("", 0, "count"), VALUE("dist"), NAMED("offset"), { 0 },
};
/* clang-format on */

static void ceiling_derive(struct tk_problem_spec *p)
{
	p->ceiling.passes = p->ceiling.passes ? p->ceiling.passes : 1;
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

/* clang-format off */
const struct tk_problem_op tk_problem_ops[] = {
	{ "gemm", TK_OP_GEMM, gemm_keys, gemm_title, gemm_derive, gemm_check },
	{ "attention", TK_OP_ATTENTION, attention_keys, attention_title, attention_derive,
	  attention_check },
	{ "nsa", TK_OP_NSA, nsa_keys, nsa_title, nsa_derive, nsa_check },
	{ "copy", TK_OP_COPY, copy_keys, copy_title, ceiling_derive, bytes_check },
	{ "read", TK_OP_READ, read_keys, read_title, ceiling_derive, bytes_check },
	{ "fma", TK_OP_FMA, fma_keys, fma_title, ceiling_derive, NULL },
	{ NULL },
};
/* clang-format on */

/* ---- element types ---- */

/* clang-format off */
/* Of each type first the word that is written. The others are accepted from people and from the
 * files of other runners. */
static const struct { uint32_t id; const char *word; size_t bytes; } dtypes[] = {
	{ TK_F64, "f64", 8 }, { TK_F32, "f32", 4 }, { TK_TF32, "tf32", 4 }, { TK_F16, "f16", 2 },
	{ TK_BF16, "bf16", 2 },
	{ TK_E4M3, "e4m3", 1 }, { TK_E5M2, "e5m2", 1 }, { TK_I32, "i32", 4 }, { TK_I64, "i64", 8 },
	{ TK_F64, "fp64", 8 }, { TK_F64, "float64", 8 }, { TK_F64, "double", 8 },
	{ TK_F32, "fp32", 4 }, { TK_F32, "float32", 4 }, { TK_F32, "float", 4 },
	{ TK_F16, "fp16", 2 }, { TK_F16, "float16", 2 }, { TK_F16, "half", 2 },
	{ TK_BF16, "bfloat16", 2 },
	{ TK_E4M3, "fp8", 1 }, { TK_E4M3, "e4m3fn", 1 }, { TK_E4M3, "fp8_e4m3", 1 },
	{ TK_E4M3, "float8_e4m3fn", 1 },
	{ TK_E5M2, "fp8_e5m2", 1 }, { TK_E5M2, "float8_e5m2", 1 },
	{ TK_I32, "int32", 4 }, { TK_I64, "int64", 8 },
};
/* clang-format on */

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

/* Index of the type; COUNT(dtypes): unknown. */
static size_t find_dtype(uint32_t dtype)
{
	size_t i = 0;

	while (i < COUNT(dtypes) && dtypes[i].id != dtype)
		i++;
	return i;
}

const char *tk_dtype_name(uint32_t dtype)
{
	const size_t i = find_dtype(dtype);

	return i < COUNT(dtypes) ? dtypes[i].word : NULL;
}

size_t tk_dtype_bytes(uint32_t dtype)
{
	const size_t i = find_dtype(dtype);

	return i < COUNT(dtypes) ? dtypes[i].bytes : 0;
}

int tk_dtype_parse(const char *word, uint32_t *dtype)
{
	for (size_t i = 0; i < COUNT(dtypes); i++)
		if (strcmp(dtypes[i].word, word) == 0) {
			*dtype = dtypes[i].id;
			return TK_OK;
		}
	return TK_EDATA;
}

/* ---- operations ---- */

static const struct {
	uint32_t operation;
	const char *name;
} operations[] = {
        {TK_OPERATION_GEMM, "gemm"},
        {TK_OPERATION_ATTENTION, "attention"},
        {TK_OPERATION_ATTENTION_BACKWARD, "attention-backward"},
        {TK_OPERATION_NSA, "nsa"},
        {TK_OPERATION_COPY, "copy"},
        {TK_OPERATION_READ, "read"},
        {TK_OPERATION_FMA, "fma"},
};

uint32_t tk_problem_operation(const struct tk_problem_spec *p)
{
	if (p->abi.op == TK_OP_ATTENTION && p->attention.dir == TK_BWD)
		return TK_OPERATION_ATTENTION_BACKWARD;
	return UINT32_C(1) << p->abi.op;
}

const char *tk_operation_name(uint32_t operation)
{
	for (size_t i = 0; i < COUNT(operations); i++)
		if (operations[i].operation == operation)
			return operations[i].name;
	return NULL;
}

uint32_t tk_operation_parse(const char *name)
{
	for (size_t i = 0; i < COUNT(operations); i++)
		if (strcmp(operations[i].name, name) == 0)
			return operations[i].operation;
	return 0;
}
