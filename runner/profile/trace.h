/* What kernels recorded about the regions inside them: launch by launch, as a summary, and compared
 * between two builds. */
#ifndef TK_PROFILE_TRACE_H
#define TK_PROFILE_TRACE_H
#include "core/trace_file.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct tk_error;

/* The file that a worker left, checked. */
struct tk_trace {
	void *map;
	size_t map_bytes;
	uint32_t kernel_count, launch_count;
	struct tk_trace_file_kernel *kernels; /* with clean texts; owned */
	const char *rings;                    /* of the first launch */
	size_t launch_bytes;
};

/* Reads a descriptor, which stays open. TK_EDATA: not a trace. */
int tk_trace_read(int fd, struct tk_trace *out, struct tk_error *err);
void tk_trace_free(struct tk_trace *t);

/* Of one group of warps: from its entry into a region until it left it. Times are ns from the begin
 * of the launch's first group. */
struct tk_trace_span {
	uint32_t ring;
	uint8_t region;
	bool is_async;
	uint8_t token;
	double begin_ns, end_ns;
	double own_ns; /* without the cost of the records made meanwhile */
};

struct tk_trace_group {
	uint32_t block, group, multiprocessor;
	double begin_ns, end_ns;
	uint32_t recorded; /* records that are there */
	bool has_lost;     /* older ones were overwritten */
};

/* Of a persistent kernel: what a group did for one tile, from entering its first region on until
 * the next tile, or the end of the group. */
struct tk_trace_tile {
	uint32_t ring;
	double begin_ns, end_ns;
};

struct tk_trace_launch {
	struct tk_trace_group *groups; /* those that ran, by multiprocessor */
	size_t group_count;
	struct tk_trace_span *spans; /* by multiprocessor */
	size_t span_count;
	struct tk_trace_tile *tiles; /* by group, in the order of time; NULL: none is marked */
	size_t tile_count;
	double duration_ns; /* from the first begin to the last end */
	double clock_mhz;
	double record_ns; /* what one record costs the group that makes it */
	size_t groups_with_loss;
	size_t multiprocessors;
};

/* Launch `launch` of kernel `kernel`. TK_EDATA: it has recorded nothing that can be read. */
int tk_trace_launch_read(const struct tk_trace *t, uint32_t kernel, uint32_t launch,
        struct tk_trace_launch *out, struct tk_error *err);
void tk_trace_launch_free(struct tk_trace_launch *l);

/* Reads the Chrome trace that Proton writes of one launch (`data="trace",
 * backend="instrumentation"`, Triton 3.5 and later): each warp that it sampled becomes a group, each
 * scope a region. A scope's name ends in its kind: "softmax [compute]", or [load], [store],
 * [tensor], [wait]; without one it is [compute]. A scope that overlaps an earlier one of its warp
 * goes on beside it. Proton counts cycles: `clock_mhz` makes times of them. What a record costs is
 * not known: record_ns is NAN.
 *
 * TK_EDATA: not such a file, or of several kernels. TK_EIO: it cannot be read. */
int tk_trace_read_proton(const char *path, double clock_mhz, struct tk_trace_file_kernel *kernel,
        struct tk_trace_launch *out, struct tk_error *err);

/* ---- the critical path: what the time of a block or a tile consists of, from its last moment
 * back to its begin ---- */

/* Means over blocks or tiles. The regions and the rest add up to the duration. */
struct tk_trace_path {
	double region_ns[TK_TRACE_REGIONS_MAX];
	double other_ns;    /* in no region */
	double duration_ns; /* from the begin of the first group to the end of the last one */
	/* Made on the path, beside no product: what they cost, it is longer. By the region that
	 * they enter; the sum. */
	double region_records[TK_TRACE_REGIONS_MAX], records;
};

struct tk_trace_critical_path {
	struct tk_trace_path block;
	/* Of the tiles that the blocks of a persistent kernel take one after the other. */
	struct tk_trace_path tile;
	double tiles; /* of a launch; 0: the kernel marks none */
	double shortest_tile_ns, longest_tile_ns;
};

void tk_trace_find_critical_path(const struct tk_trace_file_kernel *kernel,
        const struct tk_trace_launch *l, struct tk_trace_critical_path *out);

/* ---- where the time of a kernel goes, region by region ---- */

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
	size_t region_count, groups, multiprocessors;
	/* From here on only doubles: a mean is one of each. */
	struct tk_trace_region_time regions[TK_TRACE_REGIONS_MAX];
	double activity_ns
	        [TK_TRACE_ACTIVITIES]; /* mean over the multiprocessors; sum: duration_ns */
	double duration_ns;
	double corrected_ns; /* without what records cost, at record_ns; an estimate */
	double tail_ns;      /* how long a multiprocessor waits for the last one, in the mean */
	double clock_mhz, record_ns;
	double recorded, groups_with_loss; /* records; groups whose first ones were overwritten */
	struct tk_trace_critical_path critical;
};

void tk_trace_summarize(const struct tk_trace_file_kernel *kernel, const struct tk_trace_launch *l,
        struct tk_trace_summary *out);
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

/* ---- the runs of one or two builds: what each process left, and what they come to ---- */

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
void tk_trace_results_import(const struct tk_trace_runs *untraced, size_t runs,
        const struct tk_trace_file_kernel *kernel, const struct tk_trace_launch *l,
        struct tk_trace_results *out);

static inline bool tk_trace_results_compare(const struct tk_trace_results *r)
{
	return !(r->untraced_ns > 0);
}

/* Sets "runs", "untraced_ns", "traced_ns" and "kernels" (docs/reference/kernel-reports.md). */
void tk_trace_results_encode(const struct tk_trace_results *r, json_t *object);

/* ---- a launch as a drawing ---- */

/* A launch as a trace that ui.perfetto.dev and chrome://tracing open: a process for each
 * multiprocessor, a thread for each group of each block. `multiprocessors`: how many are written,
 * spread over those of the launch; 0: all. TK_EIO: `out` cannot be written. */
int tk_trace_write_chrome(const struct tk_trace_file_kernel *kernel,
        const struct tk_trace_launch *l, size_t multiprocessors, FILE *out, struct tk_error *err);

/* What one multiprocessor did during one launch, small enough for the history and a page.
 * Of the multiprocessor that ends in the middle: half of them end later. Times are ns from the
 * begin of the launch. At most `spans_max` spans, the earliest ones, and a fourth as many groups.
 *
 * {"kernel": NAME, "multiprocessor": 7, "duration_ns": N, "left_out": N,
 *  "regions": [{"name": NAME, "kind": KIND}, ...], "group_names": [NAME, ...],
 *  "groups": [[BLOCK, GROUP, BEGIN, END], ...], "spans": [[RING, REGION, BEGIN, END, ASYNC], ...]}
 *
 * RING counts in "groups"; ASYNC is 1 for what goes on beside the group, else left out. */
json_t *tk_trace_timeline_json(const struct tk_trace_file_kernel *kernel,
        const struct tk_trace_launch *l, size_t spans_max);

/* One for each kernel, of the newest launch; together at most `spans_max` spans. */
int tk_trace_timeline_list(
        const struct tk_trace *t, size_t spans_max, json_t **out, struct tk_error *err);
#define TK_TRACE_SPANS_STORED 16384 /* about 30 bytes each */

#endif
