/* The backend of Python packages: an adapter in Python makes one callable for each input set, and
 * this calls it. tracker_host.py is the other side. It runs in a worker that was started inside
 * Python. docs/explanation/python-libraries.md describes what is timed. */
#include "kit.h"
#include "python_api.h"
#include <stdbool.h>
#include <time.h>

#ifdef TK_PYTHON_CUDA
#define KIND "cuda"
#else
#define KIND "cpu"
#endif
/* Bytes that always suffice for the JSON of a problem, and of its tensors. */
#define PYTHON_PROBLEM_SIZE 2048
#define PYTHON_TENSORS_SIZE 4096
#define CONFIGS_MAX 256
#define CONFIGS_SIZE 16384
#define CALL_ROUNDS 9
#define CALLS_A_ROUND 1000

struct tk_backend_ctx {
	const struct tk_device_ops *ops;
	struct tk_device *device;
	struct python_object *host, *nothing, *collect;
	char config_text[CONFIGS_SIZE]; /* the names of the last problem */
	const char *configs[CONFIGS_MAX];
};

struct input_set {
	struct python_object *call, *outputs;
	struct python_object *result; /* of the last call, where the library makes its outputs */
	struct capture *graph;        /* CUDA */
};

struct tk_plan {
	struct tk_backend_ctx *ctx;
	void *stream; /* CUDA: what is captured is enqueued on it */
	char problem[PYTHON_PROBLEM_SIZE], config[128];
	uint32_t set_count;
	struct input_set sets[];
};

static void drop(struct python_object **o)
{
	if (*o)
		python.release(*o);
	*o = NULL;
}

/* ---- problems and tensors as JSON, for the adapter. All texts are the tracker's own: canonical
 * problems, names of tensors ---- */

static const char *type_name(uint32_t dtype)
{
	static const char *const names[] = {
	        "", "f64", "f32", "tf32", "f16", "bf16", "e4m3", "e5m2", "i32", "i64"};
	return dtype < sizeof names / sizeof *names ? names[dtype] : "";
}

static void write_gemm(const struct tk_gemm *g, char *out, size_t size)
{
	snprintf(out, size,
	        ",\"m\":%lld,\"n\":%lld,\"k\":%lld,\"batch\":%lld,\"ta\":%d,\"tb\":%d,\"a\":\"%s\","
	        "\"b\":\"%s\",\"c\":\"%s\",\"acc\":\"%s\"",
	        (long long)g->m, (long long)g->n, (long long)g->k, (long long)g->batch, g->ta,
	        g->tb, type_name(g->a), type_name(g->b), type_name(g->c), type_name(g->acc));
}

static void write_attention(const struct tk_attention *a, char *out, size_t size)
{
	snprintf(out, size,
	        ",\"b\":%lld,\"h\":%lld,\"hkv\":%lld,\"sq\":%lld,\"skv\":%lld,\"d\":%lld,"
	        "\"dv\":%lld,\"dtype\":\"%s\",\"causal\":%d,\"backward\":%d,\"scale\":%.17g",
	        (long long)a->b, (long long)a->h, (long long)a->hkv, (long long)a->sq,
	        (long long)a->skv, (long long)a->d, (long long)a->dv, type_name(a->dtype),
	        a->causal, a->dir == TK_BWD, a->scale);
}

static void write_nsa(const struct tk_nsa *n, char *out, size_t size)
{
	snprintf(out, size,
	        ",\"b\":%lld,\"h\":%lld,\"hkv\":%lld,\"s\":%lld,\"d\":%lld,\"block_size\":%lld,"
	        "\"selected_blocks\":%lld,\"window\":%lld,\"dtype\":\"%s\",\"causal\":%d,"
	        "\"scale\":%.17g",
	        (long long)n->b, (long long)n->h, (long long)n->hkv, (long long)n->s,
	        (long long)n->d, (long long)n->block_size, (long long)n->selected_blocks,
	        (long long)n->window, type_name(n->dtype), n->causal, n->scale);
}

/* TK_ABI_UNSUPPORTED: an operation that this host does not know. */
static int write_problem(const struct tk_problem *p, char *out, struct tk_abi_error *err)
{
	char members[PYTHON_PROBLEM_SIZE / 2];
	const char *op;
	if (p->gemm) {
		op = "gemm";
		write_gemm(p->gemm, members, sizeof members);
	} else if (p->attention) {
		op = "attention";
		write_attention(p->attention, members, sizeof members);
	} else if (p->nsa) {
		op = "nsa";
		write_nsa(p->nsa, members, sizeof members);
	} else {
		return fail(err, TK_ABI_UNSUPPORTED, "Python packages do not do this operation");
	}
	snprintf(out, PYTHON_PROBLEM_SIZE, "{\"op\":\"%s\",\"text\":\"%.900s\"%s}", op, p->text,
	        members);
	return TK_ABI_OK;
}

