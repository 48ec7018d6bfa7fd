/* The modules that came with the tracker: device layers and backends, found by their file names. */
#ifndef TK_MODULES_H
#define TK_MODULES_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tk_error;

struct tk_module {
	char *name, *path;
}; /* "cpu", ".../tk_device_cpu.so" */

struct tk_modules {
	char *dir;
	struct tk_module *devices, *backends; /* sorted by name */
	size_t device_count, backend_count;
};

/* $TRACKER_BACKENDS, else backends/ beside the program, else ../lib/tracker/backends from it. */
/* What `devices` of the configuration means: "all" takes every kind but the fake one; else "cuda",
 * "cuda:1" or a UUID.
 */
bool tk_device_is_selected(char *const *names, const char *kind, uint32_t index, const char *uuid);

int tk_modules_load(const char *program, struct tk_modules **out, struct tk_error *err);
void tk_modules_free(struct tk_modules *c);
const struct tk_module *tk_modules_find_device(
        const struct tk_modules *c, const char *kind); /* NULL: there is none */
const struct tk_module *tk_modules_find_backend(const struct tk_modules *c, const char *name);

#endif
