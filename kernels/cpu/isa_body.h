/* The inner loops of every instruction set, written once with the vector types of GCC and Clang.
 *
 * The including file defines ISA (its name as a word), LANES (floats in a vector) and ROWS (mr:
 * rows of the register tile). The tile has two vectors to a row: ROWS x 2 accumulators, 2 vectors
 * of B and one broadcast of A must fit into the vector registers (16 of them for SSE and AVX2: 4 x
 * 2 and 6 x 2; 32 for AVX-512: 12 x 2). That is the register blocking of Goto and van de Geijn
 * ("Anatomy of high-performance matrix multiplication", TOMS 34(3), 2008): mr + nr loads pay for mr
 * * nr multiply-adds. */
#include "isa.h"
#include <math.h>
#include <string.h>

#define NR (2 * LANES)

typedef float vec __attribute__((vector_size(LANES * 4), aligned(4), may_alias));
typedef int32_t ivec __attribute__((vector_size(LANES * 4), aligned(4), may_alias));
typedef uint32_t uvec __attribute__((vector_size(LANES * 4), aligned(4), may_alias));
typedef uint16_t hvec __attribute__((vector_size(LANES * 2), aligned(2), may_alias));

#define INLINE static inline __attribute__((always_inline))

/* ---- the micro-kernel ---- */

/* `rows` is a constant at every call, so the loops unroll and acc lives in registers. */
INLINE void tile_rows(const int rows, int64_t steps, const float *a, int64_t lda, const float *b,
        int64_t ldb, float *c, int64_t ldc, int accumulate)
{
	vec acc[ROWS][2] = {0};
	for (int64_t p = 0; p < steps; p++, a += lda, b += ldb) {
		vec b0 = *(const vec *)b, b1 = *(const vec *)(b + LANES);
#pragma GCC unroll 16
		for (int i = 0; i < rows; i++) {
			acc[i][0] += a[i] * b0;
			acc[i][1] += a[i] * b1;
		}
	}
#pragma GCC unroll 16
	for (int i = 0; i < rows; i++, c += ldc) {
		if (accumulate) {
			acc[i][0] += *(vec *)c;
			acc[i][1] += *(vec *)(c + LANES);
		}
		*(vec *)c = acc[i][0];
		*(vec *)(c + LANES) = acc[i][1];
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
#if ROWS > 4
		TILE_CASE(5)
		TILE_CASE(6)
#endif
#if ROWS > 6
		TILE_CASE(7)
		TILE_CASE(8)
		TILE_CASE(9)
		TILE_CASE(10)
		TILE_CASE(11)
		TILE_CASE(12)
#endif
	}
}

/* ---- types ---- */

INLINE float bits_to_float(uint32_t u)
{
	float f;
	memcpy(&f, &u, sizeof(f));
	return f;
}

INLINE uint32_t float_to_bits(float f)
{
	uint32_t u;
	memcpy(&u, &f, sizeof(u));
	return u;
}

/* binary16 -> binary32: exponent and mantissa are moved into place and the difference of the biases
 * (127 - 15) is multiplied in, which also makes subnormals right; what was infinite or NaN comes
 * out >= 2^16 and gets its exponent back. */
INLINE float half_to_float(uint16_t h)
{
	float f = bits_to_float((uint32_t)(h & 0x7fff) << 13) * 0x1p112f;
	uint32_t u = float_to_bits(f) | (f >= 65536.0f ? 0x7f800000u : 0);
	return bits_to_float(u | (uint32_t)(h & 0x8000) << 16);
}

/* binary32 -> binary16, to nearest, ties to even. Normal results: add half of the last place (and
 * its parity) and shift. Small results: adding 0.5 aligns the mantissa so that the hardware's own
 * rounding does it. */
INLINE uint16_t float_to_half(float f)
{
	uint32_t u = float_to_bits(f), sign = u >> 16 & 0x8000, mag = u & 0x7fffffff;
	uint32_t normal = (mag - 0x38000000u + 0xfffu + (mag >> 13 & 1)) >> 13;
	uint32_t small = float_to_bits(bits_to_float(mag) + 0.5f) - 0x3f000000u;
	uint32_t special = mag > 0x7f800000u ? 0x7e00 : 0x7c00;
	uint32_t r = mag >= 0x477ff000u ? special : mag < 0x38800000u ? small : normal;
	return (uint16_t)(sign | r);
}

