/* One GEMM of CUTLASS's device::GemmUniversal for Ampere and Ada, which runs on later processors,
 * too. The build defines KERNEL (the symbol), TYPE, TYPE_C, LAYOUT_A, LAYOUT_B, TILE_M, TILE_N,
 * WARP_M, WARP_N, DEPTH (of a tile, in bytes), STAGES and SWIZZLE. */
#include "kernel.h"
#include <cutlass/cutlass.h>

#include <cutlass/epilogue/thread/linear_combination.h>
#include <cutlass/gemm/device/gemm_universal.h>
#include <cutlass/gemm/threadblock/threadblock_swizzle_streamk.h>
#include <new>
#include <type_traits>

namespace
{

/* What SWIZZLE may be: which blocks get which tiles. */
using Whole = cutlass::gemm::threadblock::GemmIdentityThreadblockSwizzle<8>;
using StreamK = cutlass::gemm::threadblock::ThreadblockSwizzleStreamK;

constexpr int alignment = 128 / cutlass::sizeof_bits<TYPE>::value;
constexpr int alignment_c = 128 / cutlass::sizeof_bits<TYPE_C>::value;
constexpr int depth = DEPTH * alignment / 16;
constexpr bool is_tf32 = std::is_same_v<TYPE, cutlass::tfloat32_t>;
constexpr bool is_stream_k = std::is_same_v<SWIZZLE, StreamK>;

using Gemm = cutlass::gemm::device::GemmUniversal<TYPE, cutlass::layout::LAYOUT_A, TYPE,
        cutlass::layout::LAYOUT_B, TYPE_C, cutlass::layout::RowMajor, float,
        cutlass::arch::OpClassTensorOp, cutlass::arch::Sm80,
        cutlass::gemm::GemmShape<TILE_M, TILE_N, depth>,
        cutlass::gemm::GemmShape<WARP_M, WARP_N, depth>,
        cutlass::gemm::GemmShape<16, 8, is_tf32 ? 8 : 16>,
        cutlass::epilogue::thread::LinearCombination<TYPE_C, alignment_c, float, float>, SWIZZLE,
        STAGES, alignment, alignment>;

typename Gemm::Arguments arguments(const struct tk_gemm *g, const void *a, const void *b, void *c)
{
	using cutlass::gemm::GemmUniversalMode;
	const bool a_by_columns =
	        std::is_same_v<cutlass::layout::LAYOUT_A, cutlass::layout::ColumnMajor>;
	const bool b_by_columns =
	        std::is_same_v<cutlass::layout::LAYOUT_B, cutlass::layout::ColumnMajor>;
	const cutlass::gemm::GemmCoord shape(
	        static_cast<int>(g->m), static_cast<int>(g->n), static_cast<int>(g->k));
	return {g->batch > 1 ? GemmUniversalMode::kBatched : GemmUniversalMode::kGemm, shape,
	        static_cast<int>(g->batch), {1.f, 0.f}, a, b, c, c, g->m * g->k, g->n * g->k,
	        g->m * g->n, g->m * g->n, a_by_columns ? g->m : g->k, b_by_columns ? g->k : g->n,
	        g->n, g->n};
}

const char *text(cutlass::Status status)
{
	return status == cutlass::Status::kSuccess ? nullptr : cutlassGetStatusString(status);
}

/* Whether the device's blocks may have so much shared memory; yes where there is no device. */
bool has_shared_memory()
{
	int device = 0, bytes = 0;
	return cudaGetDevice(&device) != cudaSuccess ||
	       cudaDeviceGetAttribute(&bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, device) !=
	               cudaSuccess ||
	       bytes >= static_cast<int>(sizeof(typename Gemm::GemmKernel::SharedStorage));
}

const char *check(const struct tk_gemm *g)
{
	if (is_stream_k && g->batch > 1)
		return "stream-K does one product only";
	if (Gemm::can_implement(arguments(g, nullptr, nullptr, nullptr)) !=
	        cutlass::Status::kSuccess)
		return "not this shape: rows need multiples of 16 bytes";
	return has_shared_memory() ? nullptr : "the device has too little shared memory";
}

size_t workspace_bytes(const struct tk_gemm *g)
{
	return Gemm::get_workspace_size(arguments(g, nullptr, nullptr, nullptr));
}

const char *prepare(
        const struct tk_gemm *g, const void *a, const void *b, void *c, void *workspace, void **out)
{
	auto *gemm = new (std::nothrow) Gemm;
	if (!gemm)
		return "out of memory";
	const char *why = text(gemm->initialize(arguments(g, a, b, c), workspace));
	if (why)
		delete gemm;
	else
		*out = gemm;
	return why;
}

/* The flags in the workspace, which stream-K has, are reset by the kernel. */
const char *run(void *prepared, void *stream)
{
	return text(static_cast<Gemm *>(prepared)->run(static_cast<cudaStream_t>(stream)));
}

void destroy(void *prepared)
{
	delete static_cast<Gemm *>(prepared);
}

} // namespace

extern "C" {
extern const struct kernel KERNEL;
const struct kernel KERNEL = {check, workspace_bytes, prepare, run, destroy};
}
