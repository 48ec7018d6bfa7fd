/* What a step of the ladder gives to gemm_backend.c, which makes a backend of it. A step is one
 * file, gemm_N_NAME.cu, and one module; every step computes C = op(A) op(B) for all transposes and
 * sizes and for batches, so that only the way differs. */
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
	/* Rows of C in a block of each configuration, of which the grid counts 65535; NULL: counted
	 * otherwise. */
	const int64_t *block_rows;
	int (*takes)(uint32_t dtype); /* whether A and B may have this type; they have the same */
	/* Before the first launch of a configuration, and the launch. 0, or a code that
	 * status_text() explains. */
	int (*prepare)(const struct tk_gemm *g, uint32_t config);
	int (*launch)(const struct tk_gemm *g, uint32_t config, const void *a, const void *b,
	        void *c, void *stream);
	const char *(*status_text)(int status);
};

/* The one that is linked into the module. */
extern const struct gpu_gemm_step gpu_gemm_step;

#ifdef __cplusplus
}
#endif
#endif
