/* Between attention_backend.c and the kernels of attention: what a module offers, as gemm.h for the
 * products. */
#ifndef GPU_ATTENTION_H
#define GPU_ATTENTION_H
#include "tracker_abi.h"
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

struct gpu_attention_kernel {
	const char *backend, *description;
	uint32_t op;                /* enum tk_op that it is for */
	const char *const *configs; /* of tile sizes; the first is the default */
	uint32_t config_count;
	/* NULL, or a sentence: why this problem is none for the kernel. */
	const char *(*refuses)(const struct tk_problem *p);
	size_t (*workspace)(const struct tk_problem *p); /* bytes; NULL: none */
	/* Before the first launch of a configuration, and the launch; t is indexed by enum
	 * tk_tensor_id. 0, or a code that status_text() explains. */
	int (*prepare)(const struct tk_problem *p, uint32_t config);
	int (*launch)(const struct tk_problem *p, uint32_t config, void *const *t, void *workspace,
	        void *stream);
	const char *(*status_text)(int status);
};

/* The one that is linked into the module. */
extern const struct gpu_attention_kernel gpu_attention_kernel;

/* Head dimensions that tiles are cut for. */
static inline int attention_is_tiled_for(int64_t d)
{
	return d == 64 || d == 128 || d == 256;
}

#ifdef __cplusplus
}
#endif
#endif
