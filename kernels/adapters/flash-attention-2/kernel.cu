/* One instance of FlashAttention-2's forward pass. The build defines KERNEL (the symbol), SOURCE
 * (the library's file with the instance), TYPE, HEAD and, where the library has an instance for
 * each, CAUSAL. Parameters are set as in the library's set_params_fprop(). */
#include SOURCE
#include "kernel.h"
#include <cmath>
#include <new>

#ifdef FA2_HAS_NAMESPACE
using namespace FLASH_NAMESPACE;
#endif

namespace
{

/* [batch][rows][heads][d] */
struct strides {
	int64_t batch, row, head;
};

strides dense(int64_t rows, int64_t heads, int64_t d)
{
	return {rows * heads * d, heads * d, d};
}

int round_up(int64_t n, int64_t to)
{
	return static_cast<int>((n + to - 1) / to * to);
}

void set_strides(Flash_fwd_params &p, const struct tk_attention *a)
{
	const strides q = dense(a->sq, a->h, a->d), kv = dense(a->skv, a->hkv, a->d);
	p.q_batch_stride = p.o_batch_stride = q.batch;
	p.q_row_stride = p.o_row_stride = q.row;
	p.q_head_stride = p.o_head_stride = q.head;
	p.k_batch_stride = p.v_batch_stride = kv.batch;
	p.k_row_stride = p.v_row_stride = kv.row;
	p.k_head_stride = p.v_head_stride = kv.head;
}

void set_sizes(Flash_fwd_params &p, const struct tk_attention *a)
{
	p.b = static_cast<int>(a->b);
	p.h = static_cast<int>(a->h);
	p.h_k = static_cast<int>(a->hkv);
	p.h_h_k_ratio = p.h / p.h_k;
	p.seqlen_q = static_cast<int>(a->sq);
	p.seqlen_k = static_cast<int>(a->skv);
	p.seqlen_q_rounded = round_up(a->sq, 128);
	p.seqlen_k_rounded = round_up(a->skv, 128);
	p.d = p.d_rounded = static_cast<int>(a->d);
}

void set_values(Flash_fwd_params &p, const struct tk_attention *a)
{
	p.is_bf16 = a->dtype == TK_BF16;
	p.is_causal = a->causal != 0;
	p.scale_softmax = static_cast<float>(a->scale);
	p.scale_softmax_log2 = static_cast<float>(a->scale * M_LOG2E);
	p.p_dropout = 1; /* of keeping an element */
	p.p_dropout_in_uint8_t = 255;
	p.rp_dropout = 1;
	p.scale_softmax_rp_dropout = p.scale_softmax;
	p.window_size_left = p.is_causal ? p.seqlen_k : -1;
	p.window_size_right = p.is_causal ? 0 : -1;
	p.is_seqlens_k_cumulative = true;
}

struct prepared_forward {
	Flash_fwd_params params{};
	void *own_lse = nullptr;
	~prepared_forward()
	{
		cudaFree(own_lse);
	}
};

const char *text(cudaError_t error)
{
	return error == cudaSuccess ? nullptr : cudaGetErrorString(error);
}

void destroy(void *prepared)
{
	delete static_cast<prepared_forward *>(prepared);
}

const char *prepare(
        const struct tk_attention *a, const struct tk_tensor *t, uint32_t count, void **out)
{
	auto *f = new (std::nothrow) prepared_forward();
	if (!f)
		return "out of memory";
	set_strides(f->params, a);
	set_sizes(f->params, a);
	set_values(f->params, a);
	f->params.q_ptr = t[TK_T_Q].data;
	f->params.k_ptr = t[TK_T_K].data;
	f->params.v_ptr = t[TK_T_V].data;
	f->params.o_ptr = t[TK_T_O].data;
	f->params.softmax_lse_ptr = count > TK_T_LSE ? t[TK_T_LSE].data : nullptr;
	cudaError_t error = cudaSuccess;
	if (!f->params.softmax_lse_ptr) { /* the kernel writes it in any case */
		error = cudaMalloc(&f->own_lse, sizeof(float) * a->sq * a->b * a->h);
		f->params.softmax_lse_ptr = f->own_lse;
	}
	if (error == cudaSuccess)
		*out = f;
	else
		delete f;
	return text(error);
}

const char *run(void *prepared, void *stream)
{
	auto &params = static_cast<prepared_forward *>(prepared)->params;
	tk_first_error() = cudaSuccess;
#ifdef FA2_CAUSAL_IS_ARGUMENT
	run_mha_fwd_<TYPE, HEAD, CAUSAL>(params, static_cast<cudaStream_t>(stream));
#else
	run_mha_fwd_<TYPE, HEAD>(params, static_cast<cudaStream_t>(stream));
#endif
	return text(tk_first_error());
}

} // namespace

extern "C" {
extern const struct kernel KERNEL;
const struct kernel KERNEL = {prepare, run, destroy};
}
