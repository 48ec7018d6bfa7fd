/* An artifact in memory, and the one of an installed backend, for which nothing is built. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/error.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/try.h"
#include "build/build_internal.h"

void tk_artifact_free(struct tk_artifact *a)
{
	if (!a)
		return;
	char *const texts[] = {a->dir, a->log_path, a->message, a->toolchain, a->upstream,
	        a->revision, a->adapter, a->arch, a->flags};
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
		free(texts[i]);
	for (size_t i = 0; i < a->backend_count; i++) {
		free(a->backends[i].path);
		free(a->backends[i].kernels);
	}
	free(a->backends);
	free(a);
}

static void set_empty_texts(struct tk_artifact *a)
{
	char **const texts[] = {&a->log_path, &a->message, &a->toolchain, &a->upstream,
	        &a->revision, &a->adapter, &a->arch, &a->flags};

	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
		*texts[i] = tk_strdup("");
}

/* Of a package: its files. */
static int64_t size_on_disk(const char *path)
{
	struct stat st;

	if (stat(path, &st))
		return 0;
	return S_ISDIR(st.st_mode) ? tk_dir_size(path) : (int64_t)st.st_size;
}

static int fill_installed(
        struct tk_artifact *a, const char *path, const char *name, struct tk_error *err)
{
	char *slash;
	int status = tk_backend_file_hash(path, a->key, err);

	if (!status)
		set_empty_texts(a);
	if (status)
		return status;
	a->backend_count = 1;
	TRY(tk_backend_scan(path, name, &a->backends[0], err));
	slash = strrchr(a->backends[0].path, '/');
	a->dir = tk_strndup(a->backends[0].path, (size_t)(slash - a->backends[0].path));
	a->size_bytes = size_on_disk(path);
	a->cached = true;
	return TK_OK;
}

int tk_artifact_load_installed(const char *backend_path, const char *backend_name,
        struct tk_artifact **out, struct tk_error *err)
{
	struct tk_artifact *a;
	int status;

	if (!tk_backend_name_is_valid(backend_name))
		return tk_fail(err, TK_ECONFIG, "\"%.80s\" is not a backend's name", backend_name);
	a = tk_calloc(1, sizeof *a);
	a->backends = tk_calloc(1, sizeof *a->backends);
	status = fill_installed(a, backend_path, backend_name, err);
	if (status)
		tk_artifact_free(a);
	else
		*out = a;
	return status;
}
