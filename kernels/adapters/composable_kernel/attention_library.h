/* What flash-attention-2/backend.c asks of Composable Kernel. The build defines FLASH_TARGET and
 * DEVICE_KIND. */
#ifndef FLASH_LIBRARY_H
#define FLASH_LIBRARY_H
#include "tracker_abi.h"
#include <stddef.h>

#define BACKEND_NAME "ck_attention"
#define LIBRARY_NAME "Composable Kernel"
#define HAS_BACKWARD 0

/* Sizes and strides are 32-bit numbers in the library. Returns the reason for not doing the
 * problem, or NULL. */
static inline const char *find_refusal(const struct tk_attention *a, int64_t compute_units)
{
	(void)compute_units;
	return a->sq * a->h * a->d > INT32_MAX || a->skv * a->hkv * a->d > INT32_MAX
	               ? "a tensor of one batch has more than 2^31 elements"
	               : NULL;
}

#endif
