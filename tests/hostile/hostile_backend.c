/* A backend that pretends: f32 GEMM on the CPU, right whenever it works, with one way of not doing
 * the work that it is timed for. The tricks are those known from benchmarks of generated kernels;
 * honest mistakes (a flag that is never reset, a cache with the wrong key) look the same.
 *
 * cheat=NAME,first=FILE: the first process, which writes its number into the file, is honest.
 *
 *   tracker run ./tk_backend_hostile.so gemm:m=64,n=64,k=64 --options=cheat=known_pointers */
#include "tracker_abi.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define STOPS_AFTER 20
#define RIGHT_UNTIL 20

enum cheat {
	HONEST,
	SKIPS_WHAT_IS_NOT_NAN, /* the tracker fills outputs with NaN before the first launch */
	SKIPS_KNOWN_POINTERS,
	ONLY_FIRST_AND_LAST_SET,
	STOPS_AFTER_SOME_LAUNCHES,
	WRONG_AFTER_SOME_LAUNCHES,
	CLAIMS_WORK,
	REMEMBERS_RESULTS, /* copies the result of the first time */
	HALF_OF_THE_ROWS,  /* once all of them have been written */
	ALWAYS_WRONG,
	SIX_TIMES, /* does all of the work six times */
	CHEATS
};

static const char *const names[CHEATS] = {"none", "not_nan", "known_pointers", "first_and_last",
        "stops_after", "wrong_after", "claims", "remembers", "half", "wrong", "six_times"};

struct tk_backend_ctx {
	enum cheat cheat;
};

struct bound {
	const float *a, *b;
	float *c, *result;
	int is_known;
};

struct tk_plan {
	const struct tk_gemm *gemm;
	enum cheat cheat;
	uint32_t sets;
	uint64_t launches;
	struct bound bound[];
};

static int fail(struct tk_abi_error *err, int status, const char *message)
{
	snprintf(err->message, sizeof err->message, "%s", message);
	return status;
}

static const char *hostile_version(void)
{
	return "1";
}

/* Hidden state that outlives a process. */
static int is_first_process(const char *path)
{
	long pid = 0;
	FILE *f = fopen(path, "a+");
	if (!f)
		return 0;
	rewind(f);
	if (fscanf(f, "%ld", &pid) != 1)
		fprintf(f, "%ld\n", pid = (long)getpid());
	fclose(f);
	return pid == (long)getpid();
}

/* CHEATS: unknown. */
static enum cheat parse_options(const char *options)
{
	const char *name = strncmp(options, "cheat=", 6) == 0 ? options + 6 : "none";
	const char *first = strstr(name, ",first=");
	size_t length = first ? (size_t)(first - name) : strlen(name);
	enum cheat cheat = HONEST;
	while (cheat < CHEATS &&
	        (strlen(names[cheat]) != length || strncmp(name, names[cheat], length)))
		cheat++;
	return first && cheat < CHEATS && is_first_process(first + strlen(",first=")) ? HONEST
	                                                                              : cheat;
}

static int hostile_open(
        const struct tk_open_args *args, struct tk_backend_ctx **out, struct tk_abi_error *err)
{
	struct tk_backend_ctx *ctx = calloc(1, sizeof *ctx);
	if (!ctx)
		return fail(err, TK_ABI_NO_MEMORY, "out of memory");
	ctx->cheat = parse_options(args->options);
	if (ctx->cheat == CHEATS) {
		free(ctx);
		return fail(err, TK_ABI_INVALID, "unknown option, expected cheat=NAME");
	}
	*out = ctx;
	return TK_ABI_OK;
}

static void hostile_close(struct tk_backend_ctx *ctx)
{
	free(ctx);
}

static int hostile_supports(
        struct tk_backend_ctx *ctx, const struct tk_problem *p, struct tk_abi_error *err)
{
	const struct tk_gemm *g = p->gemm;
	(void)ctx;
	if (p->op != TK_OP_GEMM || g->a != TK_F32 || g->b != TK_F32 || g->c != TK_F32 || g->ta ||
	        g->tb || g->batch != 1)
		return fail(err, TK_ABI_UNSUPPORTED, "only gemm in f32, not transposed");
	return TK_ABI_OK;
}

