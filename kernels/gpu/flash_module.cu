// The kernels of the modules flash_cuda and flash_hip: attention forward and backward.
#include "flash_launch.h"

#if GPU_HIP
static const char *const configs[] = {"default"};
#else
static const char *const configs[] = {"default", "other-keys", "queries-64"}; // flash_forward.cu
#endif

static const char *reject_reason(const struct tk_problem *p)
{
	const struct tk_attention *a = p->attention;
	if (a->dir == TK_BWD && a->d > 128)
		return "backward only with head dimensions 64 and 128";
	return flash_reject_reason(a);
}

static size_t workspace(const struct tk_problem *p)
{
	return p->attention->dir == TK_FWD ? 0 : flash_backward_workspace(p->attention);
}

static int prepare(const struct tk_problem *p, uint32_t config)
{
	return p->attention->dir == TK_FWD ? flash_forward_prepare(p->attention, config)
	                                   : flash_backward_prepare(p->attention);
}

static int launch(
        const struct tk_problem *p, uint32_t config, void *const *t, void *memory, void *stream)
{
	return p->attention->dir == TK_FWD ? flash_forward_launch(p->attention, config, t, stream)
	                                   : flash_backward_launch(p->attention, t, memory, stream);
}

#if GPU_HOST_PASS
const struct gpu_attention_kernel gpu_attention_kernel = {"flash_" TK_GPU_KIND,
        "attention in one pass over the keys, by the matrix units of a warp", TK_OP_ATTENTION,
        configs, sizeof configs / sizeof *configs, reject_reason, workspace, prepare, launch,
        gpu_status_text};
#endif
