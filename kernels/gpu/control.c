/* The control of a GPU: a matrix product that never changes, so that a change of its time comes
 * from the machine (its clock, its power limit, its driver), never from code. The kernel is in
 * control_kernel.cu; a new compiler may compile it differently, which its code hash shows. */
#define CONTROL_NAME "control_" TK_GPU_KIND
#define CONTROL_KIND TK_GPU_KIND
#define CONTROL_TEXT "a matrix product that never changes"
#define CONTROL_CAPTURABLE 1
#include "../control.h"
#include "gpu_host.h"
#include <limits.h>

int control_gemm_launch(
        const float *a, const float *b, float *c, int m, int n, int k, void *stream);

static const char *control_reject_reason(const struct tk_gemm *g)
{
	if (g->ta || g->tb || g->batch != 1)
		return "only one product with nothing transposed";
	return g->m > 65535 * 64 || g->n > INT_MAX || g->k > INT_MAX
	               ? "a side is too large for the grid"
	               : NULL;
}

static int control_run(const struct tk_gemm *g, const struct control_operands *t, void *stream,
        struct tk_abi_error *err)
{
	int code = control_gemm_launch(t->a, t->b, t->c, (int)g->m, (int)g->n, (int)g->k, stream);
	return code == GPU_SUCCESS
	               ? TK_ABI_OK
	               : control_fail(err, TK_ABI_DEVICE, gpu_error_text((gpu_error)code));
}
