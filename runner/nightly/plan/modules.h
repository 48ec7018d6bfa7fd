/* The modules of the tracker, device layers and backends, found by their file names. */
#ifndef TK_MODULES_H
#define TK_MODULES_H
#include "base/base.h"
#include <stddef.h>

struct tk_config;

struct tk_module {
	char *name, *path;
}; /* "cpu", ".../tk_device_cpu.so" */

struct tk_modules {
	char *dir;
	struct tk_module *devices, *backends; /* sorted by name */
	size_t device_count, backend_count;
};

/* Backends are shared objects and Python packages. From $TRACKER_BACKENDS, else backends/ beside
 * the program, else ../lib/tracker/backends. */
int tk_modules_load(const char *program, struct tk_modules **out, struct tk_error *err);
void tk_modules_free(struct tk_modules *c);
TK_AUTO_PTR(tk_modules)
const struct tk_module *tk_modules_find_device(
        const struct tk_modules *c, const char *kind); /* NULL: unknown */
const struct tk_module *tk_modules_find_backend(const struct tk_modules *c, const char *name);
/* Paths of the backends that launch the kernels of a sequence which the measured one does not do,
 * into out[max]; returns how many. The vendor's library comes first. */
size_t tk_modules_list_company(
        const struct tk_modules *c, const char *device_kind, const char **out, size_t max);

/* name: a path (with a "/", or one that ends as a shared object or a package does), a backend of
 * this tracker, UPSTREAM:BACKEND, or a backend that the newest build of exactly one upstream has.
 * *path is absolute, the caller's. TK_EUSAGE: unknown, with a suggestion. */
int tk_backend_find(const struct tk_config *config, const struct tk_modules *modules,
        const char *name, char **path, struct tk_error *err);

/* The build of the same backend that records regions (tracker_abi.h): beside the other one in a
 * folder "trace". The caller's; NULL: there is none. */
char *tk_backend_find_traced(const char *path);

/* Calls `print` with the name of each: "cpu", and "self:cpu" for those of the newest builds. */
int tk_backend_list(const struct tk_config *config, const struct tk_modules *modules,
        void (*print)(const char *name), struct tk_error *err);

#endif
