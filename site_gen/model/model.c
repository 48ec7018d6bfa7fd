/* Loads the model: every small table once, joined. */
#include "site_gen/model/model.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/try.h"
#include "site_gen/model/kernel_reports.h"
#include "site_gen/model/model_internal.h"
#include "site_gen/model/tunings.h"

static void list_build_revisions(struct tk_model *m)
{
	const struct tk_row_index *builds = &m->builds_by_id;
	m->build_revisions = tk_malloc((builds->count + 1) * sizeof *m->build_revisions);
	for (size_t i = 0; i < builds->count; i++)
		m->build_revisions[i] =
		        ((const struct tk_build_row *)builds->entries[i].row)->revision_id;
}

static int make_indices(struct tk_model *m, struct tk_error *err)
{
	const struct {
		struct tk_row_index *index;
		const struct tk_rows *rows;
		size_t size;
	} all[] = {
	        {&m->environments_by_id, &m->environment_rows, sizeof(struct tk_environment_row)},
	        {&m->upstreams_by_id, &m->upstream_rows, sizeof(struct tk_upstream_row)},
	        {&m->revisions_by_id, &m->revision_rows, sizeof(struct tk_revision_row)},
	        {&m->builds_by_id, &m->build_rows, sizeof(struct tk_build_row)},
	        {&m->problems_by_id, &m->problem_rows, sizeof(struct tk_problem_row)},
	};
	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		TRY(tk_row_index_build(
		        all[i].index, all[i].rows->rows, all[i].rows->count, all[i].size, err));
	list_build_revisions(m);
	return 0;
}

static int read_tables(struct tk_model *m, struct tk_error *err)
{
	struct tk_store *s = m->store;
	TRY(tk_store_list(s, TK_TABLE_machine, NULL, TK_NO_ARGS, &m->machine_rows, err));
	TRY(tk_store_list(s, TK_TABLE_device, NULL, TK_NO_ARGS, &m->device_rows, err));
	TRY(tk_store_list(s, TK_TABLE_environment, NULL, TK_NO_ARGS, &m->environment_rows, err));
	TRY(tk_store_list(s, TK_TABLE_upstream, NULL, TK_NO_ARGS, &m->upstream_rows, err));
	TRY(tk_store_list(s, TK_TABLE_revision, NULL, TK_NO_ARGS, &m->revision_rows, err));
	TRY(tk_store_list(s, TK_TABLE_build, NULL, TK_NO_ARGS, &m->build_rows, err));
	TRY(tk_store_list(s, TK_TABLE_problem, NULL, TK_NO_ARGS, &m->problem_rows, err));
	TRY(tk_store_list(s, TK_TABLE_series, "1 ORDER BY id", TK_NO_ARGS, &m->series_rows, err));
	TRY(tk_store_list(s, TK_TABLE_night, NULL, TK_NO_ARGS, &m->night_rows, err));
	TRY(tk_store_list_alerts(s, &m->alert_rows, err));
	TRY(tk_store_list(s, TK_TABLE_triage, NULL, TK_NO_ARGS, &m->triage_rows, err));
	return tk_store_list(s, TK_TABLE_bisection, NULL, TK_NO_ARGS, &m->bisection_rows, err);
}

int tk_model_load(struct tk_store *store, struct tk_model *m, struct tk_error *err)
{
	*m = (struct tk_model){.store = store};
	TRY(read_tables(m, err));
	TRY(make_indices(m, err));
	TRY(tk_model_join_machines(m, err));
	TRY(tk_model_join_nights(m, err));
	TRY(tk_model_join_series(m, err));
	TRY(tk_model_join_kernel_reports(m, err));
	TRY(tk_model_join_tunings(m, err));
	TRY(tk_model_join_changes(m, err));
	TRY(tk_model_read_last_nights(m, err));
	TRY(tk_model_read_ceilings(m, err));
	TRY(tk_model_read_newest_points(m, err));
	TRY(tk_model_read_environments(m, err));
	tk_model_join_last_nights(m);
	tk_model_assign_styles(m);
	return tk_model_find_unplanned(m, err);
}

void tk_model_free(struct tk_model *m)
{
	struct tk_rows *lists[] = {&m->machine_rows, &m->device_rows, &m->environment_rows,
	        &m->upstream_rows, &m->revision_rows, &m->build_rows, &m->problem_rows,
	        &m->series_rows, &m->night_rows, &m->alert_rows, &m->triage_rows,
	        &m->bisection_rows, &m->ceilings};
	struct tk_row_index *indices[] = {&m->environments_by_id, &m->upstreams_by_id,
	        &m->revisions_by_id, &m->builds_by_id, &m->problems_by_id, &m->series_by_id,
	        &m->nights_by_id};
	for (size_t i = 0; i < m->machine_count; i++) {
		tk_rows_free(&m->machines[i].verdicts);
		tk_rows_free(&m->machines[i].runs);
		free(m->machines[i].file);
	}
	for (size_t i = 0; i < m->device_count; i++)
		free(m->devices[i].file), free(m->devices[i].name);
	for (size_t i = 0; i < m->night_count; i++)
		free(m->nights[i].file);
	for (size_t i = 0; i < m->series_count; i++) {
		tk_rows_free(&m->series[i].points);
		if (!i || m->series[i].op_file != m->series[i - 1].op_file)
			free(m->series[i].op_file);
		free(m->series[i].file);
		free(m->series[i].label);
		free(m->series[i].variant);
	}
	for (size_t i = 0; m->revision_files && i < m->revision_rows.count; i++)
		free(m->revision_files[i]);
	free(m->revision_files);
	for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
		tk_rows_free(lists[i]);
	for (size_t i = 0; i < sizeof indices / sizeof *indices; i++)
		tk_row_index_free(indices[i]);
	free(m->build_revisions);
	free(m->machines);
	free(m->devices);
	free(m->nights);
	free(m->series);
	free(m->changes);
	free(m->environment_since);
	tk_model_free_kernel_reports(m);
	tk_model_free_tunings(m);
	*m = (struct tk_model){0};
}

const struct tk_site_series *tk_model_find_series(const struct tk_model *m, int64_t id)
{
	return tk_row_index_find(&m->series_by_id, id);
}

const struct tk_site_night *tk_model_find_night(const struct tk_model *m, int64_t id)
{
	const struct tk_night_row *row = tk_row_index_find(&m->nights_by_id, id);
	return row ? &m->nights[row - (const struct tk_night_row *)m->night_rows.rows] : NULL;
}

const struct tk_revision_row *tk_model_find_build_revision(
        const struct tk_model *m, int64_t build_id)
{
	int64_t id = tk_model_find_build_revision_id(m, build_id);
	return id ? tk_row_index_find(&m->revisions_by_id, id) : NULL;
}

int64_t tk_model_find_build_revision_id(const struct tk_model *m, int64_t build_id)
{
	const struct tk_row_index_entry *entry =
	        tk_row_index_find_entry(&m->builds_by_id, build_id);
	return entry ? m->build_revisions[entry - m->builds_by_id.entries] : 0;
}

const struct tk_revision_row *tk_model_find_revision(
        const struct tk_model *m, int64_t upstream_id, const char *rev)
{
	for (size_t i = 0; *rev && i < m->revision_rows.count; i++) {
		const struct tk_revision_row *r =
		        TK_ROWS_AT(&m->revision_rows, struct tk_revision_row, i);
		if (r->upstream_id == upstream_id && !strcmp(r->rev, rev))
			return r;
	}
	return NULL;
}
