/* The forward pass of FlashAttention, as far as the parameters of its versions 2 and 3 agree.
 * kernel.cu includes the library first; its set_values() does the rest. */
#ifndef FLASH_FORWARD_H
#define FLASH_FORWARD_H
#include "kernel.h"
#include <new>

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
	p.seqlen_q = static_cast<int>(a->sq);
	p.seqlen_k = static_cast<int>(a->skv);
	p.seqlen_q_rounded = round_up(a->sq, 128);
	p.seqlen_k_rounded = round_up(a->skv, 128);
	p.d = p.d_rounded = static_cast<int>(a->d);
}

void set_no_dropout(Flash_fwd_params &p)
{
	p.p_dropout = 1; /* of keeping an element */
	p.p_dropout_in_uint8_t = 255;
	p.rp_dropout = 1;
}

struct prepared_forward {
	Flash_fwd_params params{};
	void *own_lse = nullptr;
	void *counter = nullptr; /* of version 3 */
	~prepared_forward()
	{
		cudaFree(own_lse);
		cudaFree(counter);
	}
};

/* Sets the parameters of the library's version alone. */
cudaError_t set_values(prepared_forward &f, const struct tk_attention *a);

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
	set_no_dropout(f->params);
	f->params.is_bf16 = a->dtype == TK_BF16;
	f->params.scale_softmax = static_cast<float>(a->scale);
	f->params.q_ptr = t[TK_T_Q].data;
	f->params.k_ptr = t[TK_T_K].data;
	f->params.v_ptr = t[TK_T_V].data;
	f->params.o_ptr = t[TK_T_O].data;
	cudaError_t error = set_values(*f, a);
	f->params.softmax_lse_ptr = count > TK_T_LSE ? t[TK_T_LSE].data : nullptr;
	if (error == cudaSuccess &&
	        !f->params.softmax_lse_ptr) { /* the kernel writes it in any case */
		error = cudaMalloc(&f->own_lse, sizeof(float) * a->sq * a->b * a->h);
		f->params.softmax_lse_ptr = f->own_lse;
	}
	if (error != cudaSuccess) {
		delete f;
		return text(error);
	}
	*out = f;
	return nullptr;
}

} // namespace

#endif
