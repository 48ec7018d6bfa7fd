/* Records of named regions inside a kernel: when a group of warps entered and left them. One source
 * for CUDA and HIP.
 *
 *   #define REGIONS(X) X(WAIT, "wait", WAIT) X(LOAD, "load", LOAD) X(MULTIPLY, "multiply", TENSOR)
 *   TK_TRACE_KERNEL("my_gemm", REGIONS, "producer", "consumer")   // outside of functions
 *
 *   tk_trace_writer trace = tk_trace_open(group, threadIdx.x % 128 == 0);
 *   tk_trace_enter(trace, REGION_WAIT);    // and leaves the region before
 *   ...
 *   tk_trace_begin(trace, REGION_MULTIPLY, stage, REGION_LOAD);   // beside what the group does;
 *   ...                                       // it enters LOAD at the same time
 *   tk_trace_end(trace, REGION_MULTIPLY, stage, REGION_WAIT);     // the token tells overlapping
 *   tk_trace_leave(trace);                                        // ones apart
 *   tk_trace_close(trace);
 *
 * A loop that takes about a microsecond numbers the records of a turn: their clocks stay in
 * registers until tk_trace_advance() writes all of them, which must come before a call without a
 * number. Numbers that a turn leaves out are not read. The compiler moves nothing across a record:
 * where a turn begins with a wait, its record costs less at the end of the turn before.
 *
 *   for (...) {
 *           tk_trace_enter<0>(trace, REGION_WAIT);
 *           ...
 *           tk_trace_enter<1>(trace, REGION_MULTIPLY);
 *           ...
 *           tk_trace_advance<2>(trace);        // at most TK_TRACE_TURN_MAX
 *   }
 *
 * A persistent kernel enters the first region of each tile by tk_trace_enter_tile(). Functions of a
 * kernel take the writer as `tk_trace_ref trace`.
 *
 * Without TK_TRACE all of it is empty, and the machine code is that of a kernel without it. With
 * TK_TRACE the recording thread of each group writes 8 bytes for each call, by pairs, to its ring
 * in global memory, until that is full. All threads of a warp must make the calls together.
 * tracker_abi.h has the layout of the rings; their memory is the host's. */
#ifndef TK_TRACE_H
#define TK_TRACE_H
#include "tracker_abi.h"

#define TK_TRACE_ID(id, text, kind) REGION_##id,
#define TK_TRACE_ROW(id, text, kind) {text, TK_TRACE_##kind},
#define TK_TRACE_INLINE static __device__ __forceinline__

#ifdef TK_TRACE
#include "gpu_host.h"

static __constant__ struct tk_trace_memory tk_trace_memory;

/* The device's compiler of HIP has to see it, too: a static variable that it does not see the host
 * write is zero for it, and nothing would be recorded. */
static inline int tk_trace_record(const struct tk_trace_memory *memory)
{
#if TK_GPU_HIP
	return (int)hipMemcpyToSymbol(HIP_SYMBOL(tk_trace_memory), memory, sizeof *memory);
#else
	return (int)cudaMemcpyToSymbol(tk_trace_memory, memory, sizeof *memory);
#endif
}

#ifndef __HIP_DEVICE_COMPILE__
/* The linker gathers the kernels of all files of a module. */
extern "C" const struct tk_trace_kernel *const __start_tk_trace[];
extern "C" const struct tk_trace_kernel *const __stop_tk_trace[];

#define TK_TRACE_KERNEL(title, REGIONS, ...) \
	enum region { REGIONS(TK_TRACE_ID) REGION_COUNT }; \
	static const char *const tk_trace_groups[] = {__VA_ARGS__}; \
	static const struct tk_trace_region tk_trace_regions[] = {REGIONS(TK_TRACE_ROW)}; \
	static const struct tk_trace_kernel tk_trace_kernel = {sizeof(struct tk_trace_kernel), \
	        title, tk_trace_groups, sizeof tk_trace_groups / sizeof *tk_trace_groups, \
	        tk_trace_regions, REGION_COUNT, tk_trace_record}; \
	__attribute__((used, \
	        section("tk_trace"))) static const struct tk_trace_kernel *const tk_trace_link = \
	        &tk_trace_kernel; \
	extern "C" __attribute__((weak)) TK_EXPORT const struct tk_trace_kernel *const * \
	tk_trace_entry(uint32_t *count) \
	{ \
		*count = (uint32_t)(__stop_tk_trace - __start_tk_trace); \
		return __start_tk_trace; \
	}
