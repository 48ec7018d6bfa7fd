/* The null backend: simulated times on a virtual clock, correct results for small problems, and
 * every fault that its options request. The tracker's tests rely on it. */
#include "null.h"
#include "null_device.h"
#include "tracker_space.h"
#include <fcntl.h>
#include <math.h>

struct tk_backend_ctx {
	struct tk_device *device;
	struct null_options options;
};

struct tk_plan {
	struct tk_device *device;
	const struct tk_problem *problem;
	struct null_options options; /* the backend's, and what the config adds */
	double factor;
	struct null_times times;
	uint64_t launches;
	uint32_t sets;
	struct tk_tensor tensors[][TK_T_MAX];
};

static const char *const config_names[] = {"default", "fast", "slow"};
static const double config_factors[] = {1, 0.9, 1.2};

static int be_alone(struct tk_device *dev, const char *path, struct tk_abi_error *err)
{
	if (!*path || dev->alone_fd >= 0)
		return TK_ABI_OK;
	dev->alone_fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
	return dev->alone_fd >= 0
	               ? TK_ABI_OK
	               : fail(err, TK_ABI_INVALID, "the file of alone= cannot be opened");
}

static int start(
        struct tk_backend_ctx *ctx, const struct tk_open_args *args, struct tk_abi_error *err)
{
	if (!args->device || args->device->magic != NULL_DEVICE_MAGIC)
		return fail(err, TK_ABI_INVALID, "the null backend runs on the null device only");
	ctx->device = args->device;
	null_options_default(&ctx->options);
	TRY(null_options_parse(&ctx->options, args->options, err));
	TRY(null_fault_run(&ctx->options, NULL_AT_OPEN, NULL, err));
	TRY(be_alone(ctx->device, ctx->options.alone, err));
	ctx->device->throttled = ctx->options.throttle;
	return TK_ABI_OK;
}

static void stop(struct tk_backend_ctx *ctx)
{
}

KIT_CONTEXT(null, start, stop)

static int null_supports(
        struct tk_backend_ctx *ctx, const struct tk_problem *p, struct tk_abi_error *err)
{
	double bytes = 0, work = null_problem_work(p, &bytes);
	if (p->op == TK_OP_ATTENTION && p->attention->dir != TK_FWD && !ctx->options.any_size)
		return fail(err, TK_ABI_UNSUPPORTED,
		        "null has no right answer for the backward pass (any_size=1 goes on with "
		        "wrong ones)");
	if (p->op != TK_OP_FMA && work > NULL_MULTIPLY_ADDS_MAX && !ctx->options.any_size)
		return fail(err, TK_ABI_UNSUPPORTED,
		        "%.3g multiply-adds are more than null works out honestly, %.3g "
		        "(any_size=1 goes on with wrong results)",
		        work, NULL_MULTIPLY_ADDS_MAX);
	return null_fault_run(&ctx->options, NULL_AT_SUPPORTS, p, err);
}

static int null_configs(struct tk_backend_ctx *ctx, const struct tk_problem *p,
        const char *const **names, uint32_t *count, struct tk_abi_error *err)
{
	*names = config_names;
	*count = sizeof config_names / sizeof *config_names;
	return TK_ABI_OK;
}

/* ---- the space ---- */

static const int64_t x_values[] = {1, 2, 4, 8, 16, 32, 64, 128},
                     y_values[] = {1, 2, 3, 4, 5, 6, 7, 8}, z_values[] = {0, 1, 2},
                     best_guess[] = {1, 1, 0};
static const struct tk_parameter parameters[] = {TK_PARAMETER(x), TK_PARAMETER(y), TK_PARAMETER(z)};

static int allows(struct tk_backend_ctx *ctx, const struct tk_problem *p, const int64_t *values)
{
	return values[0] < 128 || values[1] < 8 - values[2];
}

static const struct tk_space space = {.size = sizeof space,
        .count = 3,
        .parameters = parameters,
        .best = best_guess,
        .allows = allows};

static int null_space(struct tk_backend_ctx *ctx, const struct tk_problem *p,
        const struct tk_space **out, struct tk_abi_error *err)
{
	if (!ctx->options.space || p->op != TK_OP_GEMM)
		return fail(err, TK_ABI_UNSUPPORTED, "no space");
	*out = &space;
	return TK_ABI_OK;
}

/* A valley with its floor at x=16, y=3, z=1. */
static void apply_point(struct tk_plan *plan, const int64_t *values)
{
	double x = log2((double)values[0]) - 4, y = (double)values[1] - 3,
	       z = (double)values[2] - 1;
	plan->factor = exp(0.03 * (x * x + y * y + x * y) + 0.1 * z * z);
	if (!strcmp(plan->options.wrong, "best") && x == 0 && y == 0 && z == 0)
		plan->options.fault = NULL_FAULT_LIE;
}

