/* What backend.c asks of FlashInfer. */
#ifndef FLASH_LIBRARY_H
#define FLASH_LIBRARY_H
#include "tracker_abi.h"
#include <stddef.h>

#define BACKEND_NAME "flashinfer"
#define LIBRARY_NAME "FlashInfer"
#define HAS_BACKWARD 0

/* From 4,096 tiles a head on the library gives all heads one schedule, by another kernel
 * (PrefillSM90Plan). Returns the reason for not doing the problem, or NULL. */
static inline const char *find_refusal(const struct tk_attention *a, int64_t compute_units)
{
	const int64_t tile = a->d == 64 ? 192 : 128;
	(void)compute_units;
	return (a->b * a->sq + tile - 1) / tile + a->b - 1 > 4096
	               ? "more than 4096 tiles a head: the kernel for them is not compiled"
	               : NULL;
}

#endif
