/* A cuBLAS handle for the backends on it: explicit math mode, our own workspace, and the stream set
 * only when it changes.
 *
 * Row-major matrices for a column-major library: a matrix X stored by rows reads as X transposed by
 * columns. C = op(A) op(B) becomes C' = op(B)' op(A)': operands and m, n are swapped,
 * transpositions are unchanged. */
#ifndef TK_CUBLAS_HANDLE_H
#define TK_CUBLAS_HANDLE_H
#include "cuda_backend.h"
#include <cublas_v2.h>

struct cublas {
	cublasHandle_t handle;
	/* Of a plan: 32 MiB from Hopper on, 4 MiB before, as NVIDIA's documentation recommends. */
	size_t workspace_bytes;
	const void *current; /* the plan whose workspace and stream are set */
	void *stream;
};

static inline int cublas_check(struct tk_abi_error *err, const char *what, cublasStatus_t code)
{
	if (code == CUBLAS_STATUS_SUCCESS)
		return TK_ABI_OK;
	int status = code == CUBLAS_STATUS_NOT_SUPPORTED  ? TK_ABI_UNSUPPORTED
	             : code == CUBLAS_STATUS_ALLOC_FAILED ? TK_ABI_NO_MEMORY
	                                                  : TK_ABI_DEVICE;
	return fail(err, status, "%s: %s (%s)", what, cublasGetStatusString(code),
	        cublasGetStatusName(code));
}

static inline int cublas_open(
        struct cublas *c, int capability, const char *options, struct tk_abi_error *err)
{
	int status = cublas_check(err, "cublasCreate", cublasCreate(&c->handle));
	c->workspace_bytes =
	        (size_t)option_number(options, "workspace_mib", capability >= 90 ? 32 : 4) * MIB;
	c->stream = (void *)-1;
	if (status)
		return status;
	/* f32 stays f32 (tf32 only if the compute type says so), and split sums are added in the
	 * requested type. */
	status = cublas_check(err, "cublasSetMathMode",
	        cublasSetMathMode(c->handle,
	                (cublasMath_t)(CUBLAS_DEFAULT_MATH |
	                               CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION)));
	if (status)
		cublasDestroy(c->handle);
	return status;
}

/* Before a plan's calls. Setting the stream resets the workspace, so both are set together. */
static inline int cublas_set_plan(
        struct cublas *c, const void *plan, void *workspace, void *stream, struct tk_abi_error *err)
{
	if (c->current == plan && c->stream == stream)
		return TK_ABI_OK;
	int status = cublas_check(
	        err, "cublasSetStream", cublasSetStream(c->handle, (cudaStream_t)stream));
	if (status == TK_ABI_OK)
		status = cublas_check(err, "cublasSetWorkspace",
		        cublasSetWorkspace(c->handle, workspace, c->workspace_bytes));
	c->current = status ? NULL : plan;
	c->stream = stream;
	return status;
}

/* When a plan is freed: a new one may get its address. */
static inline void cublas_clear_plan(struct cublas *c)
{
	c->current = NULL;
}

static inline const char *cublas_version_text(void)
{
	static char text[32];
	int major = 0, minor = 0, patch = 0;
	if (cublasGetProperty(MAJOR_VERSION, &major) || cublasGetProperty(MINOR_VERSION, &minor) ||
	        cublasGetProperty(PATCH_LEVEL, &patch))
		return "";
	snprintf(text, sizeof text, "%d.%d.%d", major, minor, patch);
	return text;
}

#endif
