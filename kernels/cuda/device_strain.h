/* Traffic that keeps the memory system busy beside the kernel that is measured. */
#ifndef TK_CUDA_DEVICE_STRAIN_H
#define TK_CUDA_DEVICE_STRAIN_H
#include <cuda_runtime_api.h>

struct device_strain;

/* Copies within the device by its copy engines, which take bandwidth but no multiprocessor. Made with the first use. */
cudaError_t device_strain_new(struct device_strain **out);
void device_strain_free(struct device_strain *s);
/* Enqueues about `ns` of traffic, for `share` of that time. */
cudaError_t device_strain_run(struct device_strain *s, double ns, double share);
cudaError_t device_strain_wait(struct device_strain *s);

#endif
