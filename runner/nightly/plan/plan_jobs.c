/* Lists of planned jobs, and what a worker reports about the backends of a night. */
#include "base/error.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/rng.h"
#include "core/kernel_package.h"
#include "core/operation.h"
#include "nightly/plan/plan_internal.h"
#include "worker/worker.h"
#include <stdlib.h>
#include <string.h>

void tk_job_list_add(struct tk_job_list *list, int64_t series_id, int64_t build_id,
        const char *backend_path, const char *options)
{
	if (list->count == list->cap) {
		list->cap = list->cap ? list->cap * 2 : 64;
		list->rows = tk_reallocarray(list->rows, list->cap, sizeof *list->rows);
	}
	list->rows[list->count++] = (struct tk_job_row){.series_id = series_id,
	        .build_id = build_id,
	        .backend_path = tk_strdup(backend_path),
	        .options = tk_strdup(options ? options : "")};
}

void tk_job_list_free(struct tk_job_list *list)
{
	for (size_t i = 0; i < list->count; i++) {
		free((char *)list->rows[i].backend_path);
		free((char *)list->rows[i].options);
	}
	free(list->rows);
	*list = (struct tk_job_list){0};
}

static void append(struct tk_job_list *out, const struct tk_job_list *from)
{
	for (size_t i = 0; i < from->count; i++) {
		const struct tk_job_row *j = &from->rows[i];
		tk_job_list_add(out, j->series_id, j->build_id, j->backend_path, j->options);
	}
}

struct shuffled_job {
	const struct tk_job_row *row;
	size_t position; /* in the random order */
};

static int compare_last_and_position(const void *a, const void *b)
{
	const struct shuffled_job *x = a, *y = b;
	if (x->row->seq != y->row->seq)
		return x->row->seq < y->row->seq ? -1 : 1;
	return (x->position > y->position) - (x->position < y->position);
}

/* Random, so that drift does not fall on one backend, with the control in between so that drift
 * shows. */
void tk_plan_order_jobs(const struct tk_job_list *suite, const struct tk_job_list *ceilings,
        const struct tk_job_list *controls, uint32_t every, uint64_t seed, struct tk_job_list *out)
{
	struct tk_rng rng;
	struct shuffled_job *order = tk_calloc(suite->count + 1, sizeof *order);
	for (size_t i = 0; i < suite->count; i++)
		order[i].row = &suite->rows[i];
	tk_rng_seed(&rng, seed);
	tk_rng_shuffle(&rng, order, suite->count, sizeof *order);
	for (size_t i = 0; i < suite->count; i++)
		order[i].position = i;
	qsort(order, suite->count, sizeof *order, compare_last_and_position);
	append(out, ceilings);
	for (size_t i = 0; i < suite->count; i++) {
		const struct tk_job_row *j = order[i].row;
		if (every && i % every == 0)
			append(out, controls);
		tk_job_list_add(out, j->series_id, j->build_id, j->backend_path, j->options);
	}
	if (every && suite->count)
		append(out, controls);
	for (size_t i = 0; i < out->count; i++)
		out->rows[i].seq = (int64_t)i + 1;
	free(order);
}

/* ---- backends ---- */

/* Null: the backend cannot be loaded. Each backend is queried once, because the query starts a
 * process. */
static const json_t *query(struct tk_plan *p, const struct tk_night_device *d, const char *path)
{
	json_t *info = json_object_get(p->backends, path);
	struct tk_error reason = {0};
	if (info)
		return info;
	if (tk_worker_query_backend(d->worker, path, &info, &reason))
		tk_log(TK_LOG_WARN, "backend", NULL, "%s: %s", path, reason.message);
	info = info ? info : json_null();
	json_object_set_new_nocheck(p->backends, path, info);
	return info;
}

bool tk_plan_backend_runs_on(struct tk_plan *p, const struct tk_night_device *d, const char *path)
{
	const enum tk_device_kind package = tk_kernel_package_device_kind(path);
	if (package != TK_DEVICE_OTHER) /* without a launcher for other devices */
		return package == tk_device_kind_from_name(d->layer->name);
	const json_t *info = query(p, d, path);
	const char *kind = json_string_value(json_object_get(info, "device_kind"));
	return json_is_null(info) || (kind && strcmp(kind, d->layer->name) == 0);
}

uint32_t tk_plan_backend_operations(
        struct tk_plan *p, const struct tk_night_device *d, const char *path)
{
	const json_t *list = json_object_get(query(p, d, path), "operations"), *name;
	uint32_t operations = 0;
	size_t i;
	if (!list)
		return UINT32_MAX;
	json_array_foreach (list, i, name)
		operations |= tk_operation_parse(json_string_value(name));
	return operations;
}
