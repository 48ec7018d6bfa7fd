/* What FlashAttention includes of PyTorch, for kernels without dropout: their random state is never
 * read. */
#pragma once
#include <cstdint>
#include <tuple>

namespace at
{

struct PhiloxCudaState {
};

namespace cuda
{
namespace philox
{
__host__ __device__ inline std::tuple<uint64_t, uint64_t> unpack(PhiloxCudaState)
{
	return {0, 0};
}
} // namespace philox
} // namespace cuda
} // namespace at
