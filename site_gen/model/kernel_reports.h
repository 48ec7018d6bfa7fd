/* What was recorded inside kernels: the stored traces by kernel, and the newest trace and profile
 * of each series. */
#ifndef TK_SITE_KERNEL_REPORTS_H
#define TK_SITE_KERNEL_REPORTS_H
#include <stdbool.h>

struct tk_error;
struct tk_kernel_report_row;
struct tk_model;
struct tk_problem_row;
struct tk_site_device;

/* The traces of one problem on one backend, its configuration and device. */
struct tk_site_kernel_trace {
	const struct tk_site_device *device;
	const struct tk_problem_row *problem;
	/* the newest without a base; where all have one, the newest */
	const struct tk_kernel_report_row *newest;
	char *file;
};

/* Reads the reports, and finds those of each series, which must be joined. */
int tk_model_join_kernel_reports(struct tk_model *m, struct tk_error *err);
void tk_model_free_kernel_reports(struct tk_model *m);

/* Whether a report is of these traces: one with a base is a comparison. */
bool tk_kernel_trace_has_report(
        const struct tk_site_kernel_trace *t, const struct tk_kernel_report_row *row);

#endif
