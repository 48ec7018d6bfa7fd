/* Attention by the instances of FlashAttention, or of another library, that the build compiled;
 * library.h has what differs. An instance that did not compile costs its own problems: they are
 * unsupported, with the compiler's error as the reason. */
#include "kernel.h"
#include "library.h"
#include "targets.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ANY (-1)

struct instance {
	const char *name;
	uint32_t type;
	int64_t head;
	int32_t causal;              /* ANY: both */
	int32_t dir;                 /* enum tk_direction */
	const struct kernel *kernel; /* NULL: it did not compile */
	const char *error;           /* of the compiler */
};

#include "instances.inc" /* declares the kernels and `instances`, which ends with a NULL name */

struct tk_backend_ctx {
	int64_t compute_units;
};

struct tk_plan {
	const struct tk_attention *attention;
	const struct kernel *kernel;
	uint32_t sets;
	void *prepared[]; /* of each set */
};

static int fail(struct tk_abi_error *err, int status, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	vsnprintf(err->message, sizeof err->message, format, args);
	va_end(args);
	return status;
}

static const char *backend_version(void)
{
	return FLASH_VERSION;
}

static int backend_open(
        const struct tk_open_args *args, struct tk_backend_ctx **out, struct tk_abi_error *err)
{
	if (!runs_on(FLASH_TARGET, args->device_info.arch))
		return fail(err, TK_ABI_UNSUPPORTED, "compiled for %s, the device is %s",
		        FLASH_TARGET, args->device_info.arch);
	struct tk_backend_ctx *ctx = calloc(1, sizeof *ctx);
	if (!ctx)
		return fail(err, TK_ABI_NO_MEMORY, "out of memory");
	ctx->compute_units = args->device_info.compute_units;
	*out = ctx;
	return TK_ABI_OK;
}

static void backend_close(struct tk_backend_ctx *ctx)
{
	free(ctx);
}

static const struct instance *find_instance(
        const struct tk_backend_ctx *ctx, const struct tk_attention *a, const char **why)
{
	const char *refusal = find_refusal(a, ctx->compute_units);
	*why = "no kernel was compiled for this type and head dimension";
	if (a->dir != TK_FWD && !HAS_BACKWARD)
		*why = "only the forward direction";
	else if (a->d != a->dv)
		*why = "only dv = d";
	else if (refusal)
		*why = refusal;
	else
		for (const struct instance *i = instances; i->name; i++) {
			if (i->type != a->dtype || i->head != a->d || i->dir != a->dir ||
			        (i->causal != ANY && i->causal != a->causal))
				continue;
			if (i->kernel)
				return i;
			*why = i->error;
		}
	return NULL;
}

static int backend_supports(
        struct tk_backend_ctx *ctx, const struct tk_problem *problem, struct tk_abi_error *err)
{
	const char *why;
	if (problem->op != TK_OP_ATTENTION)
		return fail(err, TK_ABI_UNSUPPORTED, "only attention");
	if (!find_instance(ctx, problem->attention, &why))
		return fail(err, TK_ABI_UNSUPPORTED, "%s", why);
	return TK_ABI_OK;
}

static void backend_unplan(struct tk_plan *plan)
{
	for (uint32_t i = 0; i < plan->sets; i++)
		if (plan->prepared[i])
			plan->kernel->destroy(plan->prepared[i]);
	free(plan);
}

static int backend_plan(struct tk_backend_ctx *ctx, const struct tk_problem *problem,
        const char *config, uint32_t sets, struct tk_plan **out, struct tk_plan_info *info,
        struct tk_abi_error *err)
{
	const char *why;
	const int status = backend_supports(ctx, problem, err);
	if (status)
		return status;
	if (config && *config && strcmp(config, "default") != 0)
		return fail(err, TK_ABI_INVALID,
		        "unknown configuration \"%.100s\", expected \"default\"", config);
	const struct instance *found = find_instance(ctx, problem->attention, &why);
	struct tk_plan *plan = calloc(1, sizeof *plan + sets * sizeof plan->prepared[0]);
	if (!plan)
		return fail(err, TK_ABI_NO_MEMORY, "out of memory");
	plan->attention = problem->attention;
	plan->kernel = found->kernel;
	plan->sets = sets;
	snprintf(info->kernel, sizeof info->kernel, "%s", found->name);
	info->capturable = 1;
	info->deterministic = plan->attention->dir == TK_FWD; /* gradients are added in any order */
	*out = plan;
	return TK_ABI_OK;
}

static int backend_bind(struct tk_plan *plan, uint32_t set, const struct tk_tensor *tensors,
        uint32_t count, struct tk_abi_error *err)
{
	if (set >= plan->sets || count <= TK_T_O)
		return fail(err, TK_ABI_INVALID, "no such set, or too few tensors");
	if (plan->prepared[set])
		plan->kernel->destroy(plan->prepared[set]);
	plan->prepared[set] = NULL;
	const char *why =
	        plan->kernel->prepare(plan->attention, tensors, count, &plan->prepared[set]);
	return why ? fail(err, TK_ABI_DEVICE, LIBRARY_NAME ": %s", why) : TK_ABI_OK;
}

static int backend_launch(
        struct tk_plan *plan, void *stream, uint32_t set, struct tk_abi_error *err)
{
	const char *why = plan->kernel->run(plan->prepared[set], stream);
	return why ? fail(err, TK_ABI_DEVICE, LIBRARY_NAME ": %s", why) : TK_ABI_OK;
}

static const struct tk_backend backend = {
        .size = sizeof backend,
        .abi_major = TK_ABI_MAJOR,
        .abi_minor = TK_ABI_MINOR,
        .name = BACKEND_NAME,
        .device_kind = DEVICE_KIND,
        .description = HAS_BACKWARD ? "Attention by " LIBRARY_NAME
                                    : "Attention by " LIBRARY_NAME ", forward",
        .version = backend_version,
        .open = backend_open,
        .close = backend_close,
        .supports = backend_supports,
        .plan = backend_plan,
        .bind = backend_bind,
        .launch = backend_launch,
        .unplan = backend_unplan,
        .operations = TK_OPERATION_ATTENTION | (HAS_BACKWARD ? TK_OPERATION_ATTENTION_BACKWARD : 0),
};

TK_EXPORT const struct tk_backend *tk_backend_entry(void)
{
	return &backend;
}
