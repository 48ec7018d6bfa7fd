/* Hopper's own instructions (sm_90a) as functions of one line of PTX each: mbarriers that count
 * bytes, the copy engine (TMA), warpgroup products (wgmma), register reallocation (setmaxnreg).
 * Source: PTX ISA 8.0, sections on mbarrier, cp.async.bulk.tensor, wgmma and setmaxnreg.
 *
 * Shared memory addresses are 32-bit, from shared_address(). */
#ifndef HOPPER_H
#define HOPPER_H
#include <cuda.h>
#include <cuda_runtime.h>
#include <stdint.h>

#if !defined(__CUDA_ARCH__) || defined(__CUDA_ARCH_FEAT_SM90_ALL)
#define HOPPER_CODE 1 /* in other passes the kernels are empty */
#else
#define HOPPER_CODE 0
#endif

#define HOPPER_INLINE __device__ __forceinline__
enum { WARPGROUP = 128 };

HOPPER_INLINE uint32_t shared_address(const void *p)
{
	return (uint32_t)__cvta_generic_to_shared(p);
}

#if HOPPER_CODE

/* ---- barriers ---- */

HOPPER_INLINE void barrier_init(uint32_t barrier, int arrivals)
{
	asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(arrivals));
}

/* Publishes initialized barriers to TMA and the cluster. */
HOPPER_INLINE void barrier_publish(void)
{
	asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}

/* Arrives and expects `bytes` of copies. */
HOPPER_INLINE void barrier_expect(uint32_t barrier, uint32_t bytes)
{
	asm volatile(
	        "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes)
	        : "memory");
}

HOPPER_INLINE void barrier_arrive(uint32_t barrier)
{
	asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
}

/* Arrives at the same barrier of block `rank` of the cluster. */
HOPPER_INLINE void barrier_arrive_remote(uint32_t barrier, uint32_t rank)
{
	asm volatile("{\n.reg .b32 remote;\n"
	             "mapa.shared::cluster.u32 remote, %0, %1;\n"
	             "mbarrier.arrive.shared::cluster.b64 _, [remote];\n}" ::"r"(barrier),
	             "r"(rank)
	             : "memory");
}

/* Waits until the phase of this parity is complete. */
HOPPER_INLINE void barrier_wait(uint32_t barrier, uint32_t parity)
{
	asm volatile("{\n.reg .pred done;\n"
	             "again:\n"
	             "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
	             "@done bra over;\n"
	             "bra again;\n"
	             "over:\n}" ::"r"(barrier),
	             "r"(parity)
	             : "memory");
}

/* COUNT pairs of barriers: a full one needs one arrival, an empty one `releases`. One thread
 * initializes all of a block's; barrier_publish() follows. */
template <int COUNT>
HOPPER_INLINE void barrier_init_pairs(uint32_t full, uint32_t empty, int releases)
{
	for (int i = 0; i < COUNT; i++) {
		barrier_init(full + i * 8, 1);
		barrier_init(empty + i * 8, releases);
	}
}

HOPPER_INLINE uint32_t cluster_rank(void)
{
	uint32_t rank;
	asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
	return rank;
}

HOPPER_INLINE void cluster_sync(void)
{
	asm volatile("barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;" ::: "memory");
}

/* Barrier number 0 to 15 of the block, for `threads` threads. */
HOPPER_INLINE void named_barrier(int number, int threads)
{
	asm volatile("bar.sync %0, %1;" ::"r"(number), "r"(threads) : "memory");
}

/* Arrives without waiting. */
HOPPER_INLINE void named_arrive(int number, int threads)
{
	asm volatile("bar.arrive %0, %1;" ::"r"(number), "r"(threads) : "memory");
}

/* ---- TMA ---- */

HOPPER_INLINE void tma_load_3d(
        uint32_t to, const CUtensorMap *map, uint32_t barrier, int x, int y, int z)
{
	asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes "
	             "[%0], [%1, {%3, %4, "
	             "%5}], [%2];" ::"r"(to),
	             "l"(map), "r"(barrier), "r"(x), "r"(y), "r"(z)
	             : "memory");
}

/* Multicast: to the same address in every block of the cluster whose bit is set in `mask`. */
HOPPER_INLINE void tma_load_3d_multicast(
        uint32_t to, const CUtensorMap *map, uint32_t barrier, int x, int y, int z, uint16_t mask)
{
	asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes."
	             "multicast::cluster "
	             "[%0], [%1, {%3, %4, %5}], [%2], %6;" ::"r"(to),
	             "l"(map), "r"(barrier), "r"(x), "r"(y), "r"(z), "h"(mask)
	             : "memory");
}

