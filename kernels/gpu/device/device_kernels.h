/* The device layer's own kernels as C functions: clock stamps and bounded waiting. */
#ifndef TK_DEVICE_KERNELS_H
#define TK_DEVICE_KERNELS_H
#include "gpu_host.h"
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* One multiprocessor's clocks: its cycles, and ticks of a timer that all of them share. `sequence`
 * identifies the record that wrote the stamp. */
struct device_stamp {
	unsigned long long cycles, ticks;
	unsigned long long sequence;
};

/* Every multiprocessor (there are `units`) writes its clocks to slots[its index], if that is below
 * `count`. */
gpu_error device_stamp_enqueue(struct device_stamp *slots, unsigned count, unsigned units,
        unsigned long long sequence, gpu_stream stream);
/* Blocks the stream for this many ticks. Ends in any case. */
gpu_error device_block_enqueue(double ticks, gpu_stream stream);

#ifdef __cplusplus
}
#endif
#endif
