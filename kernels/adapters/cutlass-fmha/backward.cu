/* One backward pass of CUTLASS's example of attention on Hopper (examples/88_hopper_fmha). The build
 * defines KERNEL (the symbol), TYPE, TILE_Q, TILE_K, HEAD and CAUSAL (0 or 1). Arguments are set as
 * in the example's BwdRunner. */
#include "collective/fmha_fusion.hpp"
#include "device/fmha_device_bwd.hpp"
#include "kernel/fmha_options.hpp"

#include "kernel.h"
#include <new>

namespace
{

using namespace cute;
using Mask = std::conditional_t<CAUSAL, cutlass::fmha::collective::CausalFusion,
        cutlass::fmha::collective::DefaultFusion>;
using Operation = cutlass::fmha::device::FmhaBwd<TYPE, float,
        Shape<Int<TILE_Q>, Int<TILE_K>, Int<HEAD>>, Mask>;
using Strides = cute::tuple<int, int, int, _1>; /* batch, head, row, element */

struct prepared_backward {
	Operation operation;
	void *workspace = nullptr;
	~prepared_backward()
	{
		cudaFree(workspace);
	}
};

const char *text(cutlass::Status status)
{
	return status == cutlass::Status::kSuccess ? nullptr : cutlassGetStatusString(status);
}

/* [batch][rows][heads][d] */
Strides strides(int64_t rows, int64_t heads)
{
	const int row = static_cast<int>(heads * HEAD);
	return make_stride(static_cast<int>(rows) * row, HEAD, row, _1{});
}

typename Operation::Arguments arguments(const struct tk_attention *a, const struct tk_tensor *t)
{
	const auto input = [t](int i) { return static_cast<const TYPE *>(t[i].data); };
	const auto output = [t](int i) { return static_cast<TYPE *>(t[i].data); };
	const int heads = static_cast<int>(a->h), sq = static_cast<int>(a->sq);
	const Strides q = strides(a->sq, a->h), kv = strides(a->skv, a->h);
	typename Operation::Arguments args{
	        {static_cast<int>(a->b), heads, sq, static_cast<int>(a->skv), HEAD}, input(TK_T_Q),
	        q, input(TK_T_K), kv, input(TK_T_V), kv, input(TK_T_O), q,
	        static_cast<const float *>(t[TK_T_LSE].data), make_stride(heads * sq, sq, _1{}),
	        input(TK_T_DO), q, output(TK_T_DQ), q, output(TK_T_DK), kv, output(TK_T_DV), kv,
	        {}};
	return args;
}

const char *set_up(prepared_backward &b, const struct tk_attention *a, const struct tk_tensor *t)
{
	auto args = arguments(a, t);
	if (cudaGetDevice(&args.hw_info.device_id) != cudaSuccess)
		return "no current device";
	args.hw_info.sm_count = cutlass::KernelHardwareInfo::query_device_multiprocessor_count(
	        args.hw_info.device_id);
	if (cudaMalloc(&b.workspace, Operation::get_workspace_size(args)) != cudaSuccess)
		return "out of memory";
	cutlass::Status status = b.operation.can_implement(args);
	if (status == cutlass::Status::kSuccess)
		status = b.operation.initialize(args, b.workspace);
	return text(status);
}

const char *prepare(
        const struct tk_attention *a, const struct tk_tensor *t, uint32_t count, void **out)
{
	if (count <= TK_T_DV)
		return "too few tensors";
	auto *b = new (std::nothrow) prepared_backward;
	if (!b)
		return "out of memory";
	const char *why = set_up(*b, a, t);
	if (why)
		delete b;
	else
		*out = b;
	return why;
}

const char *run(void *prepared, void *stream)
{
	return text(static_cast<prepared_backward *>(prepared)->operation.run(
	        static_cast<cudaStream_t>(stream)));
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
