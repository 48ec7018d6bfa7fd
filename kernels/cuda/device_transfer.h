/* Large copies between the host's ordinary memory and the device, by several threads through page-locked buffers: one
 * thread that copies into such a buffer, which is what the driver does, is several times slower than the bus. */
#ifndef TK_CUDA_DEVICE_TRANSFER_H
#define TK_CUDA_DEVICE_TRANSFER_H
#include <cuda_runtime_api.h>
#include <stddef.h>

struct device_transfer;

#define DEVICE_TRANSFER_LEAST ((size_t)8 << 20) /* smaller ones gain nothing */

cudaError_t device_transfer_new(int device, struct device_transfer **out);
void device_transfer_free(struct device_transfer *t);
/* Both return when the copy is done. Whatever writes `from` must have ended. */
cudaError_t device_transfer_up(struct device_transfer *t, void *to, const void *from, size_t bytes);
cudaError_t device_transfer_down(struct device_transfer *t, void *to, const void *from, size_t bytes);

#endif
