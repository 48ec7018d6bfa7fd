/* What one multiprocessor did during one launch, small enough for the history and a page. */
#ifndef TK_TRACE_TIMELINE_H
#define TK_TRACE_TIMELINE_H
#include "trace/trace.h"

#include <jansson.h>

/* Of the multiprocessor that ends in the middle: half of them end later. Times are ns from the
 * begin of the launch. At most `spans_max` spans, the earliest ones, and a fourth as many groups.
 * NULL: out of memory.
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
