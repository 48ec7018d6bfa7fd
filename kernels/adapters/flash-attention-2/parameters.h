/* The parameters of FlashAttention that its versions 2 and 3 share, forward and backward. kernel.cu
 * and backward.cu include the library first. */
#ifndef FLASH_PARAMETERS_H
#define FLASH_PARAMETERS_H
#include "kernel.h"

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

void set_inputs(Flash_fwd_params &p, const struct tk_attention *a, const struct tk_tensor *t)
{
	set_strides(p, a);
	set_sizes(p, a);
	set_no_dropout(p);
	p.is_bf16 = a->dtype == TK_BF16;
	p.scale_softmax = static_cast<float>(a->scale);
	p.q_ptr = t[TK_T_Q].data;
	p.k_ptr = t[TK_T_K].data;
	p.v_ptr = t[TK_T_V].data;
	p.o_ptr = t[TK_T_O].data;
}

const char *text(cudaError_t error)
{
	return error == cudaSuccess ? nullptr : cudaGetErrorString(error);
}

} // namespace

#endif
