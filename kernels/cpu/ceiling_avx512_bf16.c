/* Ceiling of the arithmetic on bf16 pairs: vdpbf16ps, 2 x 16 multiply-adds an instruction. */
#include "ceiling.h"
#include <immintrin.h>
#include <string.h>

enum { ACCUMULATORS = 24, LANES = 16 };

void tk_cpu_ceiling_fma_bf16(
        int64_t count, const uint16_t from[TK_CEILING_VALUES], uint16_t to[TK_CEILING_VALUES])
{
	const __m512bh a = (__m512bh)_mm512_loadu_si512(from),
	               b = (__m512bh)_mm512_loadu_si512(from + 2 * LANES);
	__m512 x[ACCUMULATORS], sum = _mm512_setzero_ps();
	for (int j = 0; j < ACCUMULATORS; j++)
		x[j] = _mm512_setzero_ps();
	for (int64_t done = 0; done < count; done += ACCUMULATORS * LANES * 2)
#pragma GCC unroll 32
		for (int j = 0; j < ACCUMULATORS; j++)
			x[j] = _mm512_dpbf16_ps(x[j], a, b);
	for (int j = 0; j < ACCUMULATORS; j++)
		sum = _mm512_add_ps(sum, x[j]);
	uint32_t bits[LANES];
	_mm512_storeu_si512(bits, _mm512_castps_si512(sum));
	for (int i = 0; i < TK_CEILING_VALUES; i++)
		to[i] = (uint16_t)(bits[i % LANES] >> 16);
}
