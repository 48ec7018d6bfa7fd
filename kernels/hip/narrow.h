/* 8-bit floats of the OCP kind for CDNA3, whose matrix units read FNUZ: there the same bits mean
 * half the value (the exponent's bias is larger by one), so each operand gets the scale 2 and the
 * product is exact. The exception is -0, whose bits are FNUZ's not-a-number: it becomes 0 in a
 * copy. (OCP's not-a-number and infinities become numbers; inputs have none.) */
#ifndef TK_NARROW_H
#define TK_NARROW_H
#include <stddef.h>
#include <stdint.h>

#ifdef __HIP__
#define NARROW_INLINE static inline __host__ __device__
#else
#define NARROW_INLINE static inline
#endif

/* Four of them at once. A byte is -0 where its low seven bits are 0 and its sign is set. */
NARROW_INLINE uint32_t narrow_clear_minus_zero(uint32_t x)
{
	uint32_t rest = x & 0x7f7f7f7fu;
	uint32_t not_zero =
	        (rest + 0x7f7f7f7fu) & 0x80808080u; /* if the low bits are not all 0; no carry */
	return rest | (x & not_zero);
}

#ifdef __cplusplus
extern "C" {
#endif
#define NARROW_FNUZ_SCALE 2.0f
/* Copies `bytes` 8-bit floats, -0 as 0; both 16-byte aligned. Returns the runtime's code of the
 * launch. */
int narrow_to_fnuz(const void *from, void *to, size_t bytes, void *stream);
#ifdef __cplusplus
}
#endif
#endif
