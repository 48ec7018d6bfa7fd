/* Nsight Compute (`ncu`), NVIDIA's profiler of kernels: how it is called, and what it writes.
 * https://docs.nvidia.com/nsight-compute/NsightComputeCli */
#ifndef TK_PROFILE_NCU_H
#define TK_PROFILE_NCU_H
#include "profile/profiler.h"

/* Reads one log. TK_EDATA: the profiler's own error, or that it recorded nothing. Free *out with
 * tk_profile_free(). */
int tk_ncu_read(const char *log_path, struct tk_profile *out, struct tk_error *err);

#endif
