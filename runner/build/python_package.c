/* Python packages as backends of an artifact. Their code is everything in the folder: what Python
 * runs of it is not known. */
#include "core/python_package.h"
#include "base/error.h"
#include "base/file.h"
#include "build/build_internal.h"
#include <stdio.h>
#include <stdlib.h>

int tk_python_package_scan(
        const char *path, const char *name, struct tk_artifact_backend *out, struct tk_error *err)
{
	struct tk_python_package package;
	char *adapter = tk_path_join(path, "adapter/adapter.py");
	int status = tk_python_package_read(path, &package, err);
	if (!status) {
		tk_python_package_free(&package);
		if (!tk_file_exists(adapter))
			status = tk_fail(err, TK_EDATA, "%s does not exist", adapter);
	}
	free(adapter);
	if (!status)
		status = tk_kernel_package_hash(path, out->code_hash, err);
	if (status)
		return status;
	snprintf(out->name, sizeof(out->name), "%s", name);
	out->path = tk_path_make_absolute(path);
	return TK_OK;
}
