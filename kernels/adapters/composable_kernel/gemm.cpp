/* One GEMM of ck_tile, put together as in the library's example 03_gemm. The build defines KERNEL
 * (the symbol), TYPE, TYPE_C, LAYOUT_A, LAYOUT_B, TILE_M, TILE_N, TILE_K, WARPS_M, WARPS_N,
 * PIPELINE, SCHEDULER and BUFFERS, and what the file `interface` says of the revision. */
#include "kernel.h"
#include "launch.h"
#include <ck_tile/core.hpp>
#include <ck_tile/host.hpp>
#include <ck_tile/ops/epilogue.hpp>
#include <ck_tile/ops/gemm.hpp>
#include <new>

#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)

namespace
{

using Layout_a = ck_tile::tensor_layout::gemm::LAYOUT_A;
using Layout_b = ck_tile::tensor_layout::gemm::LAYOUT_B;
using Layout_c = ck_tile::tensor_layout::gemm::RowMajor;
constexpr int warp_tile = 32, warp_depth = 16;

using Shape = ck_tile::TileGemmShape<ck_tile::sequence<TILE_M, TILE_N, TILE_K>,
        ck_tile::sequence<WARPS_M, WARPS_N, 1>,
        ck_tile::sequence<warp_tile, warp_tile, warp_depth>>;
using Partitioner = ck_tile::GemmSpatiallyLocalTilePartitioner<Shape, 8, 4>;
using Base = ck_tile::JOIN(BaseGemmPipelineAgBgCr, PIPELINE)<ck_tile::GemmPipelineProblem<TYPE,
        TYPE, float, Shape,
        ck_tile::TileGemmTraits<false, false, false, Layout_a, Layout_b, Layout_c>>>;
using Traits = ck_tile::TileGemmUniversalTraits<false, false, false, BUFFERS == 2, Layout_a,
        Layout_b, Layout_c>;
template <bool hot, ck_tile::TailNumber tail>
using Problem = ck_tile::UniversalGemmPipelineProblem<TYPE, TYPE, float, Shape, Traits,
        ck_tile::GemmPipelineScheduler::SCHEDULER, hot, tail>;
using Epilogue = ck_tile::CShuffleEpilogue<ck_tile::CShuffleEpilogueProblem<TYPE, TYPE,
        ck_tile::tuple<>, float, TYPE_C, ck_tile::tuple<>, Layout_c,
        ck_tile::element_wise::PassThrough,
#ifdef EPILOGUE_HAS_BLOCK_SIZE
        64 * WARPS_M * WARPS_N,
#endif
        TILE_M, TILE_N, WARPS_M, WARPS_N, warp_tile, warp_tile, warp_depth, false,
        ck_tile::memory_operation_enum::set>>;
template <bool hot, ck_tile::TailNumber tail>
using Gemm = ck_tile::GemmKernel<Partitioner,
        ck_tile::JOIN(GemmPipelineAgBgCr, PIPELINE)<Problem<hot, tail>>, Epilogue>;

template <class Kernel>
void launch(const ck_tile::GemmHostArgs &args, const ck_tile::stream_config &to)
{
	const auto blocks = Kernel::BlockSize();
	const auto grid = Kernel::GridSize(args.M, args.N, args.k_batch);
	const auto values = Kernel::MakeKernelArgs(args);
#ifdef LAUNCH_HAS_BLOCK_SIZE
	ck_tile::make_kernel<64 * WARPS_M * WARPS_N, 1>(Kernel{}, grid, blocks, 0, values)(to);
#else
	ck_tile::make_kernel<1>(Kernel{}, grid, blocks, 0, values)(to);
#endif
}

/* How the depth divides into steps decides which kernel runs. */
void launch_gemm(const ck_tile::GemmHostArgs &args, const ck_tile::stream_config &to)
{
	const auto steps = Partitioner::GetLoopNum((args.K + TILE_K - 1) / TILE_K * TILE_K);
	const auto run = [&](const auto hot, const auto tail) -> float {
		launch<Gemm<hot.value, tail.value>>(args, to);
		return 0;
	};
	Base::TailHandler(run, Base::BlockHasHotloop(steps), Base::GetBlockLoopTailNum(steps));
}

ck_tile::GemmHostArgs arguments(const struct tk_gemm *g, const void *a, const void *b, void *c)
{
	const auto n = [](int64_t size) { return static_cast<ck_tile::index_t>(size); };
	return {a, b, c, 1, n(g->m), n(g->n), n(g->k), n(g->ta ? g->m : g->k),
	        n(g->tb ? g->k : g->n), n(g->n)};
}

const char *check(const struct tk_gemm *g)
{
	if (g->batch != 1)
		return "only a batch of 1";
	if (g->m * g->n > INT32_MAX || g->m * g->k > INT32_MAX || g->k * g->n > INT32_MAX)
		return "a matrix has more than 2^31 elements";
	using Any = Gemm<true, ck_tile::TailNumber::Full>;
	const auto values = Any::MakeKernelArgs(arguments(g, nullptr, nullptr, nullptr));
	if (!Any::IsSupportedArgument(values) || g->m % TILE_M || g->n % TILE_N || g->k % TILE_K)
		return "not this shape: sizes need multiples of the tile";
	return nullptr;
}

size_t workspace_bytes(const struct tk_gemm *)
{
	return 0;
}

const char *prepare(const struct tk_gemm *g, const void *a, const void *b, void *c, void *,
        void **out)
{
	auto *args = new (std::nothrow) ck_tile::GemmHostArgs(arguments(g, a, b, c));
	*out = args;
	return args ? nullptr : "out of memory";
}

const char *run(void *prepared, void *stream)
{
	return try_launch([&]() -> const char * {
		launch_gemm(*static_cast<ck_tile::GemmHostArgs *>(prepared),
		        {static_cast<hipStream_t>(stream)});
		return nullptr;
	});
}

void destroy(void *prepared)
{
	delete static_cast<ck_tile::GemmHostArgs *>(prepared);
}

} // namespace

#ifndef __HIP_DEVICE_COMPILE__ /* a constant would be in the code of the device, too */
extern "C" {
extern const struct kernel KERNEL;
const struct kernel KERNEL = {check, workspace_bytes, prepare, run, destroy};
}
#endif
