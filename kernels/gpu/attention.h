/* The interface of an attention kernel, which attention_backend.c makes a backend of; as gemm.h for
 * matrix products. */
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
	const char *const *configs; /* tile sizes; the first is the default */
	uint32_t config_count;
	/* NULL, or the reason why the kernel does not do this problem. */
	const char *(*reject_reason)(const struct tk_problem *p);
	size_t (*workspace)(const struct tk_problem *p); /* bytes; NULL: none */
	/* prepare: before the first launch of a configuration. t is indexed by enum tk_tensor_id.
	 * 0, or a code for status_text(). */
	int (*prepare)(const struct tk_problem *p, uint32_t config);
	int (*launch)(const struct tk_problem *p, uint32_t config, void *const *t, void *workspace,
	        void *stream);
	const char *(*status_text)(int status);
};

/* Defined by the one kernel of the module. */
extern const struct gpu_attention_kernel gpu_attention_kernel;

/* Head dimensions that there are tiles for. */
static inline int attention_is_tiled_for(int64_t d)
{
	return d == 64 || d == 128 || d == 256;
}

#ifdef __cplusplus
}
#endif
#endif
