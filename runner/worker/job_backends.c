/* What else a job may need: the other kernels of mode sequence, with the backends that launch them
 * beside the measured one; and the configurations of a backend. */
#include "base/base.h"
#include "measure/measure.h"
#include "worker/job.h"
#include "worker/loader.h"
#include "worker/wire.h"

#define KERNELS_MAX 256

static int open_company(struct tk_worker_state *s, struct tk_worker_company *c, const char *path,
        uint32_t threads, struct tk_error *err)
{
	struct tk_abi_error abi = {.size = sizeof abi};
	TRY(tk_loader_load_backend(path, &c->backend, err));
	if (strcmp(c->backend.device_kind, s->ops->kind) != 0)
		return tk_fail(err, TK_EDATA, "backend %s is not for devices of kind %s",
		        c->backend.name, s->ops->kind);
	struct tk_open_args args = {.size = sizeof args,
	        .threads = threads,
	        .device = s->device,
	        .device_ops = s->ops,
	        .device_info = s->info,
	        .options = ""};
	if (c->backend.open(&args, &c->ctx, &abi) != TK_ABI_OK)
		return tk_fail(err, TK_EIO, "backend %s: %.400s", c->backend.name, abi.message);
	c->path = tk_strdup(path);
	return TK_OK;
}

/* Opened once for each process. */
static int find_company(struct tk_worker_state *s, const char *path, uint32_t threads,
        struct tk_worker_company **out, struct tk_error *err)
{
	for (uint32_t i = 0; i < s->company_count; i++)
		if (strcmp(s->company[i].path, path) == 0) {
			*out = &s->company[i];
			return TK_OK;
		}
	if (s->company_count == TK_WORKER_COMPANY_MAX)
		return tk_fail(
		        err, TK_EDATA, "sequence: more than %d backends", TK_WORKER_COMPANY_MAX);
	*out = &s->company[s->company_count];
	TRY(open_company(s, *out, path, threads, err));
	s->company_count++;
	return TK_OK;
}

/* The measured backend, else the first of the others that does it. */
static int choose_backend(struct tk_worker_state *s, const json_t *request,
        struct tk_sequence_kernel *k, enum tk_outcome *outcome, struct tk_error *err)
{
	const json_t *paths = json_object_get(json_object_get(request, "sequence"), "backends");
	uint32_t threads = (uint32_t)json_integer_value(json_object_get(request, "threads"));
	struct tk_abi_error abi = {.size = sizeof abi};
	k->backend = &s->backend;
	k->ctx = s->ctx;
	if (k->backend->supports(k->ctx, &k->problem.abi, &abi) == TK_ABI_OK)
		return TK_OK;
	for (size_t i = 0; i < json_array_size(paths); i++) {
		const char *path = json_string_value(json_array_get(paths, i));
		struct tk_worker_company *c = NULL;
		int status = path ? find_company(s, path, threads, &c, err)
		                  : tk_fail(err, TK_EDATA, "sequence: a backend is no path");
		if (status)
			return status;
		k->backend = &c->backend;
		k->ctx = c->ctx;
		if (k->backend->supports(k->ctx, &k->problem.abi, &abi) == TK_ABI_OK)
			return TK_OK;
	}
	*outcome = TK_OUTCOME_UNSUPPORTED;
	return tk_fail(
	        err, TK_EUNSUPPORTED, "no backend here does %s of the sequence", k->problem.text);
}

int tk_job_open_sequence(struct tk_worker_state *s, const json_t *request,
        const struct tk_problem_spec *measured, struct tk_sequence *out, enum tk_outcome *outcome,
        struct tk_error *err)
{
	const json_t *list = json_object_get(json_object_get(request, "sequence"), "kernels");
	uint32_t count = (uint32_t)json_array_size(list);
	if (count < 1 || count > KERNELS_MAX)
		return tk_fail(err, TK_EDATA,
		        "sequence: expected 1 to %d kernels; its suite is missing or has changed",
		        KERNELS_MAX);
	struct tk_sequence_kernel *kernels = tk_calloc(count, sizeof *kernels);
	int status = TK_OK;
	*out = (struct tk_sequence){kernels, count, count};
	for (uint32_t i = 0; !status && i < count; i++) {
		const char *text = json_string_value(json_array_get(list, i));
		status = tk_problem_parse(&kernels[i].problem, text ? text : "", err);
		if (!status)
			status = choose_backend(s, request, &kernels[i], outcome, err);
		if (!status && out->position == count &&
		        strcmp(kernels[i].problem.text, measured->text) == 0)
			out->position = i;
	}
	return status;
}

