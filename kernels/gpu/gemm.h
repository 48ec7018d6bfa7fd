/* The interface of one step of the GEMM ladder, which gemm_backend.c makes a backend of. A step is
 * one file, gemm_N_NAME.cu, and one module. Every step computes C = op(A) op(B) for all transposes,
 * sizes and batches. */
#ifndef GPU_GEMM_H
#define GPU_GEMM_H
#include "tracker_abi.h"

#ifdef __cplusplus
extern "C" {
#endif

struct gpu_gemm_step {
	const char *backend;     /* name of the backend: "gemm_naive_cuda" */
	const char *description; /* one line */
	const char *const *configs;
	uint32_t config_count;
	/* Rows of C in a block of each configuration; a grid has at most 65535 blocks of rows.
	 * NULL: no such limit. */
	const int64_t *block_rows;
	int (*accepts)(uint32_t dtype); /* whether A and B may both have this type */
	/* prepare: before the first launch of a configuration. 0, or a code for status_text(). */
	int (*prepare)(const struct tk_gemm *g, uint32_t config);
	int (*launch)(const struct tk_gemm *g, uint32_t config, const void *a, const void *b,
	        void *c, void *stream);
	const char *(*status_text)(int status);
};

/* Defined by the one kernel of the module. */
extern const struct gpu_gemm_step gpu_gemm_step;

#ifdef __cplusplus
}
#endif
#endif
