/* rocprofv3, AMD's profiler of ROCm: how it is called, and what it writes. No AMD device has run it
 * below this program yet.
 *
 * Options and files: https://rocm.docs.amd.com/projects/rocprofiler-sdk/en/latest/how-to/
 * using-rocprofv3.html. Counters: https://rocm.docs.amd.com/en/latest/conceptual/gpu-arch/
 * mi300-mi200-performance-counters.html, and those that are derived from others:
 * share/rocprofiler-sdk/counter_defs.yaml of an installation. */
#ifndef TK_PROFILE_ROCPROFV3_H
#define TK_PROFILE_ROCPROFV3_H
#include "profile/profiler.h"

/* The counters of a pass, separated by ", "; "": the first pass, which has none. */
void tk_rocprofv3_format_counters(size_t pass, char *text, size_t size);

#endif
