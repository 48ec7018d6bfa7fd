/* See kernel_package.h. */
#include "core/kernel_package.h"
#include <string.h>

enum tk_device_kind tk_kernel_package_device_kind(const char *path)
{
	const char *slash = strrchr(path, '/'), *dot = strrchr(slash ? slash : path, '.');
	return dot ? tk_device_kind_from_name(dot + 1) : TK_DEVICE_OTHER;
}
