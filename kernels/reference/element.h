/* Reading and writing elements of every type of the contract as double, in plain portable C.
 *
 * Rounding is to nearest, ties to even. f16 and bf16 overflow to infinity; e4m3 (OCP FP8, no
 * infinity) and e5m2 saturate to their largest finite value, as conversions on GPUs do by default;
 * NaN stays NaN. TF32 is an f32 whose 13 low bits are zero. Integers saturate; NaN becomes the
 * least one. */
#ifndef TK_REFERENCE_ELEMENT_H
#define TK_REFERENCE_ELEMENT_H
#include "tracker_abi.h"
#include <stdint.h>

double tk_element_load(uint32_t dtype, const void *data, int64_t i);
void tk_element_store(uint32_t dtype, void *data, int64_t i, double value);
/* As tk_element_load for n consecutive elements. */
void tk_elements_load(uint32_t dtype, const void *data, int64_t first, int64_t n, double *out);
/* Bytes of an element; 0 if the type is unknown. */
size_t tk_element_bytes(uint32_t dtype);
/* Unit roundoff: half the distance from 1 to the next larger value; 0 for integers. */
double tk_element_roundoff(uint32_t dtype);

#endif
