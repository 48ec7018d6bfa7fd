/* The stored results of `tracker trace` and `tracker profile`. */
#ifndef TK_CLI_KERNEL_REPORTS_H
#define TK_CLI_KERNEL_REPORTS_H
#include "cli/host/run.h"
#include "store/kernel_report.h"

/* Stores what the first device of the session recorded. `base` may be NULL; `timeline` too. */
struct tk_kernel_report_new {
	enum tk_kernel_report kind;
	const char *problem, *base;
	int64_t started_s;
	const json_t *result, *timeline;
};
int tk_kernel_reports_put(struct tk_store *s, const struct tk_run_session *r,
        const struct tk_kernel_report_new *report, struct tk_error *err);

/* Prints those of one kind, newest first: of a backend or upstream, or all (`of` NULL). */
int tk_kernel_reports_list(const struct tk_globals *g, enum tk_kernel_report kind, const char *of,
        bool json, struct tk_error *err);

#endif
