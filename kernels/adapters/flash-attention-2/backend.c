/* Attention by the instances of FlashAttention, or of another library, that the build compiled;
 * library.h has what differs. An instance that did not compile costs its own problems: they are not
 * built, with the compiler's error as the reason. */
#include "kernel.h"
#include "kit.h"
#include "library.h"
#include "targets.h"

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
	const struct tk_backend_ctx *ctx;
	const struct tk_problem *problem;
	const struct kernel *kernel;
	uint32_t sets, config; /* config: the instance */
	void *prepared[];      /* of each set */
};

static const char *backend_version(void)
{
	return FLASH_VERSION;
}

static void start(struct tk_backend_ctx *ctx, const struct tk_open_args *args)
{
	ctx->compute_units = args->device_info.compute_units;
}

static void stop(struct tk_backend_ctx *ctx)
{
	(void)ctx;
}

TARGETS_CONTEXT(FLASH_TARGET, start, stop)

/* NULL: none does the problem; *status and *why then say why. */
static const struct instance *find_instance(const struct tk_backend_ctx *ctx,
        const struct tk_attention *a, int *status, const char **why)
{
	const char *refusal = find_refusal(a, ctx->compute_units);
	*status = TK_ABI_UNSUPPORTED;
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
			*status = TK_ABI_NOT_BUILT;
			*why = i->error;
		}
	return NULL;
}

static int backend_supports(
        struct tk_backend_ctx *ctx, const struct tk_problem *problem, struct tk_abi_error *err)
{
	const char *why;
	int status;
	if (problem->op != TK_OP_ATTENTION)
		return fail(err, TK_ABI_UNSUPPORTED, "only attention");
	if (!find_instance(ctx, problem->attention, &status, &why))
		return fail(err, status, "%s", why);
	return TK_ABI_OK;
}

static void backend_unplan(struct tk_plan *plan)
{
	for (uint32_t i = 0; i < plan->sets; i++)
		if (plan->prepared[i])
			plan->kernel->destroy(plan->prepared[i]);
	free(plan);
}

static int choose(const struct tk_backend_ctx *ctx, const struct tk_problem *problem,
        const char *config, uint32_t *out, struct tk_abi_error *err)
{
	const char *why;
	int status;
	TRY(check_config(config, err));
	*out = (uint32_t)(find_instance(ctx, problem->attention, &status, &why) - instances);
	return TK_ABI_OK;
}

static int fill_plan(struct tk_plan *plan, struct tk_plan_info *info, struct tk_abi_error *err)
{
	(void)err;
	plan->kernel = instances[plan->config].kernel;
	snprintf(info->kernel, sizeof info->kernel, "%s", instances[plan->config].name);
	info->capturable = 1;
	/* gradients are added in any order */
	info->deterministic = plan->problem->attention->dir == TK_FWD;
	return TK_ABI_OK;
}

KIT_PLAN(backend, prepared, choose, fill_plan)

static const char *prepare(
        struct tk_plan *plan, const struct tk_tensor *tensors, uint32_t count, void **out)
{
	return plan->kernel->prepare(plan->problem->attention, tensors, count, out);
}

TARGETS_CALLS(TK_T_O + 1, prepare)

KIT_BACKEND(backend, BACKEND_NAME, DEVICE_KIND, backend_version,
        HAS_BACKWARD ? "Attention by " LIBRARY_NAME : "Attention by " LIBRARY_NAME ", forward",
        TK_OPERATION_ATTENTION | (HAS_BACKWARD ? TK_OPERATION_ATTENTION_BACKWARD : 0),
        .configs = NULL)
