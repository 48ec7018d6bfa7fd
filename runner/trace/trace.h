/* What kernels recorded about the regions inside them, launch by launch. */
#ifndef TK_TRACE_ROOM_H
#define TK_TRACE_ROOM_H
#include "core/trace_file.h"

#include <stdbool.h>
#include <stddef.h>

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

#endif
