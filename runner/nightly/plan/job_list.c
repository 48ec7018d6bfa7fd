/* See job_list.h. The order is random so that drift does not fall on one backend, with the
 * control in between so that drift shows. */
#include "nightly/plan/job_list.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/rng.h"
#include <stdlib.h>

int tk_job_list_add(struct tk_job_list *list, int64_t series_id, int64_t build_id,
        const char *backend_path, const char *options, struct tk_error *err)
{
	if (list->count == list->cap) {
		size_t cap = list->cap ? list->cap * 2 : 64;
		list->rows = tk_realloc(list->rows, cap * sizeof *list->rows);
		list->cap = cap;
	}
	char *path = tk_strdup(backend_path), *opts = tk_strdup(options ? options : "");
	if (!path || !opts) {
		free(path);
		free(opts);
		return tk_fail(err, TK_ENOMEM, "out of memory");
	}
	list->rows[list->count++] = (struct tk_job_row){.series_id = series_id,
	        .build_id = build_id,
	        .backend_path = path,
	        .options = opts};
	return TK_OK;
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

static int append(struct tk_job_list *out, const struct tk_job_list *from, struct tk_error *err)
{
	int status = TK_OK;
	for (size_t i = 0; !status && i < from->count; i++) {
		const struct tk_job_row *j = &from->rows[i];
		status = tk_job_list_add(
		        out, j->series_id, j->build_id, j->backend_path, j->options, err);
	}
	return status;
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

int tk_plan_order_jobs(const struct tk_job_list *suite, const struct tk_job_list *ceilings,
        const struct tk_job_list *controls, uint32_t every, uint64_t seed, struct tk_job_list *out,
        struct tk_error *err)
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
	int status = append(out, ceilings, err);
	for (size_t i = 0; !status && i < suite->count; i++) {
		const struct tk_job_row *j = order[i].row;
		if (every && i % every == 0)
			status = append(out, controls, err);
		if (!status)
			status = tk_job_list_add(
			        out, j->series_id, j->build_id, j->backend_path, j->options, err);
	}
	if (!status && every && suite->count)
		status = append(out, controls, err);
	for (size_t i = 0; i < out->count; i++)
		out->rows[i].seq = (int64_t)i + 1;
	free(order);
	return status;
}
