/* What the time of a block or a tile consists of, from its last moment back to its begin. */
#ifndef TK_TRACE_CRITICAL_PATH_H
#define TK_TRACE_CRITICAL_PATH_H
#include "trace/trace.h"

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

int tk_trace_find_critical_path(const struct tk_trace_file_kernel *kernel,
        const struct tk_trace_launch *l, struct tk_trace_critical_path *out, struct tk_error *err);

#endif
