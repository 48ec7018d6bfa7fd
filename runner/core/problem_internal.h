/* The table of ops and their keys, shared by the files of core/: one row per key, sorted by name,
 * as the canonical text is. */
#ifndef TK_CORE_PROBLEM_INTERNAL_H
#define TK_CORE_PROBLEM_INTERNAL_H
#include "core/problem.h"

enum tk_key_kind {
	TK_KEY_SIZE,
	TK_KEY_DTYPE,
	TK_KEY_FLAG,
	TK_KEY_TRANSPOSE,
	TK_KEY_DIRECTION,
	TK_KEY_SCALE,
	TK_KEY_CACHE,
	TK_KEY_DIST
};

struct tk_problem_key {
	const char *name;
	enum tk_key_kind kind;
	size_t offset;        /* of the value in struct tk_problem_spec */
	const char *fallback; /* NULL: required; "": op->derive sets it where it is still 0 */
	int64_t min, max;     /* TK_KEY_SIZE */
	bool quiet;           /* left out of the canonical text where it has its default */
};

/* A word of a title, or some that belong together. */
struct tk_title_word {
	enum {
		TK_TITLE_NUMBERS =
		        1, /* "H16/2": numbers of keys; later ones only where not default */
		TK_TITLE_ALL_NUMBERS, /* "512x512x64" */
		TK_TITLE_NAMED,       /* "window 64", unless it has its default */
		TK_TITLE_VALUE,       /* "l2", unless it has its default */
		TK_TITLE_FLAG,        /* "causal"; keys: the key, its value with it and without */
		TK_TITLE_TRANSPOSES,  /* "nt" */
		TK_TITLE_UNIT         /* "B" */
	} kind;
	const char *lead;
	char separator;
	const char *keys[3];
};

struct tk_problem_op {
	const char *word;
	uint32_t id;
	const struct tk_problem_key *keys;         /* ends with name == NULL */
	const struct tk_title_word *title;         /* behind the types; ends with kind 0 */
	void (*derive)(struct tk_problem_spec *p); /* defaults that depend on other keys */
	int (*check)(const struct tk_problem_spec *p, struct tk_error *err); /* NULL: no rule */
};

extern const struct tk_problem_op tk_problem_ops[]; /* ends with word == NULL */

#define TK_PROBLEM_SIZE_MAX INT64_C(2147483647)
/* Of all tensors of one problem: 1 PiB; sums cannot overflow below it. */
#define TK_PROBLEM_BYTES_MAX (INT64_C(1) << 50)

/* ---- problem_text.c -------------------------------------------------------------------------- */

/* NULL: it has no such key. */
const struct tk_problem_key *tk_problem_find_key(const struct tk_problem_op *op, const char *name);
int tk_problem_read_value(const struct tk_problem_op *op, const struct tk_problem_key *key,
        const char *value, struct tk_problem_spec *p, struct tk_error *err);
void tk_problem_write_value(
        struct tk_buf *b, const struct tk_problem_spec *p, const struct tk_problem_key *k);
bool tk_problem_has_default(const struct tk_problem_spec *p, const struct tk_problem_op *op,
        const struct tk_problem_key *key);

/* ---- problem_title.c ------------------------------------------------------------------------- */

/* Adds "gemm:a=bf16,..." for the title "gemm bf16 ...". False: it does not look like a title. */
bool tk_problem_title_to_keys(const char *title, struct tk_buf *out);

#endif
