/* Shared by the backends for GPUs of all vendors: error messages, configurations, options, memory
 * of a plan. Memory comes from the device layer, which accounts for it. Needs no vendor's
 * header. */
#ifndef TK_GPU_BACKEND_H
#define TK_GPU_BACKEND_H
#include "tracker_abi.h"
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MIB ((size_t)1 << 20)

/* Every context begins with this. */
struct gpu_context {
	struct tk_device *device;
	const struct tk_device_ops *ops;
	int capability;      /* NVIDIA: 90 for sm_90; 0: unknown or another vendor */
	int multiprocessors; /* 0: unknown */
};

static inline int fail(struct tk_abi_error *err, int status, const char *format, ...)
        __attribute__((format(printf, 3, 4)));
static inline int fail(struct tk_abi_error *err, int status, const char *format, ...)
{
	if (err) {
		va_list ap;
		va_start(ap, format);
		vsnprintf(err->message, sizeof err->message, format, ap);
		va_end(ap);
	}
	return status;
}

static inline void context_init(struct gpu_context *c, const struct tk_open_args *args)
{
	c->device = args->device;
	c->ops = args->device_ops;
	if (sscanf(args->device_info.arch, "sm_%d", &c->capability) != 1)
		c->capability = 0;
	c->multiprocessors = (int)args->device_info.compute_units;
}

/* A zeroed context of `bytes` that begins with a struct gpu_context; NULL: out of memory. */
static inline void *context_new(
        size_t bytes, const struct tk_open_args *args, struct tk_abi_error *err)
{
	struct gpu_context *c = (struct gpu_context *)calloc(1, bytes); /* C++ includes this, too */
	if (c)
		context_init(c, args);
	else
		fail(err, TK_ABI_NO_MEMORY, "no memory for the context");
	return c;
}

/* A zeroed plan of `bytes`; NULL: out of memory. */
static inline void *plan_new(size_t bytes, struct tk_abi_error *err)
{
	void *plan = calloc(1, bytes);
	if (!plan)
		fail(err, TK_ABI_NO_MEMORY, "no memory for the plan");
	return plan;
}

/* For a backend without a library: the tracker's version identifies it. */
static inline const char *no_version(void)
{
	return "";
}

/* Workspace from the device layer; *out stays NULL for 0 bytes. */
static inline int workspace_new(
        const struct gpu_context *c, size_t bytes, void **out, struct tk_abi_error *err)
{
	if (bytes == 0)
		return TK_ABI_OK;
	int status = c->ops->alloc(c->device, bytes, out, err);
	return status == TK_ABI_NO_MEMORY
	               ? fail(err, status, "cannot allocate a workspace of %.1f MiB",
	                         (double)bytes / (double)MIB)
	               : status;
}

static inline void workspace_free(const struct gpu_context *c, void *memory)
{
	if (memory)
		c->ops->release(c->device, memory);
}

static inline size_t type_bytes(uint32_t dtype)
{
	switch (dtype) {
	case TK_F64:
	case TK_I64:
		return 8;
	case TK_F16:
	case TK_BF16:
		return 2;
	case TK_E4M3:
	case TK_E5M2:
		return 1;
	default:
		return 4;
	}
}

/* For backends with one configuration. */
static inline int check_config(const char *config, struct tk_abi_error *err)
{
	if (!config || !*config || strcmp(config, "default") == 0)
		return TK_ABI_OK;
	return fail(err, TK_ABI_INVALID, "unknown configuration \"%.100s\", expected \"default\"",
	        config);
}

/* Index of a configuration in `names`; NULL, "" and "default" are the first. */
static inline int find_config(const char *config, const char *const *names, uint32_t count,
        uint32_t *out, struct tk_abi_error *err)
{
	*out = 0;
	if (!config || !*config || strcmp(config, "default") == 0)
		return TK_ABI_OK;
	for (uint32_t i = 0; i < count; i++)
		if (strcmp(config, names[i]) == 0) {
			*out = i;
			return TK_ABI_OK;
		}
	return fail(err, TK_ABI_INVALID,
	        "unknown configuration \"%.100s\", the first of %u is \"%s\"", config, count,
	        count ? names[0] : "default");
}

