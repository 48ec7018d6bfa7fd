/* f32 GEMM on the CPU that records regions of its own making: four blocks on two multiprocessors
 * with a producer and a consumer each, which takes two tiles, at 1,000 MHz, so that every figure of
 * a trace is known.
 * Options: softmax=NS (longer), load=NS (longer), lie=NAME (a trace that cannot be true). SPIN_US:
 * how long a launch lasts at least. */
#include "tracker_abi.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#ifndef SPIN_US
#define SPIN_US 0
#endif

enum {
	BLOCKS = 4,
	GROUPS = 2,
	STEPS = 10,
	LOAD_NS = 200,
	WAIT_NS = 100,
	MULTIPLY_NS = 300,
	SOFTMAX_NS = 150,
	RECORD_NS = 4,
	NOISE_BYTES = 1024
};
enum { LOAD, WAIT, MULTIPLY, SOFTMAX, REGIONS };

static struct tk_trace_memory memory;
static const char *const group_names[] = {"producer", "consumer"};
static const struct tk_trace_region regions[] = {{"load", TK_TRACE_LOAD},
        {"wait for data", TK_TRACE_WAIT}, {"multiply", TK_TRACE_TENSOR},
        {"softmax", TK_TRACE_COMPUTE}};

static int set_memory(const struct tk_trace_memory *m)
{
	memory = *m;
	return 0;
}

static const struct tk_trace_kernel kernel = {.size = sizeof kernel,
        .name = "traced_gemm",
        .groups = group_names,
        .group_count = GROUPS,
        .regions = regions,
        .region_count = REGIONS,
        .record = set_memory};

#ifdef TRACED
const struct tk_trace_kernel *const *tk_trace_entry(uint32_t *count)
{
	static const struct tk_trace_kernel *const kernels[] = {&kernel};
	*count = 1;
	return kernels;
}
#endif

struct tk_backend_ctx {
	long softmax_ns, load_ns;
	char lie[32];
};

struct tk_plan {
	struct tk_backend_ctx *ctx;
	const struct tk_gemm *g;
	struct {
		const float *a, *b;
		float *c;
	} sets[];
};

/* ---- what it records ---- */

struct ring_writer {
	struct tk_trace_record *records;
	uint32_t next, clock;
};

static void put(struct ring_writer *w, unsigned does, enum tk_trace_event event, unsigned async,
        unsigned token)
{
	w->records[w->next++ & (memory.slots - 1)] =
	        (struct tk_trace_record){w->clock, (unsigned char)does, (unsigned char)event,
	                (unsigned char)async, (unsigned char)token};
	w->clock += RECORD_NS;
}

/* The product runs while the softmax of the step before is computed. */
static void record_steps(struct ring_writer *w, const struct tk_backend_ctx *ctx, unsigned group)
{
	for (unsigned i = 0; i < 4; i++)
		put(w, TK_TRACE_CALIBRATION, TK_TRACE_DOES, 0, 0);
	for (unsigned i = 0; i < STEPS; i++) {
		put(w, group ? WAIT : LOAD,
		        group && i % (STEPS / 2) == 0 ? TK_TRACE_BEGIN_TILE : TK_TRACE_DOES, 0, 0);
		w->clock += (uint32_t)((group ? WAIT_NS : LOAD_NS) + ctx->load_ns + rand() % 3);
		if (group == 0)
			continue;
		put(w, SOFTMAX, TK_TRACE_BEGIN_ASYNC, MULTIPLY, i % 2);
		w->clock += (uint32_t)(SOFTMAX_NS + ctx->softmax_ns + rand() % 3);
		put(w, TK_TRACE_NOTHING, TK_TRACE_DOES, 0, 0);
		w->clock += MULTIPLY_NS - SOFTMAX_NS;
		put(w, TK_TRACE_NOTHING, TK_TRACE_END_ASYNC, MULTIPLY, i % 2);
	}
}

static void record_ring(const struct tk_backend_ctx *ctx, uint32_t block, uint32_t group)
{
	uint32_t index = block * memory.groups + group;
	struct tk_trace_ring *ring = memory.rings + index;
	struct ring_writer w = {memory.records + (size_t)index * memory.slots, 0, 0xfffffff1u};
	*ring = (struct tk_trace_ring){.block = block,
	        .group = group,
	        .multiprocessor = 7 * (block % 2),
	        .begin_clock = w.clock, /* wraps around at once */
	        .begin_ns = 1000000 + block / 2 * 64};
	record_steps(&w, ctx, group);
	ring->end_clock = w.clock;
	ring->next = w.next & (memory.slots - 1);
	ring->end_ns = ring->begin_ns + (uint32_t)(ring->end_clock - ring->begin_clock);
	if (strcmp(ctx->lie, "next") == 0)
		ring->next = UINT32_MAX;
	if (strcmp(ctx->lie, "group") == 0)
		ring->group = 1000;
	if (strcmp(ctx->lie, "backwards") == 0)
		ring->end_ns = 1;
	if (strcmp(ctx->lie, "noise") == 0)
		for (uint32_t i = 0; i < NOISE_BYTES && i < memory.slots * sizeof(*w.records); i++)
			((char *)w.records)[i] = (char)rand();
}

