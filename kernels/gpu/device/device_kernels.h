/* The device layer's own kernels, behind plain C functions: clock stamps and bounded waiting. */
#ifndef TK_DEVICE_KERNELS_H
#define TK_DEVICE_KERNELS_H
#include "gpu_host.h"
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What one multiprocessor's clocks said: its cycles, and ticks of a timer that all of them share;
 * `sequence` tells a fresh stamp from one of an earlier record. */
struct device_stamp {
	unsigned long long cycles, ticks;
	unsigned long long sequence;
};

/* Every multiprocessor (there are `units`) writes its clocks into slots[its number], where that is
 * below `count`. */
gpu_error device_stamp_enqueue(struct device_stamp *slots, unsigned count, unsigned units,
        unsigned long long sequence, gpu_stream stream);
/* One thread waits so many ticks of the timer, then the stream goes on. Ends in any case. */
gpu_error device_block_enqueue(double ticks, gpu_stream stream);
/* *differs (on the device) becomes 1 where the two are not the same; it is left alone otherwise. */
gpu_error device_compare_enqueue(
        const void *a, const void *b, size_t bytes, unsigned *differs, gpu_stream stream);

#ifdef __cplusplus
}
#endif
#endif
