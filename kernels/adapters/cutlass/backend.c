/* GEMM by the kernels that the build compiled, of CUTLASS or another library (library.h). A kernel
 * that did not compile costs the problems that only it would do: they are unsupported, with the
 * compiler's error as the reason. */
#include "kernel.h"
#include "library.h"
#include "targets.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct instance {
	const char *config;
	uint32_t type, type_c;
	int32_t ta, tb;
	int64_t m, n, k;             /* 0: any */
	const struct kernel *kernel; /* NULL: it did not compile */
	const char *error;           /* of the compiler */
};

#include "instances.inc" /* declares the kernels and `instances`, which ends with a NULL config */

#define COUNT (sizeof instances / sizeof *instances)

/* The answer of one call of configs(): names stay valid until close(). */
struct names {
	struct names *next;
	const char *list[COUNT];
};

struct tk_backend_ctx {
	struct tk_device *device;
	const struct tk_device_ops *ops;
	struct names *names;
};

struct tk_plan {
	struct tk_backend_ctx *ctx;
	const struct tk_gemm *gemm;
	const struct kernel *kernel;
	void *workspace;
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
	return LIBRARY_VERSION;
}

static int backend_open(
        const struct tk_open_args *args, struct tk_backend_ctx **out, struct tk_abi_error *err)
{
	if (!runs_on(TARGETS, args->device_info.arch))
		return fail(err, TK_ABI_UNSUPPORTED, "compiled for " TARGETS ", the device is %s",
		        args->device_info.arch);
	struct tk_backend_ctx *ctx = calloc(1, sizeof *ctx);
	if (!ctx)
		return fail(err, TK_ABI_NO_MEMORY, "out of memory");
	ctx->device = args->device;
	ctx->ops = args->device_ops;
	*out = ctx;
	return TK_ABI_OK;
}

static void backend_close(struct tk_backend_ctx *ctx)
{
	for (struct names *n = ctx->names, *next; n; n = next) {
		next = n->next;
		free(n);
	}
	free(ctx);
}

static int is_for(const struct instance *i, const struct tk_gemm *g)
{
	return g->a == i->type && g->b == i->type && g->c == i->type_c && g->acc == TK_F32 &&
	       g->ta == i->ta && g->tb == i->tb && (!i->m || i->m == g->m) &&
	       (!i->n || i->n == g->n) && (!i->k || i->k == g->k);
}

/* The first kernel that does the problem, of those named `config` (NULL: any). */
static const struct instance *find_instance(
        const struct tk_gemm *g, const char *config, const char **why)
{
	*why = NOT_COMPILED;
	for (const struct instance *i = instances; i->config; i++) {
		const char *refused;
		if (!is_for(i, g) || (config && strcmp(config, i->config)))
			continue;
		refused = i->kernel ? i->kernel->check(g) : i->error;
		if (!refused)
			return i;
		*why = refused;
	}
	return NULL;
}

static int backend_supports(
        struct tk_backend_ctx *ctx, const struct tk_problem *problem, struct tk_abi_error *err)
{
	const char *why;
	(void)ctx;
	if (problem->op != TK_OP_GEMM)
		return fail(err, TK_ABI_UNSUPPORTED, "only gemm");
	if (!find_instance(problem->gemm, NULL, &why))
		return fail(err, TK_ABI_UNSUPPORTED, "%s", why);
	return TK_ABI_OK;
}

static int backend_configs(struct tk_backend_ctx *ctx, const struct tk_problem *problem,
        const char *const **out, uint32_t *count, struct tk_abi_error *err)
{
	struct names *names;
	int status = backend_supports(ctx, problem, err);
	if (status)
		return status;
	names = calloc(1, sizeof *names);
	if (!names)
		return fail(err, TK_ABI_NO_MEMORY, "out of memory");
	names->next = ctx->names;
	ctx->names = names;
	*count = 0;
	for (const struct instance *i = instances; i->config; i++)
		if (i->kernel && is_for(i, problem->gemm) && !i->kernel->check(problem->gemm))
			names->list[(*count)++] = i->config;
	*out = names->list;
	return TK_ABI_OK;
}

static void backend_unplan(struct tk_plan *plan)
{
	for (uint32_t i = 0; i < plan->sets; i++)
		if (plan->prepared[i])
			plan->kernel->destroy(plan->prepared[i]);
	if (plan->workspace)
		plan->ctx->ops->release(plan->ctx->device, plan->workspace);
	free(plan);
}

static int backend_plan(struct tk_backend_ctx *ctx, const struct tk_problem *problem,
        const char *config, uint32_t sets, struct tk_plan **out, struct tk_plan_info *info,
        struct tk_abi_error *err)
{
	const char *why = "only gemm";
	const struct instance *found =
	        problem->op == TK_OP_GEMM
	                ? find_instance(problem->gemm, config && *config ? config : NULL, &why)
	                : NULL;
	if (!found)
		return fail(err, TK_ABI_UNSUPPORTED, "%s", why);
	struct tk_plan *plan = calloc(1, sizeof *plan + sets * sizeof plan->prepared[0]);
	if (!plan)
		return fail(err, TK_ABI_NO_MEMORY, "out of memory");
	plan->ctx = ctx;
	plan->gemm = problem->gemm;
	plan->kernel = found->kernel;
	plan->sets = sets;
	info->workspace_bytes = found->kernel->workspace_bytes(problem->gemm);
	if (info->workspace_bytes) {
		int status =
		        ctx->ops->alloc(ctx->device, info->workspace_bytes, &plan->workspace, err);
		if (status) {
			backend_unplan(plan);
			return status;
		}
	}
	snprintf(info->algorithm, sizeof info->algorithm, "%s", found->config);
	info->capturable = 1;
	info->deterministic = 1;
	*out = plan;
	return TK_ABI_OK;
}

static int backend_bind(struct tk_plan *plan, uint32_t set, const struct tk_tensor *tensors,
        uint32_t count, struct tk_abi_error *err)
{
	if (set >= plan->sets || count <= TK_T_C)
		return fail(err, TK_ABI_INVALID, "no such set, or too few tensors");
	if (plan->prepared[set])
		plan->kernel->destroy(plan->prepared[set]);
	plan->prepared[set] = NULL;
	const char *why = plan->kernel->prepare(plan->gemm, tensors[TK_T_A].data,
	        tensors[TK_T_B].data, tensors[TK_T_C].data, plan->workspace, &plan->prepared[set]);
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
        .description = BACKEND_DESCRIPTION,
        .version = backend_version,
        .open = backend_open,
        .close = backend_close,
        .supports = backend_supports,
        .configs = backend_configs,
        .plan = backend_plan,
        .bind = backend_bind,
        .launch = backend_launch,
        .unplan = backend_unplan,
        .operations = TK_OPERATION_GEMM,
};

TK_EXPORT const struct tk_backend *tk_backend_entry(void)
{
	return &backend;
}