INLINE uint16_t float_to_bf16(float f)
{
	uint32_t u = float_to_bits(f);
	uint32_t rounded = (u + 0x7fff + (u >> 16 & 1)) >> 16;
	return (uint16_t)((u & 0x7fffffff) > 0x7f800000u ? (u >> 16 | 0x40) : rounded);
}

/* `dtype` is a constant at every call. */
INLINE float load(const void *from, int64_t i, const uint32_t dtype)
{
	if (dtype == TK_F32)
		return ((const float *)from)[i];
	uint16_t h = ((const uint16_t *)from)[i];
	return dtype == TK_BF16 ? bits_to_float((uint32_t)h << 16) : half_to_float(h);
}

static void widen(float *to, const void *from, int64_t n, uint32_t dtype)
{
	if (dtype == TK_F32)
		memcpy(to, from, (size_t)n * sizeof(*to));
	else if (dtype == TK_BF16)
		for (int64_t i = 0; i < n; i++)
			to[i] = load(from, i, TK_BF16);
	else
		for (int64_t i = 0; i < n; i++)
			to[i] = load(from, i, TK_F16);
}

static void narrow(void *to, const float *from, int64_t n, uint32_t dtype)
{
	uint16_t *h = to;
	if (dtype == TK_F32)
		memcpy(to, from, (size_t)n * sizeof(*from));
	else if (dtype == TK_BF16)
		for (int64_t i = 0; i < n; i++)
			h[i] = float_to_bf16(from[i]);
	else
		for (int64_t i = 0; i < n; i++)
			h[i] = float_to_half(from[i]);
}

/* ---- packing ---- */

/* One panel whose lines lie beside each other in memory (across == 1): every step is a straight
 * copy. */
INLINE void pack_beside(float *to, int width, int lines, int64_t k, const char *from, int64_t along,
        const uint32_t dtype)
{
	const size_t bytes = dtype == TK_F32 ? 4 : 2;
	for (int64_t p = 0; p < k; p++, to += width) {
		const void *line = from + (size_t)(p * along) * bytes;
		if (lines == NR && width == NR) { /* the common case, with a constant length */
			for (int i = 0; i < NR; i++)
				to[i] = load(line, i, dtype);
		} else {
			for (int i = 0; i < lines; i++)
				to[i] = load(line, i, dtype);
		}
	}
}

/* One panel whose lines run along k (or anywhere): a transposition, done in strips of 16 steps so
 * that reads and writes stay in L1. */
INLINE void pack_along(float *to, int width, int lines, int64_t k, const char *from, int64_t across,
        int64_t along, const uint32_t dtype)
{
	const size_t bytes = dtype == TK_F32 ? 4 : 2;
	for (int64_t p0 = 0; p0 < k; p0 += 16) {
		int64_t strip = k - p0 < 16 ? k - p0 : 16;
		for (int i = 0; i < lines; i++) {
			const void *line = from + (size_t)(i * across + p0 * along) * bytes;
			float *column = to + p0 * width + i;
			if (along == 1 && strip == 16) {
#pragma GCC unroll 16
				for (int p = 0; p < 16; p++)
					column[p * width] = load(line, p, dtype);
			} else {
				for (int64_t p = 0; p < strip; p++)
					column[p * width] = load(line, p * along, dtype);
			}
		}
	}
}

INLINE void pack_panels(float *to, int width, int64_t count, int64_t k, const char *from,
        int64_t across, int64_t along, const uint32_t dtype)
{
	const size_t bytes = dtype == TK_F32 ? 4 : 2;
	for (int64_t i = 0; i < count;
	        i += width, to += k * width, from += (size_t)(across * width) * bytes) {
		int lines = count - i < width ? (int)(count - i) : width;
		if (lines < width)
			memset(to, 0, (size_t)(k * width) * sizeof(*to));
		if (across == 1)
			pack_beside(to, width, lines, k, from, along, dtype);
		else
			pack_along(to, width, lines, k, from, across, along, dtype);
	}
}

