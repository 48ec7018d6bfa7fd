/* From a backend as users name it to its file. */
#ifndef TK_BACKEND_NAME_H
#define TK_BACKEND_NAME_H

struct tk_config;
struct tk_error;
struct tk_modules;

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
