/* Traffic that keeps the memory system busy beside the kernel that is measured. */
#ifndef TK_DEVICE_MEMORY_LOAD_H
#define TK_DEVICE_MEMORY_LOAD_H
#include "gpu_host.h"

struct device_memory_load;

/* Copies within the device: on NVIDIA by its copy engines, which take bandwidth but no
 * multiprocessor; on AMD the runtime may choose a kernel, which takes compute units too. Made with
 * the first use. tick_ns: of the device's timer. */
gpu_error device_memory_load_new(double tick_ns, struct device_memory_load **out);
void device_memory_load_free(struct device_memory_load *s);
/* Enqueues about `ns` of traffic, for `share` of that time. */
gpu_error device_memory_load_run(struct device_memory_load *s, double ns, double share);
gpu_error device_memory_load_wait(struct device_memory_load *s);

#endif
