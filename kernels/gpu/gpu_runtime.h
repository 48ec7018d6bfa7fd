/* One source for CUDA and HIP: what the kernels of this folder need of both, under common names.
 *
 * The language is common to both (__global__, threadIdx, <<<>>>). What differs is here: the number
 * of lanes of a warp (32 on NVIDIA, 64 on AMD's CDNA), the 16-bit types, shuffles, asynchronous
 * copies to shared memory, and a few host calls. The matrix units are in gpu_matrix.h.
 *
 * Compile with nvcc, or with hipcc (-x hip). */
#ifndef GPU_RUNTIME_H
#define GPU_RUNTIME_H
#include <stddef.h>
#include <stdint.h>

#if defined(__HIPCC__) || defined(__HIP__)
#define GPU_HIP 1
#include <hip/hip_runtime.h>
#else
#define GPU_HIP 0
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#endif

#ifdef TK_TRACE
#include "trace.h"
#endif

/* Lanes of a warp (AMD: wave): a constant, because tiles are cut by it. */
#if GPU_HIP
#define GPU_LANES 64
#else
#define GPU_LANES 32
#endif

/* hipcc reads a file once for the host and once for each architecture; a table of host functions
 * must be in the first pass only, because it would become a constant of the device as well. (nvcc
 * never copies it.) */
#if defined(__HIP_DEVICE_COMPILE__) && __HIP_DEVICE_COMPILE__
#define GPU_HOST_PASS 0
#else
#define GPU_HOST_PASS 1
#endif

#define GPU_INLINE __device__ __forceinline__
/* A kernel of at most `threads` threads a block, of which `blocks` should fit on a multiprocessor.
 * On AMD the second number would mean waves of a SIMD unit, and shared memory is the limit: left to
 * the compiler. */
#if GPU_HIP
#define GPU_KERNEL(threads, blocks) __global__ void __launch_bounds__(threads)
#else
#define GPU_KERNEL(threads, blocks) __global__ void __launch_bounds__(threads, blocks)
#endif

/* ---- the host's side ---- */

#if GPU_HIP
typedef hipStream_t gpu_stream;
#else
typedef cudaStream_t gpu_stream;
#endif

/* 0, or the runtime's code of the last failed launch. */
static inline int gpu_launch_status(void)
{
#if GPU_HIP
	return (int)hipGetLastError();
#else
	return (int)cudaGetLastError();
#endif
}

static inline const char *gpu_status_text(int status)
{
#if GPU_HIP
	return hipGetErrorString((hipError_t)status);
#else
	return cudaGetErrorString((cudaError_t)status);
#endif
}

/* Launches one block that may begin while the launch before it still runs (NVIDIA from Hopper on).
 * The kernel calls gpu_await_previous() before it touches what that one writes, or at its end. */
template <typename... A>
static inline void gpu_launch_early(
        void (*kernel)(A...), unsigned threads, gpu_stream stream, A... arguments)
{
#if GPU_HIP
	kernel<<<1, threads, 0, stream>>>(arguments...);
#else
	cudaLaunchAttribute early = {};
	cudaLaunchConfig_t launch = {};
	int device = 0, major = 0;
	(void)cudaGetDevice(&device);
	(void)cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device);
	early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
	early.val.programmaticStreamSerializationAllowed = 1;
	launch.gridDim = dim3(1);
	launch.blockDim = dim3(threads);
	launch.stream = stream;
	launch.attrs = &early;
	launch.numAttrs = major >= 9;
	(void)cudaLaunchKernelEx(&launch, kernel, arguments...); /* gpu_launch_status() tells */
#endif
}

/* Threads of one launch at most: AMD counts those of a whole grid in 32 bits. */
#define GPU_GRID_THREADS ((size_t)1 << 31)

/* Allows `kernel` to have `bytes` of shared memory; needed above 48 KiB on NVIDIA. AMD always has
 * 64 KiB. 0 or the runtime's code. */
template <typename Kernel> static inline int gpu_allow_shared(Kernel *kernel, size_t bytes)
{
#if GPU_HIP
	return bytes <= 65536 ? 0 : (int)hipErrorInvalidValue;
#else
	return (int)cudaFuncSetAttribute(
	        (const void *)kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes);
#endif
}

/* ---- 16-bit types ---- */

/* Stored as both vendors store them; arithmetic is done in float. */
struct gpu_f16 {
	uint16_t bits;
};
struct gpu_bf16 {
	uint16_t bits;
};

GPU_INLINE float gpu_float(float x)
{
	return x;
}
GPU_INLINE float gpu_float(gpu_f16 x)
{
#if GPU_HIP
	return (float)__builtin_bit_cast(_Float16, x.bits);
#else
	return __half2float(__ushort_as_half(x.bits));
#endif
}
GPU_INLINE float gpu_float(gpu_bf16 x)
{
	return __uint_as_float((uint32_t)x.bits << 16);
}

/* To the nearest, ties to even. The second argument names the type: gpu_round(x, T()). */
GPU_INLINE float gpu_round(float x, float)
{
	return x;
}
GPU_INLINE gpu_f16 gpu_round(float x, gpu_f16)
{
#if GPU_HIP
	return gpu_f16{__builtin_bit_cast(uint16_t, (_Float16)x)};
#else
	return gpu_f16{__half_as_ushort(__float2half_rn(x))};
#endif
}
GPU_INLINE gpu_bf16 gpu_round(float x, gpu_bf16)
{
#if GPU_HIP
	uint32_t u = __float_as_uint(x);
	return gpu_bf16{(uint16_t)(x != x ? 0x7fc0u : (u + 0x7fffu + (u >> 16 & 1)) >> 16)};
#else
	return gpu_bf16{__bfloat16_as_ushort(__float2bfloat16_rn(x))};
#endif
}

