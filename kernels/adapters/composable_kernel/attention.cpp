/* Attention, forward, by the library's own dispatcher fmha_fwd(), which the library's generator
 * wrote for the kernels of one instance. The build defines KERNEL (the symbol), fmha_fwd (a name of
 * its own for each instance), DATA_TYPE, HEAD and CAUSAL. */
#include "fmha_fwd.hpp"
#include "launch.h"
#include "strides.h"
#include <new>

namespace
{

void set_strides(fmha_fwd_args &f, const struct tk_attention *a)
{
	const strides q = dense(a->sq, a->h, a->d), kv = dense(a->skv, a->hkv, a->d);
	f.stride_q = f.stride_o = q.row;
	f.nhead_stride_q = f.nhead_stride_o = q.head;
	f.batch_stride_q = f.batch_stride_o = q.batch;
	f.stride_k = f.stride_v = kv.row;
	f.nhead_stride_k = f.nhead_stride_v = kv.head;
	f.batch_stride_k = f.batch_stride_v = kv.batch;
	f.nhead_stride_lse = to_index(a->sq);
	f.batch_stride_lse = to_index(a->h * a->sq);
}

void set_sizes(fmha_fwd_args &f, const struct tk_attention *a)
{
	f.batch = to_index(a->b);
	f.nhead_q = to_index(a->h);
	f.nhead_k = to_index(a->hkv);
	f.seqlen_q = f.max_seqlen_q = to_index(a->sq);
	f.seqlen_k = to_index(a->skv);
	f.hdim_q = f.hdim_v = to_index(a->d);
}

/* The last query sees all keys: the mask is aligned at the bottom right. */
constexpr mask_enum mask = CAUSAL ? mask_enum::mask_bottom_right : mask_enum::no_mask;

fmha_fwd_traits traits()
{
	fmha_fwd_traits t{};
	t.hdim_q = t.hdim_v = HEAD;
	t.data_type = DATA_TYPE;
	t.is_v_rowmajor = true;
	t.mask_type = mask;
	t.bias_type = bias_enum::no_bias;
	t.has_lse = true;
	return t;
}

const char *prepare(
        const struct tk_attention *a, const struct tk_tensor *t, uint32_t count, void **out)
{
	if (count <= TK_T_LSE)
		return "too few tensors";
	auto *f = new (std::nothrow) fmha_fwd_args{};
	if (!f)
		return "out of memory";
	set_strides(*f, a);
	set_sizes(*f, a);
	f->q_ptr = t[TK_T_Q].data;
	f->k_ptr = t[TK_T_K].data;
	f->v_ptr = t[TK_T_V].data;
	f->o_ptr = t[TK_T_O].data;
	f->lse_ptr = t[TK_T_LSE].data;
	f->scale_s = static_cast<float>(a->scale);
	f->mask_type = static_cast<ck_tile::index_t>(mask);
	f->window_size_left = -1;
	f->window_size_right = CAUSAL ? 0 : -1;
	*out = f;
	return nullptr;
}

const char *run(void *prepared, void *stream)
{
	return try_launch([&]() -> const char * {
		static const fmha_fwd_traits fixed = traits();
		const ck_tile::stream_config to{static_cast<hipStream_t>(stream)};
		return fmha_fwd(fixed, *static_cast<fmha_fwd_args *>(prepared), to) < 0
		               ? "the library has no kernel for this problem"
		               : nullptr;
	});
}

void destroy(void *prepared)
{
	delete static_cast<fmha_fwd_args *>(prepared);
}

} // namespace

#ifndef __HIP_DEVICE_COMPILE__ /* a constant would be in the code of the device, too */
extern "C" {
extern const struct kernel KERNEL;
const struct kernel KERNEL = {prepare, run, destroy};
}
#endif
