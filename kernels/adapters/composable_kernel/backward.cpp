/* Attention, backward, with and without a causal mask, by the library's own dispatcher fmha_bwd(),
 * which the library's generator wrote for the kernels of one instance. The build defines KERNEL
 * (the symbol), fmha_bwd (a name of its own for each instance), DATA_TYPE and HEAD. */
#include "fmha_bwd.hpp"
#include "launch.h"
#include "strides.h"
#include <new>

namespace
{

struct prepared_backward {
	fmha_bwd_args args{};
	fmha_bwd_traits traits{};
	float *buffer = nullptr; /* dQ in f32, to which the library adds, then D of each row */
	size_t dq_bytes = 0;
	~prepared_backward()
	{
		(void)hipFree(buffer);
	}
};

void set_strides(fmha_bwd_args &f, const struct tk_attention *a)
{
	const strides q = dense(a->sq, a->h, a->d), kv = dense(a->skv, a->hkv, a->d);
	f.stride_q = f.stride_o = f.stride_do = f.stride_dq = f.stride_dq_acc = q.row;
	f.nhead_stride_q = f.nhead_stride_o = f.nhead_stride_do = q.head;
	f.nhead_stride_dq = f.nhead_stride_dq_acc = q.head;
	f.batch_stride_q = f.batch_stride_o = f.batch_stride_do = q.batch;
	f.batch_stride_dq = f.batch_stride_dq_acc = q.batch;
	f.stride_k = f.stride_v = f.stride_dk = f.stride_dv = kv.row;
	f.nhead_stride_k = f.nhead_stride_v = f.nhead_stride_dk = f.nhead_stride_dv = kv.head;
	f.batch_stride_k = f.batch_stride_v = f.batch_stride_dk = f.batch_stride_dv = kv.batch;
	f.nhead_stride_lsed = to_index(a->sq);
	f.batch_stride_lsed = to_index(a->h * a->sq);
}

/* The last query sees all keys: the mask is aligned at the bottom right. */
mask_enum mask(const struct tk_attention *a)
{
	return a->causal ? mask_enum::mask_bottom_right : mask_enum::no_mask;
}

void set_sizes(fmha_bwd_args &f, const struct tk_attention *a)
{
	f.batch = to_index(a->b);
	f.nhead_q = to_index(a->h);
	f.nhead_k = to_index(a->hkv);
	f.seqlen_q = f.max_seqlen_q = to_index(a->sq);
	f.seqlen_k = f.max_seqlen_k = to_index(a->skv);
	f.hdim_q = f.hdim_v = to_index(a->d);
	f.scale = static_cast<float>(a->scale);
	f.mask_type = static_cast<ck_tile::index_t>(mask(a));
	f.window_size_left = -1;
	f.window_size_right = a->causal ? 0 : -1;
	f.p_undrop = 1; /* no dropout */
}

void set_tensors(fmha_bwd_args &f, const struct tk_tensor *t)
{
	f.q_ptr = t[TK_T_Q].data;
	f.k_ptr = t[TK_T_K].data;
	f.v_ptr = t[TK_T_V].data;
	f.o_ptr = t[TK_T_O].data;
	f.lse_ptr = t[TK_T_LSE].data;
	f.do_ptr = t[TK_T_DO].data;
	f.dq_ptr = t[TK_T_DQ].data;
	f.dk_ptr = t[TK_T_DK].data;
	f.dv_ptr = t[TK_T_DV].data;
}

hipError_t add_buffer(prepared_backward &p, const struct tk_attention *a)
{
	const size_t rows = static_cast<size_t>(a->b) * a->h * a->sq, dq = rows * a->d;
	p.dq_bytes = dq * sizeof(float);
	const hipError_t error =
	        hipMalloc(reinterpret_cast<void **>(&p.buffer), p.dq_bytes + rows * sizeof(float));
	p.args.dq_acc_ptr = p.buffer;
	p.args.d_ptr = p.buffer + dq;
	return error;
}

const char *prepare(
        const struct tk_attention *a, const struct tk_tensor *t, uint32_t count, void **out)
{
	if (count <= TK_T_DV)
		return "too few tensors";
	auto *p = new (std::nothrow) prepared_backward();
	if (!p)
		return "out of memory";
	set_strides(p->args, a);
	set_sizes(p->args, a);
	set_tensors(p->args, t);
	p->traits.hdim_q = p->traits.hdim_v = HEAD;
	p->traits.data_type = DATA_TYPE;
	p->traits.mask_type = mask(a);
	p->traits.bias_type = bias_enum::no_bias;
	const hipError_t error = add_buffer(*p, a);
	if (error != hipSuccess) {
		p->buffer = nullptr;
		delete p;
		return hipGetErrorString(error);
	}
	*out = p;
	return nullptr;
}

const char *run(void *prepared, void *stream)
{
	return try_launch([&]() -> const char * {
		auto *p = static_cast<prepared_backward *>(prepared);
		auto *to = static_cast<hipStream_t>(stream);
		const hipError_t error = hipMemsetAsync(p->buffer, 0, p->dq_bytes, to);
		if (error != hipSuccess)
			return hipGetErrorString(error);
		return fmha_bwd(p->traits, p->args, ck_tile::stream_config{to}) < 0
		               ? "the library has no kernel for this problem"
		               : nullptr;
	});
}

void destroy(void *prepared)
{
	delete static_cast<prepared_backward *>(prepared);
}

} // namespace

#ifndef __HIP_DEVICE_COMPILE__ /* a constant would be in the code of the device, too */
extern "C" {
extern const struct kernel KERNEL;
const struct kernel KERNEL = {prepare, run, destroy};
}
#endif