#endif

TK_TRACE_INLINE uint32_t tk_trace_clock(void)
{
#ifdef __HIP_PLATFORM_AMD__
	return (uint32_t)clock64();
#else
	uint32_t clock;
	asm volatile("mov.u32 %0, %%clock;" : "=r"(clock)::"memory");
	return clock;
#endif
}

TK_TRACE_INLINE uint64_t tk_trace_time_ns(void)
{
#ifdef __HIP_PLATFORM_AMD__
	return (uint64_t)wall_clock64() * 10; /* counts at 100 MHz */
#else
	uint64_t ns;
	asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns)::"memory");
	return ns;
#endif
}

TK_TRACE_INLINE uint32_t tk_trace_multiprocessor(void)
{
#ifdef __HIP_PLATFORM_AMD__
	return __smid();
#else
	uint32_t id;
	asm volatile("mov.u32 %0, %%smid;" : "=r"(id));
	return id;
#endif
}

/* The records of a turn wait in registers until they are written; all but their clocks are
 * constants. `at` is the next one's address, `step` the bytes of two, or 0: this thread records
 * nothing. At `limit`, where the ring has no room for another turn, later turns take the place of
 * the one before. */
struct tk_trace_writer {
	uint64_t at;
	uint32_t step, limit, clock[TK_TRACE_TURN_MAX], what[TK_TRACE_TURN_MAX];
};
using tk_trace_ref = tk_trace_writer &;

template <int AT>
TK_TRACE_INLINE void tk_trace_put(
        tk_trace_ref w, uint32_t does, enum tk_trace_event event, uint32_t async, uint32_t token)
{
	static_assert(AT >= 0 && AT < TK_TRACE_TURN_MAX, "a turn has at most TK_TRACE_TURN_MAX");
	w.clock[AT] = tk_trace_clock();
	w.what[AT] = does | (uint32_t)event << 8 | async << 16 | token << 24;
}

/* The records of a turn up to AT + 1 by pairs; one that was not made is zero. Without a branch: a
 * branch between a warpgroup's matrix products would make the compiler wait for each of them. */
template <int AT> TK_TRACE_INLINE void tk_trace_write(tk_trace_ref w)
{
#ifdef __HIP_PLATFORM_AMD__
	if (w.step)
		*(uint4 *)(w.at + AT * 8) =
		        make_uint4(w.clock[AT], w.what[AT], w.clock[AT + 1], w.what[AT + 1]);
#else
	asm volatile("{\n\t.reg .pred records;\n\tsetp.ne.u32 records, %1, 0;\n\t"
	             "@records st.global.v4.u32 [%0 + %6], {%2, %3, %4, %5};\n\t}" ::"l"(w.at),
	             "r"(w.step), "r"(w.clock[AT]), "r"(w.what[AT]), "r"(w.clock[AT + 1]),
	             "r"(w.what[AT + 1]), "n"(AT * 8)
	             : "memory");
#endif
	w.clock[AT] = w.what[AT] = w.clock[AT + 1] = w.what[AT + 1] = 0;
	if constexpr (AT >= 2)
		tk_trace_write<AT - 2>(w);
}

/* Writes the records of a turn. */
template <int RECORDS> TK_TRACE_INLINE void tk_trace_advance(tk_trace_ref w)
{
	static_assert(RECORDS <= TK_TRACE_TURN_MAX, "a turn has at most TK_TRACE_TURN_MAX");
	constexpr uint32_t pairs = (RECORDS + 1) / 2;
	tk_trace_write<2 * pairs - 2>(w);
	/* the upper half is the same for all records */
	uint32_t next = min((uint32_t)w.at + w.step * pairs, w.limit);
	w.at = (w.at & ~(uint64_t)0xffffffff) | next;
}

