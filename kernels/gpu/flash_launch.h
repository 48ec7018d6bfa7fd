/* The arguments of the dense attention kernels, how a problem is cut into blocks, and the choice of
 * a template by head dimension and type. */
#ifndef GPU_FLASH_LAUNCH_H
#define GPU_FLASH_LAUNCH_H
#include "attention.h"
#include "flash.h"

struct flash_problem {
	int b, h, hkv, sq, skv, causal;
	float scale; /* times log2(e) */
};

static inline flash_problem flash_make_problem(const struct tk_attention *a)
{
	return {(int)a->b, (int)a->h, (int)a->hkv, (int)a->sq, (int)a->skv, a->causal,
	        (float)(a->scale * 1.4426950408889634)};
}

/* Queries [first, ...) of one head. Blocks with the most keys are started first. */
struct flash_block {
	int first, head, kv_head, batch;
};

GPU_INLINE flash_block flash_assign_block(const flash_problem &p, int queries)
{
	return {(int)(gridDim.x - 1 - blockIdx.x) * queries, (int)blockIdx.y,
	        (int)blockIdx.y / (p.h / p.hkv), (int)blockIdx.z};
}

static inline const char *flash_reject_reason(const struct tk_attention *a)
{
	if (a->dtype != TK_F16 && a->dtype != TK_BF16)
		return "only f16 and bf16";
	if (a->d != a->dv || !attention_is_tiled_for(a->d))
		return "only head dimensions 64, 128 and 256, the same for values";
	if (a->h > 65535 || a->b > 65535)
		return "more heads or batch entries than a grid of blocks can count";
	if (a->sq > (1 << 30) || a->skv > (1 << 30))
		return "more than 2^30 queries or keys";
	return NULL;
}

/* flash_forward.cu and flash_backward.cu, for flash_module.cu. 0 or the runtime's code. */
int flash_forward_prepare(const struct tk_attention *a, uint32_t config);
int flash_forward_launch(
        const struct tk_attention *a, uint32_t config, void *const *t, void *stream);
size_t flash_backward_workspace(const struct tk_attention *a);
int flash_backward_prepare(const struct tk_attention *a);
int flash_backward_launch(
        const struct tk_attention *a, void *const *t, void *workspace, void *stream);

/* f<D, config, T>(...) */
#define FLASH_BY_TYPE(a, f, D, config, ...) \
	((a)->dtype == TK_F16 ? f<D, config, gpu_f16>(__VA_ARGS__) \
	                      : f<D, config, gpu_bf16>(__VA_ARGS__))
#define FLASH_BY_SHAPE(a, f, config, ...) \
	((a)->d == 64           ? FLASH_BY_TYPE(a, f, 64, config, __VA_ARGS__) \
	        : (a)->d == 128 ? FLASH_BY_TYPE(a, f, 128, config, __VA_ARGS__) \
	                        : FLASH_BY_TYPE(a, f, 256, config, __VA_ARGS__))

#endif
