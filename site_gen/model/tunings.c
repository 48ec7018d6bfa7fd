/* See tunings.h. */
#include "site_gen/model/tunings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/try.h"
#include "site_gen/model/model.h"
#include "store/tuning.h"
#include "store/tuning_groups.h"
#include "store/tuning_state.h"

static void name_file(struct tk_site_tuning *t)
{
	const struct tk_tuning_row *r = t->row;
	const char *upstream = strcmp(r->upstream, r->backend) ? r->upstream : "";
	char *name = NULL;
	name = tk_sprintf("%s.%s%s%s.%s.%s%s%s", t->device->file, upstream, *upstream ? "." : "",
	            r->backend, t->problem->title, r->mode, *r->options ? "." : "", r->options);
	t->file = tk_path_make_slug(name);
	free(name);
}

static int add_tuning(struct tk_model *m, const struct tk_tuning_history *h,
        const struct tk_tuning_group *group, size_t index, struct tk_error *err)
{
	const struct tk_tuning_row *row = group->rows[index];
	struct tk_site_tuning t = {.device = tk_model_find_device(m, row->device_id),
	        .problem = tk_row_index_find(&m->problems_by_id, row->problem_id),
	        .row = row,
	        .group = group};
	if (!t.device || !t.problem)
		return tk_fail(err, TK_EDATA, "tuning %s: missing device or problem", row->uid);
	TRY(tk_tuning_state(h, row, &t.state, err));
	name_file(&t);
	m->tunings[m->tuning_count++] = t;
	return TK_OK;
}

/* The result of the mode of a series, else of any. */
static void join_series(const struct tk_model *m, struct tk_site_series *s)
{
	for (size_t i = 0; i < m->tuning_count; i++) {
		const struct tk_site_tuning *t = &m->tunings[i];
		if (!tk_tuning_matches(t->row, s->row, s->upstream))
			continue;
		bool is_same_mode = !strcmp(t->row->mode, s->row->mode);
		if (is_same_mode || !s->tuning)
			s->tuning = t;
		if (is_same_mode)
			return;
	}
}

int tk_model_join_tunings(struct tk_model *m, struct tk_error *err)
{
	/* The tables of the model, which stay its own. */
	const struct tk_tuning_history history = {.store = m->store,
	        .upstreams = {m->upstream_rows, m->upstreams_by_id},
	        .revisions = {m->revision_rows, m->revisions_by_id},
	        .builds = {m->build_rows, m->builds_by_id},
	        .environments = {m->environment_rows, m->environments_by_id},
	        .series = {.rows = m->series_rows}};
	int status =
	        tk_store_list(m->store, TK_TABLE_tuning, NULL, TK_NO_ARGS, &m->tuning_rows, err);
	if (status || !m->tuning_rows.count)
		return status;
	m->tunings = tk_calloc(m->tuning_rows.count, sizeof *m->tunings);
	m->tuning_groups = tk_calloc(1, sizeof *m->tuning_groups);
	status = tk_tuning_groups_make(&m->tuning_rows, m->tuning_groups, err);
	for (size_t g = 0; !status && g < m->tuning_groups->count; g++)
		for (size_t i = 0; !status && i < m->tuning_groups->at[g].count; i++)
			status = add_tuning(m, &history, &m->tuning_groups->at[g], i, err);
	for (size_t i = 0; !status && i < m->series_count; i++)
		join_series(m, &m->series[i]);
	return status;
}

void tk_model_free_tunings(struct tk_model *m)
{
	for (size_t i = 0; i < m->tuning_count; i++)
		free(m->tunings[i].file);
	free(m->tunings);
	if (m->tuning_groups)
		tk_tuning_groups_free(m->tuning_groups);
	free(m->tuning_groups);
	tk_rows_free(&m->tuning_rows);
}
