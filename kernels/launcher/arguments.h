/* The arguments of a launch in the form that all drivers take: one pointer to each. */
#ifndef LAUNCHER_ARGUMENTS_H
#define LAUNCHER_ARGUMENTS_H
#include "driver.h"

struct launcher_arguments {
	void **params;          /* one for each argument */
	size_t *bytes;          /* of the memory that an argument points to; 0: a value */
	unsigned char *storage; /* aligned to 64 */
};

/* `scratch` has the pointers to the manifest's scratch memory. Tensors must be
 * at least as large as their tensor maps. Free also after an error. */
int launcher_arguments_pack(struct launcher_arguments *a, const struct launcher_launch *launch,
        const struct tk_tensor *tensors, uint32_t count, void *const *scratch,
        struct tk_abi_error *err);
void launcher_arguments_free(struct launcher_arguments *a);

#endif
