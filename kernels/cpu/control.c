/* The control: a GEMM that never changes, so that a change of its time is the machine's and nobody's code.
 *
 * One file, one thread, no instruction set beyond the baseline, its own compiler flags (CMakeLists.txt): what it
 * compiles to depends on nothing else in the tree. Do not improve it: an edit here breaks the history of every machine.
 */
#include "tracker_abi.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct tk_backend_ctx {
	int unused;
};

struct bound {
	const float *a, *b;
	float *c;
};

struct tk_plan {
	const struct tk_gemm *g;
	uint32_t sets;
	struct bound bound[];
};

static int fail(struct tk_abi_error *err, int status, const char *message)
{
	if (err)
		snprintf(err->message, sizeof(err->message), "%s", message);
	return status;
}

static const char *control_version(void)
{
	return "1";
}

static int control_open(const struct tk_open_args *args, struct tk_backend_ctx **out, struct tk_abi_error *err)
{
	*out = calloc(1, sizeof(**out));
	return *out ? TK_ABI_OK : fail(err, TK_ABI_NO_MEMORY, "no memory for the context");
}

static void control_close(struct tk_backend_ctx *ctx)
{
	free(ctx);
}

static int control_supports(struct tk_backend_ctx *ctx, const struct tk_problem *p, struct tk_abi_error *err)
{
	if (p->op != TK_OP_GEMM)
		return fail(err, TK_ABI_UNSUPPORTED, "only gemm");
	const struct tk_gemm *g = p->gemm;
	if (g->a != TK_F32 || g->b != TK_F32 || g->c != TK_F32 || g->acc != TK_F32)
		return fail(err, TK_ABI_UNSUPPORTED, "only f32");
	return TK_ABI_OK;
}

static int control_plan(struct tk_backend_ctx *ctx, const struct tk_problem *p, const char *config, uint32_t sets,
        struct tk_plan **out, struct tk_plan_info *info, struct tk_abi_error *err)
{
	int rc = control_supports(ctx, p, err);
	if (rc)
		return rc;
	if (config && *config && strcmp(config, "default") != 0)
		return fail(err, TK_ABI_INVALID, "the control has no configurations but `default`");
	struct tk_plan *plan = calloc(1, sizeof(*plan) + sets * sizeof(plan->bound[0]));
	if (!plan)
		return fail(err, TK_ABI_NO_MEMORY, "no memory for the plan");
	plan->g = p->gemm;
	plan->sets = sets;
	snprintf(info->kernel, sizeof(info->kernel), "control_gemm");
	info->workspace_bytes = 0;
	info->capturable = 0;
	info->deterministic = 1;
	*out = plan;
	return TK_ABI_OK;
}

static int control_bind(
        struct tk_plan *plan, uint32_t set, const struct tk_tensor *t, uint32_t count, struct tk_abi_error *err)
{
	if (set >= plan->sets || count < 3)
		return fail(err, TK_ABI_INVALID, "no such input set, or fewer than three tensors");
	plan->bound[set] = (struct bound){t[TK_T_A].data, t[TK_T_B].data, t[TK_T_C].data};
	return TK_ABI_OK;
}

static int control_launch(struct tk_plan *plan, void *stream, uint32_t set, struct tk_abi_error *err)
{
	const struct tk_gemm *g = plan->g;
	const struct bound *t = &plan->bound[set];
	const int64_t a_row = g->ta ? 1 : g->k, a_step = g->ta ? g->m : 1, b_step = g->tb ? 1 : g->n,
	              b_column = g->tb ? g->k : 1;
	for (int64_t x = 0; x < g->batch; x++) {
		const float *a = t->a + x * g->m * g->k, *b = t->b + x * g->k * g->n;
		float *c = t->c + x * g->m * g->n;
		for (int64_t i = 0; i < g->m; i++, c += g->n) {
			memset(c, 0, (size_t)g->n * sizeof(*c));
			for (int64_t p = 0; p < g->k; p++) {
				const float factor = a[i * a_row + p * a_step];
				for (int64_t j = 0; j < g->n; j++)
					c[j] += factor * b[p * b_step + j * b_column];
			}
		}
	}
	return TK_ABI_OK;
}

static void control_unplan(struct tk_plan *plan)
{
	free(plan);
}

const struct tk_backend *tk_backend_entry(void)
{
	static const struct tk_backend backend = {
	        .size = sizeof(backend),
	        .abi_major = TK_ABI_MAJOR,
	        .abi_minor = TK_ABI_MINOR,
	        .name = "control",
	        .device_kind = "cpu",
	        .description = "a GEMM whose code never changes: tells the machine's drift from a kernel's change",
	        .version = control_version,
	        .open = control_open,
	        .close = control_close,
	        .supports = control_supports,
	        .plan = control_plan,
	        .bind = control_bind,
	        .launch = control_launch,
	        .unplan = control_unplan,
	};
	return &backend;
}