TK_TRACE_INLINE tk_trace_writer tk_trace_open(uint32_t group, bool records)
{
	tk_trace_writer w = {(uint64_t)tk_trace_memory.records};
	uint32_t block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
	if (records && tk_trace_memory.rings && block < tk_trace_memory.blocks &&
	        group < tk_trace_memory.groups && tk_trace_memory.slots >= 2 * TK_TRACE_TURN_MAX) {
		uint32_t index = block * tk_trace_memory.groups + group;
		struct tk_trace_ring *ring = tk_trace_memory.rings + index;
		ring->block = block;
		ring->group = group;
		ring->multiprocessor = tk_trace_multiprocessor();
		ring->begin_ns = tk_trace_time_ns();
		ring->begin_clock = tk_trace_clock();
		w.at += (uint64_t)index * tk_trace_memory.slots * 8;
		w.step = 16;
		w.limit = (uint32_t)w.at + (tk_trace_memory.slots - TK_TRACE_TURN_MAX) * 8;
	}
	/* by pairs, and a last one that ends the last gap */
#pragma unroll
	for (int i = 0; i < 2; i++) {
		tk_trace_put<0>(w, TK_TRACE_CALIBRATION, TK_TRACE_DOES, 0, 0);
		tk_trace_put<1>(w, TK_TRACE_CALIBRATION, TK_TRACE_DOES, 0, 0);
		tk_trace_advance<2>(w);
	}
	tk_trace_put<0>(w, TK_TRACE_CALIBRATION, TK_TRACE_DOES, 0, 0);
	tk_trace_advance<1>(w);
	return w;
}

TK_TRACE_INLINE void tk_trace_close(tk_trace_ref w)
{
	if (!w.step)
		return;
	uint32_t record = ((uint32_t)w.at - (uint32_t)(uint64_t)tk_trace_memory.records) / 8;
	struct tk_trace_ring *ring = tk_trace_memory.rings + record / tk_trace_memory.slots;
	ring->end_clock = tk_trace_clock();
	ring->end_ns = tk_trace_time_ns();
	ring->next =
	        record % tk_trace_memory.slots | ((uint32_t)w.at == w.limit ? TK_TRACE_IS_FULL : 0);
}
#else
struct tk_trace_writer {
};
// By value: a reference to it would keep it in memory, and other registers would be chosen.
using tk_trace_ref = tk_trace_writer;

TK_TRACE_INLINE tk_trace_writer tk_trace_open(uint32_t, bool)
{
	return {};
}
template <int AT>
TK_TRACE_INLINE void tk_trace_put(tk_trace_ref, uint32_t, enum tk_trace_event, uint32_t, uint32_t)
{
}
template <int RECORDS> TK_TRACE_INLINE void tk_trace_advance(tk_trace_ref)
{
}
TK_TRACE_INLINE void tk_trace_close(tk_trace_ref)
{
}
#endif

#ifndef TK_TRACE_KERNEL
#define TK_TRACE_KERNEL(title, REGIONS, ...) enum region { REGIONS(TK_TRACE_ID) REGION_COUNT };
#endif

/* ---- numbered, in a turn of a loop ---- */

template <int AT> TK_TRACE_INLINE void tk_trace_enter(tk_trace_ref w, uint32_t region)
{
	tk_trace_put<AT>(w, region, TK_TRACE_DOES, 0, 0);
}
template <int AT>
TK_TRACE_INLINE void tk_trace_begin(
        tk_trace_ref w, uint32_t async, uint32_t token, uint32_t entered)
{
	tk_trace_put<AT>(w, entered, TK_TRACE_BEGIN_ASYNC, async, token);
}
template <int AT>
TK_TRACE_INLINE void tk_trace_end(tk_trace_ref w, uint32_t async, uint32_t token, uint32_t entered)
{
	tk_trace_put<AT>(w, entered, TK_TRACE_END_ASYNC, async, token);
}

/* ---- one by one ---- */

TK_TRACE_INLINE void tk_trace_enter(tk_trace_ref w, uint32_t region)
{
	tk_trace_enter<0>(w, region);
	tk_trace_advance<1>(w);
}
TK_TRACE_INLINE void tk_trace_enter_tile(tk_trace_ref w, uint32_t region)
{
	tk_trace_put<0>(w, region, TK_TRACE_BEGIN_TILE, 0, 0);
	tk_trace_advance<1>(w);
}
TK_TRACE_INLINE void tk_trace_leave(tk_trace_ref w)
{
	tk_trace_enter(w, TK_TRACE_NOTHING);
}
TK_TRACE_INLINE void tk_trace_begin(
        tk_trace_ref w, uint32_t async, uint32_t token, uint32_t entered)
{
	tk_trace_begin<0>(w, async, token, entered);
	tk_trace_advance<1>(w);
}
TK_TRACE_INLINE void tk_trace_end(tk_trace_ref w, uint32_t async, uint32_t token, uint32_t entered)
{
	tk_trace_end<0>(w, async, token, entered);
	tk_trace_advance<1>(w);
}
#endif
