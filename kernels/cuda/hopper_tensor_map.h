/* Tensor maps: descriptions of matrices for TMA. The encoder is a function of the driver, found at
 * run time, so that a module loads on a machine without one. */
#ifndef HOPPER_TENSOR_MAP_H
#define HOPPER_TENSOR_MAP_H
#include "tracker_abi.h"
#include <cuda.h>

#ifdef __cplusplus
extern "C" {
#endif

struct hopper_tensor {
	const void *at;   /* 16-byte aligned */
	uint32_t dtype;   /* enum tk_dtype, of 1 or 2 bytes */
	uint32_t rank;    /* 2 to 5 */
	uint64_t size[5]; /* elements, the fastest index first */
	uint64_t step[5]; /* bytes from one to the next, of index 1 on; multiples of 16 */
	uint32_t box[5]; /* elements of one copy; box[0] is 128 bytes: rows are swizzled over 128 */
};

/* TK_ABI_OK, or UNSUPPORTED or DEVICE with the reason. */
int hopper_encode_tensor_map(
        const struct hopper_tensor *tensor, CUtensorMap *out, struct tk_abi_error *err);

#ifdef __cplusplus
}
#endif
#endif
