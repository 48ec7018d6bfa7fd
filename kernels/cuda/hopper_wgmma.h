/* wgmma as templates: 64 x N sums in f32 += 64 x K times K x N, K = 32 bytes of the operands (16
 * halves, 32 eighths).
 *
 *   wgmma<N, A, B, a_k_fast, b_k_fast>(sum, a, b, keep)
 *       a, b: wgmma_descriptor(); keep = 0: the sum starts at 0
 *   wgmma_from<N, T, b_k_fast>(sum, a[4], b, keep)
 *       a in registers, in the layout of a sum (16-bit types only)
 *
 * Lane l of warp w holds, in sum[4 i .. 4 i + 3], columns 8 i + l % 4 * 2 and the next of row 16 w
 * + l / 4, then of that row + 8. An instruction's operands must be written out one by one: that is
 * why there are the lists below. */
#ifndef HOPPER_WGMMA_H
#define HOPPER_WGMMA_H
#include "hopper.h"
#if HOPPER_CODE

struct type_f16;
struct type_bf16;
struct type_e4m3;
struct type_e5m2;

#define SUMS_32 \
	"%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, " \
	"%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31"
#define SUMS_64 \
	"%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, " \
	"%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, " \
	"%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, " \
	"%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63"
#define SUMS_96 \
	"%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, " \
	"%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, " \
	"%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, " \
	"%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63, " \
	"%64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, " \
	"%80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95"
#define SUMS_128 \
	"%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, " \
	"%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, " \
	"%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, " \
	"%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63, " \
	"%64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, " \
	"%80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95, " \
	"%96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, " \
	"%111, " \
	"%112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, " \
	"%126, %127"
#define OUT_4(d, i) "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3])
#define OUT_16(d, i) OUT_4(d, i), OUT_4(d, i + 4), OUT_4(d, i + 8), OUT_4(d, i + 12)
#define OUT_32(d, i) OUT_16(d, i), OUT_16(d, i + 16)
#define OUT_64(d, i) OUT_32(d, i), OUT_32(d, i + 32)
#define OUT_96(d, i) OUT_64(d, i), OUT_32(d, i + 64)
#define OUT_128(d, i) OUT_64(d, i), OUT_64(d, i + 64)

/* SUMS sums; P0.. the numbers of the operands that follow them. */
#define WGMMA(N, SUMS, P0, P1, P2, K, TYPES, TAIL, ...) \
	asm volatile("{\n.reg .pred keep;\nsetp.ne.b32 keep, %" #P2 ", 0;\n" \
	             "wgmma.mma_async.sync.aligned.m64n" #N "k" #K ".f32." TYPES " {" SUMS_##SUMS \
	             "}, %" #P0 ", %" #P1 ", keep, 1, 1" TAIL ";\n}" \
	             : OUT_##SUMS(sum, 0) \
	             : "l"(a), "l"(b), "r"(keep)__VA_ARGS__)
#define WGMMA_16(N, SUMS, P0, P1, P2, P3, P4, TYPES) \
	WGMMA(N, SUMS, P0, P1, P2, 16, TYPES, ", %" #P3 ", %" #P4, , "n"(a_k_fast ? 0 : 1), \
	        "n"(b_k_fast ? 0 : 1))
#define WGMMA_BY_N(type) \
	if constexpr (N == 64) \
		type(64, 32, 32, 33, 34, 35, 36); \
	else if constexpr (N == 128) \
		type(128, 64, 64, 65, 66, 67, 68); \
	else if constexpr (N == 192) \
		type(192, 96, 96, 97, 98, 99, 100); \
	else \
		type(256, 128, 128, 129, 130, 131, 132)

template <class A, class B> struct wgmma_types;
#define WGMMA_TYPES(A, B, CODE) \
	template <> struct wgmma_types<A, B> { \
		template <int N, bool a_k_fast, bool b_k_fast> \
		static HOPPER_INLINE void multiply(float *sum, uint64_t a, uint64_t b, int keep) \
		{ \
			WGMMA_BY_N(CODE); \
		} \
	}
