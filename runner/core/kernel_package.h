/* Backends that are folders in place of a shared object:
 * - compiled kernel packages, code objects with manifests, which the launcher (kernels/launcher)
 *   measures (docs/explanation/compiled-kernels.md);
 * - Python packages, an adapter in Python with the library that it calls, which the Python host
 *   (kernels/python) measures (docs/explanation/python-libraries.md). */
#ifndef TK_CORE_KERNEL_PACKAGE_H
#define TK_CORE_KERNEL_PACKAGE_H
#include "core/series.h"
#include <stdbool.h>

/* The kind of device that a package is for, by the end of its folder's name: ".cuda", ".hip",
 * ".cpu" (or ".null", for tests), ".python-cpu", ".python-cuda". TK_DEVICE_OTHER: the path is not
 * that of a package. */
enum tk_device_kind tk_kernel_package_device_kind(const char *path);
bool tk_kernel_package_is_python(const char *path);

/* "triton" of "/a/tk_backend_triton.cuda": the backend, which the launcher does not know. New
 * string; NULL: out of memory. */
char *tk_kernel_package_backend(const char *path);

#endif
