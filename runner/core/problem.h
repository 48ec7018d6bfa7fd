/* The identity of what is measured: text <-> struct, FLOPs, bytes, tensors.
 *
 * A problem's canonical text is `op:key=value,...` with every key present, keys sorted, values in
 * their one spelling. The same text names the same problem on every backend, in every suite,
 * database and page. Texts that people write may leave out keys that have a default and use any
 * order.
 *
 *   gemm       a b c acc (dtypes; a=f32, b=a, c=a, acc=f32; e4m3: c=bf16)  m n k  batch=1
 *              ta=n tb=n (n|t)
 *   attention  b h hkv=h sq skv=sq d dv=d dtype=f16 causal=0|1 dir=fwd|bwd scale=0 (0: d^-1/2)
 *   nsa        b h hkv=h s d block_size=64 selected_blocks=16 window=0 dtype=f16 causal=1 scale=0
 *   copy       bytes dtype=f32
 *   read       bytes dtype=f32 passes=1 cache=l1|l2|l3 (default: none)
 *   fma        count dtype=f32
 *   all ops    dist=normal|uniform|trig|zeros|outliers (the values of the inputs)
 *              offset=0 (bytes that every tensor begins after an aligned address)
 *   gemm       pad=0 (elements between the rows of A, B and C)
 *   gemm attention nsa  dist=text:NAME (A; Q, K and V follow a text: config/suite.h)
 *
 * The canonical text omits batch, dv, scale, passes, cache, dist, offset and pad if they have their
 * default value. */
#ifndef TK_CORE_PROBLEM_H
#define TK_CORE_PROBLEM_H
#include "base/base.h"
#include "tracker_abi.h"

enum tk_dist {
	TK_DIST_NORMAL,
	TK_DIST_UNIFORM,
	TK_DIST_TRIG,
	TK_DIST_ZEROS,
	TK_DIST_OUTLIERS,
	TK_DIST_TEXT
};

/* The name of a text ends with the first digits of the hash of its tokens: "licence-1a2b3c4d". */
#define TK_TEXT_NAME_SIZE 48
#define TK_TEXT_HASH_DIGITS 8
/* The part of a name before the hash: a-z, 0-9 and _. */
bool tk_text_name_is_valid(const char *name, bool has_hash);

#define TK_PROBLEM_TEXT_MAX 256

/* Owns everything it points to: copy it with tk_problem_parse(copy, original.text, ...), never by
 * assignment. */
struct tk_problem_spec {
	struct tk_problem abi; /* points into this struct */
	struct tk_gemm gemm;
	struct tk_attention attention;
	struct tk_nsa nsa;
	struct tk_ceiling_op ceiling;
	enum tk_dist dist;
	char dist_text[TK_TEXT_NAME_SIZE]; /* TK_DIST_TEXT: which one */
	int64_t offset;                    /* abi.offset_bytes */
	int64_t pad;                       /* abi.row_padding */
	char text[TK_PROBLEM_TEXT_MAX];    /* canonical */
};

/* TK_EDATA: "unknown key `mm` of gemm, did you mean `m`?", "attention: h (6) is not a multiple of
 * hkv (4)", sizes outside 1..2^31-1, ... */
int tk_problem_parse(struct tk_problem_spec *out, const char *text, struct tk_error *err);

/* Is `key=value` something that a problem of this op may say? For files that want to point at the
 * line of what is wrong; the same sentences. value NULL: only the key is looked at. */
int tk_problem_check_key(const char *op, const char *key, const char *value, struct tk_error *err);

/* The formulas: docs/explanation/verification.md. */
double tk_problem_flops(const struct tk_problem_spec *p);
/* Compulsory traffic: every input read once, every output written once, no padding. */
double tk_problem_bytes(const struct tk_problem_spec *p);
/* The least work that any correct kernel does: bounds on what a time can be. */
double tk_problem_min_flops(const struct tk_problem_spec *p);
double tk_problem_min_bytes(const struct tk_problem_spec *p); /* each tensor counts at most once */
const char *tk_problem_op_name(const struct tk_problem_spec *p); /* "gemm" */
const char *tk_problem_dtype_name(
        const struct tk_problem_spec *p); /* type of the main operand: "bf16" */
/* A short name for people: "gemm f32 512x512x512 nt", "attention bf16 B4 H16/2 S2048 D128 causal".
 */
void tk_problem_format_title(const struct tk_problem_spec *p, char *out, size_t size);

const char *tk_dtype_name(uint32_t dtype);             /* "bf16"; NULL where unknown */
int tk_dtype_parse(const char *word, uint32_t *dtype); /* 0, or TK_EDATA */
size_t tk_dtype_bytes(uint32_t dtype);

/* The operation that a backend has to do for this problem (enum tk_operation of the contract). */
uint32_t tk_problem_operation(const struct tk_problem_spec *p);
/* "gemm", "attention-backward"; NULL: not one bit, or unknown. */
const char *tk_operation_name(uint32_t operation);
/* 0: unknown. */
uint32_t tk_operation_parse(const char *name);

/* The tensors of a problem with data = NULL, indexed by enum tk_tensor_id. read: "out" is one
 * element; fma: "in" and "out" are 64 elements, start values and results. */
int tk_problem_list_tensors(const struct tk_problem_spec *p, struct tk_tensor out[TK_T_MAX],
        uint32_t *count, struct tk_error *err);

#endif
