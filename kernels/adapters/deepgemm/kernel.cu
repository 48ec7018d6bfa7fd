/* One GEMM of DeepGEMM for Hopper: its kernel for bf16, or its kernel for e4m3 with a scale for
 * each 1 x 128 of A and 128 x 128 of B. The tracker's operands have no scales: they are all 1. The
 * build defines KERNEL (the symbol), TYPE and TYPE_C (cutlass's), SCALED, A_BY_ROWS and B_BY_ROWS
 * (rows of k in memory), GEMM_M, GEMM_N, GEMM_K, and what choose.c says: TILE_M, TILE_N,
 * CLUSTER_M, CLUSTER_N, STAGES, SHARED_BYTES, SWIZZLE_A, SWIZZLE_B, SWIZZLE_C, with the
 * MULTIPROCESSORS that it was told. Parameters are set as in the library's
 * csrc/jit_kernels/impls/sm90_{bf16_gemm,fp8_gemm_1d2d}.hpp. */
#include "kernel.h"
#include <cuda.h>
#include <cuda_runtime.h>

#include <cutlass/cutlass.h>
#include <cutlass/numeric_types.h>
#if SCALED
#include <deep_gemm/impls/sm90_fp8_gemm_1d2d.cuh>
#else
#include <deep_gemm/impls/sm90_bf16_gemm.cuh>
#endif
#include <new>

namespace
{

using namespace deep_gemm;
using cute::UMMA::Major;

constexpr int depth = 128 / static_cast<int>(sizeof(TYPE)); /* of k in a tile */
constexpr int tma_threads = 128, math_threads = TILE_M <= 64 ? 128 : 256;
constexpr int scales_k = (GEMM_K + 127) / 128, scales_n = (GEMM_N + 127) / 128;
constexpr int scales_m = (GEMM_M + 3) / 4 * 4; /* rows of 16 bytes, for the tensor map */
constexpr size_t scale_count = SCALED ? static_cast<size_t>(scales_k) * (scales_m + scales_n) : 0;

#if SCALED
#if defined DEEPGEMM_EPILOGUE_TRANSFORM
#define EPILOGUE epilogue::transform::EpilogueIdentity
#else
#define EPILOGUE EpilogueIdentity
#endif
#if defined DEEPGEMM_EPILOGUE_OP || defined DEEPGEMM_RESULT_AND_EPILOGUE
#define RESULT TYPE_C, EPILOGUE
#elif defined DEEPGEMM_EPILOGUE_TYPE
#define RESULT EPILOGUE
#else
#define RESULT TYPE_C
#endif
#if defined DEEPGEMM_LAST_STAGES
#define STAGE_COUNTS STAGES, (GEMM_K + 127) / 128 % STAGES
#else
#define STAGE_COUNTS STAGES
#endif
constexpr auto gemm = &sm90_fp8_gemm_1d2d_impl<Major::K, 0, GEMM_N, GEMM_K, 1, TILE_M, TILE_N,
        depth, SWIZZLE_A, SWIZZLE_B, SWIZZLE_C, STAGE_COUNTS, tma_threads, math_threads,
        CLUSTER_M * CLUSTER_N, (CLUSTER_N > 1), MULTIPROCESSORS, GemmType::Normal, RESULT>;
#else
constexpr auto gemm = &sm90_bf16_gemm_impl < A_BY_ROWS ? Major::K : Major::MN,
               B_BY_ROWS ? Major::K : Major::MN, 0, GEMM_N, GEMM_K, 1, TILE_M, TILE_N, depth,
               SWIZZLE_A, SWIZZLE_B, SWIZZLE_C, STAGES, tma_threads, math_threads,
               CLUSTER_M *CLUSTER_N, (CLUSTER_N > 1), MULTIPROCESSORS, GemmType::Normal,
               false, TYPE_C > ;
#endif

/* A matrix in memory, and the part of it that one copy takes. */
struct matrix {
	const void *data;
	CUtensorMapDataType type;
	int bytes; /* of an element */
	uint64_t inner, outer;
	uint32_t box_inner, box_outer;
	int swizzle; /* bytes */
};

struct prepared_gemm {
	CUtensorMap a, b, c, scales_a;
	float *scales_b;
};

template <class T> constexpr CUtensorMapDataType map_type()
{
	return sizeof(T) == 1   ? CU_TENSOR_MAP_DATA_TYPE_UINT8
	       : sizeof(T) == 2 ? CU_TENSOR_MAP_DATA_TYPE_BFLOAT16
	                        : CU_TENSOR_MAP_DATA_TYPE_FLOAT32;
}

const char *text(cudaError_t error)
{
	return error == cudaSuccess ? nullptr : cudaGetErrorString(error);
}

CUtensorMapSwizzle swizzle_mode(int bytes)
{
	return bytes == 128  ? CU_TENSOR_MAP_SWIZZLE_128B
	       : bytes == 64 ? CU_TENSOR_MAP_SWIZZLE_64B
	       : bytes == 32 ? CU_TENSOR_MAP_SWIZZLE_32B
	                     : CU_TENSOR_MAP_SWIZZLE_NONE;
}

const char *encode(const struct matrix &m, CUtensorMap *out)
{
	void *symbol = nullptr;
	enum cudaDriverEntryPointQueryResult result;
	if (cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &symbol, 12000,
	            cudaEnableDefault, &result) != cudaSuccess ||
	        result != cudaDriverEntryPointSuccess)
		return "the driver has no cuTensorMapEncodeTiled";
	const cuuint64_t size[2] = {m.inner, m.outer}, stride[1] = {m.inner * m.bytes};
	const cuuint32_t box[2] = {
	        m.swizzle ? static_cast<cuuint32_t>(m.swizzle / m.bytes) : m.box_inner,
	        m.box_outer};
	const cuuint32_t every[2] = {1, 1};
	const auto function = reinterpret_cast<decltype(&cuTensorMapEncodeTiled)>(symbol);
	return function(out, m.type, 2, const_cast<void *>(m.data), size, stride, box, every,
	               CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle_mode(m.swizzle),
	               CU_TENSOR_MAP_L2_PROMOTION_L2_256B,
	               CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) == CUDA_SUCCESS
	               ? nullptr
	               : "cuTensorMapEncodeTiled refuses a tensor";
}

