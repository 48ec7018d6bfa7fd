/* What the controls of all kinds of device share: everything but the product itself, which is in
 * control.c of each kind. The including file defines CONTROL_NAME, CONTROL_KIND, CONTROL_TEXT and
 * CONTROL_CAPTURABLE, and implements control_reject_reason() and control_run(). A change here
 * changes the machine code of all controls, which breaks the history of every machine. */
#ifndef TK_CONTROL_H
#define TK_CONTROL_H
#include "tracker_abi.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct tk_backend_ctx {
	int unused;
};

struct control_operands {
	const float *a, *b;
	float *c;
};

struct tk_plan {
	const struct tk_gemm *g;
	uint32_t sets;
	struct control_operands bound[];
};

/* Why the control cannot run this f32 product; NULL if it can. */
static const char *control_reject_reason(const struct tk_gemm *g);
static int control_run(const struct tk_gemm *g, const struct control_operands *t, void *stream,
        struct tk_abi_error *err);

static int control_fail(struct tk_abi_error *err, int status, const char *message)
{
	if (err)
		snprintf(err->message, sizeof(err->message), "%s", message);
	return status;
}

static const char *control_version(void)
{
	return "1";
}

static int control_open(
        const struct tk_open_args *args, struct tk_backend_ctx **out, struct tk_abi_error *err)
{
	*out = calloc(1, sizeof(**out));
	return *out ? TK_ABI_OK : control_fail(err, TK_ABI_NO_MEMORY, "no memory for the context");
}

static void control_close(struct tk_backend_ctx *ctx)
{
	free(ctx);
}

static int control_supports(
        struct tk_backend_ctx *ctx, const struct tk_problem *p, struct tk_abi_error *err)
{
	if (p->op != TK_OP_GEMM)
		return control_fail(err, TK_ABI_UNSUPPORTED, "only gemm");
	const struct tk_gemm *g = p->gemm;
	if (g->a != TK_F32 || g->b != TK_F32 || g->c != TK_F32 || g->acc != TK_F32)
		return control_fail(err, TK_ABI_UNSUPPORTED, "only f32");
	const char *why = control_reject_reason(g);
	return why ? control_fail(err, TK_ABI_UNSUPPORTED, why) : TK_ABI_OK;
}

static int control_plan(struct tk_backend_ctx *ctx, const struct tk_problem *p, const char *config,
        uint32_t sets, struct tk_plan **out, struct tk_plan_info *info, struct tk_abi_error *err)
{
	int status = control_supports(ctx, p, err);
	if (status)
		return status;
	if (config && *config && strcmp(config, "default") != 0)
		return control_fail(
		        err, TK_ABI_INVALID, "the control has no configurations but `default`");
	struct tk_plan *plan = calloc(1, sizeof(*plan) + sets * sizeof(plan->bound[0]));
	if (!plan)
		return control_fail(err, TK_ABI_NO_MEMORY, "no memory for the plan");
	plan->g = p->gemm;
	plan->sets = sets;
	snprintf(info->kernel, sizeof(info->kernel), "control_gemm");
	info->workspace_bytes = 0;
	info->capturable = CONTROL_CAPTURABLE;
	info->deterministic = 1;
	*out = plan;
	return TK_ABI_OK;
}

static int control_bind(struct tk_plan *plan, uint32_t set, const struct tk_tensor *t,
        uint32_t count, struct tk_abi_error *err)
{
	if (set >= plan->sets || count < 3)
		return control_fail(
		        err, TK_ABI_INVALID, "no such input set, or fewer than three tensors");
	plan->bound[set] =
	        (struct control_operands){t[TK_T_A].data, t[TK_T_B].data, t[TK_T_C].data};
	return TK_ABI_OK;
}

static int control_launch(
        struct tk_plan *plan, void *stream, uint32_t set, struct tk_abi_error *err)
{
	return control_run(plan->g, &plan->bound[set], stream, err);
}

static void control_unplan(struct tk_plan *plan)
{
	free(plan);
}

const struct tk_backend *tk_backend_entry(void)
{
	static const struct tk_backend backend = {
	        .size = sizeof backend,
	        .abi_major = TK_ABI_MAJOR,
	        .abi_minor = TK_ABI_MINOR,
	        .name = CONTROL_NAME,
	        .device_kind = CONTROL_KIND,
	        .description = CONTROL_TEXT,
	        .version = control_version,
	        .open = control_open,
	        .close = control_close,
	        .supports = control_supports,
	        .plan = control_plan,
	        .bind = control_bind,
	        .launch = control_launch,
	        .unplan = control_unplan,
	        .operations = TK_OPERATION_GEMM,
	};
	return &backend;
}

#endif
