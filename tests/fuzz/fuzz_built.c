/* Any bytes as a file of a build that came from elsewhere: its manifest, or a shared object of it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/base.h"
#include "build/build.h"
#include "build/build_internal.h"
#include "fuzz.h"

static char dir[] = "/dev/shm/tracker-fuzz-XXXXXX", file[64];

static void clean_up(void)
{
	tk_dir_remove(dir, NULL);
}

static void set_up(void)
{
	if (!mkdtemp(dir))
		abort();
	snprintf(file, sizeof file, "%s/%s", dir, TK_FUZZ_FILE);
	atexit(clean_up);
}

static int read_as(const char *name, struct tk_error *err)
{
	struct tk_artifact *a = NULL;
	struct tk_kernel_symbol *kernels = NULL;
	char hex[TK_HASH_HEX_SIZE];
	size_t count = 0;
	int status;

	if (name[0] == 'm') {
		status = tk_manifest_read(dir, &a, err);
		tk_artifact_free(a);
	} else {
		status = tk_code_hash_object(file, NULL, hex, &kernels, &count, err);
		free(kernels);
	}
	return status;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tk_error err = {0};

	if (!*file)
		set_up();
	if (tk_file_write_nosync(file, data, size, &err))
		abort();
	if (read_as(TK_FUZZ_FILE, &err) && (!*err.message || err.status == TK_EINTERNAL))
		abort();
	return 0;
}
