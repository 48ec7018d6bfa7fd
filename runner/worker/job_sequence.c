/* The other kernels of mode sequence: reads them from a request, and opens the backends that the
 * measured one needs beside it. */
#include "base/error.h"
#include "base/memory.h"
#include "base/try.h"
#include "measure/measure.h"
#include "worker/job.h"
#include "worker/loader.h"
#include <stdlib.h>
#include <string.h>

#define KERNELS_MAX 256

static int open_company(struct tk_worker_state *s, struct tk_worker_company *c, const char *path,
        uint32_t threads, struct tk_error *err)
{
	struct tk_abi_error abi = {.size = sizeof abi};
	TRY(tk_loader_load_backend(path, &c->backend, err));
	if (strcmp(c->backend.device_kind, s->ops.kind) != 0)
		return tk_fail(err, TK_EDATA, "backend %s is not for devices of kind %s",
		        c->backend.name, s->ops.kind);
	struct tk_open_args args = {.size = sizeof args,
	        .threads = threads,
	        .device = s->device,
	        .device_ops = &s->ops,
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
