/* What the time of a block consists of, from its last moment back to its begin. */
#ifndef TK_TRACE_CRITICAL_PATH_H
#define TK_TRACE_CRITICAL_PATH_H
#include "trace/trace.h"

/* Means over the blocks of a launch, or of several. The regions and the rest add up to block_ns. */
struct tk_trace_critical_path {
	double region_ns[TK_TRACE_REGIONS_MAX];
	double other_ns; /* in no region */
	double block_ns; /* from the begin of a block's first group to the end of its last one */
};

int tk_trace_find_critical_path(const struct tk_trace_file_kernel *kernel,
        const struct tk_trace_launch *l, struct tk_trace_critical_path *out, struct tk_error *err);

#endif
