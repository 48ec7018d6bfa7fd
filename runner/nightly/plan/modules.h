/* The modules of the tracker, device layers and backends, found by their file names. */
#ifndef TK_MODULES_H
#define TK_MODULES_H
#include <stddef.h>

struct tk_error;

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
const struct tk_module *tk_modules_find_device(
        const struct tk_modules *c, const char *kind); /* NULL: unknown */
const struct tk_module *tk_modules_find_backend(const struct tk_modules *c, const char *name);
/* Paths of the backends that launch the kernels of a sequence which the measured one does not do,
 * into out[max]; returns how many. The vendor's library comes first. */
size_t tk_modules_list_company(
        const struct tk_modules *c, const char *device_kind, const char **out, size_t max);

#endif
