/* Nsight Compute (`ncu`), NVIDIA's profiler of kernels: how it is called, and what it writes.
 * https://docs.nvidia.com/nsight-compute/NsightComputeCli */
#ifndef TK_PROFILE_NCU_H
#define TK_PROFILE_NCU_H
#include <stdbool.h>

struct tk_error;
struct tk_profile;

/* In PATH, else where the CUDA Toolkit is installed. *path is the caller's. TK_ENOTFOUND says where
 * it was looked for. */
int tk_ncu_find(char **path, struct tk_error *err);

/* The beginning of a command: what follows is the program to profile. The kernels that run while
 * the program has switched the profiler on are recorded into the file `log_path`. Clocks stay as
 * they are. `flush_caches`: before each run of a kernel, of which there are several. Points to its
 * arguments. */
#define TK_NCU_WORDS_MAX 32
struct tk_ncu_command {
	const char *words[TK_NCU_WORDS_MAX];
};
void tk_ncu_make_command(
        struct tk_ncu_command *out, const char *path, const char *log_path, bool flush_caches);

/* Reads what it has recorded. TK_EDATA: the profiler's own error, or that it recorded nothing. Free
 * *out with tk_profile_free(). */
int tk_ncu_read(const char *log_path, struct tk_profile *out, struct tk_error *err);

#endif