/* Tensors that have no memory are left out. */
static void write_tensors(const struct tk_tensor *tensors, uint32_t count, char *out)
{
	size_t used = (size_t)snprintf(out, PYTHON_TENSORS_SIZE, "[");
	const char *separator = "";
	for (uint32_t i = 0; i < count && i < TK_T_MAX; i++) {
		const struct tk_tensor *t = &tensors[i];
		if (!t->data || !t->name)
			continue;
		used += (size_t)snprintf(out + used, PYTHON_TENSORS_SIZE - used,
		        "%s{\"name\":\"%.32s\",\"dtype\":\"%s\",\"pointer\":%llu,\"nbytes\":%zu,"
		        "\"output\":%s,\"shape\":[",
		        separator, t->name, type_name(t->dtype),
		        (unsigned long long)(uintptr_t)t->data, t->bytes,
		        t->output ? "true" : "false");
		for (uint32_t d = 0; d < t->ndim && d < 5; d++)
			used += (size_t)snprintf(out + used, PYTHON_TENSORS_SIZE - used, "%s%lld",
			        d ? "," : "", (long long)t->dim[d]);
		used += (size_t)snprintf(out + used, PYTHON_TENSORS_SIZE - used, "]}");
		separator = ",";
	}
	snprintf(out + used, PYTHON_TENSORS_SIZE - used, "]");
}

/* ---- answers of tracker_host.py: (status, text, object) ---- */

struct answer {
	char *text; /* NULL: not wanted */
	size_t size;
	struct python_object **value; /* a new reference; NULL: not wanted */
};

static int take_answer(
        struct python_object *tuple, struct answer to, const char *what, struct tk_abi_error *err)
{
	struct python_object *code, *text, *value;
	if (!tuple)
		return python_take_error(what, err);
	if (!(code = python.item(tuple, 0)) || !(text = python.item(tuple, 1)) ||
	        !(value = python.item(tuple, 2))) {
		python.release(tuple);
		return python_take_error(what, err);
	}
	long status = python.to_long(code);
	if (status != TK_ABI_OK)
		python_copy_text(text, err->message, sizeof err->message);
	else if (to.text)
		python_copy_text(text, to.text, to.size);
	if (status == TK_ABI_OK && to.value) {
		python.retain(value);
		*to.value = value;
	}
	python.release(tuple);
	return status < TK_ABI_OK || status > TK_ABI_INTERNAL ? TK_ABI_INTERNAL : (int)status;
}

/* Calls a method of the host with arguments as PyObject_CallFunction takes them. */
#define CALL_HOST(ctx, method, to, err, ...) \
	take_answer(call_method((ctx)->host, method, __VA_ARGS__), to, method, err)

static struct python_object *call_method(struct python_object *host, const char *name,
        const char *a, const char *b, const char *c, unsigned long long d)
{
	struct python_object *method = python.attribute(host, name), *result = NULL;
	if (!method)
		return NULL;
	if (c)
		result = python.call_with(method, "sssK", a, b, c, d);
	else if (b)
		result = python.call_with(method, "ss", a, b);
	else
		result = python.call_with(method, "s", a);
	python.release(method);
	return result;
}

/* ---- the context ---- */

static void stop(struct tk_backend_ctx *ctx)
{
	drop(&ctx->host);
	drop(&ctx->nothing);
	drop(&ctx->collect);
}

static int open_host(
        struct tk_backend_ctx *ctx, const struct tk_open_args *args, struct tk_abi_error *err)
{
	struct python_object *module = python.import("tracker_host"), *open = NULL;
	int status = TK_ABI_OK;
	if (module) {
		ctx->nothing = python.attribute(module, "nothing");
		ctx->collect = python.attribute(module, "collect");
		open = python.attribute(module, "open_host");
	}
	if (!open || !ctx->nothing || !ctx->collect)
		status = python_take_error("tracker_host", err);
	else
		status =
		        take_answer(python.call_with(open, "ssis", args->package, KIND,
		                            (int)args->threads, args->options ? args->options : ""),
		                (struct answer){.value = &ctx->host}, "open", err);
	drop(&open);
	drop(&module);
	return status;
}

