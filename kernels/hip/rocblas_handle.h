/* A rocBLAS handle for the backends on it: explicit math mode, our own workspace (nothing is
 * allocated during a capture), and the stream set only when it changes.
 *
 * Row-major matrices for a column-major library: a matrix X stored by rows reads as X transposed by
 * columns. C = op(A) op(B) becomes C' = op(B)' op(A)': operands and m, n are swapped,
 * transpositions stay. */
#ifndef TK_ROCBLAS_HANDLE_H
#define TK_ROCBLAS_HANDLE_H
#include "hip_backend.h"
#define ROCBLAS_BETA_FEATURES_API /* lists of solutions */
#include <rocblas/rocblas.h>

struct rocblas {
	rocblas_handle handle;
	size_t workspace_bytes; /* of a plan: 128 MiB on CDNA3, 32 before, what rocBLAS takes for
	                           itself */
	const void *current;    /* the plan whose workspace and mode are set, and the stream */
	void *stream;
};

static inline int rocblas_check(struct tk_abi_error *err, const char *what, rocblas_status code)
{
	switch (code) {
	case rocblas_status_success:
		return TK_ABI_OK;
	case rocblas_status_not_implemented:
	case rocblas_status_arch_mismatch:
	case rocblas_status_excluded_from_build:
		return fail(
		        err, TK_ABI_UNSUPPORTED, "%s: %s", what, rocblas_status_to_string(code));
	case rocblas_status_memory_error:
		return fail(err, TK_ABI_NO_MEMORY, "%s: %s", what, rocblas_status_to_string(code));
	default:
		return fail(err, TK_ABI_DEVICE, "%s: %s", what, rocblas_status_to_string(code));
	}
}

static inline int rocblas_open(
        struct rocblas *r, unsigned gfx, const char *options, struct tk_abi_error *err)
{
	int status = rocblas_check(err, "rocblas_create_handle", rocblas_create_handle(&r->handle));
	if (status)
		return status;
	r->workspace_bytes =
	        (size_t)option_number(options, "workspace_mib", is_cdna3(gfx) ? 128 : 32) * MIB;
	r->stream = (void *)-1;
	/* Sums that are split are added in a fixed order. (Deprecated only because it shall become
	 * the default.) */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
	status = rocblas_check(err, "rocblas_set_atomics_mode",
	        rocblas_set_atomics_mode(r->handle, rocblas_atomics_not_allowed));
#pragma GCC diagnostic pop
	if (status)
		rocblas_destroy_handle(r->handle);
	return status;
}

/* xf32: allow fewer bits for f32 operands; only on request. */
static inline int rocblas_set_xf32(struct rocblas *r, int xf32, struct tk_abi_error *err)
{
	return rocblas_check(err, "rocblas_set_math_mode",
	        rocblas_set_math_mode(
	                r->handle, xf32 ? rocblas_xf32_xdl_math_op : rocblas_default_math));
}

/* Before a plan's calls. */
static inline int rocblas_set_plan(struct rocblas *r, const void *plan, void *workspace, int xf32,
        void *stream, struct tk_abi_error *err)
{
	if (r->current == plan && r->stream == stream)
		return TK_ABI_OK;
	int status = rocblas_check(
	        err, "rocblas_set_stream", rocblas_set_stream(r->handle, (hipStream_t)stream));
	if (status == TK_ABI_OK)
		status = rocblas_check(err, "rocblas_set_workspace",
		        rocblas_set_workspace(r->handle, workspace, r->workspace_bytes));
	if (status == TK_ABI_OK)
		status = rocblas_set_xf32(r, xf32, err);
	r->current = status ? NULL : plan;
	r->stream = stream;
	return status;
}

/* When a plan is freed (a new one may get its address), or the math mode was changed. */
static inline void rocblas_clear_plan(struct rocblas *r)
{
	r->current = NULL;
}

static inline const char *rocblas_version_text(void)
{
	static char text[64];
	if (rocblas_get_version_string(text, sizeof text) != rocblas_status_success)
		return "";
	size_t len = strlen(text);
	if (len && text[len - 1] == '.') /* "4.4.1.": the commit that would follow is unknown */
		text[len - 1] = 0;
	return text;
}

#endif