static void pack(void *to, int width, int64_t count, int64_t k, const void *from, int64_t across,
        int64_t along, uint32_t dtype)
{
	if (dtype == TK_F32)
		pack_panels(to, width, count, k, from, across, along, TK_F32);
	else if (dtype == TK_BF16)
		pack_panels(to, width, count, k, from, across, along, TK_BF16);
	else
		pack_panels(to, width, count, k, from, across, along, TK_F16);
}

/* ---- online softmax ---- */

INLINE vec select_vec(ivec mask, vec yes, vec no)
{
	return (vec)(((uvec)yes & (uvec)mask) | ((uvec)no & ~(uvec)mask));
}

/* 2^x for x <= 0; exactly 0 below -126 (so masked scores vanish). x = i + f, |f| <= 1/2; a
 * polynomial of degree 6 for 2^f (the Taylor series of e^(f ln 2): relative error below 2e-7), and
 * i is added to the exponent. */
INLINE vec exp2_negative(vec x)
{
	const vec magic = (vec){0} + 12582912.0f; /* 1.5 * 2^23: adding it rounds to an integer */
	ivec alive = x > -126.0f;
	x = select_vec(alive, x, (vec){0});
	vec shifted = x + magic, f = x - (shifted - magic);
	vec p = (vec){0} + 1.54035304e-4f;
	p = p * f + 1.33335581e-3f;
	p = p * f + 9.61812911e-3f;
	p = p * f + 5.55041087e-2f;
	p = p * f + 2.40226507e-1f;
	p = p * f + 6.93147181e-1f;
	p = p * f + 1.0f;
	ivec exponent =
	        (ivec)((uvec)shifted << 23); /* the integer is in the low bits of `shifted` */
	vec r = (vec)((uvec)p + (uvec)exponent);
	return (vec)((uvec)r & (uvec)alive);
}

/* Milakov and Gimelshein's online softmax (arXiv 1805.02867), the recurrence of FlashAttention
 * (arXiv 2205.14135, algorithm 1):
 *
 *   max' = max(max, max_j s_j)
 *   shrink = 2^(max - max')
 *   sum' = sum * shrink + sum_j 2^(s_j - max')
 *
 * Keys run down, queries run along the vector: no horizontal operation is needed. */
static void softmax(
        float *s, int64_t keys, int64_t columns, float c, float *max, float *sum, float *shrink)
{
	const vec lowest = (vec){0} - INFINITY;
	for (int64_t q = 0; q < columns; q += LANES) {
		vec old = *(vec *)(max + q), top = old, total = {0};
		for (int64_t j = 0; j < keys; j++) {
			vec x = *(vec *)(s + j * columns + q) * c;
			*(vec *)(s + j * columns + q) = x;
			top = select_vec(x > top, x, top);
		}
		vec base = select_vec(
		        top > lowest, top, (vec){0}); /* nothing visible yet: avoid inf - inf */
		for (int64_t j = 0; j < keys; j++) {
			vec e = exp2_negative(*(vec *)(s + j * columns + q) - base);
			*(vec *)(s + j * columns + q) = e;
			total += e;
		}
		vec factor = exp2_negative(old - base);
		*(vec *)(shrink + q) = factor;
		*(vec *)(sum + q) = *(vec *)(sum + q) * factor + total;
		*(vec *)(max + q) = top;
	}
}

static void scale(float *x, int64_t n, float by)
{
	for (int64_t i = 0; i < n; i++)
		x[i] *= by;
}

#define ISA_TABLE_(word) tk_cpu_isa_##word
#define ISA_TABLE(word) ISA_TABLE_(word)
#define ISA_TEXT_(word) #word
#define ISA_TEXT(word) ISA_TEXT_(word)

const struct tk_cpu_isa ISA_TABLE(ISA) = {
        .name = ISA_TEXT(ISA),
        .f32 = {.name = ISA_TEXT(ISA),
                .mr = ROWS,
                .nr = NR,
                .k_unit = 1,
                .tile = tile,
                .pack = pack},
        .softmax = softmax,
        .widen = widen,
        .narrow = narrow,
        .scale = scale,
};