#define CODE_F16(N, S, P0, P1, P2, P3, P4) WGMMA_16(N, S, P0, P1, P2, P3, P4, "f16.f16")
#define CODE_BF16(N, S, P0, P1, P2, P3, P4) WGMMA_16(N, S, P0, P1, P2, P3, P4, "bf16.bf16")
#define CODE_E4M3_E4M3(N, S, P0, P1, P2, P3, P4) WGMMA(N, S, P0, P1, P2, 32, "e4m3.e4m3", "", )
#define CODE_E4M3_E5M2(N, S, P0, P1, P2, P3, P4) WGMMA(N, S, P0, P1, P2, 32, "e4m3.e5m2", "", )
#define CODE_E5M2_E4M3(N, S, P0, P1, P2, P3, P4) WGMMA(N, S, P0, P1, P2, 32, "e5m2.e4m3", "", )
WGMMA_TYPES(type_f16, type_f16, CODE_F16);
WGMMA_TYPES(type_bf16, type_bf16, CODE_BF16);
WGMMA_TYPES(type_e4m3, type_e4m3, CODE_E4M3_E4M3);
WGMMA_TYPES(type_e4m3, type_e5m2, CODE_E4M3_E5M2);
WGMMA_TYPES(type_e5m2, type_e4m3, CODE_E5M2_E4M3);

template <int N, class A, class B, bool a_k_fast, bool b_k_fast>
HOPPER_INLINE void wgmma(float *sum, uint64_t a, uint64_t b, int keep)
{
	wgmma_types<A, B>::template multiply<N, a_k_fast, b_k_fast>(sum, a, b, keep);
}

#define WGMMA_FROM(N, SUMS, P0, P1, P2, P3, P4, P5, P6, TYPES) \
	asm volatile("{\n.reg .pred keep;\nsetp.ne.b32 keep, %" #P5 ", 0;\n" \
	             "wgmma.mma_async.sync.aligned.m64n" #N "k16.f32." TYPES " {" SUMS_##SUMS \
	             "}, {%" #P0 ", %" #P1 ", %" #P2 ", %" #P3 "}, %" #P4 ", keep, 1, 1, %" #P6 \
	             ";\n}" \
	             : OUT_##SUMS(sum, 0) \
	             : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(keep), \
	             "n"(b_k_fast ? 0 : 1))
#define WGMMA_FROM_BY_N(TYPES) \
	if constexpr (N == 64) \
		WGMMA_FROM(64, 32, 32, 33, 34, 35, 36, 37, 38, TYPES); \
	else if constexpr (N == 128) \
		WGMMA_FROM(128, 64, 64, 65, 66, 67, 68, 69, 70, TYPES); \
	else \
		WGMMA_FROM(256, 128, 128, 129, 130, 131, 132, 133, 134, TYPES)

template <class T> struct wgmma_from_types;
template <> struct wgmma_from_types<type_f16> {
	template <int N, bool b_k_fast>
	static HOPPER_INLINE void multiply(float *sum, const uint32_t *a, uint64_t b, int keep)
	{
		WGMMA_FROM_BY_N("f16.f16");
	}
};
template <> struct wgmma_from_types<type_bf16> {
	template <int N, bool b_k_fast>
	static HOPPER_INLINE void multiply(float *sum, const uint32_t *a, uint64_t b, int keep)
	{
		WGMMA_FROM_BY_N("bf16.bf16");
	}
};

template <int N, class T, bool b_k_fast>
HOPPER_INLINE void wgmma_from(float *sum, const uint32_t *a, uint64_t b, int keep)
{
	wgmma_from_types<T>::template multiply<N, b_k_fast>(sum, a, b, keep);
}

#endif
#endif
