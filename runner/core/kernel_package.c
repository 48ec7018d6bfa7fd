/* See kernel_package.h. */
#include "core/kernel_package.h"
#include "base/memory.h"
#include <string.h>

#define BACKEND_PREFIX "tk_backend_"
#define PYTHON_PREFIX "python-"

static const char *find_suffix(const char *path)
{
	const char *slash = strrchr(path, '/'), *dot = strrchr(slash ? slash : path, '.');
	return dot ? dot + 1 : "";
}

bool tk_kernel_package_is_python(const char *path)
{
	return strncmp(find_suffix(path), PYTHON_PREFIX, strlen(PYTHON_PREFIX)) == 0;
}

enum tk_device_kind tk_kernel_package_device_kind(const char *path)
{
	const char *suffix = find_suffix(path);
	if (tk_kernel_package_is_python(path))
		suffix += strlen(PYTHON_PREFIX);
	return tk_device_kind_from_name(suffix);
}

char *tk_kernel_package_backend(const char *path)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	if (strncmp(name, BACKEND_PREFIX, strlen(BACKEND_PREFIX)) == 0)
		name += strlen(BACKEND_PREFIX);
	const char *dot = strrchr(name, '.');
	return dot ? tk_strndup(name, (size_t)(dot - name)) : tk_strdup(name);
}