HOPPER_INLINE void tma_load_4d(
        uint32_t to, const CUtensorMap *map, uint32_t barrier, int x, int y, int z, int w)
{
	asm volatile("cp.async.bulk.tensor.4d.shared::cluster.global.mbarrier::complete_tx::bytes "
	             "[%0], [%1, {%3, %4, "
	             "%5, %6}], [%2];" ::"r"(to),
	             "l"(map), "r"(barrier), "r"(x), "r"(y), "r"(z), "r"(w)
	             : "memory");
}

/* `bytes` consecutive bytes, a multiple of 16, both ends aligned to 16. */
HOPPER_INLINE void bulk_load(uint32_t to, const void *from, uint32_t bytes, uint32_t barrier)
{
	asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], "
	             "[%1], %2, [%3];" ::"r"(to),
	             "l"(from), "r"(bytes), "r"(barrier)
	             : "memory");
}

HOPPER_INLINE void tma_store_3d(const CUtensorMap *map, uint32_t from, int x, int y, int z)
{
	asm volatile(
	        "cp.async.bulk.tensor.3d.global.shared::cta.bulk_group [%0, {%2, %3, %4}], [%1];" ::
	                "l"(map),
	        "r"(from), "r"(x), "r"(y), "r"(z)
	        : "memory");
}

HOPPER_INLINE void tma_store_4d(const CUtensorMap *map, uint32_t from, int x, int y, int z, int w)
{
	asm volatile("cp.async.bulk.tensor.4d.global.shared::cta.bulk_group [%0, {%2, %3, %4, "
	             "%5}], [%1];" ::"l"(map),
	             "r"(from), "r"(x), "r"(y), "r"(z), "r"(w)
	             : "memory");
}

HOPPER_INLINE void tma_store_commit(void)
{
	asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}

/* Waits until all but the newest `pending` stores have read shared memory. */
template <int pending> HOPPER_INLINE void tma_store_wait_read(void)
{
	asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(pending) : "memory");
}
template <int pending> HOPPER_INLINE void tma_store_wait(void)
{
	asm volatile("cp.async.bulk.wait_group %0;" ::"n"(pending) : "memory");
}

/* Makes ordinary stores to shared memory visible to TMA and wgmma. */
HOPPER_INLINE void fence_async(void)
{
	asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

/* ---- a warpgroup's products ---- */

HOPPER_INLINE void wgmma_fence(void)
{
	asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}
HOPPER_INLINE void wgmma_commit(void)
{
	asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}
template <int pending> HOPPER_INLINE void wgmma_wait(void)
{
	asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(pending) : "memory");
}

/* Matrix descriptor of an operand (PTX ISA, "wgmma matrix descriptor"): rows of 128 bytes, swizzled
 * as CU_TENSOR_MAP_SWIZZLE_128B, in groups of 8 rows (1024 bytes, aligned). With k as the fast
 * index a row is one of the operand's and holds 128 bytes of k; the next 32 bytes of k are 32 bytes
 * further. Otherwise a row is one k of 64 of the operand's rows, the next 16 k are 2048 bytes
 * further, and the next 64 rows `block` bytes. */
HOPPER_INLINE uint64_t wgmma_descriptor(uint32_t address, uint32_t block)
{
	return (uint64_t)((address & 0x3ffff) >> 4) | (uint64_t)(block >> 4) << 16 |
	       (uint64_t)(1024 >> 4) << 32 | (uint64_t)1 << 62;
}

/* What is added to a descriptor for the next product along k: bytes / 16. */
HOPPER_INLINE constexpr uint64_t wgmma_descriptor_step(bool k_fast)
{
	return k_fast ? 32 >> 4 : 2048 >> 4;
}

template <int count> HOPPER_INLINE void registers_release(void)
{
	asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(count));
}
template <int count> HOPPER_INLINE void registers_acquire(void)
{
	asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(count));
}

/* Four 8 x 8 blocks of 16-bit values; lane l gives the address of row l % 8 of block l / 8. */
HOPPER_INLINE void store_matrix(uint32_t row, uint32_t a, uint32_t b, uint32_t c, uint32_t d)
{
	asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(row),
	             "r"(a), "r"(b), "r"(c), "r"(d)
	             : "memory");
}

#endif
/* ---- the host's side: each kernel has a `with_kernel(call, f)`, which calls f(kernel, traits) for
 * the types and the layout of a call ---- */

/* Defines name_prepare(): before the first launch. */
#define HOPPER_PREPARE(name) \
	extern "C" int name##_prepare(const struct name##_call *call) \
	{ \
		return with_kernel(call, [](auto kernel, auto l) { \
			return (int)cudaFuncSetAttribute(kernel, \
			        cudaFuncAttributeMaxDynamicSharedMemorySize, decltype(l)::SHARED); \
		}); \
	}

/* Blocks of a persistent grid. */
static inline unsigned hopper_blocks(int tile_count, int multiprocessors)
{
	return (unsigned)(tile_count < multiprocessors ? tile_count : multiprocessors);
}

#endif
