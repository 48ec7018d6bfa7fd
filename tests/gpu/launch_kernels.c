/* Launches kernels in this process, without a worker, for tools that watch a process:
 * compute-sanitizer, ncu. Each problem is launched twice on the same inputs, with all bits of its
 * outputs set before; the outputs must be equal, bit for bit.
 *
 * usage: launch_kernels DEVICE.so BACKEND.so CONFIG PROBLEM...
 *   CONFIG     "default", or one of the backend's
 *   exit code  0; 1: two launches differ; 2: something failed. Unsupported problems are printed and
 *              do not count. */
#include "core/problem.h"
#include "measure/measure.h"
#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct bench {
	const struct tk_device_ops *ops;
	struct tk_device *device;
	const struct tk_backend *backend;
	struct tk_backend_ctx *ctx;
	struct tk_problem_spec problem;
	struct tk_tensor tensors[TK_T_MAX];
	uint32_t count;
	unsigned char *first[TK_T_MAX], *host;
};

static struct tk_abi_error why = {.size = sizeof why};

static void check(int status, const char *what)
{
	if (status == TK_ABI_OK)
		return;
	fprintf(stderr, "%s: %s\n", what, why.message);
	exit(2);
}

static void *entry(const char *path, const char *name)
{
	void *module = dlopen(path, RTLD_NOW), *symbol = module ? dlsym(module, name) : NULL;
	if (!symbol) {
		fprintf(stderr, "%s\n", dlerror());
		exit(2);
	}
	return symbol;
}

static void open_modules(struct bench *b, const char *device, const char *backend)
{
	const struct tk_device_ops *(*ops)(void);
	const struct tk_backend *(*of)(void);
	*(void **)&ops = entry(device, "tk_device_entry");
	*(void **)&of = entry(backend, "tk_backend_entry");
	b->ops = ops();
	b->backend = of();
	check(b->ops->open(0, &b->device, &why), "opening the device");
	struct tk_open_args args = {
	        .size = sizeof args, .device = b->device, .device_ops = b->ops, .options = ""};
	args.device_info.size = sizeof args.device_info;
	check(b->ops->info(b->device, &args.device_info, &why), "asking for the device");
	check(b->backend->open(&args, &b->ctx, &why), "opening the backend");
}

/* A log-sum-exp of 30 makes all weights of a backward pass small; everything else is the
 * tracker's. */
static void fill(struct bench *b, uint32_t i)
{
	struct tk_tensor *t = &b->tensors[i];
	struct tk_error err = {0};
	b->host = malloc(t->bytes);
	if (b->problem.abi.op == TK_OP_ATTENTION && i == TK_T_LSE)
		for (size_t x = 0; x < t->bytes / sizeof(float); x++)
			((float *)b->host)[x] = 30;
	else if (tk_inputs_fill(&b->problem, i, 1, b->host, &err)) {
		fprintf(stderr, "inputs: %s\n", err.message);
		exit(2);
	}
	check(b->ops->upload(b->device, t->data, b->host, t->bytes, &why), "upload");
	free(b->host);
}

static void make_tensors(struct bench *b)
{
	struct tk_error err = {0};
	if (tk_problem_list_tensors(&b->problem, b->tensors, &b->count, &err)) {
		fprintf(stderr, "%s\n", err.message);
		exit(2);
	}
	for (uint32_t i = 0; i < b->count; i++) {
		check(b->ops->alloc(b->device, b->tensors[i].bytes, &b->tensors[i].data, &why),
		        "memory");
		if (!b->tensors[i].output)
			fill(b, i);
	}
}

static void launch(struct bench *b, struct tk_plan *plan)
{
	for (uint32_t i = 0; i < b->count; i++)
		if (b->tensors[i].output)
			check(b->ops->fill(b->device, b->tensors[i].data, 0xff, b->tensors[i].bytes,
			              &why),
			        "fill");
	check(b->backend->launch(plan, NULL, 0, &why), "launch");
	check(b->ops->synchronize(b->device, NULL, &why), "synchronize");
}

/* The outputs of the first launch are kept, those of the second compared. */
static int look(struct bench *b, int again)
{
	int differs = 0;
	for (uint32_t i = 0; i < b->count; i++) {
		const struct tk_tensor *t = &b->tensors[i];
		if (!t->output)
			continue;
		unsigned char *now = malloc(t->bytes);
		check(b->ops->download(b->device, now, t->data, t->bytes, &why), "download");
		if (again) {
			differs += memcmp(now, b->first[i], t->bytes) != 0;
			free(b->first[i]);
			free(now);
		} else
			b->first[i] = now;
	}
	return differs;
}

static int run(struct bench *b, const char *config, const char *text)
{
	struct tk_error err = {0};
	struct tk_plan *plan = NULL;
	struct tk_plan_info info = {.size = sizeof info, .flops = NAN, .bytes = NAN};
	if (tk_problem_parse(&b->problem, text, &err)) {
		fprintf(stderr, "%s\n", err.message);
		exit(2);
	}
	int status = b->backend->plan(b->ctx, &b->problem.abi, config, 1, &plan, &info, &why);
	if (status == TK_ABI_UNSUPPORTED) {
		printf("unsupported %s: %s\n", text, why.message);
		return 0;
	}
	check(status, "plan");
	make_tensors(b);
	check(b->backend->bind(plan, 0, b->tensors, b->count, &why), "bind");
	launch(b, plan);
	look(b, 0);
	launch(b, plan);
	int differs = look(b, 1);
	printf("%s %s %s\n", differs ? "DIFFERS" : "same", b->backend->name, text);
	b->backend->unplan(plan);
	for (uint32_t i = 0; i < b->count; i++)
		b->ops->release(b->device, b->tensors[i].data);
	return differs;
}

int main(int argc, char **argv)
{
	struct bench b = {0};
	int differs = 0;
	if (argc < 5) {
		fprintf(stderr, "usage: launch_kernels DEVICE.so BACKEND.so CONFIG PROBLEM...\n");
		return 2;
	}
	open_modules(&b, argv[1], argv[2]);
	for (int i = 4; i < argc; i++)
		differs += run(&b, argv[3], argv[i]);
	b.backend->close(b.ctx);
	b.ops->close(b.device);
	return differs ? 1 : 0;
}
