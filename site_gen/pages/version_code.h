/* The machine code that a series ran with a version of a package. */
#ifndef TK_SITE_VERSION_CODE_H
#define TK_SITE_VERSION_CODE_H
#include "site_gen/model/versions.h"
#include "site_gen/pages/page.h"
#include "store/query/code_facts.h"

/* The machine code that ran. Of several kernels the most registers and the most shared memory, and
 * the sum of spilled bytes and of instructions; -1: unknown. */
#define TK_VERSION_KERNELS_MAX 8
struct tk_version_code {
	const struct tk_kernel_row *kernels[TK_VERSION_KERNELS_MAX];
	size_t count; /* 0: unknown, or more of them than a problem has */
	int64_t registers, spill_bytes, shared_bytes, instructions;
};
int tk_version_code_find(struct tk_site *site, const struct tk_version_series *s, size_t version,
        struct tk_version_code *out, struct tk_error *err);
/* Both are known and some kernel differs. */
bool tk_version_code_differs(const struct tk_version_code *a, const struct tk_version_code *b);
/* "same code", what is known to differ, "other code", or "" where one of them is unknown. */
const char *tk_version_code_format_change(const struct tk_version_code *before,
        const struct tk_version_code *after, char out[TK_CODE_CHANGE_SIZE]);

#endif
