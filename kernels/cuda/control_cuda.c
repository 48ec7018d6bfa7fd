/* The control of a GPU: a matrix product that never changes, so that a change of its time is the machine's (its clock,
 * its power limit, its driver) and nobody's code. The kernel is in control_cuda_kernel.cu; a new nvcc may compile it
 * differently, which its code hash shows. */
#define CONTROL_NAME "control_cuda"
#define CONTROL_KIND "cuda"
#define CONTROL_TEXT "a matrix product that never changes"
#define CONTROL_CAPTURABLE 1
#include "../control.h"
#include <cuda_runtime_api.h>
#include <limits.h>

int control_gemm_launch(const float *a, const float *b, float *c, int m, int n, int k, void *stream);

static const char *control_refuse(const struct tk_gemm *g)
{
	if (g->ta || g->tb || g->batch != 1)
		return "only one product with nothing transposed";
	return g->m > 65535 * 64 || g->n > INT_MAX || g->k > INT_MAX ? "a side is too large for the grid" : NULL;
}

static int control_run(
        const struct tk_gemm *g, const struct control_operands *t, void *stream, struct tk_abi_error *err)
{
	int code = control_gemm_launch(t->a, t->b, t->c, (int)g->m, (int)g->n, (int)g->k, stream);
	return code == cudaSuccess ? TK_ABI_OK
	                           : control_fail(err, TK_ABI_DEVICE, cudaGetErrorString((cudaError_t)code));
}
