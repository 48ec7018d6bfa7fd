/* The part of store.h about the results of `tracker trace` and `tracker profile`. */
#ifndef TK_STORE_KERNEL_REPORT_H
#define TK_STORE_KERNEL_REPORT_H
#include "core/kernel_report.h"
#include "store/store.h"

/* What was recorded inside the kernels of one problem on one backend and device. */
struct tk_kernel_report_row {
	int64_t id, device_id, environment_id, problem_id;
	const char *uid;
	enum tk_kernel_report kind;
	const char *upstream, *revision; /* "": an installed backend */
	const char *artifact_key;        /* of the build */
	const char *backend, *options, *config, *mode;
	const char *base; /* that a trace was compared with; "": nothing */
	int64_t started_s;
	const char *result;   /* JSON: docs/reference/kernel-reports.md */
	const char *timeline; /* JSON: the same page; "": none; NULL in lists */
};

/* Whether there is any trace that compares two revisions. */
int tk_store_has_comparisons(struct tk_store *s, bool *out, struct tk_error *err);
/* The result of the newest trace that compares these two revisions of the kernels of a series, the
 * caller's; NULL: there is none. */
int tk_store_find_comparison(struct tk_store *s, const struct tk_series_row *series,
        const char *upstream, const char *good_rev, const char *bad_rev, char **result,
        struct tk_error *err);
/* The caller frees *timeline. */
int tk_store_read_kernel_timeline(
        struct tk_store *s, int64_t report_id, char **timeline, struct tk_error *err);

#endif
