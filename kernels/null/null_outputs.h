/* The right answers of the null backend, worked out on its own: it shares no arithmetic with the
 * reference that checks it.
 *
 * Nothing marks the null device as special for verification: its results are checked like
 * everybody's, and an honest null passes because fetch() computes them. What is too large for that
 * (NULL_MULTIPLY_ADDS_MAX multiply-adds) is `unsupported`, unless any_size=1. */
#ifndef TK_NULL_OUTPUTS_H
#define TK_NULL_OUTPUTS_H
#include "tracker_abi.h"

#define NULL_MULTIPLY_ADDS_MAX 268435456.0 /* 2^28: some tenths of a second */

/* Writes every output. TK_ABI_OK or TK_ABI_NO_MEMORY. */
int null_compute_outputs(const struct tk_problem *p, const struct tk_tensor *t);

#endif
