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

#include "parameters.h"
#include <new>

namespace
{

struct prepared_backward {
	Flash_bwd_params params{};
	char *buffer = nullptr;
	size_t sums = 0, sums_bytes = 0; /* of dK and dV over a group: zero at the start */
	~prepared_backward()
	{
		cudaFree(buffer);
	}
};

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

/* The gradients have the shapes of what they are gradients of. */
void set_gradients(Flash_bwd_params &p, const struct tk_tensor *t)
{
	p.do_ptr = t[TK_T_DO].data;
	p.dq_ptr = t[TK_T_DQ].data;
	p.dk_ptr = t[TK_T_DK].data;
	p.dv_ptr = t[TK_T_DV].data;
	p.do_batch_stride = p.dq_batch_stride = p.q_batch_stride;
	p.do_row_stride = p.dq_row_stride = p.q_row_stride;
	p.do_head_stride = p.dq_head_stride = p.q_head_stride;
	p.dk_batch_stride = p.dv_batch_stride = p.k_batch_stride;
	p.dk_row_stride = p.dv_row_stride = p.k_row_stride;
	p.dk_head_stride = p.dv_head_stride = p.k_head_stride;
}

cudaError_t set_values(Flash_bwd_params &p, const struct tk_attention *a)
{
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
	const cudaError_t error = cudaGetDevice(&device);
	return error != cudaSuccess ? error
	                            : cudaDeviceGetAttribute(&p.num_sm,
	                                      cudaDevAttrMultiProcessorCount, device);
}

/* What the library allocates for a call, as one buffer. */
cudaError_t add_buffers(prepared_backward &f)
{
	Flash_bwd_params &p = f.params;
	size_t bytes = 0;
	const auto add = [&](size_t count) {
		const size_t offset = bytes;
		bytes += (4 * count + 255) / 256 * 256; /* floats and ints */
		return offset;
	};
	const size_t rows = static_cast<size_t>(p.b) * p.h * p.seqlen_q_rounded;
	const size_t keys = static_cast<size_t>(p.b) * p.h_k * p.seqlen_k_rounded;
	const size_t d_sum = add(rows), lse_log2 = add(rows), dq = add(rows * p.d_rounded);
	const size_t semaphore = add(rows / 64 + 1);
	const size_t dk = f.sums = bytes;
	if (p.h != p.h_k)
		add(keys * p.d_rounded);
	const size_t dv = bytes;
	if (p.h != p.h_k)
		add(keys * p.d_rounded);
	f.sums_bytes = bytes - f.sums;
	const cudaError_t error = cudaMalloc(&f.buffer, bytes);
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

const char *prepare(
        const struct tk_attention *a, const struct tk_tensor *t, uint32_t count, void **out)
{
	if (count <= TK_T_DV)
		return "too few tensors";
	auto *f = new (std::nothrow) prepared_backward();
	if (!f)
		return "out of memory";
	set_inputs(f->params, a, t);
	set_gradients(f->params, t);
	f->params.softmax_lse_ptr = t[TK_T_LSE].data;
	cudaError_t error = set_values(f->params, a);
	if (error == cudaSuccess)
		error = add_buffers(*f);
	if (error != cudaSuccess) {
		delete f;
		return text(error);
	}
	*out = f;
	return nullptr;
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

void destroy(void *prepared)
{
	delete static_cast<prepared_backward *>(prepared);
}

} // namespace

extern "C" {
extern const struct kernel KERNEL;
const struct kernel KERNEL = {prepare, run, destroy};
}
