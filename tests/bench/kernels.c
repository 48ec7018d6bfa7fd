/* GFLOP/s of the CPU backends without the tracker: one launch after the other on warm caches, the
 * fastest counts.
 *
 * usage: bench_kernels [--at-least=PERCENT] Prints one line for each backend and problem. With
 * --at-least, the exit code is 1 if `cpu` reaches less than that share of `openblas` on the f32
 * GEMM of 1024 (77 without openblas). The tracker's own numbers are medians on cold caches: not
 * comparable. */
#include "element.h"
#include "tracker_abi.h"
#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct bench {
	const char *title;
	double flops;
	struct tk_problem problem;
	int tensors;
	int64_t elements[5];
	uint32_t dtype;
};

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static struct bench gemm(const char *title, struct tk_gemm *g)
{
	return (struct bench){.title = title,
	        .flops = 2.0 * (double)g->m * (double)g->n * (double)g->k,
	        .tensors = 3,
	        .dtype = g->a,
	        .problem = {.size = sizeof(struct tk_problem),
	                .op = TK_OP_GEMM,
	                .text = title,
	                .gemm = g},
	        .elements = {g->m * g->k, g->k * g->n, g->m * g->n}};
}

static struct bench attention(const char *title, struct tk_attention *a)
{
	double pairs = (double)a->sq * (double)a->skv * (a->causal ? 0.5 : 1);
	return (struct bench){.title = title,
	        .flops = 4.0 * (double)a->b * (double)a->h * pairs * (double)a->d,
	        .tensors = 4,
	        .dtype = a->dtype,
	        .problem = {.size = sizeof(struct tk_problem),
	                .op = TK_OP_ATTENTION,
	                .text = title,
	                .attention = a},
	        .elements = {a->b * a->sq * a->h * a->d, a->b * a->skv * a->hkv * a->d,
	                a->b * a->skv * a->hkv * a->d, a->b * a->sq * a->h * a->d}};
}

static const struct tk_backend *load(const char *name)
{
	char path[4096];
	snprintf(path, sizeof(path), TK_MODULE_DIR "/tk_backend_%s.so", name);
	void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	const struct tk_backend *(*entry)(void) = NULL;
	if (handle)
		*(void **)&entry = dlsym(handle, "tk_backend_entry");
	return entry ? entry() : NULL;
}

static void make_tensors(const struct bench *b, struct tk_tensor *t)
{
	uint64_t seed = 1;
	for (int i = 0; i < b->tensors; i++) {
		t[i] = (struct tk_tensor){.size = sizeof(t[i]), .dtype = b->dtype};
		t[i].bytes = (size_t)b->elements[i] * tk_element_bytes(b->dtype);
		t[i].data = aligned_alloc(256, (t[i].bytes + 255) / 256 * 256);
		for (int64_t j = 0; t[i].data && j < b->elements[i]; j++) {
			seed = seed * 6364136223846793005u + 1442695040888963407u;
			tk_element_store(b->dtype, t[i].data, j,
			        (double)(int64_t)(seed >> 40) / (1 << 23) - 1);
		}
	}
}

/* Seconds of the fastest launch within two seconds, or -1 where the backend does not do the
 * problem. */
static double fastest(const struct tk_backend *backend, struct tk_backend_ctx *ctx, struct bench *b,
        struct tk_plan_info *info)
{
	struct tk_abi_error err = {.size = sizeof(err)};
	struct tk_tensor t[5];
	struct tk_plan *plan;
	if (backend->plan(ctx, &b->problem, NULL, 1, &plan, info, &err))
		return -1;
	make_tensors(b, t);
	double best = INFINITY;
	if (backend->bind(plan, 0, t, (uint32_t)b->tensors, &err) == TK_ABI_OK)
		for (double end = now() + 2; now() < end;) {
			double start = now();
			backend->launch(plan, NULL, 0, &err);
			best = fmin(best, now() - start);
		}
	backend->unplan(plan);
	for (int i = 0; i < b->tensors; i++)
		free(t[i].data);
	return best;
}

/* Prints the lines of a backend; GFLOP/s of the first problem, or 0. */
static double run(const char *name, const char *options, struct bench *benches, size_t count)
{
	const struct tk_backend *backend = load(name);
	struct tk_open_args args = {.size = sizeof(args), .options = options};
	struct tk_abi_error err = {.size = sizeof(err)};
	struct tk_backend_ctx *ctx;
	double first = 0;
	if (!backend || backend->open(&args, &ctx, &err))
		return 0;
	for (size_t i = 0; i < count; i++) {
		struct tk_plan_info info = {.size = sizeof(info)};
		double seconds = fastest(backend, ctx, &benches[i], &info);
		if (seconds <= 0)
			continue;
		printf("%-10s %-12s %-38s %-24s %9.3f ms %8.1f GFLOP/s\n", name, options,
		        benches[i].title, info.kernel, seconds * 1e3,
		        benches[i].flops / seconds / 1e9);
		if (i == 0)
			first = benches[i].flops / seconds / 1e9;
	}
	backend->close(ctx);
	return first;
}

int main(int argc, char **argv)
{
	struct tk_gemm f32 = {sizeof(f32), 1024, 1024, 1024, 1, 0, 0, TK_F32, TK_F32, TK_F32,
	                       TK_F32},
	               bf16 = f32, few = f32;
	struct tk_attention dense = {sizeof(dense), 1, 8, 8, 1024, 1024, 64, 64, TK_F32, 0, TK_FWD,
	                            0.125},
	                    grouped = dense;
	bf16.a = bf16.b = bf16.c = TK_BF16, bf16.tb = 1;
	few.m = 16, few.n = few.k = 4096;
	grouped.b = 2, grouped.h = 16, grouped.hkv = 2, grouped.d = grouped.dv = 128,
	grouped.causal = 1, grouped.dtype = TK_BF16;
	struct bench benches[] = {gemm("gemm f32 1024", &f32), gemm("gemm bf16 1024 nt", &bf16),
	        gemm("gemm f32 16x4096x4096", &few), attention("attention f32 8x1024x64", &dense),
	        attention("attention bf16 2x16/2x1024x128 causal", &grouped)};
	size_t count = sizeof(benches) / sizeof(benches[0]);

	double openblas = run("openblas", "", benches, count), cpu = run("cpu", "", benches, count);
	run("cpu", "isa=avx2", benches, count);
	run("cpu", "isa=generic", benches, count);
	if (argc != 2 || strncmp(argv[1], "--at-least=", 11) != 0)
		return 0;
	if (openblas <= 0)
		return 77;
	printf("cpu reaches %.0f %% of openblas on %s\n", cpu / openblas * 100, benches[0].title);
	return cpu >= openblas * atof(argv[1] + 11) / 100 ? 0 : 1;
}
