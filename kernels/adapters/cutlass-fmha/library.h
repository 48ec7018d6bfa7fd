/* What backend.c asks of CUTLASS's example. */
#ifndef FLASH_LIBRARY_H
#define FLASH_LIBRARY_H
#include "tracker_abi.h"
#include <stddef.h>

#define BACKEND_NAME "cutlass_fmha"
#define LIBRARY_NAME "CUTLASS's FMHA example"
#define HAS_BACKWARD 1

/* Of the backward pass, the example's kernels without a test for the last tile are compiled, and it
 * sets the scale itself. */
static inline const char *find_backward_refusal(const struct tk_attention *a)
{
	const double scale = a->scale * a->scale * (double)a->d;
	if (a->h != a->hkv)
		return "backward: only as many heads of keys as of queries";
	if (a->sq % 128 || a->skv % 128)
		return "backward: only multiples of 128 for sq and skv";
	return scale < 0.999999 || scale > 1.000001 ? "backward: only the default scale" : NULL;
}

/* Returns the reason for not doing the problem, or NULL. */
static inline const char *find_refusal(const struct tk_attention *a, int64_t compute_units)
{
	(void)compute_units;
	if (a->causal && a->sq != a->skv)
		return "a causal mask begins at the first key: only skv = sq";
	if (a->sq % 8)
		return "only multiples of 8 for sq";
	if (a->dir != TK_FWD)
		return find_backward_refusal(a);
	return a->h != a->hkv && a->hkv != 1 && a->b != 1
	               ? "grouped queries of several sequences: the example's shapes have too "
	                 "few modes"
	               : NULL;
}

#endif
