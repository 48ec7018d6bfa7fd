/* The micro-kernel on pairs of bf16: vdpbf16ps multiplies two bf16 pairs in each f32 lane and adds
 * both products to the accumulator.
 *
 * A packed unit is 4 bytes: elements 2p and 2p + 1 of one line. The drivers see a GEMM with half
 * the steps. */
#include "isa.h"
#include <immintrin.h>
#include <string.h>

enum { ROWS = 12, LANES = 16 };

static inline __attribute__((always_inline)) __m512bh pair(float f)
{
	return (__m512bh)_mm512_castps_si512(_mm512_set1_ps(f));
}

static inline __attribute__((always_inline)) void tile_rows(const int rows, int64_t steps,
        const float *a, int64_t lda, const float *b, int64_t ldb, float *c, int64_t ldc,
        int accumulate)
{
	__m512 acc[ROWS][2];
#pragma GCC unroll 16
	for (int i = 0; i < rows; i++)
		acc[i][0] = acc[i][1] = _mm512_setzero_ps();
	for (int64_t p = 0; p < steps; p++, a += lda, b += ldb) {
		__m512bh b0 = (__m512bh)_mm512_loadu_si512(b),
		         b1 = (__m512bh)_mm512_loadu_si512(b + LANES);
#pragma GCC unroll 16
		for (int i = 0; i < rows; i++) {
			acc[i][0] = _mm512_dpbf16_ps(acc[i][0], pair(a[i]), b0);
			acc[i][1] = _mm512_dpbf16_ps(acc[i][1], pair(a[i]), b1);
		}
	}
#pragma GCC unroll 16
	for (int i = 0; i < rows; i++, c += ldc) {
		__m512 c0 = accumulate ? _mm512_loadu_ps(c) : _mm512_setzero_ps();
		__m512 c1 = accumulate ? _mm512_loadu_ps(c + LANES) : _mm512_setzero_ps();
		_mm512_storeu_ps(c, _mm512_add_ps(c0, acc[i][0]));
		_mm512_storeu_ps(c + LANES, _mm512_add_ps(c1, acc[i][1]));
	}
}

#define TILE_CASE(n) \
	case n: \
		tile_rows(n, steps, a, lda, b, ldb, c, ldc, accumulate); \
		break;

static void tile(int rows, int64_t steps, const float *a, int64_t lda, const float *b, int64_t ldb,
        float *c, int64_t ldc, int accumulate)
{
	switch (rows) {
		TILE_CASE(1)
		TILE_CASE(2)
		TILE_CASE(3)
		TILE_CASE(4)
		TILE_CASE(5)
		TILE_CASE(6)
		TILE_CASE(7)
		TILE_CASE(8)
		TILE_CASE(9)
		TILE_CASE(10)
		TILE_CASE(11)
		TILE_CASE(12)
	}
}

/* Lines beside each other: two steps of `lines` elements become `lines` pairs. */
static void pack_beside(
        uint32_t *to, int width, int lines, int64_t k, const uint16_t *from, int64_t along)
{
	for (int64_t p = 0; p < k; p += 2, to += width) {
		const uint16_t *even = from + p * along, *odd = even + along;
		if (p + 1 < k)
			for (int i = 0; i < lines; i++)
				to[i] = even[i] | (uint32_t)odd[i] << 16;
		else
			for (int i = 0; i < lines; i++)
				to[i] = even[i];
	}
}

/* Lines along k: a pair is one load of 4 bytes. */
static void pack_along(uint32_t *to, int width, int lines, int64_t k, const uint16_t *from,
        int64_t across, int64_t along)
{
	for (int i = 0; i < lines; i++) {
		const uint16_t *line = from + i * across;
		for (int64_t p = 0; p < k; p += 2) {
			uint32_t low = line[p * along],
			         high = p + 1 < k ? line[(p + 1) * along] : 0;
			to[p / 2 * width + i] = low | high << 16;
		}
	}
}

static void pack(void *to, int width, int64_t count, int64_t k, const void *from, int64_t across,
        int64_t along, uint32_t dtype)
{
	uint32_t *panel = to;
	const uint16_t *lines_from = from;
	int64_t steps = (k + 1) / 2;
	for (int64_t i = 0; i < count;
	        i += width, panel += steps * width, lines_from += across * width) {
		int lines = count - i < width ? (int)(count - i) : width;
		if (lines < width)
			memset(panel, 0, (size_t)(steps * width) * sizeof(*panel));
		if (across == 1)
			pack_beside(panel, width, lines, k, lines_from, along);
		else
			pack_along(panel, width, lines, k, lines_from, across, along);
	}
}

const struct tk_cpu_gemm_isa tk_cpu_gemm_avx512_bf16 = {.name = "avx512_bf16",
        .mr = ROWS,
        .nr = 2 * LANES,
        .k_unit = 2,
        .tile = tile,
        .pack = pack};
