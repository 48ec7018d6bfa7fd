/* The parts of the page of a package's versions. */
#ifndef TK_SITE_PAGE_VERSIONS_H
#define TK_SITE_PAGE_VERSIONS_H
#include "site_gen/model/versions.h"
#include "site_gen/pages/page.h"
#include "store/query/code_facts.h"

/* The problems of one kernel on one device. */
struct tk_version_section {
	const struct tk_versions *versions;
	const struct tk_version_problem *const *problems;
	size_t count;
};

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

/* charts (caption, drawing_markup) and keys (label, anchor, mark_markup) of a section. */
void tk_version_set_charts(
        struct tk_site *site, struct tk_value *o, const struct tk_version_section *section);
/* steps: the changes of time from one version to the next, the newest version first; steps_more:
 * how many are left out; has_ab: A/B runs have measured one of them. */
int tk_version_set_steps(struct tk_site *site, struct tk_value *o,
        const struct tk_version_section *section, struct tk_error *err);
/* problems: each with its rows, one for each version; problems_cut. */
int tk_version_set_problems(struct tk_site *site, struct tk_value *o,
        const struct tk_version_section *section, struct tk_error *err);
/* The compile time of the configuration that is the fastest with the newest version; NULL: no
 * version has a time. */
const double *tk_version_compile_ns(
        const struct tk_versions *v, const struct tk_version_problem *p);

#endif
