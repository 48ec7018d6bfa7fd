/* What backend.c knows of one compiled kernel. Texts are errors; NULL: success. */
#ifndef CUTLASS_KERNEL_H
#define CUTLASS_KERNEL_H
#include "tracker_abi.h"

struct kernel {
	const char *(*check)(const struct tk_gemm *g); /* whether it does this shape */
	size_t (*workspace_bytes)(const struct tk_gemm *g);
	const char *(*prepare)(const struct tk_gemm *g, const void *a, const void *b, void *c,
	        void *workspace, void **out);
	const char *(*run)(void *prepared, void *stream);
	void (*destroy)(void *prepared);
};

#endif
