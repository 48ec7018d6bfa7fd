/* Traffic that keeps the memory system busy beside the kernel that is measured. */
#ifndef TK_DEVICE_STRAIN_H
#define TK_DEVICE_STRAIN_H
#include "gpu_host.h"

struct device_strain;

/* Copies within the device: on NVIDIA by its copy engines, which take bandwidth but no multiprocessor; on AMD the
 * runtime may choose a kernel, which takes compute units too. Made with the first use. tick_ns: of the device's timer.
 */
gpu_error device_strain_new(double tick_ns, struct device_strain **out);
void device_strain_free(struct device_strain *s);
/* Enqueues about `ns` of traffic, for `share` of that time. */
gpu_error device_strain_run(struct device_strain *s, double ns, double share);
gpu_error device_strain_wait(struct device_strain *s);

#endif
