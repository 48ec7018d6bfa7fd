/* Traces of Triton kernels by Proton's intra-kernel instrumentation. */
#ifndef TK_TRACE_PROTON_H
#define TK_TRACE_PROTON_H
#include "trace/trace.h"

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

#endif
