/* The backend of compiled kernel packages: code objects that a compiler (Triton, for example) made
 * elsewhere, launched as their manifests say. One source for CUDA, HIP and CPUs; the driver of
 * launcher.h is what differs. docs/explanation/compiled-kernels.md describes packages. */
#include "launcher.h"

struct tk_backend_ctx {
	struct gpu_context gpu;
	struct launcher_package *package;
	char arch[32];
	const char **configs; /* the answer of configs() */
	/* The answer of space(): it has pointers into the rest and into the package. */
	struct tk_space space;
	struct tk_parameter parameters[TK_SPACE_PARAMETERS_MAX];
	int64_t best[TK_SPACE_PARAMETERS_MAX];
	int64_t *values; /* of all parameters */
};

struct tk_plan {
	struct tk_backend_ctx *ctx;
	const struct launcher_manifest *manifest;
	void *module;
	void *functions[LAUNCHER_LAUNCHES_MAX];
	void *scratch[LAUNCHER_SCRATCHES_MAX];
	uint32_t sets;
	struct launcher_arguments *arguments; /* [set * launch_count + launch] */
};

/* ---- the package ---- */

static void stop(struct tk_backend_ctx *ctx)
{
	launcher_package_close(ctx->package);
	free(ctx->values);
	free(ctx->configs);
	if (launcher_driver.stop)
		launcher_driver.stop();
}

static int start(
        struct tk_backend_ctx *ctx, const struct tk_open_args *args, struct tk_abi_error *err)
{
	size_t known = offsetof(struct tk_open_args, package) + sizeof args->package;
	if (args->size < known || !args->package)
		return fail(err, TK_ABI_INVALID,
		        "the launcher needs a compiled kernel package; name the package's folder "
		        "instead of the launcher");
	snprintf(ctx->arch, sizeof ctx->arch, "%s", args->device_info.arch);
	TRY(launcher_driver.start(args, err));
	int status = launcher_package_open(args->package, &ctx->package, err);
	if (!status && !(ctx->configs = calloc(ctx->package->count, sizeof *ctx->configs)))
		status = fail(err, TK_ABI_NO_MEMORY, "no memory for the package");
	if (status)
		stop(ctx);
	return status;
}

GPU_CONTEXT_WITH(backend, start, stop)

static bool has_config(const struct launcher_manifest *m, const char *config)
{
	return strcmp(m->config, config) == 0 || (*m->point && strcmp(m->point, config) == 0);
}

/* The first manifest of the problem, with this configuration, by its name or its parameters (NULL:
 * any); NULL: none. */
static const struct launcher_manifest *find_manifest(
        const struct tk_backend_ctx *ctx, const struct tk_problem *problem, const char *config)
{
	for (uint32_t i = 0; i < ctx->package->count; i++) {
		const struct launcher_manifest *m = ctx->package->manifests[i];
		if (strcmp(m->problem, problem->text) == 0 && (!config || has_config(m, config)))
			return m;
	}
	return NULL;
}

static int backend_supports(
        struct tk_backend_ctx *ctx, const struct tk_problem *p, struct tk_abi_error *err)
{
	const struct launcher_manifest *m = find_manifest(ctx, p, NULL);
	if (!m)
		return fail(err, TK_ABI_UNSUPPORTED, "the package has no kernel for this problem");
	if (!launcher_driver.runs_on(m->target, ctx->arch))
		return fail(err, TK_ABI_UNSUPPORTED, "compiled for %s, this device has %s",
		        m->target, ctx->arch);
	return TK_ABI_OK;
}

static int backend_configs(struct tk_backend_ctx *ctx, const struct tk_problem *p,
        const char *const **names, uint32_t *count, struct tk_abi_error *err)
{
	uint32_t n = 0;
	TRY(backend_supports(ctx, p, err));
	for (uint32_t i = 0; i < ctx->package->count; i++)
		if (strcmp(ctx->package->manifests[i]->problem, p->text) == 0)
			ctx->configs[n++] = ctx->package->manifests[i]->config;
	*names = ctx->configs;
	*count = n;
	return TK_ABI_OK;
}

/* ---- the space of the parameters that the manifests of a problem name ---- */

static int compare_values(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
	return (x > y) - (x < y);
}

