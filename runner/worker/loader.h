/* Loads backends and device layers, and checks that they fulfil the contract before calling any of
 * their functions. Private to worker/. */
#ifndef TK_WORKER_LOADER_H
#define TK_WORKER_LOADER_H
#include "tracker_abi.h"

struct tk_error;

/* *out is a copy of the size that this tracker knows: members that the module does not have are
 * NULL. The module stays loaded until the process ends: libraries with threads cannot be unloaded
 * safely. The pages of a backend for CPUs are randomized. */
int tk_loader_load_backend(const char *path, struct tk_backend *out, struct tk_error *err);
/* The kernels of a loaded backend that record regions: *count is 0 where it was not built to. */
int tk_loader_find_traced(const char *path, const struct tk_trace_kernel *const **out,
        uint32_t *count, struct tk_error *err);
/* Once more, for what a backend has loaded itself when it was opened. */
void tk_loader_randomize_pages(const char *path);
/* *out stays valid until the process ends. A backend cannot make it writable, nor the code and the
 * constants of all that is loaded by then, where the system can seal memory. */
int tk_loader_load_device(const char *path, const struct tk_device_ops **out, struct tk_error *err);

#endif
