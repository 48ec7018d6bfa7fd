/* What backend.c knows of one compiled kernel. Texts are errors; NULL: success. */
#ifndef FLASH_KERNEL_H
#define FLASH_KERNEL_H
#include "tracker_abi.h"

struct kernel {
	const char *(*prepare)(const struct tk_attention *a, const struct tk_tensor *tensors,
	        uint32_t count, void **out);
	const char *(*run)(void *prepared, void *stream);
	void (*destroy)(void *prepared);
};

#endif
