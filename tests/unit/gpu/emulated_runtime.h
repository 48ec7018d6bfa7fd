/* Stands in for kernels/gpu/gpu_runtime.h where there is no GPU: a thread of a block is a fiber, a
 * barrier or a move between lanes changes to another one. Fibers take turns in a random order, so
 * that a barrier too few shows as a wrong result; one too many, or lanes that are missing where all
 * must take part, as a deadlock. -DGPU_HIP=0: 32 lanes, =1: 64. */
#ifndef EMULATED_RUNTIME_H
#define EMULATED_RUNTIME_H
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>

#define GPU_LANES (GPU_HIP ? 64 : 32)
#define GPU_HOST_PASS 1
#define GPU_GRID_THREADS ((size_t)2048) /* so that what is larger than a grid is tried, too */
#define __device__
#define __global__
#define __host__
#define __shared__ \
	static __attribute__((section("emulated_static"))) /* to be found by emulated.cpp */
#define __align__(bytes) __attribute__((aligned(bytes)))
#define __forceinline__ inline
#define GPU_INLINE inline
#define GPU_KERNEL(threads, blocks) void
#define __syncthreads emulated_block_barrier

struct dim3 {
	unsigned x, y, z;
	dim3(unsigned x_ = 1, unsigned y_ = 1, unsigned z_ = 1) : x(x_), y(y_), z(z_)
	{
	}
};
struct __align__(16) uint4
{
	uint32_t x, y, z, w;
};
struct __align__(16) float4
{
	float x, y, z, w;
};

typedef void *gpu_stream;
extern dim3 threadIdx, blockIdx, blockDim, gridDim;
extern unsigned char *emulated_shared;
extern float emulated_lanes[64][64][8]; /* of a warp, of a lane */
void emulated_block_barrier(void);
void emulated_warp_barrier(void);
void emulated_run(dim3 grid, dim3 block, size_t bytes, const std::function<void()> &thread);

/* What <<<>>> becomes: emulated(grid, block, bytes, stream, kernel)(arguments). */
template <class... P> struct emulated_launch {
	dim3 grid, block;
	size_t bytes;
	void (*kernel)(P...);
	template <class... A> void operator()(A... a) const
	{
		emulated_run(grid, block, bytes, [=] { kernel(a...); });
	}
};
template <class... P>
emulated_launch<P...> emulated(
        dim3 grid, dim3 block, size_t bytes, gpu_stream, void (*kernel)(P...))
{
	return {grid, block, bytes, kernel};
}

template <class... P, class... A>
void gpu_launch_early(void (*kernel)(P...), unsigned threads, gpu_stream, A... a)
{
	emulated_run(1, threads, 0, [=] { kernel(a...); });
}
inline void gpu_let_next_begin(void)
{
}
inline void gpu_await_previous(void)
{
}

inline int gpu_launch_status(void)
{
	return 0;
}
inline const char *gpu_status_text(int)
{
	return "";
}
template <typename Kernel> int gpu_allow_shared(Kernel *, size_t)
{
	return 0;
}

struct gpu_f16 {
	uint16_t bits;
};
struct gpu_bf16 {
	uint16_t bits;
};
inline float gpu_float(float x)
{
	return x;
}
inline float gpu_float(gpu_f16 x)
{
	_Float16 h;
	memcpy(&h, &x, 2);
	return (float)h;
}
inline float gpu_float(gpu_bf16 x)
{
	uint32_t u = (uint32_t)x.bits << 16;
	float f;
	memcpy(&f, &u, 4);
	return f;
}
inline float gpu_round(float x, float)
{
	return x;
}
inline gpu_f16 gpu_round(float x, gpu_f16)
{
	_Float16 h = (_Float16)x;
	gpu_f16 r;
	memcpy(&r, &h, 2);
	return r;
}
inline gpu_bf16 gpu_round(float x, gpu_bf16)
{
	uint32_t u;
	memcpy(&u, &x, 4);
	return {(uint16_t)(x != x ? 0x7fc0u : (u + 0x7fffu + (u >> 16 & 1)) >> 16)};
}
template <typename T> uint32_t gpu_pack(float low, float high, T)
{
	return gpu_round(low, T()).bits | (uint32_t)gpu_round(high, T()).bits << 16;
}

inline unsigned gpu_thread(void)
{
	return threadIdx.x;
}
inline int gpu_lane(void)
{
	return (int)(gpu_thread() % GPU_LANES);
}
inline float (*emulated_warp(void))[8]
{
	return emulated_lanes[threadIdx.x / GPU_LANES];
}
/* On NVIDIA a move between lanes, so all of them must call it. */
inline int gpu_warp(void)
{
	emulated_warp_barrier();
	return (int)(threadIdx.x / GPU_LANES);
}
inline float gpu_shuffle_xor(float x, int mask)
{
	emulated_warp()[gpu_lane()][0] = x;
	emulated_warp_barrier();
	float y = emulated_warp()[gpu_lane() ^ mask][0];
	emulated_warp_barrier();
	return y;
}
inline void gpu_warp_barrier(void)
{
	emulated_warp_barrier();
}
inline float gpu_exp2(float x)
{
	return exp2f(x);
}
inline float gpu_log2(float x)
{
	return log2f(x);
}
inline void gpu_copy16(void *to, const void *from, bool valid)
{
	valid ? memcpy(to, from, 16) : memset(to, 0, 16);
}
inline float4 gpu_load_streaming(const float4 *from)
{
	return *from;
}
inline float4 gpu_load_l2(const float4 *from)
{
	return *from;
}
/* Blocks run one after the other, fibers change places in barriers only. */
inline unsigned atomicAdd(unsigned *at, unsigned x)
{
	*at += x;
	return *at - x;
}
inline void __threadfence(void)
{
}
inline void gpu_copy_commit(void)
{
}
template <int pending> void gpu_copy_wait(void)
{
}
template <typename T> constexpr T gpu_ceil_div(T a, T b)
{
	return (a + b - 1) / b;
}
inline int min(int a, int b)
{
	return a < b ? a : b;
}
inline int max(int a, int b)
{
	return a > b ? a : b;
}
#define GPU_DYNAMIC_SHARED(name) unsigned char *name = emulated_shared

#endif
