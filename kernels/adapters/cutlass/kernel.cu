/* One GEMM of CUTLASS's collective builder for Hopper. The build defines KERNEL (the symbol), TYPE,
 * TYPE_C, LAYOUT_A, LAYOUT_B, TILE_M, TILE_N, CLUSTER_M, CLUSTER_N, SCHEDULE and TILE_SCHEDULER
 * (void: the default). */
#include "kernel.h"
#include <cutlass/cutlass.h>

#include <cute/tensor.hpp> /* before the collectives: their headers include each other */

#include <cutlass/epilogue/collective/collective_builder.hpp>
#include <cutlass/gemm/collective/collective_builder.hpp>
#include <cutlass/gemm/device/gemm_universal_adapter.h>
#include <cutlass/gemm/kernel/gemm_universal.hpp>
#include <new>
#include <type_traits>

namespace
{

using namespace cute;
using cutlass::gemm::KernelTmaWarpSpecializedCooperative;
using cutlass::gemm::KernelTmaWarpSpecializedCooperativeFP8FastAccum;
using cutlass::gemm::KernelTmaWarpSpecializedPingpong;
using cutlass::gemm::KernelTmaWarpSpecializedPingpongFP8FastAccum;
using cutlass::gemm::StreamKScheduler;
using cutlass::gemm::collective::KernelScheduleAuto;

/* An explicit schedule needs the epilogue of the same name. */
using EpilogueSchedule =
        std::conditional_t<std::is_base_of_v<KernelTmaWarpSpecializedCooperative, SCHEDULE>,
                cutlass::epilogue::TmaWarpSpecializedCooperative,
                std::conditional_t<std::is_base_of_v<KernelTmaWarpSpecializedPingpong, SCHEDULE>,
                        cutlass::epilogue::TmaWarpSpecialized,
                        cutlass::epilogue::collective::EpilogueScheduleAuto>>;

constexpr int alignment = 128 / cutlass::sizeof_bits<TYPE>::value;
constexpr int alignment_c = 128 / cutlass::sizeof_bits<TYPE_C>::value;
using Tile = Shape<Int<TILE_M>, Int<TILE_N>, Int<8 * alignment>>;
using Cluster = Shape<Int<CLUSTER_M>, Int<CLUSTER_N>, _1>;

using Epilogue = typename cutlass::epilogue::collective::CollectiveBuilder<cutlass::arch::Sm90,
        cutlass::arch::OpClassTensorOp, Tile, Cluster,
        cutlass::epilogue::collective::EpilogueTileAuto, float, float, void,
        cutlass::layout::RowMajor, alignment_c, TYPE_C, cutlass::layout::RowMajor, alignment_c,
        EpilogueSchedule>::CollectiveOp;
using Mainloop = typename cutlass::gemm::collective::CollectiveBuilder<cutlass::arch::Sm90,
        cutlass::arch::OpClassTensorOp, TYPE, cutlass::layout::LAYOUT_A, alignment, TYPE,
        cutlass::layout::LAYOUT_B, alignment, float, Tile, Cluster,
        cutlass::gemm::collective::StageCountAutoCarveout<static_cast<int>(
                sizeof(typename Epilogue::SharedStorage))>,
        SCHEDULE>::CollectiveOp;
using Gemm = cutlass::gemm::device::GemmUniversalAdapter<
        cutlass::gemm::kernel::GemmUniversal<Shape<int, int, int, int>, Mainloop, Epilogue,
                TILE_SCHEDULER>>;

struct prepared_gemm {
	Gemm gemm;
	typename Gemm::Arguments args;
	void *workspace;
};

/* A dense matrix of `rows` x `columns`, where one of the first two strides is the constant 1. */
template <class Stride> Stride stride(int64_t rows, int64_t columns)
{
	Stride s{};
	if constexpr (std::is_same_v<std::decay_t<decltype(get<0>(s))>, int64_t>)
		get<0>(s) = columns;
	else
		get<1>(s) = rows;
	get<2>(s) = rows * columns;
	return s;
}

typename Gemm::Arguments arguments(const struct tk_gemm *g, const void *a, const void *b, void *c)
{
	typename Gemm::Arguments args{};
	const auto *pa = static_cast<const TYPE *>(a), *pb = static_cast<const TYPE *>(b);
	args.mode = cutlass::gemm::GemmUniversalMode::kGemm;
	args.problem_shape = {static_cast<int>(g->m), static_cast<int>(g->n),
	        static_cast<int>(g->k), static_cast<int>(g->batch)};
	args.mainloop = {pa, stride<typename Gemm::GemmKernel::StrideA>(g->m, g->k), pb,
	        stride<typename Gemm::GemmKernel::StrideB>(g->n, g->k)};
	args.epilogue.thread.alpha = 1;
	args.epilogue.thread.beta = 0;
	args.epilogue.ptr_C = nullptr;
	args.epilogue.ptr_D = static_cast<TYPE_C *>(c);
	args.epilogue.dD = stride<typename Gemm::GemmKernel::StrideD>(g->m, g->n);
	return args;
}

const char *text(cutlass::Status status)
{
	return status == cutlass::Status::kSuccess ? nullptr : cutlassGetStatusString(status);
}

const char *check(const struct tk_gemm *g)
{
	/* its own text is "Invalid status" */
	return Gemm::can_implement(arguments(g, nullptr, nullptr, nullptr)) ==
	                       cutlass::Status::kSuccess
	               ? nullptr
	               : "not this shape: rows need multiples of 16 bytes";
}

size_t workspace_bytes(const struct tk_gemm *g)
{
	return Gemm::get_workspace_size(arguments(g, nullptr, nullptr, nullptr));
}

const char *prepare(
        const struct tk_gemm *g, const void *a, const void *b, void *c, void *workspace, void **out)
{
	auto *p = new (std::nothrow) prepared_gemm;
	if (!p)
		return "out of memory";
	p->args = arguments(g, a, b, c);
	p->workspace = workspace;
	int device = 0;
	if (cudaGetDevice(&device) != cudaSuccess) {
		delete p;
		return "no current device";
	}
	p->args.hw_info.device_id = device;
	p->args.hw_info.sm_count =
	        cutlass::KernelHardwareInfo::query_device_multiprocessor_count(device);
	const char *why = text(p->gemm.initialize(p->args, workspace));
	if (why)
		delete p;
	else
		*out = p;
	return why;
}

/* Counters in the workspace, which stream-K has, are not reset by the kernel. */
const char *run(void *prepared, void *stream)
{
	auto *p = static_cast<prepared_gemm *>(prepared);
	auto *cuda_stream = static_cast<cudaStream_t>(stream);
	if (p->workspace)
		if (const char *why = text(Gemm::GemmKernel::initialize_workspace(
		            p->args, p->workspace, cuda_stream)))
			return why;
	return text(p->gemm.run(cuda_stream));
}

void destroy(void *prepared)
{
	delete static_cast<prepared_gemm *>(prepared);
}

} // namespace

extern "C" {
extern const struct kernel KERNEL;
const struct kernel KERNEL = {check, workspace_bytes, prepare, run, destroy};
}
