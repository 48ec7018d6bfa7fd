/* Shared by adapters that compile kernels for given devices and problems: which devices a backend
 * runs on, and the work of the compiled kernel for each input set. */
#ifndef ADAPTER_TARGETS_H
#define ADAPTER_TARGETS_H
#include <stdlib.h>
#include <string.h>

#ifndef DEVICE_KIND
#define DEVICE_KIND "cuda"
#endif

/* "sm_90a" runs on exactly 9.0, "sm_80" on all of 8.x from 8.0 on; "gfx90a,gfx942" on these two. */
static inline int runs_on(const char *targets, const char *device)
{
	const size_t length = strcspn(device, ":");
	if (!strncmp(targets, "sm_", 3)) {
		const size_t digits = strspn(targets + 3, "0123456789");
		const int built = atoi(targets + 3);
		const int found = strncmp(device, "sm_", 3) ? -1 : atoi(device + 3);
		return targets[3 + digits] ? found == built
		                           : found / 10 == built / 10 && found >= built;
	}
	for (const char *t = targets; length && *t; t += strcspn(t, ",") + (strchr(t, ',') != NULL))
		if (strcspn(t, ",") == length && !strncmp(t, device, length))
			return 1;
	return 0;
}

#ifdef TK_KIT_H /* of backend.c, which defines struct tk_plan and struct kernel */

/* Defines backend_open, which checks the device, and backend_close. `start` and `stop` as for
 * KIT_CONTEXT. */
#define TARGETS_CONTEXT(targets, start, stop) \
	static int open_device(struct tk_backend_ctx *ctx, const struct tk_open_args *args, \
	        struct tk_abi_error *err) \
	{ \
		if (!runs_on(targets, args->device_info.arch)) \
			return fail(err, TK_ABI_UNSUPPORTED, "compiled for %s, the device is %s", \
			        targets, args->device_info.arch); \
		start(ctx, args); \
		return TK_ABI_OK; \
	} \
	KIT_CONTEXT(backend, open_device, stop)

/* Defines backend_bind and backend_launch of a plan with `kernel` and `prepared[]`. `prepare`
 * (plan, tensors, count, &prepared) returns an error or NULL. */
#define TARGETS_CALLS(need, prepare) \
	static int backend_bind(struct tk_plan *plan, uint32_t set, \
	        const struct tk_tensor *tensors, uint32_t count, struct tk_abi_error *err) \
	{ \
		if (set >= plan->sets || count < (need)) \
			return fail(err, TK_ABI_INVALID, "no such set, or too few tensors"); \
		if (plan->prepared[set]) \
			plan->kernel->destroy(plan->prepared[set]); \
		plan->prepared[set] = NULL; \
		const char *why = prepare(plan, tensors, count, &plan->prepared[set]); \
		return why ? fail(err, TK_ABI_DEVICE, LIBRARY_NAME ": %s", why) : TK_ABI_OK; \
	} \
	static int backend_launch( \
	        struct tk_plan *plan, void *stream, uint32_t set, struct tk_abi_error *err) \
	{ \
		const char *why = plan->kernel->run(plan->prepared[set], stream); \
		return why ? fail(err, TK_ABI_DEVICE, LIBRARY_NAME ": %s", why) : TK_ABI_OK; \
	}

#endif
#endif
