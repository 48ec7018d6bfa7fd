/* What backend.c asks of CUTLASS's example. */
#ifndef FLASH_LIBRARY_H
#define FLASH_LIBRARY_H
#include "tracker_abi.h"
#include <stddef.h>

#define BACKEND_NAME "cutlass_fmha"
#define LIBRARY_NAME "CUTLASS's FMHA example"
#define HAS_BACKWARD 0

/* Returns the reason for not doing the problem, or NULL. */
static inline const char *find_refusal(const struct tk_attention *a, int64_t compute_units)
{
	(void)compute_units;
	if (a->h != a->hkv)
		return "only as many heads of keys as of queries";
	if (a->causal && a->sq != a->skv)
		return "a causal mask begins at the first key: only skv = sq";
	return a->sq % 8 ? "only multiples of 8 for sq" : NULL;
}

#endif
