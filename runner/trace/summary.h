/* Where the time of a kernel goes, region by region, and what changed between two builds of it. */
#ifndef TK_TRACE_SUMMARY_H
#define TK_TRACE_SUMMARY_H
#include "trace/critical_path.h"
#include "trace/trace.h"

/* What a multiprocessor does at a moment: the first of these that any of its groups does. */
enum tk_trace_activity {
	TK_TRACE_DOES_TENSOR,
	TK_TRACE_DOES_COMPUTE,
	TK_TRACE_DOES_STORE,
	TK_TRACE_DOES_LOAD,
	TK_TRACE_DOES_WAIT,
	TK_TRACE_DOES_OTHER, /* a group is there, in no region */
	TK_TRACE_IS_IDLE,    /* no group is there */
	TK_TRACE_ACTIVITIES
};
extern const char *const tk_trace_activity_names[TK_TRACE_ACTIVITIES];
enum tk_trace_activity tk_trace_kind_activity(uint32_t kind);

/* Means over the multiprocessors of a launch. */
struct tk_trace_region_time {
	double time_ns;    /* in all of its groups, without the cost of records */
	double exposed_ns; /* while nothing before it in enum tk_trace_activity was done */
	double share;      /* of the time of the groups that enter it */
	double calls;
};

struct tk_trace_summary {
	size_t region_count;
	struct tk_trace_region_time regions[TK_TRACE_REGIONS_MAX];
	double activity_ns
	        [TK_TRACE_ACTIVITIES]; /* mean over the multiprocessors; sum: duration_ns */
	double duration_ns;
	double corrected_ns; /* without what records cost, at record_ns; an estimate */
	double tail_ns;      /* how long a multiprocessor waits for the last one, in the mean */
	double clock_mhz, record_ns;
	double recorded, groups_with_loss; /* records; groups whose first ones were overwritten */
	size_t groups, multiprocessors;
	struct tk_trace_critical_path critical;
};

int tk_trace_summarize(const struct tk_trace_file_kernel *kernel, const struct tk_trace_launch *l,
        struct tk_trace_summary *out, struct tk_error *err);
/* Of equal regions; n > 0. */
void tk_trace_summary_mean(
        const struct tk_trace_summary *summaries, size_t n, struct tk_trace_summary *out);
/* Records on the critical path of a launch, which has blocks one after the other. */
double tk_trace_summary_path_records(const struct tk_trace_summary *s);
/* Sets corrected_ns, from what a record on the critical path costs. NAN: not known. */
void tk_trace_summary_correct(struct tk_trace_summary *s, double record_ns);
/* Of a path, the times of its regions without what their records cost; the same share of all where
 * that is more than a region's time. They and the rest, which is returned, add up to what the path
 * takes without its records. */
double tk_trace_path_correct(const struct tk_trace_path *p, size_t regions, double record_ns,
        double corrected_ns[TK_TRACE_REGIONS_MAX]);
/* The mean over all launches of a trace. */
int tk_trace_summarize_all(const struct tk_trace *t, uint32_t kernel, struct tk_trace_summary *out,
        struct tk_error *err);

/* ---- two builds ---- */

enum { TK_TRACE_RUNS_MIN = 6, TK_TRACE_RUNS_MAX = 64 };

struct tk_trace_change {
	double base_ns, head_ns; /* medians over the runs */
	double change_ns, lo_ns, hi_ns;
	bool is_changed; /* beyond chance and beyond the smallest change that counts */
};

struct tk_trace_comparison {
	struct tk_trace_change duration, regions[TK_TRACE_REGIONS_MAX],
	        exposed[TK_TRACE_REGIONS_MAX];
	int cause; /* the region that explains the change best; -1: none */
};

/* `runs` summaries of each side, each from a process of its own, of equal regions. A change counts
 * from 1 % of the kernel's time on. */
int tk_trace_compare(const struct tk_trace_file_kernel *kernel, const struct tk_trace_summary *base,
        const struct tk_trace_summary *head, size_t runs, struct tk_trace_comparison *out,
        struct tk_error *err);

#endif
