/* Four doubles at a time, in the vectors of the processor. Private to stats/. */
#ifndef TK_STATS_SIMD_H
#define TK_STATS_SIMD_H
#include <math.h>
#include <stdint.h>

#define TK_SIMD_WIDTH 4

typedef double tk_simd_f64 __attribute__((
        vector_size(TK_SIMD_WIDTH * sizeof(double)), aligned(sizeof(double)), may_alias));
typedef int64_t tk_simd_i64 __attribute__((vector_size(TK_SIMD_WIDTH * sizeof(int64_t))));

/* The count is constant, so the loop is unrolled if this is inlined into its caller. */
#define TK_SIMD_INLINE static inline __attribute__((always_inline))

/* The processor may have more instructions than the compiler's target: marked functions are
 * compiled for both, with equal results. Not by clang, whose clones other files cannot call. Not
 * with ThreadSanitizer, whose runtime is not loaded yet when a clone is chosen. */
#if defined(__x86_64__) && defined(__GLIBC__) && !defined(__clang__) && \
        !defined(__SANITIZE_THREAD__)
#define TK_SIMD_TARGETS(...) __attribute__((target_clones(__VA_ARGS__)))
#else
#define TK_SIMD_TARGETS(...)
#endif
#define TK_SIMD_CLONES TK_SIMD_TARGETS("avx2", "default")

/* x <= 0 becomes e^x to 1e-14; values below -700 count as -700. */
#define TK_SIMD_DEFINE_EXP(name, f64, i64) \
	TK_SIMD_INLINE void name(f64 *x) \
	{ \
		const f64 least = (f64){0} - 700; \
		/* Added to a small number, its last bits are the nearest integer. */ \
		const double shift = 0x1.8p52; \
		f64 v = *x, k, r, sum; \
		i64 large = v > least; \
\
		v = (f64)(((i64)v & large) | ((i64)least & ~large)); \
		k = v * M_LOG2E + shift; \
		r = v - (k - shift) * 0x1.62e42fefa3800p-1 - \
		    (k - shift) * 0x1.ef35793c76730p-45; /* ln 2 in two parts */ \
		sum = r * (1.0 / 39916800) + 1.0 / 3628800; \
		sum = sum * r + 1.0 / 362880; \
		sum = sum * r + 1.0 / 40320; \
		sum = sum * r + 1.0 / 5040; \
		sum = sum * r + 1.0 / 720; \
		sum = sum * r + 1.0 / 120; \
		sum = sum * r + 1.0 / 24; \
		sum = sum * r + 1.0 / 6; \
		sum = sum * r + 0.5; \
		sum = (sum * r + 1) * r + 1; \
		*x = sum * (f64)(((i64)k << 52) + (INT64_C(1023) << 52)); \
	}

TK_SIMD_DEFINE_EXP(tk_simd_exp, tk_simd_f64, tk_simd_i64)

#endif