static int hostile_plan(struct tk_backend_ctx *ctx, const struct tk_problem *p, const char *config,
        uint32_t sets, struct tk_plan **out, struct tk_plan_info *info, struct tk_abi_error *err)
{
	struct tk_plan *plan = calloc(1, sizeof *plan + sets * sizeof plan->bound[0]);
	(void)config;
	if (!plan)
		return fail(err, TK_ABI_NO_MEMORY, "out of memory");
	plan->gemm = p->gemm;
	plan->cheat = ctx->cheat;
	plan->sets = sets;
	info->deterministic = 1;
	if (plan->cheat == CLAIMS_WORK)
		info->flops = 1e30;
	*out = plan;
	return TK_ABI_OK;
}

static int hostile_bind(struct tk_plan *plan, uint32_t set, const struct tk_tensor *t,
        uint32_t count, struct tk_abi_error *err)
{
	if (set >= plan->sets || count <= TK_T_C)
		return fail(err, TK_ABI_INVALID, "no such set");
	plan->bound[set] = (struct bound){t[TK_T_A].data, t[TK_T_B].data, t[TK_T_C].data, NULL, 0};
	return TK_ABI_OK;
}

static void multiply(const struct tk_gemm *g, const struct bound *t, int64_t rows)
{
	for (int64_t i = 0; i < rows; i++) {
		float *c = t->c + i * g->n;
		memset(c, 0, (size_t)g->n * sizeof *c);
		for (int64_t l = 0; l < g->k; l++)
			for (int64_t j = 0; j < g->n; j++)
				c[j] += t->a[i * g->k + l] * t->b[l * g->n + j];
	}
}

static int is_skipped(const struct tk_plan *plan, const struct bound *t, uint32_t set)
{
	switch (plan->cheat) {
	case SKIPS_WHAT_IS_NOT_NAN:
		return !isnan(t->c[0]);
	case SKIPS_KNOWN_POINTERS:
		return t->is_known;
	case ONLY_FIRST_AND_LAST_SET:
		return set != 0 && set != plan->sets - 1;
	case STOPS_AFTER_SOME_LAUNCHES:
		return plan->launches > STOPS_AFTER;
	default:
		return 0;
	}
}

static void remember(const struct tk_gemm *g, struct bound *t)
{
	size_t bytes = (size_t)(g->m * g->n) * sizeof *t->c;
	if (t->result) {
		memcpy(t->c, t->result, bytes);
		return;
	}
	multiply(g, t, g->m);
	t->result = malloc(bytes);
	if (t->result)
		memcpy(t->result, t->c, bytes);
}

static int hostile_launch(
        struct tk_plan *plan, void *stream, uint32_t set, struct tk_abi_error *err)
{
	struct bound *t = &plan->bound[set];
	const struct tk_gemm *g = plan->gemm;
	(void)stream;
	(void)err;
	plan->launches++;
	if (is_skipped(plan, t, set))
		return TK_ABI_OK;
	if (plan->cheat == REMEMBERS_RESULTS)
		remember(g, t);
	else
		multiply(g, t, plan->cheat == HALF_OF_THE_ROWS && t->is_known ? g->m / 2 : g->m);
	t->is_known = 1;
	for (int i = 1; plan->cheat == SIX_TIMES && i < 6; i++)
		multiply(g, t, g->m);
	if (plan->cheat == ALWAYS_WRONG)
		t->c[0] += 100;
	if (plan->cheat == WRONG_AFTER_SOME_LAUNCHES && plan->launches > RIGHT_UNTIL)
		t->c[g->m * g->n / 2] += 100;
	return TK_ABI_OK;
}

static void hostile_unplan(struct tk_plan *plan)
{
	for (uint32_t i = 0; i < plan->sets; i++)
		free(plan->bound[i].result);
	free(plan);
}

static const struct tk_backend hostile = {
        .size = sizeof hostile,
        .abi_major = TK_ABI_MAJOR,
        .abi_minor = TK_ABI_MINOR,
        .name = "hostile",
        .device_kind = "cpu",
        .description = "f32 GEMM that may pretend to work, for tests of the checks",
        .version = hostile_version,
        .open = hostile_open,
        .close = hostile_close,
        .supports = hostile_supports,
        .plan = hostile_plan,
        .bind = hostile_bind,
        .launch = hostile_launch,
        .unplan = hostile_unplan,
        .operations = TK_OPERATION_GEMM,
};

TK_EXPORT const struct tk_backend *tk_backend_entry(void)
{
	return &hostile;
}
