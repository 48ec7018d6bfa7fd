/* A complete backend in one file: f32 GEMM on the CPU, slow and right. Copy it, put your library's
 * calls into plan and launch.
 *
 *   cc -std=c11 -O3 -fPIC -shared -fvisibility=hidden -I<tracker>/kernels/abi \
 *           -o lib/tk_backend_skeleton.so skeleton_backend.c
 */
#include "tracker_abi.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What open() sets up and every plan may use: a handle of the library, its threads. */
struct tk_backend_ctx {
	uint32_t threads;
};

/* The tensors of one input set. The tracker binds several and rotates, so that caches are cold. */
struct bound {
	const float *a, *b;
	float *c;
};

/* One problem, ready to launch. */
struct tk_plan {
	const struct tk_gemm *gemm; /* the tracker's; it outlives the plan */
	uint32_t sets;
	struct bound bound[];
};

static int fail(struct tk_abi_error *err, int status, const char *message)
{
	snprintf(err->message, sizeof(err->message), "%s", message);
	return status;
}

/* What the library says of itself. It is called before open(). */
static const char *skeleton_version(void)
{
	return "1.0";
}

static int skeleton_open(
        const struct tk_open_args *args, struct tk_backend_ctx **out, struct tk_abi_error *err)
{
	struct tk_backend_ctx *ctx = calloc(1, sizeof(*ctx));
	if (!ctx)
		return fail(err, TK_ABI_NO_MEMORY, "no memory for the context");
	ctx->threads = args->threads ? args->threads : 1;
	*out = ctx;
	return TK_ABI_OK;
}

static void skeleton_close(struct tk_backend_ctx *ctx)
{
	free(ctx);
}

/* Say no early, with the reason: "unsupported" is an outcome, not a failure. For problems of other
 * operations than those in `operations` a night has no job. */
static int skeleton_supports(
        struct tk_backend_ctx *ctx, const struct tk_problem *problem, struct tk_abi_error *err)
{
	(void)ctx;
	if (problem->op != TK_OP_GEMM)
		return fail(err, TK_ABI_UNSUPPORTED, "only gemm");
	const struct tk_gemm *g = problem->gemm;
	if (g->a != TK_F32 || g->b != TK_F32 || g->c != TK_F32 || g->acc != TK_F32)
		return fail(err, TK_ABI_UNSUPPORTED, "only f32");
	return TK_ABI_OK;
}

/* Everything that is done once: choosing an algorithm, compiling, allocating the workspace. It
 * is not timed. */
static int skeleton_plan(struct tk_backend_ctx *ctx, const struct tk_problem *problem,
        const char *config, uint32_t sets, struct tk_plan **out, struct tk_plan_info *info,
        struct tk_abi_error *err)
{
	if (config && *config && strcmp(config, "default"))
		return fail(err, TK_ABI_INVALID, "the only configuration is \"default\"");
	int status = skeleton_supports(ctx, problem, err);
	if (status)
		return status;
	struct tk_plan *plan = calloc(1, sizeof(*plan) + sets * sizeof(plan->bound[0]));
	if (!plan)
		return fail(err, TK_ABI_NO_MEMORY, "no memory for the plan");
	plan->gemm = problem->gemm;
	plan->sets = sets;
	snprintf(info->kernel, sizeof(info->kernel), "skeleton_gemm");
	info->deterministic = 1;
	*out = plan;
	return TK_ABI_OK;
}

/* tensors[] is indexed by enum tk_tensor_id. */
static int skeleton_bind(struct tk_plan *plan, uint32_t set, const struct tk_tensor *tensors,
        uint32_t count, struct tk_abi_error *err)
{
	if (set >= plan->sets || count <= TK_T_C)
		return fail(err, TK_ABI_INVALID, "no such set, or too few tensors");
	plan->bound[set] =
	        (struct bound){tensors[TK_T_A].data, tensors[TK_T_B].data, tensors[TK_T_C].data};
	return TK_ABI_OK;
}

/* One matrix of the batch. */
static void gemm(const struct tk_gemm *g, const float *a, const float *b, float *c)
{
	for (int64_t i = 0; i < g->m; i++) {
		for (int64_t j = 0; j < g->n; j++) {
			float sum = 0;
			for (int64_t l = 0; l < g->k; l++)
				sum += (g->ta ? a[l * g->m + i] : a[i * g->k + l]) *
				       (g->tb ? b[j * g->k + l] : b[l * g->n + j]);
			c[i * g->n + j] = sum;
		}
	}
}

/* This is what is timed: one execution on one input set. On a GPU it only enqueues work on
 * `stream`. */
static int skeleton_launch(
        struct tk_plan *plan, void *stream, uint32_t set, struct tk_abi_error *err)
{
	const struct tk_gemm *g = plan->gemm;
	const struct bound *t = &plan->bound[set];
	(void)stream;
	(void)err;
	for (int64_t i = 0; i < g->batch; i++)
		gemm(g, t->a + i * g->m * g->k, t->b + i * g->k * g->n, t->c + i * g->m * g->n);
	return TK_ABI_OK;
}

static void skeleton_unplan(struct tk_plan *plan)
{
	free(plan);
}

static const struct tk_backend skeleton = {
        .size = sizeof(skeleton),
        .abi_major = TK_ABI_MAJOR,
        .abi_minor = TK_ABI_MINOR,
        .name = "skeleton", /* tk_backend_skeleton.so */
        .device_kind = "cpu",
        .description = "f32 GEMM in three loops: an example",
        .version = skeleton_version,
        .open = skeleton_open,
        .close = skeleton_close,
        .supports = skeleton_supports,
        .plan = skeleton_plan,
        .bind = skeleton_bind,
        .launch = skeleton_launch,
        .unplan = skeleton_unplan,
        .operations = TK_OPERATION_GEMM,
};

TK_EXPORT const struct tk_backend *tk_backend_entry(void)
{
	return &skeleton;
}
