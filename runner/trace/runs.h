/* The runs of one or two builds that record: what each process left, and what they come to. */
#ifndef TK_TRACE_RUNS_H
#define TK_TRACE_RUNS_H
#include "trace/summary.h"

#include <jansson.h>

/* Of one build. */
struct tk_trace_runs {
	double median_ns[TK_TRACE_RUNS_MAX]; /* of a launch, as the worker measured it */
	double clock_mhz[TK_TRACE_RUNS_MAX]; /* of the device meanwhile; NAN: not known */
	struct tk_trace_file_kernel *kernels;
	struct tk_trace_summary (*summaries)[TK_TRACE_RUNS_MAX]; /* of each kernel */
	size_t kernel_count;                                     /* 0: it does not record */
};

/* Adds the run of this number, from 0 on. TK_EDATA: its kernels are not those of the first one. */
int tk_trace_runs_add(
        struct tk_trace_runs *r, size_t run, const struct tk_trace *t, struct tk_error *err);
void tk_trace_runs_free(struct tk_trace_runs *r);

/* One kernel that records, of all runs. */
struct tk_trace_result {
	struct tk_trace_file_kernel kernel;
	struct tk_trace_summary head; /* mean over the runs */
	/* What a record on the critical path costs where it stands: what the launch takes longer
	 * than one of the build that does not record. Negative: it takes less. NAN: with a base. */
	double record_in_place_ns;
	struct tk_trace_summary base;          /* with a base */
	struct tk_trace_comparison comparison; /* likewise */
};

/* What a record on the critical path costs, as well as it is known; 0: it is not. */
double tk_trace_result_record_ns(const struct tk_trace_result *r);

struct tk_trace_results {
	struct tk_trace_result at[TK_TRACE_KERNELS_MAX];
	size_t count, runs;
	double traced_ns;
	double untraced_ns; /* NAN: the base records too, and both are compared */
};

/* `base` records, and is compared, or it does not, and shows what recording costs. TK_EDATA: both
 * record different regions. */
int tk_trace_results_fill(const struct tk_trace_runs *base, const struct tk_trace_runs *head,
        size_t runs, struct tk_trace_results *out, struct tk_error *err);

/* One launch that another tool recorded, beside `runs` runs that did not record. */
int tk_trace_results_import(const struct tk_trace_runs *untraced, size_t runs,
        const struct tk_trace_file_kernel *kernel, const struct tk_trace_launch *l,
        struct tk_trace_results *out, struct tk_error *err);

static inline bool tk_trace_results_compare(const struct tk_trace_results *r)
{
	return !(r->untraced_ns > 0);
}

/* Sets "runs", "untraced_ns", "traced_ns" and "kernels" (docs/reference/kernel-reports.md). */
void tk_trace_results_encode(const struct tk_trace_results *r, json_t *object);
/* One of "kernels". */
json_t *tk_trace_result_encode(const struct tk_trace_result *r, bool compares);

#endif
