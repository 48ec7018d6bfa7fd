/* Compiled kernel packages: folders of code objects with manifests, which the launcher
 * (kernels/launcher) measures. docs/explanation/compiled-kernels.md */
#ifndef TK_CORE_KERNEL_PACKAGE_H
#define TK_CORE_KERNEL_PACKAGE_H
#include "core/series.h"

/* The kind of device that a package is for, by the end of its folder's name: ".cuda", ".hip",
 * ".cpu" (or ".null", for tests). TK_DEVICE_OTHER: the path is not that of a package. */
enum tk_device_kind tk_kernel_package_device_kind(const char *path);

#endif