/* Two values in one word, the first in the low half. */
GPU_INLINE uint32_t gpu_pack(float low, float high, gpu_f16)
{
#if GPU_HIP
	return gpu_round(low, gpu_f16()).bits | (uint32_t)gpu_round(high, gpu_f16()).bits << 16;
#else
	__half2 h = __floats2half2_rn(low, high);
	return *(uint32_t *)&h;
#endif
}
GPU_INLINE uint32_t gpu_pack(float low, float high, gpu_bf16)
{
#if GPU_HIP
	return gpu_round(low, gpu_bf16()).bits | (uint32_t)gpu_round(high, gpu_bf16()).bits << 16;
#else
	__nv_bfloat162 h = __floats2bfloat162_rn(low, high);
	return *(uint32_t *)&h;
#endif
}

/* ---- lanes ---- */

/* The thread's number in its block. With records a sum, which the compiler keeps: it would read the
 * number itself again after each record, 5 % of the time of gemm_matrix on an H100. */
GPU_INLINE unsigned gpu_thread(void)
{
#ifdef TK_TRACE
	return threadIdx.x + (tk_trace_memory.groups >> 31);
#else
	return threadIdx.x;
#endif
}

GPU_INLINE int gpu_lane(void)
{
	return (int)(gpu_thread() % GPU_LANES);
}

/* The warp's number in its block, in a form that the compiler knows to be the same in all lanes.
 * All lanes must call it: not in a loop that some of them have left. */
GPU_INLINE int gpu_warp(void)
{
#if GPU_HIP
	return __builtin_amdgcn_readfirstlane((int)(gpu_thread() / GPU_LANES));
#else
	return __shfl_sync(0xffffffffu, (int)(gpu_thread() / GPU_LANES), 0);
#endif
}

/* x of lane (own number xor mask). All lanes must call it. */
GPU_INLINE float gpu_shuffle_xor(float x, int mask)
{
#if GPU_HIP
	return __shfl_xor(x, mask);
#else
	return __shfl_xor_sync(0xffffffffu, x, mask);
#endif
}

/* Makes shared memory written by lanes of a warp visible to the others. */
GPU_INLINE void gpu_warp_barrier(void)
{
#if GPU_HIP
	__builtin_amdgcn_fence(__ATOMIC_ACQ_REL, "wavefront");
	__builtin_amdgcn_wave_barrier();
#else
	__syncwarp();
#endif
}

/* The kernel launched next may begin now, if it was launched early. */
GPU_INLINE void gpu_let_next_begin(void)
{
#if !GPU_HIP && defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
	asm volatile("griddepcontrol.launch_dependents;");
#endif
}

/* Waits until the kernel launched before has ended. */
GPU_INLINE void gpu_await_previous(void)
{
#if !GPU_HIP && defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
	asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

/* 2^x and log2(x), fast. */
GPU_INLINE float gpu_exp2(float x)
{
#if GPU_HIP
	return __builtin_amdgcn_exp2f(x);
#else
	float y;
	asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
	return y;
#endif
}
GPU_INLINE float gpu_log2(float x)
{
	return __log2f(x);
}

/* ---- memory ---- */

/* 16 bytes that are read once: they should not evict others from the caches. */
GPU_INLINE float4 gpu_load_streaming(const float4 *from)
{
#if GPU_HIP
	typedef float wide __attribute__((ext_vector_type(4)));
	wide x = __builtin_nontemporal_load((const wide *)from);
	return float4{x.x, x.y, x.z, x.w};
#else
	return __ldcs(from);
#endif
}

/* 16 bytes through the L2 cache: bypasses L1 on NVIDIA; AMD's L1 is small. */
GPU_INLINE float4 gpu_load_l2(const float4 *from)
{
#if GPU_HIP
	return *from;
#else
	return __ldcg(from);
#endif
}

/* ---- copies to shared memory ---- */

/* Copies 16 bytes from device to shared memory, both 16-byte aligned; zeros if not `valid` (then
 * `from` is not read). On NVIDIA from sm_80 on the copy is asynchronous and complete after
 * gpu_copy_wait(); on AMD it is a load and a store, which the compiler moves apart. Each thread
 * waits for its own copies; a barrier must follow. */
GPU_INLINE void gpu_copy16(void *to, const void *from, bool valid)
{
#if GPU_HIP
	*(uint4 *)to = valid ? *(const uint4 *)from : uint4{0, 0, 0, 0};
#else
	uint32_t shared = (uint32_t)__cvta_generic_to_shared(to);
	int bytes = valid ? 16 : 0;
	asm volatile(
	        "cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(shared), "l"(from), "r"(bytes)
	        : "memory");
#endif
}

/* Closes a group of copies. */
GPU_INLINE void gpu_copy_commit(void)
{
#if !GPU_HIP
	asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}

/* Waits until all but the newest `pending` groups are complete. */
template <int pending> GPU_INLINE void gpu_copy_wait(void)
{
#if !GPU_HIP
	asm volatile("cp.async.wait_group %0;" ::"n"(pending) : "memory");
#endif
}

/* ---- sizes ---- */

template <typename T> __host__ __device__ constexpr T gpu_ceil_div(T a, T b)
{
	return (a + b - 1) / b;
}

/* Shared memory of the size given at launch, 1024-byte aligned; one array in a kernel. */
#define GPU_DYNAMIC_SHARED(name) extern __shared__ __align__(1024) unsigned char name[]

#endif