static int start(
        struct tk_backend_ctx *ctx, const struct tk_open_args *args, struct tk_abi_error *err)
{
	size_t known = offsetof(struct tk_open_args, package) + sizeof args->package;
	if (args->size < known || !args->package)
		return fail(err, TK_ABI_INVALID, "the Python host needs the folder of a package");
	TRY(python_api_load(err));
	ctx->ops = args->device_ops;
	ctx->device = args->device;
	int status = open_host(ctx, args, err);
	if (status)
		stop(ctx);
	return status;
}

KIT_CONTEXT(backend, start, stop)

static int backend_supports(
        struct tk_backend_ctx *ctx, const struct tk_problem *p, struct tk_abi_error *err)
{
	char problem[PYTHON_PROBLEM_SIZE];
	TRY(write_problem(p, problem, err));
	return CALL_HOST(ctx, "supports", (struct answer){0}, err, problem, NULL, NULL, 0);
}

static int backend_configs(struct tk_backend_ctx *ctx, const struct tk_problem *p,
        const char *const **names, uint32_t *count, struct tk_abi_error *err)
{
	char problem[PYTHON_PROBLEM_SIZE];
	TRY(write_problem(p, problem, err));
	TRY(CALL_HOST(ctx, "configs",
	        ((struct answer){ctx->config_text, sizeof ctx->config_text, NULL}), err, problem,
	        NULL, NULL, 0));
	uint32_t n = 0;
	char *rest = ctx->config_text;
	for (char *name; n < CONFIGS_MAX && (name = strsep(&rest, ","));)
		if (*name)
			ctx->configs[n++] = name;
	if (!n)
		return fail(err, TK_ABI_INVALID, "the adapter has no configuration");
	*names = ctx->configs;
	*count = n;
	return TK_ABI_OK;
}

/* ---- plans ---- */

static void free_set(struct input_set *s)
{
#ifdef TK_PYTHON_CUDA
	capture_free(s->graph);
#endif
	drop(&s->result);
	drop(&s->call);
	drop(&s->outputs);
	s->graph = NULL;
}

static void backend_unplan(struct tk_plan *plan)
{
	if (!plan)
		return;
	struct tk_backend_ctx *ctx = plan->ctx;
	for (uint32_t i = 0; i < plan->set_count; i++)
		free_set(&plan->sets[i]);
	if (plan->stream)
		ctx->ops->stream_free(ctx->device, plan->stream);
	free(plan);
	struct python_object *answer = python.call(ctx->collect, NULL);
	drop(&answer);
	python.clear_error();
}

