/* The device layer's own kernels, behind plain C functions: clock stamps and bounded waiting. */
#ifndef TK_CUDA_DEVICE_KERNELS_H
#define TK_CUDA_DEVICE_KERNELS_H
#include <cuda_runtime_api.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What one multiprocessor's clocks said; `sequence` tells a fresh stamp from one of an earlier record. */
struct device_stamp {
	unsigned long long cycles, ns;
	unsigned long long sequence;
};

/* Every multiprocessor (`count` of them) writes its clocks into slots[its number]. */
cudaError_t device_stamp_enqueue(
        struct device_stamp *slots, unsigned count, unsigned long long sequence, cudaStream_t stream);
/* One thread waits `ns`, then the stream goes on. Ends in any case. */
cudaError_t device_hold_enqueue(double ns, cudaStream_t stream);
/* *differs (on the device) becomes 1 where the two are not the same; it is left alone otherwise. */
cudaError_t device_compare_enqueue(const void *a, const void *b, size_t bytes, unsigned *differs, cudaStream_t stream);

#ifdef __cplusplus
}
#endif
#endif
