/* What backend.c asks of FlashAttention-2. */
#ifndef FLASH_LIBRARY_H
#define FLASH_LIBRARY_H
#include "tracker_abi.h"
#include <stddef.h>

#define BACKEND_NAME "fa2"
#define LIBRARY_NAME "FlashAttention-2"
#define HAS_BACKWARD 1

/* Where fewer than 80 % of the places for blocks would be taken, the library may cut the keys into
 * parts (num_splits_heuristic). Returns the reason for not doing the problem, or NULL. */
static inline const char *find_refusal(const struct tk_attention *a, int64_t compute_units)
{
	const int64_t blocks = a->b * a->h * ((a->sq + 63) / 64), keys = a->d <= 64 ? 256 : 128;
	return a->skv > keys && 10 * blocks < 8 * 2 * compute_units
	               ? "too few blocks: the library may split the keys, such kernels are not "
	                 "compiled"
	               : NULL;
}

#endif