static double now_ns(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* Calls of a Python function that does nothing: what the host adds to each measured call. The
 * fastest round, because others can only be slower. */
static double measure_call_ns(struct tk_backend_ctx *ctx)
{
	double best = 0;
	for (int round = 0; round < CALL_ROUNDS; round++) {
		double start = now_ns();
		for (int i = 0; i < CALLS_A_ROUND; i++) {
			struct python_object *r = python.call(ctx->nothing, NULL);
			drop(&r);
		}
		double ns = (now_ns() - start) / CALLS_A_ROUND;
		if (round == 0 || ns < best)
			best = ns;
	}
	return best;
}

static int describe(struct tk_plan *plan, struct tk_plan_info *info, struct tk_abi_error *err)
{
	struct python_object *deterministic = NULL;
	TRY(CALL_HOST(plan->ctx, "describe",
	        ((struct answer){info->kernel, sizeof info->kernel, &deterministic}), err,
	        plan->problem, plan->config, NULL, 0));
	info->deterministic = python.to_long(deterministic) == 1;
	drop(&deterministic);
	if (strcmp(plan->config, "default") != 0)
		snprintf(info->algorithm, sizeof info->algorithm, "%s", plan->config);
	info->capturable = strcmp(KIND, "cuda") == 0;
	/* On CUDA no Python runs in what is timed. */
	if (strcmp(KIND, "cpu") == 0 &&
	        info->size >= offsetof(struct tk_plan_info, call_ns) + sizeof info->call_ns)
		info->call_ns = measure_call_ns(plan->ctx);
	return TK_ABI_OK;
}

/* The best guess is the first configuration. */
static int choose_config(struct tk_plan *plan, const struct tk_problem *p, const char *config,
        struct tk_abi_error *err)
{
	const char *const *names = NULL;
	uint32_t count = 0;
	TRY(backend_configs(plan->ctx, p, &names, &count, err));
	bool any = !config || !*config || strcmp(config, "default") == 0;
	for (uint32_t i = 0; i < count; i++)
		if (any || strcmp(names[i], config) == 0) {
			snprintf(plan->config, sizeof plan->config, "%s", names[i]);
			return TK_ABI_OK;
		}
	return fail(err, TK_ABI_INVALID,
	        "unknown configuration \"%.100s\"; expected one of the adapter, such as \"%.100s\"",
	        config, names[0]);
}

static int backend_plan(struct tk_backend_ctx *ctx, const struct tk_problem *p, const char *config,
        uint32_t sets, struct tk_plan **out, struct tk_plan_info *info, struct tk_abi_error *err)
{
	TRY(backend_supports(ctx, p, err));
	struct tk_plan *plan = plan_new(sizeof *plan + sets * sizeof plan->sets[0], err);
	if (!plan)
		return TK_ABI_NO_MEMORY;
	plan->ctx = ctx;
	plan->set_count = sets;
	int status = write_problem(p, plan->problem, err);
	if (!status)
		status = choose_config(plan, p, config, err);
	if (!status && strcmp(KIND, "cuda") == 0)
		status = ctx->ops->stream_new(ctx->device, &plan->stream, err);
	if (!status)
		status = describe(plan, info, err);
	if (status)
		backend_unplan(plan);
	else
		*out = plan;
	return status;
}

/* ---- calls ---- */

/* A result replaces the last one of this set, which is freed here: within what is timed, as in a
 * program that calls the library in a loop. */
static int call(struct input_set *s, struct tk_abi_error *err)
{
	struct python_object *result = python.call(s->call, NULL);
	if (!result)
		return python_take_error("", err);
	if (result == python.none) {
		python.release(result);
		return TK_ABI_OK;
	}
	drop(&s->result);
	s->result = result;
	return TK_ABI_OK;
}

#ifdef TK_PYTHON_CUDA
static int enqueue(void *context, struct tk_abi_error *err)
{
	return call(context, err);
}

/* The object of plan() has its own graph, or is called once to load everything, and once more
 * while it is captured. */
static int capture(struct tk_plan *plan, struct input_set *s, struct tk_abi_error *err)
{
	struct python_object *graph = python.attribute(s->call, "graph");
	if (graph) {
		unsigned long long address = python.to_address(graph);
		drop(&graph);
		s->result = python.attribute(s->call, "result"); /* what each replay writes */
		python.clear_error();
		return capture_adopt((void *)(uintptr_t)address, &s->graph, err);
	}
	python.clear_error();
	TRY(call(s, err));
	TRY(plan->ctx->ops->synchronize(plan->ctx->device, plan->stream, err));
	return capture_new(plan->stream, enqueue, s, &s->graph, err);
}
#endif

static int backend_bind(struct tk_plan *plan, uint32_t set, const struct tk_tensor *tensors,
        uint32_t count, struct tk_abi_error *err)
{
	char text[PYTHON_TENSORS_SIZE];
	struct python_object *bound = NULL;
	if (set >= plan->set_count)
		return fail(err, TK_ABI_INVALID, "set %u of %u", set, plan->set_count);
	struct input_set *s = &plan->sets[set];
	free_set(s);
	write_tensors(tensors, count, text);
	TRY(CALL_HOST(plan->ctx, "bind", (struct answer){.value = &bound}, err, plan->problem,
	        plan->config, text, (unsigned long long)(uintptr_t)plan->stream));
	s->call = python.item(bound, 0);
	s->outputs = python.item(bound, 1);
	python.retain(s->call);
	python.retain(s->outputs);
	drop(&bound);
#ifdef TK_PYTHON_CUDA
	return capture(plan, s, err);
#else
	return TK_ABI_OK;
#endif
}

static int backend_launch(
        struct tk_plan *plan, void *stream, uint32_t set, struct tk_abi_error *err)
{
	struct input_set *s = &plan->sets[set];
#ifdef TK_PYTHON_CUDA
	if (s->graph)
		return capture_replay(s->graph, stream, err);
#endif
	return call(s, err);
}

/* Of a library that makes its outputs: copies the last result into those of the tracker. The
 * worker leaves this out for packages whose adapter writes the outputs itself. */
static int backend_fetch(struct tk_plan *plan, uint32_t set, struct tk_abi_error *err)
{
	struct input_set *s = &plan->sets[set];
	struct python_object *method = python.attribute(plan->ctx->host, "fetch");
	if (!method)
		return python_take_error("fetch", err);
	int status = s->result ? take_answer(python.call_with(method, "OO", s->result, s->outputs),
	                                 (struct answer){0}, "fetch", err)
	                       : fail(err, TK_ABI_INTERNAL,
	                                 "the callable returned None, expected the outputs");
	drop(&method);
	return status;
}

KIT_BACKEND(backend, "python_" KIND, KIND, no_version, /* its package names it */
        "Python packages, called by their adapters", 0, .configs = backend_configs,
        .fetch = backend_fetch)
