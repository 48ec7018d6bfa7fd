/* One kernel of CUTLASS's example of attention on Hopper (examples/88_hopper_fmha). The build
 * defines KERNEL (the symbol), TYPE, TILE_Q, TILE_K and HEAD, SCHEDULE and CAUSAL (0 or 1).
 * Arguments are set as in the example's FwdRunner. */
#include "collective/fmha_fusion.hpp"
#include "device/device_universal.hpp"
#include "kernel/fmha_kernel_builder.hpp"
#include "kernel/fmha_options.hpp"

#include "kernel.h"
#include <cmath>
#include <new>

namespace
{

using namespace cute;
using cutlass::fmha::collective::CausalFusion;
using cutlass::fmha::collective::DefaultFusion;
using cutlass::fmha::collective::ResidualFusion;
using cutlass::gemm::KernelTmaWarpSpecializedCooperative;
using cutlass::gemm::KernelTmaWarpSpecializedPingpong;

using Tile = Shape<Int<TILE_Q>, Int<TILE_K>, Int<HEAD>>;
using Rows =
        cute::tuple<int, _1, cute::tuple<int, int>>; /* strides: row, element, outer, inner mode */

template <class MASK>
using operation = cutlass::device::Universal<typename cutlass::fmha::kernel::FmhaBuilder<TYPE,
        float, float, Tile, Rows, Rows, Rows, MASK, SCHEDULE>::Kernel>;

/* The mask that does every problem of the instance, and the one that does those whose keys fill
 * the tiles. */
#if CAUSAL
using Mask = CausalFusion;
using MaskOfFullTiles = CausalFusion;
#else
using Mask = ResidualFusion;
using MaskOfFullTiles = DefaultFusion;
#endif

struct prepared_forward {
	typename operation<Mask>::Params params;
	typename operation<MaskOfFullTiles>::Params full_params;
	bool has_full_tiles;
	void *lse = nullptr; /* where nobody asks for it: the kernel writes it in any case */
	~prepared_forward()
	{
		cudaFree(lse);
	}
};

const char *text(cutlass::Status status)
{
	return status == cutlass::Status::kSuccess ? nullptr : cutlassGetStatusString(status);
}

/* Two modes of the example's shapes, over which it computes products of their own: sequences and
 * heads, or of one sequence groups and the heads of a group. */
struct modes {
	int outer, inner;
	Rows q, kv;
};

modes find_modes(const struct tk_attention *a)
{
	const int h = static_cast<int>(a->h), hkv = static_cast<int>(a->hkv), group = h / hkv;
	const int q_row = h * HEAD, kv_row = hkv * HEAD;
	const int q_rows = static_cast<int>(a->sq) * q_row;
	const int kv_rows = static_cast<int>(a->skv) * kv_row;
	if (a->b == 1 && h != hkv)
		return {hkv, group, make_stride(q_row, _1{}, make_stride(group * HEAD, HEAD)),
		        make_stride(kv_row, _1{}, make_stride(HEAD, 0))};
	return {static_cast<int>(a->b), h, make_stride(q_row, _1{}, make_stride(q_rows, HEAD)),
	        make_stride(kv_row, _1{}, make_stride(kv_rows, hkv == 1 ? 0 : HEAD))};
}

template <class OPERATION>
const char *set_params(typename OPERATION::Params &params, const struct tk_attention *a,
        const struct tk_tensor *t, void *lse)
{
	const auto input = [t](int i) { return static_cast<const TYPE *>(t[i].data); };
	const modes m = find_modes(a);
	const int sq = static_cast<int>(a->sq);
	typename OPERATION::Arguments args{{m.outer, m.inner, sq, static_cast<int>(a->skv), HEAD},
	        {input(TK_T_Q), m.q, input(TK_T_K), m.kv, input(TK_T_V), m.kv},
	        {static_cast<TYPE *>(t[TK_T_O].data), m.q, static_cast<float *>(lse),
	                make_stride(_1{}, make_stride(m.inner * sq, sq))},
	        {}};
	if (cudaGetDevice(&args.hw_info.device_id) != cudaSuccess)
		return "no current device";
	args.hw_info.sm_count = cutlass::KernelHardwareInfo::query_device_multiprocessor_count(
	        args.hw_info.device_id);
	OPERATION op;
	cutlass::Status status = op.can_implement(args);
	if (status == cutlass::Status::kSuccess)
		status = op.initialize(args); /* of the kernel: its shared memory */
	params = OPERATION::Kernel::to_underlying_arguments(args, nullptr);
	params.mainloop.scale_softmax = static_cast<float>(a->scale);
	params.mainloop.scale_softmax_log2 = static_cast<float>(a->scale * M_LOG2E);
	return text(status);
}

const char *set_up(prepared_forward &f, const struct tk_attention *a, const struct tk_tensor *t,
        uint32_t count)
{
	void *lse = count > TK_T_LSE ? t[TK_T_LSE].data : nullptr;
	if (!lse) {
		if (cudaMalloc(&f.lse, sizeof(float) * a->b * a->h * a->sq) != cudaSuccess)
			return "out of memory";
		lse = f.lse;
	}
	f.has_full_tiles = a->skv % TILE_K == 0;
	return f.has_full_tiles ? set_params<operation<MaskOfFullTiles>>(f.full_params, a, t, lse)
	                        : set_params<operation<Mask>>(f.params, a, t, lse);
}

const char *prepare(
        const struct tk_attention *a, const struct tk_tensor *t, uint32_t count, void **out)
{
	auto *f = new (std::nothrow) prepared_forward;
	if (!f)
		return "out of memory";
	const char *why = set_up(*f, a, t, count);
	if (why)
		delete f;
	else
		*out = f;
	return why;
}

const char *run(void *prepared, void *stream)
{
	auto *f = static_cast<prepared_forward *>(prepared);
	auto *cuda_stream = static_cast<cudaStream_t>(stream);
	return text(f->has_full_tiles ? operation<MaskOfFullTiles>::run(f->full_params, cuda_stream)
	                              : operation<Mask>::run(f->params, cuda_stream));
}

void destroy(void *prepared)
{
	delete static_cast<prepared_forward *>(prepared);
}

} // namespace

extern "C" {
extern const struct kernel KERNEL;
const struct kernel KERNEL = {prepare, run, destroy};
}