void tk_job_close_company(struct tk_worker_state *s)
{
	for (uint32_t i = 0; i < s->company_count; i++) {
		s->company[i].backend.close(s->company[i].ctx);
		free(s->company[i].path);
	}
	s->company_count = 0;
}

/* ---- configurations ---- */

/* One of them as text; false: it does not fit. */
static bool format_point(
        const struct tk_space *space, const int64_t *values, char out[TK_WORKER_CONFIG_SIZE])
{
	size_t len = 0;
	for (uint32_t i = 0; i < space->count && len < TK_WORKER_CONFIG_SIZE; i++)
		len += (size_t)snprintf(out + len, TK_WORKER_CONFIG_SIZE - len, "%s%s=%lld",
		        i ? "," : "", space->parameters[i].name, (long long)values[i]);
	return len < TK_WORKER_CONFIG_SIZE;
}

static bool is_space(const struct tk_space *space)
{
	if (!space->count || space->count > TK_SPACE_PARAMETERS_MAX || !space->parameters ||
	        !space->best)
		return false;
	for (uint32_t i = 0; i < space->count; i++)
		if (!space->parameters[i].count || !space->parameters[i].values)
			return false;
	return true;
}

/* The next combination of values; false: that was the last one. */
static bool step(const struct tk_space *space, uint32_t at[TK_SPACE_PARAMETERS_MAX])
{
	for (uint32_t i = space->count; i-- > 0; at[i] = 0)
		if (++at[i] < space->parameters[i].count)
			return true;
	return false;
}

/* All points of the space that are configurations, the best guess first. */
static int list_points(struct tk_worker_state *s, const struct tk_problem *problem,
        const struct tk_space *space, json_t *list, struct tk_error *err)
{
	char text[TK_WORKER_CONFIG_SIZE];
	uint32_t at[TK_SPACE_PARAMETERS_MAX] = {0};
	int64_t values[TK_SPACE_PARAMETERS_MAX];
	if (!is_space(space) || !format_point(space, space->best, text))
		return tk_fail(err, TK_EDATA, "the space of configurations is not valid");
	json_array_append_new(list, tk_wire_json_string(text, TK_WORKER_CONFIG_SIZE));
	do {
		bool is_best = true;
		for (uint32_t i = 0; i < space->count; i++) {
			values[i] = space->parameters[i].values[at[i]];
			is_best = is_best && values[i] == space->best[i];
		}
		if (is_best || (space->allows && !space->allows(s->ctx, problem, values)))
			continue;
		if (!format_point(space, values, text))
			return tk_fail(err, TK_EDATA, "a configuration has more than %d bytes",
			        TK_WORKER_CONFIG_SIZE - 1);
		if (json_array_size(list) == TK_WORKER_CONFIGS_MAX)
			return tk_fail(err, TK_EDATA, "the space has more than %d configurations",
			        TK_WORKER_CONFIGS_MAX);
		json_array_append_new(list, tk_wire_json_string(text, TK_WORKER_CONFIG_SIZE));
	} while (step(space, at));
	return TK_OK;
}

/* NULL: the backend has no space for the problem. */
static const struct tk_space *find_space(
        struct tk_worker_state *s, const struct tk_problem *problem)
{
	struct tk_abi_error ignored = {.size = sizeof ignored};
	const struct tk_space *space = NULL;
	if (!s->backend.space || s->backend.space(s->ctx, problem, &space, &ignored) != TK_ABI_OK)
		return NULL;
	return space;
}

/* {"configs":[...],"space":bool}: of a backend without configurations, an empty list. */
int tk_job_list_problem_configs(struct tk_worker_state *s, const struct tk_problem *problem,
        json_t **result, enum tk_outcome *outcome, struct tk_error *err)
{
	struct tk_abi_error abi = {.size = sizeof abi};
	const char *const *names = NULL;
	uint32_t count = 0;
	const char *call = "supports";
	int status = s->backend.supports(s->ctx, problem, &abi);
	const struct tk_space *space = status == TK_ABI_OK ? find_space(s, problem) : NULL;
	if (status == TK_ABI_OK && s->backend.configs && !space) {
		call = "configs";
		status = s->backend.configs(s->ctx, problem, &names, &count, &abi);
	}
	if (status != TK_ABI_OK)
		return tk_job_fail_status(status, &abi, call, outcome, err);
	json_t *list = json_array();
	for (uint32_t i = 0; i < count; i++)
		json_array_append_new(list, tk_wire_json_string(names[i], TK_WORKER_CONFIG_SIZE));
	status = space ? list_points(s, problem, space, list, err) : TK_OK;
	if (status) {
		json_decref(list);
		return status;
	}
	*result = json_pack("{s:o, s:b}", "configs", list, "space", space != NULL);
	return TK_OK;
}