/* The distinct values of parameter `index` in the manifests of the problem, in ascending order. */
static uint32_t list_values(
        const struct launcher_package *p, const char *problem, uint32_t index, int64_t *out)
{
	uint32_t count = 0, distinct = 0;
	for (uint32_t i = 0; i < p->count; i++)
		if (strcmp(p->manifests[i]->problem, problem) == 0)
			out[count++] = p->manifests[i]->parameters[index].value;
	qsort(out, count, sizeof *out, compare_values);
	for (uint32_t i = 0; i < count; i++)
		if (!distinct || out[distinct - 1] != out[i])
			out[distinct++] = out[i];
	return distinct;
}

static int allows(struct tk_backend_ctx *ctx, const struct tk_problem *p, const int64_t *values)
{
	for (uint32_t i = 0; i < ctx->package->count; i++) {
		const struct launcher_manifest *m = ctx->package->manifests[i];
		uint32_t k = 0;
		if (strcmp(m->problem, p->text) != 0)
			continue;
		while (k < m->parameter_count && m->parameters[k].value == values[k])
			k++;
		if (k && k == m->parameter_count)
			return true;
	}
	return false;
}

static int backend_space(struct tk_backend_ctx *ctx, const struct tk_problem *p,
        const struct tk_space **out, struct tk_abi_error *err)
{
	TRY(backend_supports(ctx, p, err));
	const struct launcher_manifest *first = find_manifest(ctx, p, NULL);
	const size_t manifests = ctx->package->count;
	if (!first->parameter_count)
		return fail(err, TK_ABI_UNSUPPORTED,
		        "the package names no parameters for this problem");
	free(ctx->values);
	ctx->values = calloc((size_t)first->parameter_count * manifests, sizeof *ctx->values);
	if (!ctx->values)
		return fail(err, TK_ABI_NO_MEMORY, "no memory for the space of configurations");
	for (uint32_t i = 0; i < first->parameter_count; i++) {
		int64_t *values = ctx->values + i * manifests;
		ctx->best[i] = first->parameters[i].value;
		ctx->parameters[i] = (struct tk_parameter){.name = first->parameters[i].name,
		        .values = values,
		        .count = list_values(ctx->package, p->text, i, values)};
	}
	ctx->space = (struct tk_space){.size = sizeof ctx->space,
	        .count = first->parameter_count,
	        .parameters = ctx->parameters,
	        .best = ctx->best,
	        .allows = allows};
	*out = &ctx->space;
	return TK_ABI_OK;
}

/* ---- loading ---- */

/* The parameters that the driver sees in the code object, against the manifest. */
static int check_params(void *function, const struct launcher_launch *l, struct tk_abi_error *err)
{
	for (uint32_t i = 0; i <= l->arg_count; i++) {
		size_t bytes = 0;
		enum launcher_param found = launcher_driver.param(function, i, &bytes);
		if (found == LAUNCHER_PARAM_UNKNOWN)
			return TK_ABI_OK;
		if (found == LAUNCHER_PARAM_NONE && i < l->arg_count)
			return fail(err, TK_ABI_INVALID,
			        "%.200s has %u parameters, its manifest has %u arguments", l->entry,
			        i, l->arg_count);
		if (found == LAUNCHER_PARAM_SIZE && i == l->arg_count)
			return fail(err, TK_ABI_INVALID,
			        "%.200s has more parameters than the %u arguments of its manifest",
			        l->entry, l->arg_count);
		if (found == LAUNCHER_PARAM_SIZE && bytes != l->args[i].bytes)
			return fail(err, TK_ABI_INVALID,
			        "parameter %u of %.200s has %zu bytes, its manifest says %u", i,
			        l->entry, bytes, l->args[i].bytes);
	}
	return TK_ABI_OK;
}

static int load_code(struct tk_plan *plan, struct tk_abi_error *err)
{
	const struct launcher_manifest *m = plan->manifest;
	void *code = NULL;
	size_t bytes = 0;
	int status = launcher_package_read_code(plan->ctx->package, m, &code, &bytes, err);
	if (!status)
		status = launcher_driver.load(code, bytes, &plan->module, err);
	free(code);
	TRY(status);
	for (uint32_t i = 0; i < m->launch_count; i++) {
		const struct launcher_launch *l = &m->launches[i];
		TRY(launcher_driver.find(plan->module, l->entry, &plan->functions[i], err));
		TRY(check_params(plan->functions[i], l, err));
		TRY(launcher_driver.prepare(plan->functions[i], l, err));
	}
	return TK_ABI_OK;
}