/* An operand of `rows` (m or n) x k */
struct matrix operand(const void *data, int rows, bool by_rows, int block, int swizzle)
{
	struct matrix m = {data, map_type<TYPE>(), sizeof(TYPE), 0, 0, 0, 0, 0};
	m.inner = by_rows ? GEMM_K : rows;
	m.outer = by_rows ? rows : GEMM_K;
	m.box_inner = by_rows ? depth : block;
	m.box_outer = by_rows ? block : depth;
	m.swizzle = swizzle;
	return m;
}

__global__ void fill_ones(float *out, size_t count)
{
	for (size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < count;
	        i += static_cast<size_t>(gridDim.x) * blockDim.x)
		out[i] = 1;
}

/* The scales of A: [k / 128][m]; behind them those of B: [n / 128][k / 128] */
const char *set_scales(float *scales, struct prepared_gemm *out)
{
	if constexpr (!SCALED)
		return nullptr;
	fill_ones<<<64, 256>>>(scales, scale_count);
	const char *why = text(cudaDeviceSynchronize());
	if (why)
		return why;
	out->scales_b = scales + static_cast<size_t>(scales_k) * scales_m;
	return encode(
	        {scales, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 4, scales_m, scales_k, TILE_M, 1, 0},
	        &out->scales_a);
}

const char *encode_operands(
        const void *a, const void *b, void *c, void *workspace, struct prepared_gemm *out)
{
	const char *why = encode(operand(a, GEMM_M, A_BY_ROWS, TILE_M, SWIZZLE_A), &out->a);
	if (!why)
		why = encode(operand(b, GEMM_N, B_BY_ROWS, TILE_N, SWIZZLE_B), &out->b);
	if (!why)
		why = encode({c, map_type<TYPE_C>(), sizeof(TYPE_C), GEMM_N, GEMM_M, TILE_N, TILE_M,
		                     SWIZZLE_C},
		        &out->c);
	return why ? why : set_scales(static_cast<float *>(workspace), out);
}

const char *check(const struct tk_gemm *g)
{
	if (g->m != GEMM_M || g->n != GEMM_N || g->k != GEMM_K)
		return "not compiled for this shape";
	return g->batch == 1 ? nullptr : "only one matrix at a time";
}

size_t workspace_bytes(const struct tk_gemm *)
{
	return scale_count * sizeof(float);
}

const char *prepare(
        const struct tk_gemm *, const void *a, const void *b, void *c, void *workspace, void **out)
{
	auto *made = new (std::nothrow) struct prepared_gemm();
	if (!made)
		return "out of memory";
	const char *why = text(cudaFuncSetAttribute(
	        gemm, cudaFuncAttributeMaxDynamicSharedMemorySize, SHARED_BYTES));
	if (!why)
		why = encode_operands(a, b, c, workspace, made);
	if (why)
		delete made;
	else
		*out = made;
	return why;
}

const char *run(void *prepared, void *stream)
{
	const auto *p = static_cast<struct prepared_gemm *>(prepared);
	cudaLaunchAttribute cluster{};
	cluster.id = cudaLaunchAttributeClusterDimension;
	cluster.val.clusterDim = {CLUSTER_M * CLUSTER_N, 1, 1};
	cudaLaunchConfig_t launch{};
	launch.gridDim = MULTIPROCESSORS;
	launch.blockDim = tma_threads + math_threads;
	launch.dynamicSmemBytes = SHARED_BYTES;
	launch.stream = static_cast<cudaStream_t>(stream);
	launch.attrs = &cluster;
	launch.numAttrs = 1;
	int *no_groups = nullptr;
	const uint32_t m = GEMM_M, n = GEMM_N, k = GEMM_K;
#if SCALED
	return text(cudaLaunchKernelEx(
	        &launch, gemm, p->scales_b, no_groups, m, n, k, p->a, p->b, p->c, p->scales_a));
#else
	return text(cudaLaunchKernelEx(&launch, gemm, no_groups, m, n, k, p->a, p->b, p->c));
#endif
}

void destroy(void *prepared)
{
	delete static_cast<struct prepared_gemm *>(prepared);
}

} // namespace

extern "C" {
extern const struct kernel KERNEL;
const struct kernel KERNEL = {check, workspace_bytes, prepare, run, destroy};
}