/* The number after `key=` in "key=value,key=value"; `otherwise` if the key is missing. */
static inline long option_number(const char *options, const char *key, long otherwise)
{
	size_t len = strlen(key);
	for (const char *p = options ? options : ""; *p; p += strcspn(p, ","), p += *p == ',')
		if (strncmp(p, key, len) == 0 && p[len] == '=')
			return strtol(p + len + 1, NULL, 10);
	return otherwise;
}

/* Defines prefix_open and prefix_close. `start` opens what the context has besides its struct
 * gpu_context, and leaves nothing open if it fails; `stop` closes it. */
#define GPU_CONTEXT_WITH(prefix, start, stop) \
	static int prefix##_open(const struct tk_open_args *args, struct tk_backend_ctx **out, \
	        struct tk_abi_error *err) \
	{ \
		struct tk_backend_ctx *ctx = context_new(sizeof *ctx, args, err); \
		int status = ctx ? start(ctx, args, err) : TK_ABI_NO_MEMORY; \
		if (status) \
			free(ctx); \
		else \
			*out = ctx; \
		return status; \
	} \
	static void prefix##_close(struct tk_backend_ctx *ctx) \
	{ \
		if (ctx) \
			stop(ctx); \
		free(ctx); \
	}

static inline int context_start_none(
        struct tk_backend_ctx *ctx, const struct tk_open_args *args, struct tk_abi_error *err)
{
	return TK_ABI_OK;
}

static inline void context_stop_none(struct tk_backend_ctx *ctx)
{
}

#define GPU_CONTEXT(prefix) GPU_CONTEXT_WITH(prefix, context_start_none, context_stop_none)

/* Defines prefix_plan for one configuration. A plan has ctx, problem, sets and, last, bound[];
 * `fill` does the rest. prefix_unplan() is called where it fails. */
#define GPU_PLAN(prefix, fill) \
	static int prefix##_plan(struct tk_backend_ctx *ctx, const struct tk_problem *p, \
	        const char *config, uint32_t sets, struct tk_plan **out, \
	        struct tk_plan_info *info, struct tk_abi_error *err) \
	{ \
		int status = prefix##_supports(ctx, p, err); \
		if (status || (status = check_config(config, err))) \
			return status; \
		struct tk_plan *plan = plan_new(sizeof *plan + sets * sizeof plan->bound[0], err); \
		if (!plan) \
			return TK_ABI_NO_MEMORY; \
		plan->ctx = ctx; \
		plan->problem = p; \
		plan->sets = sets; \
		if ((status = fill(plan, info, err))) \
			prefix##_unplan(plan); \
		else \
			*out = plan; \
		return status; \
	}

/* Defines tk_backend_entry() of a backend whose functions are called prefix_open, prefix_close and
 * so on. `does`: enum tk_operation. Optional members follow it: `.configs = backend_configs`;
 * `.configs = NULL` for none. */
#define GPU_BACKEND(prefix, backend_name, kind, version_function, text, does, ...) \
	const struct tk_backend *tk_backend_entry(void) \
	{ \
		static struct tk_backend backend = {.size = sizeof backend, \
		        .abi_major = TK_ABI_MAJOR, \
		        .abi_minor = TK_ABI_MINOR, \
		        .device_kind = kind, \
		        .version = version_function, \
		        .open = prefix##_open, \
		        .close = prefix##_close, \
		        .supports = prefix##_supports, \
		        .plan = prefix##_plan, \
		        .bind = prefix##_bind, \
		        .launch = prefix##_launch, \
		        .unplan = prefix##_unplan, \
		        __VA_ARGS__}; \
		backend.name = backend_name; \
		backend.description = text; \
		backend.operations = does; \
		return &backend; \
	}

/* The pointers of one input set. */
struct bound {
	void *data[TK_T_MAX];
};

/* At least `need` tensors are required. */
static inline int bind_set(struct bound *bound, uint32_t sets, uint32_t set,
        const struct tk_tensor *tensors, uint32_t count, uint32_t need, struct tk_abi_error *err)
{
	if (set >= sets || count < need || count > TK_T_MAX)
		return fail(err, TK_ABI_INVALID,
		        "set %u with %u tensors, expected a set below %u with at least %u", set,
		        count, sets, need);
	for (uint32_t i = 0; i < count; i++)
		bound[set].data[i] = tensors[i].data;
	return TK_ABI_OK;
}

#endif
