/* A launch as a trace that ui.perfetto.dev and chrome://tracing open: a process for each
 * multiprocessor, a thread for each group of each block. */
#ifndef TK_TRACE_CHROME_H
#define TK_TRACE_CHROME_H
#include "trace/trace.h"

#include <stdio.h>

/* `multiprocessors`: how many are written, spread over those of the launch; 0: all. TK_EIO: `out`
 * cannot be written. */
int tk_trace_write_chrome(const struct tk_trace_file_kernel *kernel,
        const struct tk_trace_launch *l, size_t multiprocessors, FILE *out, struct tk_error *err);

#endif
