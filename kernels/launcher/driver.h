/* What the launcher needs to run a code object. driver_cuda.c, driver_hip.c and driver_cpu.c define
 * the table; tests bring one without a device. Handles are the driver's own. */
#ifndef LAUNCHER_DRIVER_H
#define LAUNCHER_DRIVER_H
#include "manifest.h"

struct launcher_arguments;

enum launcher_param { LAUNCHER_PARAM_UNKNOWN, LAUNCHER_PARAM_SIZE, LAUNCHER_PARAM_NONE };

struct launcher_driver {
	const char *device_kind;  /* "cuda" */
	const char *backend_name; /* "launcher_cuda" */
	/* Called once for each context, before anything else. */
	int (*start)(const struct tk_open_args *args, struct tk_abi_error *err);
	void (*stop)(void); /* optional; once for each start() that succeeded */
	/* Whether code for `target` runs on a device whose architecture is `arch`. */
	bool (*runs_on)(const char *target, const char *arch);
	/* `code` was read from a file whose hash is right. */
	int (*load)(const void *code, size_t bytes, void **module, struct tk_abi_error *err);
	void (*unload)(void *module);
	int (*find)(void *module, const char *entry, void **function, struct tk_abi_error *err);
	/* SIZE: *bytes is that of parameter `index`; NONE: there are only `index` parameters;
	 * UNKNOWN: this driver does not tell. */
	enum launcher_param (*param)(void *function, uint32_t index, size_t *bytes);
	/* Checks block and shared memory against the function and allows them. */
	int (*prepare)(
	        void *function, const struct launcher_launch *launch, struct tk_abi_error *err);
	/* *out has LAUNCHER_TENSOR_MAP_BYTES, aligned to 64. */
	int (*encode_map)(const struct launcher_tensor_map *map, void *data, void *out,
	        struct tk_abi_error *err);
	int (*launch)(void *function, const struct launcher_launch *launch,
	        const struct launcher_arguments *arguments, void *stream, struct tk_abi_error *err);
};

extern const struct launcher_driver launcher_driver;

#endif
