/* GEMM by the kernels that the build compiled, of CUTLASS or another library (library.h). A kernel
 * that did not compile costs the problems that it is the preferred one for: they are not built,
 * with the compiler's error as the reason. Another kernel would be another series. */
#include "kernel.h"
#include "kit.h"
#include "library.h"
#include "targets.h"

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
	const struct tk_problem *problem;
	const struct kernel *kernel;
	void *workspace;
	uint32_t sets, config; /* config: the instance */
	void *prepared[];      /* of each set */
};

static const char *backend_version(void)
{
	return LIBRARY_VERSION;
}

static void start(struct tk_backend_ctx *ctx, const struct tk_open_args *args)
{
	ctx->device = args->device;
	ctx->ops = args->device_ops;
}

static void stop(struct tk_backend_ctx *ctx)
{
	for (struct names *n = ctx->names, *next; n; n = next) {
		next = n->next;
		free(n);
	}
}

TARGETS_CONTEXT(TARGETS, start, stop)

static int is_for(const struct instance *i, const struct tk_gemm *g)
{
	return g->a == i->type && g->b == i->type && g->c == i->type_c && g->acc == TK_F32 &&
	       g->ta == i->ta && g->tb == i->tb && (!i->m || i->m == g->m) &&
	       (!i->n || i->n == g->n) && (!i->k || i->k == g->k);
}

/* The first kernel that does the problem, of those named `config` (NULL: any); `preferred`: one
 * that did not compile ends the search. NULL: none does it; *status and *why then say why. */
static const struct instance *find_instance(
        const struct tk_gemm *g, const char *config, int preferred, int *status, const char **why)
{
	*status = TK_ABI_UNSUPPORTED;
	*why = NOT_COMPILED;
	for (const struct instance *i = instances; i->config; i++) {
		const char *refused;
		if (!is_for(i, g) || (config && strcmp(config, i->config)))
			continue;
		refused = i->kernel ? i->kernel->check(g) : i->error;
		if (!refused)
			return i;
		*why = refused;
		*status = i->kernel ? *status : TK_ABI_NOT_BUILT;
		if (preferred && !i->kernel)
			break;
	}
	return NULL;
}

static int backend_supports(
        struct tk_backend_ctx *ctx, const struct tk_problem *problem, struct tk_abi_error *err)
{
	const char *why;
	int status;
	(void)ctx;
	if (problem->op != TK_OP_GEMM)
		return fail(err, TK_ABI_UNSUPPORTED, "only gemm");
	if (!find_instance(problem->gemm, NULL, 0, &status, &why))
		return fail(err, status, "%s", why);
	return TK_ABI_OK;
}

static int backend_configs(struct tk_backend_ctx *ctx, const struct tk_problem *problem,
        const char *const **out, uint32_t *count, struct tk_abi_error *err)
{
	TRY(backend_supports(ctx, problem, err));
	struct names *names = calloc(1, sizeof *names);
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

static int choose(const struct tk_backend_ctx *ctx, const struct tk_problem *problem,
        const char *config, uint32_t *out, struct tk_abi_error *err)
{
	const char *why;
	int status;
	const struct instance *found =
	        find_instance(problem->gemm, config && *config ? config : NULL, 1, &status, &why);
	(void)ctx;
	if (!found)
		return fail(err, status, "%s", why);
	*out = (uint32_t)(found - instances);
	return TK_ABI_OK;
}

static int fill_plan(struct tk_plan *plan, struct tk_plan_info *info, struct tk_abi_error *err)
{
	const struct tk_backend_ctx *ctx = plan->ctx;
	plan->kernel = instances[plan->config].kernel;
	snprintf(info->algorithm, sizeof info->algorithm, "%s", instances[plan->config].config);
	info->capturable = info->deterministic = 1;
	info->workspace_bytes = plan->kernel->workspace_bytes(plan->problem->gemm);
	return info->workspace_bytes
	               ? ctx->ops->alloc(ctx->device, info->workspace_bytes, &plan->workspace, err)
	               : TK_ABI_OK;
}

KIT_PLAN(backend, prepared, choose, fill_plan)

static const char *prepare(
        struct tk_plan *plan, const struct tk_tensor *tensors, uint32_t count, void **out)
{
	(void)count;
	return plan->kernel->prepare(plan->problem->gemm, tensors[TK_T_A].data,
	        tensors[TK_T_B].data, tensors[TK_T_C].data, plan->workspace, out);
}

TARGETS_CALLS(TK_T_C + 1, prepare)

KIT_BACKEND(backend, BACKEND_NAME, DEVICE_KIND, backend_version, BACKEND_DESCRIPTION,
        TK_OPERATION_GEMM, .configs = backend_configs)