/* A config is one of the names, a point of the space, or options for this plan alone
 * ("fail=segv,at=plan"). */
static int apply_config(struct tk_plan *plan, const char *config, struct tk_abi_error *err)
{
	plan->factor = 1;
	if (!config || !*config) {
		if (plan->options.space && plan->problem->op == TK_OP_GEMM)
			apply_point(plan, best_guess);
		return TK_ABI_OK;
	}
	for (size_t i = 0; i < sizeof config_names / sizeof *config_names; i++)
		if (strcmp(config, config_names[i]) == 0) {
			plan->factor = config_factors[i];
			if (strcmp(config, plan->options.wrong) == 0)
				plan->options.fault = NULL_FAULT_LIE;
			return TK_ABI_OK;
		}
	int64_t values[TK_SPACE_PARAMETERS_MAX];
	if (plan->options.space && tk_space_parse(&space, config, values)) {
		apply_point(plan, values);
		return TK_ABI_OK;
	}
	return null_options_parse(&plan->options, config, err);
}

static void null_unplan(struct tk_plan *plan)
{
	free(plan);
}

static int null_plan(struct tk_backend_ctx *ctx, const struct tk_problem *p, const char *config,
        uint32_t sets, struct tk_plan **out, struct tk_plan_info *info, struct tk_abi_error *err)
{
	struct tk_plan *plan = plan_new(sizeof *plan + sets * sizeof plan->tensors[0], err);
	if (!plan)
		return TK_ABI_NO_MEMORY;
	plan->device = ctx->device;
	plan->problem = p;
	plan->options = ctx->options;
	plan->sets = sets;
	int status = apply_config(plan, config, err);
	if (status == TK_ABI_OK)
		status = null_fault_run(&plan->options, NULL_AT_PLAN, p, err);
	if (status != TK_ABI_OK) {
		null_unplan(plan);
		return status;
	}
	plan->times = null_times_make(&plan->options, p, plan->factor);
	snprintf(info->kernel, sizeof info->kernel, "null");
	snprintf(info->algorithm, sizeof info->algorithm, "%s",
	        config && *config ? config : "default");
	info->capturable = plan->options.capturable;
	info->deterministic = 1;
	*out = plan;
	return TK_ABI_OK;
}

static int null_bind(struct tk_plan *plan, uint32_t set, const struct tk_tensor *tensors,
        uint32_t count, struct tk_abi_error *err)
{
	if (set >= plan->sets || count > TK_T_MAX)
		return fail(err, TK_ABI_INVALID, "no such input set");
	memcpy(plan->tensors[set], tensors, count * sizeof *tensors);
	return null_fault_run(&plan->options, NULL_AT_BIND, plan->problem, err);
}

static int null_launch(struct tk_plan *plan, void *stream, uint32_t set, struct tk_abi_error *err)
{
	null_device_advance(
	        plan->device, null_time_ns(&plan->options, &plan->times, plan->launches++));
	return null_fault_run(&plan->options, NULL_AT_LAUNCH, plan->problem, err);
}

/* The results of a launch are computed here, when they are read. */
static int null_fetch(struct tk_plan *plan, uint32_t set, struct tk_abi_error *err)
{
	const struct tk_tensor *t = plan->tensors[set];
	double bytes = 0;
	int status = null_fault_run(&plan->options, NULL_AT_FETCH, plan->problem, err);
	if (status != TK_ABI_OK || null_fault_is_idle(&plan->options, plan->problem))
		return status;
	if (plan->problem->op == TK_OP_FMA ||
	        null_problem_work(plan->problem, &bytes) <= NULL_MULTIPLY_ADDS_MAX)
		status = null_compute_outputs(plan->problem, t);
	if (status != TK_ABI_OK)
		return fail(err, status, "out of memory");
	for (uint32_t i = 0; i < TK_T_MAX; i++)
		if (t[i].output && t[i].data) {
			null_fault_corrupt(&plan->options, plan->problem, &t[i]);
			break;
		}
	return TK_ABI_OK;
}

static const char *null_version(void)
{
	return "1";
}

KIT_BACKEND(null, "null", "null", null_version,
        "simulated times and every kind of fault, for trying the tracker itself",
        TK_OPERATION_UNALIGNED | TK_OPERATION_GEMM | TK_OPERATION_ATTENTION |
                TK_OPERATION_ATTENTION_BACKWARD | TK_OPERATION_NSA | TK_OPERATION_COPY |
                TK_OPERATION_READ | TK_OPERATION_FMA,
        .configs = null_configs, .fetch = null_fetch, .space = null_space)
