/* One instance of FlashAttention-3's backward pass, with and without a causal mask and grouped
 * queries. The build defines KERNEL (the symbol), TYPE and HEAD. Parameters are set as in the
 * library's set_params_dgrad() and mha_bwd(). */
#include "static_switch.h"

/* Gradients are added in any order, as is the library's default: its kernels that keep an order are
 * not compiled. */
#undef BOOL_SWITCH
#define SWITCH_GQA 1
#define SWITCH_Deterministic_ 0
#define BOOL_SWITCH(CONDITION, NAME, ...)                                                          \
	[&] {                                                                                      \
		if constexpr (SWITCH_##NAME) {                                                     \
			if (CONDITION) {                                                           \
				constexpr static bool NAME = true;                                 \
				return __VA_ARGS__();                                              \
			}                                                                          \
		}                                                                                  \
		constexpr static bool NAME = false;                                                \
		return __VA_ARGS__();                                                              \
	}()
#include "flash_bwd_launch_template.h"

#include "backward.h"

namespace
{

/* kBlockM and kBlockN of mha_bwd() for Hopper */
int block_rows(const struct tk_attention *a)
{
	if (a->d <= 64)
		return 128;
	return a->d > 96 && a->d <= 128 && !a->causal ? 80 : 64;
}

int block_keys(const struct tk_attention *a)
{
	return a->d <= 128 ? 128 : a->d <= 192 ? 96 : 80;
}

/* What the library allocates for a call: floats and ints. */
cudaError_t add_buffers(prepared_backward &f)
{
	Flash_bwd_params &p = f.params;
	layout parts;
	const size_t rows = static_cast<size_t>(p.b) * p.h * p.seqlen_q_rounded;
	const size_t keys = static_cast<size_t>(p.b) * p.h_k * p.seqlen_k_rounded;
	const size_t group_bytes = p.h != p.h_k ? 4 * keys * p.d_rounded : 0;
	const size_t d_sum = parts.add(4 * rows), lse_log2 = parts.add(4 * rows);
	const size_t dq = parts.add(4 * rows * p.d_rounded);
	const size_t semaphore = parts.add(4 * (rows / 64 + 1));
	const size_t dk = parts.add(group_bytes), dv = parts.add(group_bytes);
	f.sums = dk;
	f.sums_bytes = parts.bytes - dk;
	const cudaError_t error = cudaMalloc(&f.buffer, parts.bytes);
	if (error != cudaSuccess)
		return error;
	p.dsoftmax_sum = f.buffer + d_sum;
	p.softmax_lse_log2_ptr = f.buffer + lse_log2;
	p.dq_accum_ptr = f.buffer + dq;
	p.dq_semaphore = reinterpret_cast<int *>(f.buffer + semaphore);
	p.dk_accum_ptr = f.sums_bytes ? f.buffer + dk : nullptr;
	p.dv_accum_ptr = f.sums_bytes ? f.buffer + dv : nullptr;
	return cudaSuccess;
}

cudaError_t set_values(prepared_backward &f, const struct tk_attention *a)
{
	Flash_bwd_params &p = f.params;
	int device = 0;
	p.is_causal = a->causal != 0;
	p.v_dim_stride = 1;
	p.Flash_fwd_params::dv = p.dv_rounded = p.d;
	p.total_q = p.b * p.seqlen_q;
	p.total_k = p.b * p.seqlen_k;
	p.seqlen_q_rounded = round_up(a->sq, block_rows(a));
	p.seqlen_k_rounded = round_up(a->skv, block_keys(a));
	p.window_size_left = p.seqlen_k - 1;
	p.window_size_right = p.is_causal ? 0 : p.seqlen_q - 1;
	p.arch = 90;
	cudaError_t error = cudaGetDevice(&device);
	if (error == cudaSuccess)
		error = cudaDeviceGetAttribute(&p.num_sm, cudaDevAttrMultiProcessorCount, device);
	return error != cudaSuccess ? error : add_buffers(f);
}

const char *run(void *prepared, void *stream)
{
	auto *f = static_cast<prepared_backward *>(prepared);
	auto *cuda_stream = static_cast<cudaStream_t>(stream);
	if (f->sums_bytes) {
		const cudaError_t error =
		        cudaMemsetAsync(f->buffer + f->sums, 0, f->sums_bytes, cuda_stream);
		if (error != cudaSuccess)
			return text(error);
	}
#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)
	JOIN(run_mha_bwd_hdim, HEAD)<90, TYPE, false>(f->params, cuda_stream);
	return nullptr; /* the library ends the process where a launch fails */
}

} // namespace

extern "C" {
extern const struct kernel KERNEL;
const struct kernel KERNEL = {prepare, run, destroy};
}
