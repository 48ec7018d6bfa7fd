/* One instance of FlashAttention-3's forward pass, with and without a causal mask. The build
 * defines KERNEL (the symbol), TYPE and HEAD. Parameters are set as in the library's
 * set_params_fprop() and mha_fwd(). */
#include "flash_fwd_launch_template.h"

#include "forward.h"

namespace
{

/* Blocks take their tiles from a counter where the mask makes tiles unequal. The library's mask of
 * a single row is none. */
cudaError_t set_values(prepared_forward &f, const struct tk_attention *a)
{
	Flash_fwd_params &p = f.params;
	int device = 0;
	p.is_causal = a->causal != 0 && a->sq > 1;
	p.v_dim_stride = 1;
	p.dv = p.dv_rounded = p.d;
	p.total_q = p.b * p.seqlen_q;
	p.total_k = p.b * p.seqlen_k;
	p.b_k = p.b;
	p.window_size_left = p.seqlen_k - 1;
	p.window_size_right = p.is_causal ? 0 : p.seqlen_q - 1;
	p.page_size = 1;
	p.num_splits = 1;
	p.arch = 90;
	cudaError_t error = cudaGetDevice(&device);
	if (error == cudaSuccess)
		error = cudaDeviceGetAttribute(&p.num_sm, cudaDevAttrMultiProcessorCount, device);
	if (error == cudaSuccess && p.is_causal)
		error = cudaMalloc(&f.counter, sizeof(int));
	p.tile_count_semaphore = static_cast<int *>(f.counter);
	return error;
}

const char *run(void *prepared, void *stream)
{
	auto *f = static_cast<prepared_forward *>(prepared);
	auto *cuda_stream = static_cast<cudaStream_t>(stream);
	if (f->counter) {
		const cudaError_t error = cudaMemsetAsync(f->counter, 0, sizeof(int), cuda_stream);
		if (error != cudaSuccess)
			return text(error);
	}
	run_mha_fwd_<90, TYPE, HEAD, HEAD, false, false, false, false>(f->params, cuda_stream);
	return nullptr; /* the library ends the process where a launch fails */
}

} // namespace

extern "C" {
extern const struct kernel KERNEL;
const struct kernel KERNEL = {prepare, run, destroy};
}