/* ---- the backend ---- */

static const char *traced_version(void)
{
	return "1";
}

static int traced_open(
        const struct tk_open_args *args, struct tk_backend_ctx **out, struct tk_abi_error *err)
{
	struct tk_backend_ctx *ctx = calloc(1, sizeof *ctx);
	(void)err;
	srand((unsigned)getpid() ^ (unsigned)time(NULL));
	sscanf(args->options, "softmax=%ld", &ctx->softmax_ns);
	sscanf(args->options, "load=%ld", &ctx->load_ns);
	sscanf(args->options, "lie=%31s", ctx->lie);
	*out = ctx;
	return TK_ABI_OK;
}

static void traced_close(struct tk_backend_ctx *ctx)
{
	free(ctx);
}

static int traced_supports(
        struct tk_backend_ctx *ctx, const struct tk_problem *p, struct tk_abi_error *err)
{
	(void)ctx;
	if (p->op == TK_OP_GEMM && p->gemm->a == TK_F32 && p->gemm->batch == 1)
		return TK_ABI_OK;
	snprintf(err->message, sizeof err->message, "only gemm in f32");
	return TK_ABI_UNSUPPORTED;
}

static int traced_plan(struct tk_backend_ctx *ctx, const struct tk_problem *p, const char *config,
        uint32_t sets, struct tk_plan **out, struct tk_plan_info *info, struct tk_abi_error *err)
{
	struct tk_plan *plan = calloc(1, sizeof *plan + sets * sizeof plan->sets[0]);
	(void)err;
	/* configuration "slow": 40 ns more in each softmax */
	if (config && strcmp(config, "slow") == 0)
		ctx->softmax_ns += 40;
	plan->ctx = ctx;
	plan->g = p->gemm;
	info->deterministic = 1;
	*out = plan;
	return TK_ABI_OK;
}

static int traced_bind(struct tk_plan *plan, uint32_t set, const struct tk_tensor *t,
        uint32_t count, struct tk_abi_error *err)
{
	(void)count;
	(void)err;
	plan->sets[set].a = t[TK_T_A].data;
	plan->sets[set].b = t[TK_T_B].data;
	plan->sets[set].c = t[TK_T_C].data;
	return TK_ABI_OK;
}

static double now_us(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static int traced_launch(struct tk_plan *plan, void *stream, uint32_t set, struct tk_abi_error *err)
{
	const struct tk_gemm *g = plan->g;
	double end_us = now_us() + SPIN_US;
	(void)stream;
	(void)err;
	while (now_us() < end_us)
		;
	for (int64_t i = 0; i < g->m; i++)
		for (int64_t j = 0; j < g->n; j++) {
			double sum = 0;
			for (int64_t k = 0; k < g->k; k++)
				sum += (double)plan->sets[set].a[i * g->k + k] *
				       plan->sets[set].b[k * g->n + j];
			plan->sets[set].c[i * g->n + j] = (float)sum;
		}
	for (uint32_t i = 0; memory.rings && i < BLOCKS && i < memory.blocks; i++)
		for (uint32_t k = 0; k < GROUPS && strcmp(plan->ctx->lie, "none"); k++)
			record_ring(plan->ctx, i, k);
	return TK_ABI_OK;
}

static void traced_unplan(struct tk_plan *plan)
{
	free(plan);
}

const struct tk_backend *tk_backend_entry(void)
{
	static const struct tk_backend backend = {.size = sizeof backend,
	        .abi_major = TK_ABI_MAJOR,
	        .abi_minor = TK_ABI_MINOR,
	        .name = "traced",
	        .device_kind = "cpu",
	        .description = "records regions of its own making",
	        .version = traced_version,
	        .open = traced_open,
	        .close = traced_close,
	        .supports = traced_supports,
	        .plan = traced_plan,
	        .bind = traced_bind,
	        .launch = traced_launch,
	        .unplan = traced_unplan,
	        .operations = TK_OPERATION_GEMM};
	return &backend;
}
