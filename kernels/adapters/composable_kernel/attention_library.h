/* What flash-attention-2/backend.c asks of Composable Kernel. The build defines FLASH_TARGET and
 * DEVICE_KIND. */
#ifndef FLASH_LIBRARY_H
#define FLASH_LIBRARY_H
#include "tracker_abi.h"
#include <stddef.h>

#define BACKEND_NAME "ck_attention"
#define LIBRARY_NAME "Composable Kernel"
#define HAS_BACKWARD 1

/* Sizes and strides are 32-bit numbers in the library; its backward pass returns dK and dV of each
 * head of Q, and leaves their sum over a group to the caller. Returns the reason for not doing the
 * problem, or NULL. */
static inline const char *find_refusal(const struct tk_attention *a, int64_t compute_units)
{
	(void)compute_units;
	if (a->sq * a->h * a->d > INT32_MAX || a->skv * a->hkv * a->d > INT32_MAX)
		return "a tensor of one batch has more than 2^31 elements";
	return a->dir != TK_FWD && a->h != a->hkv
	               ? "the library does not add the gradients of grouped queries"
	               : NULL;
}

#endif
