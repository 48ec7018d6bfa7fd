/* See modules.h. Only workers load modules; here they are listed. */
#include "nightly/plan/modules.h"
#include "base/error.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/try.h"
#include "core/kernel_package.h"
#include "core/series.h"
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define BACKEND_PREFIX "tk_backend_"
#define DEVICE_PREFIX "tk_device_"

static char *modules_dir(const char *program)
{
	const char *env = getenv("TRACKER_BACKENDS");
	if (env && *env)
		return tk_path_make_absolute(env);
	const char *slash = strrchr(program, '/');
	AUTO_TEXT here = slash ? tk_strndup(program, (size_t)(slash - program)) : tk_strdup(".");
	char *dir = tk_path_join(here, "backends");
	if (tk_dir_exists(dir))
		return dir;
	free(dir);
	AUTO_TEXT up = tk_path_join(here, "../lib/tracker/backends");
	return tk_path_make_absolute(up);
}

/* Whether a file is a module of that kind. *name: what is between the prefix and ".so", or what
 * ends the name of a Python package. */
static bool is_module(const char *file, const char *prefix, char **name)
{
	const char *dot = strrchr(file, '.');
	size_t skip = strlen(prefix);
	if (!dot || strncmp(file, prefix, skip) != 0 || dot <= file + skip ||
	        (strcmp(dot, ".so") != 0 && !tk_kernel_package_is_python(file)))
		return false;
	*name = tk_strndup(file + skip, (size_t)(dot - file) - skip);
	return true;
}

static void add_module(struct tk_module **list, size_t *count, char *name, char *path)
{
	*list = tk_reallocarray(*list, *count + 1, sizeof **list);
	(*list)[(*count)++] = (struct tk_module){name, path};
}

int tk_modules_load(const char *program, struct tk_modules **out, struct tk_error *err)
{
	char *dir = modules_dir(program), **names = NULL;
	size_t count = 0;
	if (!dir)
		return tk_fail_errno(err, "the current folder");
	if (tk_dir_list(dir, &names, &count, err)) {
		free(dir);
		return tk_error_add_context(
		        err, "cannot list the backends (set TRACKER_BACKENDS to their folder)");
	}
	struct tk_modules *c = tk_calloc(1, sizeof *c);
	c->dir = dir;
	for (size_t i = 0; i < count; i++) {
		char *name;
		if (is_module(names[i], BACKEND_PREFIX, &name))
			add_module(
			        &c->backends, &c->backend_count, name, tk_path_join(dir, names[i]));
		else if (is_module(names[i], DEVICE_PREFIX, &name))
			add_module(
			        &c->devices, &c->device_count, name, tk_path_join(dir, names[i]));
	}
	tk_names_free(names, count);
	*out = c;
	return TK_OK;
}

static void free_modules(struct tk_module *list, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		free(list[i].name);
		free(list[i].path);
	}
	free(list);
}

void tk_modules_free(struct tk_modules *c)
{
	if (!c)
		return;
	free_modules(c->devices, c->device_count);
	free_modules(c->backends, c->backend_count);
	free(c->dir);
	free(c);
}

static const struct tk_module *find(const struct tk_module *list, size_t count, const char *name)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(list[i].name, name) == 0)
			return &list[i];
	return NULL;
}

const struct tk_module *tk_modules_find_device(const struct tk_modules *c, const char *kind)
{
	return find(c->devices, c->device_count, kind);
}

const struct tk_module *tk_modules_find_backend(const struct tk_modules *c, const char *name)
{
	return find(c->backends, c->backend_count, name);
}

size_t tk_modules_list_company(
        const struct tk_modules *c, const char *device_kind, const char **out, size_t max)
{
	static const struct {
		enum tk_device_kind kind;
		const char *backend;
	} rows[] = {{TK_DEVICE_CPU, "cpu"}, {TK_DEVICE_NULL, "null"}, {TK_DEVICE_CUDA, "cublaslt"},
	        {TK_DEVICE_CUDA, "cudnn"}, {TK_DEVICE_CUDA, "gemm_matrix_cuda"},
	        {TK_DEVICE_CUDA, "flash_cuda"}, {TK_DEVICE_HIP, "hipblaslt"},
	        {TK_DEVICE_HIP, "rocblas"}, {TK_DEVICE_HIP, "flash_hip"}};
	size_t n = 0;
	for (size_t i = 0; i < sizeof rows / sizeof *rows && n < max; i++) {
		const struct tk_module *m = tk_modules_find_backend(c, rows[i].backend);
		if (m && rows[i].kind == tk_device_kind_from_name(device_kind))
			out[n++] = m->path;
	}
	return n;
}
