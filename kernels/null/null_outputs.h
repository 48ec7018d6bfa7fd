/* Correct outputs of the null backend, computed without the reference that verifies them.
 *
 * Verification treats the null device like any other: its results pass because fetch() computes
 * them. Problems beyond NULL_MULTIPLY_ADDS_MAX are unsupported, unless any_size=1. */
#ifndef TK_NULL_OUTPUTS_H
#define TK_NULL_OUTPUTS_H
#include "tracker_abi.h"

#define NULL_MULTIPLY_ADDS_MAX 268435456.0 /* 2^28: some tenths of a second */

/* Writes every output. TK_ABI_OK or TK_ABI_NO_MEMORY. */
int null_compute_outputs(const struct tk_problem *p, const struct tk_tensor *t);

#endif