static int allocate_scratch(
        struct tk_plan *plan, struct tk_plan_info *info, struct tk_abi_error *err)
{
	const struct launcher_manifest *m = plan->manifest;
	for (uint32_t i = 0; i < m->scratch_count; i++) {
		uint64_t bytes = m->scratches[i].bytes;
		TRY(workspace_new(&plan->ctx->gpu, bytes, &plan->scratch[i], err));
		info->workspace_bytes += bytes;
	}
	return TK_ABI_OK;
}

/* ---- plans ---- */

static void backend_unplan(struct tk_plan *plan)
{
	if (!plan)
		return;
	const uint32_t launches = plan->manifest->launch_count;
	for (uint32_t i = 0; plan->arguments && i < plan->sets * launches; i++)
		launcher_arguments_free(&plan->arguments[i]);
	for (uint32_t i = 0; i < LAUNCHER_SCRATCHES_MAX; i++)
		workspace_free(&plan->ctx->gpu, plan->scratch[i]);
	if (plan->module)
		launcher_driver.unload(plan->module);
	free(plan->arguments);
	free(plan);
}

static int choose(const struct tk_backend_ctx *ctx, const struct tk_problem *p, const char *config,
        const struct launcher_manifest **out, struct tk_abi_error *err)
{
	bool any = !config || !*config || strcmp(config, "default") == 0;
	const struct launcher_manifest *m = find_manifest(ctx, p, any ? NULL : config);
	if (!m)
		return fail(err, TK_ABI_INVALID,
		        "unknown configuration \"%.100s\"; expected one of the package, such as "
		        "\"%.100s\"",
		        config, find_manifest(ctx, p, NULL)->config);
	if (*m->error)
		return fail(err, TK_ABI_NOT_BUILT, "%s could not compile it: %.380s", m->producer,
		        m->error);
	*out = m;
	return TK_ABI_OK;
}

static int fill_plan(struct tk_plan *plan, struct tk_plan_info *info, struct tk_abi_error *err)
{
	const struct launcher_manifest *m = plan->manifest;
	plan->arguments = calloc((size_t)plan->sets * m->launch_count + 1, sizeof *plan->arguments);
	if (!plan->arguments)
		return fail(err, TK_ABI_NO_MEMORY, "no memory for the plan");
	snprintf(info->kernel, sizeof info->kernel, "%.127s", m->launches[0].entry);
	snprintf(info->algorithm, sizeof info->algorithm, "%.127s", m->config);
	info->capturable = 1;
	info->deterministic = m->deterministic;
	info->workspace_bytes = 0;
	TRY(load_code(plan, err));
	return allocate_scratch(plan, info, err);
}

static int backend_plan(struct tk_backend_ctx *ctx, const struct tk_problem *p, const char *config,
        uint32_t sets, struct tk_plan **out, struct tk_plan_info *info, struct tk_abi_error *err)
{
	const struct launcher_manifest *m = NULL;
	TRY(backend_supports(ctx, p, err));
	TRY(choose(ctx, p, config, &m, err));
	struct tk_plan *plan = plan_new(sizeof *plan, err);
	if (!plan)
		return TK_ABI_NO_MEMORY;
	plan->ctx = ctx;
	plan->manifest = m;
	plan->sets = sets;
	int status = fill_plan(plan, info, err);
	if (status)
		backend_unplan(plan);
	else
		*out = plan;
	return status;
}

static int backend_bind(struct tk_plan *plan, uint32_t set, const struct tk_tensor *tensors,
        uint32_t count, struct tk_abi_error *err)
{
	const struct launcher_manifest *m = plan->manifest;
	if (set >= plan->sets)
		return fail(err, TK_ABI_INVALID, "set %u of %u", set, plan->sets);
	for (uint32_t i = 0; i < m->launch_count; i++) {
		struct launcher_arguments *a = &plan->arguments[set * m->launch_count + i];
		launcher_arguments_free(a);
		TRY(launcher_arguments_pack(
		        a, &m->launches[i], tensors, count, plan->scratch, err));
	}
	return TK_ABI_OK;
}

static int backend_launch(
        struct tk_plan *plan, void *stream, uint32_t set, struct tk_abi_error *err)
{
	const struct launcher_manifest *m = plan->manifest;
	for (uint32_t i = 0; i < m->launch_count; i++)
		TRY(launcher_driver.launch(plan->functions[i], &m->launches[i],
		        &plan->arguments[set * m->launch_count + i], stream, err));
	return TK_ABI_OK;
}

KIT_BACKEND(backend, launcher_driver.backend_name, launcher_driver.device_kind,
        no_version, /* each manifest names its producer */
        "compiled kernel packages, launched as their manifests say", 0, .configs = backend_configs,
        .space = backend_space)
