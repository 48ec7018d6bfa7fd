/* The reference as a backend, so that it can be run, timed and verified like every other. */
#include "kit.h"
#include "reference.h"

struct tk_backend_ctx {
	int unused;
};

struct tk_plan {
	const struct tk_backend_ctx *ctx;
	const struct tk_problem *problem;
	uint32_t sets, config;
	struct tk_tensor tensors[][TK_T_MAX];
};

static int start(
        struct tk_backend_ctx *ctx, const struct tk_open_args *args, struct tk_abi_error *err)
{
	return TK_ABI_OK;
}

static void stop(struct tk_backend_ctx *ctx)
{
}

KIT_CONTEXT(reference, start, stop)

static int reference_supports(
        struct tk_backend_ctx *ctx, const struct tk_problem *p, struct tk_abi_error *err)
{
	if (p->op == TK_OP_FMA)
		return fail(err, TK_ABI_UNSUPPORTED, "the reference has no arithmetic ceiling");
	return TK_ABI_OK;
}

static void reference_unplan(struct tk_plan *plan)
{
	free(plan);
}

static int fill_plan(struct tk_plan *plan, struct tk_plan_info *info, struct tk_abi_error *err)
{
	snprintf(info->kernel, sizeof info->kernel, "reference");
	info->deterministic = 1;
	return TK_ABI_OK;
}

static int choose(const struct tk_backend_ctx *ctx, const struct tk_problem *p, const char *name,
        uint32_t *out, struct tk_abi_error *err)
{
	return TK_ABI_OK; /* all names are the same */
}

KIT_PLAN(reference, tensors, choose, fill_plan)

static int reference_bind(struct tk_plan *plan, uint32_t set, const struct tk_tensor *tensors,
        uint32_t count, struct tk_abi_error *err)
{
	if (set >= plan->sets || count > TK_T_MAX)
		return fail(err, TK_ABI_INVALID, "no such input set");
	memcpy(plan->tensors[set], tensors, count * sizeof *tensors);
	return TK_ABI_OK;
}

static int reference_launch(
        struct tk_plan *plan, void *stream, uint32_t set, struct tk_abi_error *err)
{
	const struct tk_problem *p = plan->problem;
	const struct tk_tensor *t = plan->tensors[set];
	int failed = 0;
	switch (p->op) {
	case TK_OP_GEMM:
		tk_reference_gemm(p->gemm, t);
		break;
	case TK_OP_ATTENTION:
		failed = p->attention->dir == TK_FWD
		                 ? tk_reference_attention(p->attention, t)
		                 : tk_reference_attention_backward(p->attention, t);
		break;
	case TK_OP_NSA:
		failed = tk_reference_nsa(p->nsa, t);
		break;
	case TK_OP_COPY:
		tk_reference_copy(t);
		break;
	case TK_OP_READ:
		tk_reference_read(t, p->ceiling->passes);
		break;
	default:
		return fail(err, TK_ABI_UNSUPPORTED, "the reference does not do this operation");
	}
	return failed ? fail(err, TK_ABI_NO_MEMORY, "out of memory") : TK_ABI_OK;
}

static const char *reference_version(void)
{
	return "1";
}

KIT_BACKEND(reference, "reference", "cpu", reference_version,
        "slow and obviously right, in double precision",
        TK_OPERATION_UNALIGNED | TK_OPERATION_PADDED_ROWS | TK_OPERATION_GEMM |
                TK_OPERATION_ATTENTION | TK_OPERATION_ATTENTION_BACKWARD | TK_OPERATION_NSA |
                TK_OPERATION_COPY | TK_OPERATION_READ)
