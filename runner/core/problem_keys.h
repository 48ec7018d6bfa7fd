/* The table of ops and their keys, shared by the files of core/: one row per key, sorted by name,
 * as the canonical text is. */
#ifndef TK_CORE_PROBLEM_KEYS_H
#define TK_CORE_PROBLEM_KEYS_H
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
	size_t offset; /* of the value in struct tk_problem_spec */
	bool required;
	int64_t min, max; /* TK_KEY_SIZE */
	bool (*quiet)(const struct tk_problem_spec
	                *p); /* true: has its default, left out of the text; NULL: always written */
};

struct tk_problem_op {
	const char *word;
	uint32_t id;
	const struct tk_problem_key *keys;         /* ends with name == NULL */
	void (*preset)(struct tk_problem_spec *p); /* defaults that depend on nothing */
	void (*derive)(struct tk_problem_spec
	                *p); /* defaults that depend on other keys: where the value is still 0 */
	int (*check)(const struct tk_problem_spec *p, struct tk_error *err);
};

extern const struct tk_problem_op tk_problem_ops[]; /* ends with word == NULL */

#define TK_PROBLEM_SIZE_MAX INT64_C(2147483647)
#define TK_PROBLEM_BYTES_MAX \
	(INT64_C(1) \
	        << 50) /* of all tensors of one problem: 1 PiB; sums cannot overflow below it \
	                    */

/* ---- problem_title.c ------------------------------------------------------------------------- */

struct tk_buf;
extern const char *const tk_problem_dists[]; /* by enum tk_dist; ends with NULL */
/* Adds "gemm:a=bf16,..." for the title "gemm bf16 ...". False: it does not look like a title. */
bool tk_problem_title_to_keys(const char *title, struct tk_buf *out);

/* ---- problem_text.c -------------------------------------------------------------------------- */

/* The shortest text that reads back as the same number. */
void tk_problem_write_number(double v, char *out, size_t size);

#endif
