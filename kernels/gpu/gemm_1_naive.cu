// GEMM ladder, step 1: the simplest kernel. A thread computes one entry of C from device memory:
// two loads for each multiply-add, served by the caches at best. The block's shape decides how
// well: neighbours in x share a row of A and read B side by side.
#include "gemm_side.h"

template <typename T> GPU_KERNEL(256, 1) gemm_naive(gemm_operands<T> o)
{
	int i = (int)(blockIdx.y * blockDim.y + threadIdx.y),
	    j = (int)(blockIdx.x * blockDim.x + threadIdx.x);
	float sum = 0;
	gemm_select(o, (int)blockIdx.z);
	for (int l = 0; l < o.a.k; l++)
		sum += gemm_entry(o.a, i, l) * gemm_entry(o.b, j, l);
	gemm_store(o, i, j, sum);
}

static const char *const configs[] = {"block-32x8", "block-16x16", "block-8x32"};
static const int64_t block_rows[] = {8, 16, 32};

template <typename T>
static int launch_as(const struct tk_gemm *g, uint32_t config, const void *a, const void *b,
        void *c, void *stream)
{
	static const unsigned width[] = {32, 16, 8};
	dim3 block(width[config], 256 / width[config]);
	dim3 grid(gpu_ceil_div((unsigned)g->n, block.x), gpu_ceil_div((unsigned)g->m, block.y),
	        (unsigned)g->batch);
	gemm_naive<T><<<grid, block, 0, (gpu_stream)stream>>>(gemm_make_operands<T>(g, a, b, c));
	return gpu_launch_status();
}

static int launch(const struct tk_gemm *g, uint32_t config, const void *a, const void *b, void *c,
        void *stream)
{
	return GEMM_BY_TYPE(launch_as, g, config, a, b, c, stream);
}

#if GPU_HOST_PASS
const struct gpu_gemm_step gpu_gemm_step = {"gemm_naive_" TK_GPU_KIND,
        "GEMM, step 1: a thread an entry, from device memory", configs, 3, block_rows,
        gemm_is_float, gemm_prepare_none, launch, gpu_status_text};
#endif
