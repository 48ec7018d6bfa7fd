/* One configuration of ThunderKittens's own GEMM in bf16 for Hopper, whose file with a benchmark is
 * included as it is. The build defines KERNEL (the symbol), SOURCE (that file), GEMM_TILES_M and
 * GEMM_TILES_N (64 x 64, of a block) and GEMM_SUPER_M (rows of blocks that run side by side). */
#include "kernel.h"
#include <cuda.h>
#include <cuda_runtime.h>
#include <new>

namespace
{
const char *check(const struct tk_gemm *g);
size_t workspace_bytes(const struct tk_gemm *g);
const char *prepare(const struct tk_gemm *g, const void *a, const void *b, void *c, void *workspace,
        void **out);
const char *run(void *prepared, void *stream);
void destroy(void *prepared);
} // namespace

/* Before the library's file: nvcc names this file's namespace without a name after its first
 * symbol, and the library's are the same in all configurations. */
extern "C" {
extern const struct kernel KERNEL;
const struct kernel KERNEL = {check, workspace_bytes, prepare, run, destroy};
}

/* The library calls the driver; a module that is linked with it would not load without a card. */
#define cuTensorMapEncodeTiled encode_tensor_map
static CUresult encode_tensor_map(CUtensorMap *map, CUtensorMapDataType type, cuuint32_t rank,
        void *address, const cuuint64_t *shape, const cuuint64_t *strides, const cuuint32_t *box,
        const cuuint32_t *element_strides, CUtensorMapInterleave interleave,
        CUtensorMapSwizzle swizzle, CUtensorMapL2promotion promotion, CUtensorMapFloatOOBfill fill);
#define cuGetErrorString describe_error
static CUresult describe_error(CUresult error, const char **text);

#define main benchmark_of_the_library
#include SOURCE
#undef main

static cudaError_t first_error; /* of encode_tensor_map() */

static CUresult encode_tensor_map(CUtensorMap *map, CUtensorMapDataType type, cuuint32_t rank,
        void *address, const cuuint64_t *shape, const cuuint64_t *strides, const cuuint32_t *box,
        const cuuint32_t *element_strides, CUtensorMapInterleave interleave,
        CUtensorMapSwizzle swizzle, CUtensorMapL2promotion promotion, CUtensorMapFloatOOBfill fill)
{
	using function = CUresult (*)(CUtensorMap *, CUtensorMapDataType, cuuint32_t, void *,
	        const cuuint64_t *, const cuuint64_t *, const cuuint32_t *, const cuuint32_t *,
	        CUtensorMapInterleave, CUtensorMapSwizzle, CUtensorMapL2promotion,
	        CUtensorMapFloatOOBfill);
	void *entry = nullptr;
	cudaDriverEntryPointQueryResult found;
	const cudaError_t error = cudaGetDriverEntryPointByVersion(
	        "cuTensorMapEncodeTiled", &entry, 12000, cudaEnableDefault, &found);
	CUresult result = CUDA_ERROR_NOT_FOUND;
	if (error == cudaSuccess && entry)
		result = reinterpret_cast<function>(entry)(map, type, rank, address, shape, strides,
		        box, element_strides, interleave, swizzle, promotion, fill);
	if (result != CUDA_SUCCESS)
		first_error = cudaErrorInvalidValue;
	return result;
}

static CUresult describe_error(CUresult, const char **text)
{
	*text = "see the message of the backend";
	return CUDA_SUCCESS;
}

namespace
{

using Gemm = matmul_template<GEMM_TILES_M, GEMM_TILES_N, GEMM_SUPER_M>;
using globals = typename Gemm::layout::globals;
using matrix = typename Gemm::layout::global_layout;
constexpr int shared_bytes = kittens::MAX_SHARED_MEMORY - 1024; /* as the benchmark asks for */

struct prepared_gemm {
	globals arguments;
	dim3 grid;
};

const char *text(cudaError_t error)
{
	return error == cudaSuccess ? nullptr : cudaGetErrorString(error);
}

const char *check(const struct tk_gemm *g)
{
	return g->batch == 1 && g->m % (64 * GEMM_TILES_M) == 0 &&
	                       g->n % (64 * GEMM_TILES_N) == 0 && g->k % 64 == 0
	               ? nullptr
	               : "not this shape: whole tiles of one product only";
}

size_t workspace_bytes(const struct tk_gemm *)
{
	return 0;
}

matrix describe(const void *data, int64_t rows, int64_t columns)
{
	auto *elements = static_cast<kittens::bf16 *>(const_cast<void *>(data));
	return {elements, nullptr, nullptr, static_cast<size_t>(rows),
	        static_cast<size_t>(columns)};
}

const char *prepare(
        const struct tk_gemm *g, const void *a, const void *b, void *c, void *, void **out)
{
	const auto set_shared = cudaFuncSetAttribute(kittens::prototype::lcf::kernel<Gemm>,
	        cudaFuncAttributeMaxDynamicSharedMemorySize, shared_bytes);
	if (set_shared != cudaSuccess)
		return text(set_shared);
	first_error = cudaSuccess;
	auto *p = new (std::nothrow) prepared_gemm{
	        {describe(a, g->m, g->k), describe(b, g->k, g->n), describe(c, g->m, g->n)},
	        Gemm::grid(static_cast<int>(g->m), static_cast<int>(g->n), static_cast<int>(g->k))};
	if (!p)
		return "out of memory";
	if (first_error != cudaSuccess) {
		delete p;
		return "no descriptor of a matrix could be made";
	}
	*out = p;
	return nullptr;
}

const char *run(void *prepared, void *stream)
{
	const auto *p = static_cast<prepared_gemm *>(prepared);
	const dim3 block(kittens::prototype::detail::NUM_THREADS_v<Gemm>);
	kittens::prototype::lcf::kernel<Gemm>
	        <<<p->grid, block, shared_bytes, static_cast<cudaStream_t>(stream)>>>(p->arguments);
	return text(cudaGetLastError());
}

void destroy(void *prepared)
{
	delete static_cast<prepared_gemm *>(prepared);
}

} // namespace
