/* See python_host.h. */
#include "worker/python_host.h"
#include "base/error.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/try.h"
#include "core/python_package.h"
#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LIBRARY "tk_python_worker.so"

/* -I: neither variables, nor the user's packages, nor the current folder. -B: writes no .pyc. -u:
 * what a module prints is in the log even if the process is killed. -S: no packages of this Python
 * but those of the package. */
static const char boot[] = "import ctypes, os, sys\n"
                           "sys.path.insert(0, os.path.dirname(sys.argv[1]))\n"
                           "ctypes.PyDLL(sys.argv[1]).tk_python_worker_main()\n";

static void add_folder(struct tk_python_host *h, const char *path)
{
	for (size_t i = 0; i + 1 < TK_PYTHON_HOST_FOLDERS_MAX; i++)
		if (!h->folders[i]) {
			h->folders[i] = tk_strdup(path);
			return;
		}
}

/* Only what belongs to Python, and only where the pattern leads to without links: a package could
 * name any folder of the machine. */
static void add_matches(struct tk_python_host *h, const char *prefix, const char *pattern)
{
	char path[PATH_MAX], real[PATH_MAX];
	glob_t found = {.gl_pathc = 0};
	if (strpbrk(prefix, "*?[\\") ||
	        snprintf(path, sizeof path, "%s/%s", prefix, pattern) >= (int)sizeof path)
		return;
	if (glob(path, GLOB_NOSORT, NULL, &found) == 0)
		for (size_t i = 0; i < found.gl_pathc; i++)
			if (realpath(found.gl_pathv[i], real) &&
			        strcmp(real, found.gl_pathv[i]) == 0)
				add_folder(h, real);
	globfree(&found);
}

/* PREFIX of PREFIX/bin/python3; false: it is not in such a folder. */
static bool find_prefix(const char *program, char *out, size_t size)
{
	snprintf(out, size, "%s", program);
	for (int i = 0; i < 2; i++) {
		char *slash = strrchr(out, '/');
		if (!slash || (i == 0 && (slash < out + 4 || strncmp(slash - 4, "/bin", 4))))
			return false;
		*slash = '\0';
	}
	return *out != '\0';
}

static const char *const python_patterns[] = {
        "lib/python3.[0-9]*", "lib/libpython3*.so*", "bin/python*", NULL};
/* The folder `bin` has links to the Python that it was made from. */
static const char *const environment_patterns[] = {"lib/python3.[0-9]*", "bin", "pyvenv.cfg", NULL};

static void add_all_matches(
        struct tk_python_host *h, const char *prefix, const char *const *patterns)
{
	for (; *patterns; patterns++)
		add_matches(h, prefix, *patterns);
}

/* A virtual environment is started by its own path, and knows by it where it is. */
static bool is_environment(const char *prefix)
{
	char real[PATH_MAX], *config = tk_path_join(prefix, "pyvenv.cfg");
	bool found = config && realpath(config, real) && strcmp(real, config) == 0;
	free(config);
	return found;
}

/* Whatever is started must be visible in the sandbox: one that cannot start its program counts as
 * broken, and is given up. */
static int find_python(
        struct tk_python_host *h, const struct tk_python_package *p, struct tk_error *err)
{
	char real[PATH_MAX], prefix[PATH_MAX], environment[PATH_MAX];
	if (!realpath(p->python, real) || access(real, X_OK))
		return tk_fail(err, TK_ENOTFOUND,
		        "%s does not exist, which this backend was built for; build it again",
		        p->python);
	if (strncmp(strrchr(real, '/') + 1, "python", 6) != 0)
		return tk_fail(
		        err, TK_EDATA, "%s leads to %s, which is not a Python", p->python, real);
	if (!find_prefix(real, prefix, sizeof prefix))
		return tk_fail(err, TK_EDATA, "%s is not in a folder \"bin\" of a Python", real);
	bool has_environment = find_prefix(p->python, environment, sizeof environment) &&
	                       is_environment(environment);
	h->program = tk_strdup(has_environment ? p->python : real);
	add_all_matches(h, prefix, python_patterns);
	if (has_environment)
		add_all_matches(h, environment, environment_patterns);
	return TK_OK;
}

static int find_library(struct tk_python_host *h, const char *modules_dir, struct tk_error *err)
{
	if (!modules_dir)
		return tk_fail(
		        err, TK_ENOTFOUND, "no folder of modules, which has the Python host");
	h->library = tk_path_join(modules_dir, LIBRARY);
	return tk_file_exists(h->library)
	               ? TK_OK
	               : tk_fail(err, TK_ENOTFOUND, "%s does not exist", h->library);
}

int tk_python_host_open(const char *package, const char *modules_dir, struct tk_python_host *out,
        struct tk_error *err)
{
	AUTO(tk_python_package) p = {0};
	struct tk_python_host h = {.program = NULL};
	TRY(tk_python_package_read(package, &p, err));
	int status = find_library(&h, modules_dir, err);
	if (!status)
		status = find_python(&h, &p, err);
	if (status) {
		tk_python_host_free(&h);
		return status;
	}
	const char *const argv[] = {h.program, "-I", "-B", "-u", p.own_packages ? "-E" : "-S", "-c",
	        boot, h.library, NULL};
	memcpy(h.argv, argv, sizeof argv);
	*out = h;
	return TK_OK;
}

void tk_python_host_free(struct tk_python_host *h)
{
	for (size_t i = 0; i < TK_PYTHON_HOST_FOLDERS_MAX; i++)
		free(h->folders[i]);
	free(h->program);
	free(h->library);
	*h = (struct tk_python_host){.program = NULL};
}
