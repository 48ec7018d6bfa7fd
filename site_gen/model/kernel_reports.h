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

/* Levels of the memory, farthest first. */
enum { TK_PROFILED_DRAM, TK_PROFILED_L2, TK_PROFILED_L1, TK_PROFILED_LEVELS };
extern const char *const tk_profiled_level_names[TK_PROFILED_LEVELS];

/* What `tracker profile` counted in one launch. NAN: not counted. */
struct tk_site_profile {
	double tensor_share;
	double bytes[TK_PROFILED_LEVELS];
	double intensity[TK_PROFILED_LEVELS]; /* FLOP of the problem for each byte that was moved */
};
void tk_kernel_profile_read(
        const struct tk_kernel_report_row *row, double flops, struct tk_site_profile *out);

/* Whether a report is of these traces: one with a base is a comparison. */
bool tk_kernel_trace_has_report(
        const struct tk_site_kernel_trace *t, const struct tk_kernel_report_row *row);

#endif
