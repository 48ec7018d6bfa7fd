/* Shared by the backends for GPUs of all vendors: contexts and workspaces. Memory comes from the
 * device layer, which accounts for it. Needs no vendor's header. */
#ifndef TK_GPU_BACKEND_H
#define TK_GPU_BACKEND_H
#include "kit.h"

#define MIB ((size_t)1 << 20)

/* Every context begins with this. */
struct gpu_context {
	struct tk_device *device;
	const struct tk_device_ops *ops;
	int capability;      /* NVIDIA: 90 for sm_90; 0: unknown or another vendor */
	int multiprocessors; /* 0: unknown */
};

static inline void context_init(struct gpu_context *c, const struct tk_open_args *args)
{
	c->device = args->device;
	c->ops = args->device_ops;
	if (sscanf(args->device_info.arch, "sm_%d", &c->capability) != 1)
		c->capability = 0;
	c->multiprocessors = (int)args->device_info.compute_units;
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

/* Defines prefix_open and prefix_close. `start` opens what the context has besides its struct
 * gpu_context, and leaves nothing open if it fails; `stop` closes it. */
#define GPU_CONTEXT_WITH(prefix, start, stop) \
	static int prefix##_start(struct tk_backend_ctx *ctx, const struct tk_open_args *args, \
	        struct tk_abi_error *err) \
	{ \
		context_init((struct gpu_context *)ctx, args); \
		return start(ctx, args, err); \
	} \
	KIT_CONTEXT(prefix, prefix##_start, stop)

static inline int context_start_none(
        struct tk_backend_ctx *ctx, const struct tk_open_args *args, struct tk_abi_error *err)
{
	return TK_ABI_OK;
}

static inline void context_stop_none(struct tk_backend_ctx *ctx)
{
}

#define GPU_CONTEXT(prefix) GPU_CONTEXT_WITH(prefix, context_start_none, context_stop_none)

/* Configurations of libraries that rank their kernels for a problem: places in the ranking. */
#define HEURISTICS_MAX 16
#define HEURISTIC_NAMES \
	{ \
		"heuristic-0", "heuristic-1", "heuristic-2", "heuristic-3", "heuristic-4", \
		        "heuristic-5", "heuristic-6", "heuristic-7", "heuristic-8", "heuristic-9", \
		        "heuristic-10", "heuristic-11", "heuristic-12", "heuristic-13", \
		        "heuristic-14", "heuristic-15" \
	}

/* Defines prefix_plan for one configuration. */
#define GPU_PLAN(prefix, fill) KIT_PLAN(prefix, bound, choose_default, fill)

#endif
