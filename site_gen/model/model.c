/* Loads the model: every small table once, joined. */
#include "site_gen/model/model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/try.h"
#include "core/night.h"
#include "core/outcome.h"
#include "site_gen/model/kernel_reports.h"
#include "site_gen/model/model_internal.h"
#include "site_gen/model/tunings.h"
#include "store/lock.h"

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

/* ---- model machines ---- */

static struct tk_site_machine *find_machine(const struct tk_model *m, int64_t id)
{
	for (size_t i = 0; i < m->machine_count; i++)
		if (m->machines[i].row->id == id)
			return &m->machines[i];
	return NULL;
}

const struct tk_site_device *tk_model_find_device(const struct tk_model *m, int64_t id)
{
	for (size_t i = 0; i < m->device_count; i++)
		if (m->devices[i].row->id == id)
			return &m->devices[i];
	return NULL;
}

int tk_model_join_machines(struct tk_model *m, struct tk_error *err)
{
	m->machines = tk_calloc(m->machine_rows.count + 1, sizeof *m->machines);
	m->devices = tk_calloc(m->device_rows.count + 1, sizeof *m->devices);
	for (size_t i = 0; i < m->machine_rows.count; i++) {
		struct tk_site_machine *machine = &m->machines[m->machine_count++];
		machine->row = TK_ROWS_AT(&m->machine_rows, struct tk_machine_row, i);
		machine->file = tk_path_make_slug(machine->row->name);
	}
	for (size_t i = 0; i < m->device_rows.count; i++) {
		struct tk_site_device *device = &m->devices[m->device_count++];
		device->row = TK_ROWS_AT(&m->device_rows, struct tk_device_row, i);
		device->machine = find_machine(m, device->row->machine_id);
		if (!device->machine)
			return tk_fail(err, TK_EDATA, "device %s belongs to no machine",
			        device->row->slug);
		if (asprintf(&device->name, "%s/%s", device->machine->row->name,
		            device->row->slug) < 0)
			device->name = NULL;
		char *dotted = NULL; /* a name without '/', so that the slug of an ordinary one is
		                        the name itself */
		if (asprintf(&dotted, "%s.%s", device->machine->row->name, device->row->slug) >= 0)
			device->file = tk_path_make_slug(dotted);
		free(dotted);
	}
	return 0;
}

static bool is_turn(const struct tk_night_row *n)
{
	return n->kind == TK_NIGHT_NIGHTLY && n->finished_s && n->status != TK_NIGHT_FAILED &&
	       tk_night_read_coverage(n->summary).has_all_upstreams;
}

int tk_model_join_nights(struct tk_model *m, struct tk_error *err)
{
	tk_store_mark_stopped(m->store, &m->night_rows);
	m->nights = tk_calloc(m->night_rows.count + 1, sizeof *m->nights);
	for (size_t i = 0; i < m->night_rows.count; i++) {
		struct tk_site_night *night = &m->nights[m->night_count++];
		night->row = TK_ROWS_AT(&m->night_rows, struct tk_night_row, i);
		struct tk_site_machine *machine = find_machine(m, night->row->machine_id);
		if (!machine)
			return tk_fail(
			        err, TK_EDATA, "night %s belongs to no machine", night->row->uid);
		night->machine = machine;
		night->is_turn = is_turn(night->row);
		bool nightly = night->row->kind == TK_NIGHT_NIGHTLY;
		if (!machine->last_night ||
		        (nightly && machine->last_night->kind != TK_NIGHT_NIGHTLY))
			machine->last_night = night->row;
		if (i >= TK_SITE_NIGHT_PAGES)
			continue;
		char day[TK_TIME_ISO_SIZE], *name = NULL;
		if (asprintf(&name, "%s-%.24s-%.8s", tk_time_format_day(night->row->as_of_s, day),
		            machine->file, night->row->uid) >= 0)
			night->file = tk_path_make_slug(name);
		free(name);
	}
	return tk_row_index_build(&m->nights_by_id, m->night_rows.rows, m->night_rows.count,
	        sizeof(struct tk_night_row), err);
}

/* The verdicts of a machine's newest analysed night, and the runs of its last night. */
int tk_model_read_last_nights(struct tk_model *m, struct tk_error *err)
{
	int status = 0;
	for (size_t i = 0; i < m->machine_count && !status; i++) {
		struct tk_site_machine *machine = &m->machines[i];
		if (machine->last_night)
			status = tk_store_list(m->store, TK_TABLE_run, "night_id=?1 ORDER BY seq",
			        TK_ARGS(machine->last_night->id), &machine->runs, err);
		/* Backfills do not describe a machine that measures every night. */
		const bool nightly =
		        machine->last_night && machine->last_night->kind == TK_NIGHT_NIGHTLY;
		for (size_t n = 0, tried = 0;
		        !status && n < m->night_count && tried < 5 && !machine->analysed_night;
		        n++) {
			const struct tk_night_row *night = m->nights[n].row;
			if (m->nights[n].machine != machine ||
			        (nightly && night->kind == TK_NIGHT_BACKFILL))
				continue;
			tried++;
			status = tk_store_list_verdicts(
			        m->store, night->id, &machine->verdicts, err);
			if (!status && machine->verdicts.count)
				machine->analysed_night = night;
			else
				tk_rows_free(&machine->verdicts),
				        machine->verdicts = (struct tk_rows){0};
		}
	}
	return status;
}

bool tk_model_has_verdicts(const struct tk_model *m)
{
	for (size_t i = 0; i < m->machine_count; i++)
		if (m->machines[i].analysed_night)
			return true;
	return false;
}

int tk_model_read_ceilings(struct tk_model *m, struct tk_error *err)
{
#define CEILING(member) TK_MEMBER(struct tk_ceiling_row, member)
	static const struct tk_db_column columns[] = {CEILING(night_id), CEILING(device_id),
	        CEILING(name), CEILING(unit), CEILING(value),
	        TK_MEMBER_WORD(struct tk_ceiling_row, source, ceiling_source)};
	static const struct tk_row_type type = TK_ROW_TYPE(struct tk_ceiling_row, columns);
	return tk_store_select(m->store,
	        "SELECT * FROM newest_ceiling_v WHERE value > 0 ORDER BY night_id DESC, name, "
	        "source",
	        TK_NO_ARGS, &type, &m->ceilings, err);
}

/* A missing series was planned if the last night has a job for it, or the configuration of the
 * night that measured it last. Imported nights record neither. */
static int mark_unplanned(
        struct tk_model *m, const struct tk_site_machine *machine, struct tk_error *err)
{
	const struct tk_night_row *last = machine->last_night;
	AUTO(tk_rows) jobs = {0};
	bool has_read = false;
	int status = 0;
	for (size_t i = 0; !status && i < m->series_count; i++) {
		struct tk_site_series *s = &m->series[i];
		const struct tk_point *point = tk_series_last_point(s);
		if (s->device->machine != machine || !s->verdict || s->last_run || !point ||
		        s->verdict->status != TK_VERDICT_MISSING)
			continue;
		const struct tk_site_night *night = tk_model_find_night(m, point->night_id);
		if (!has_read)
			status = tk_store_list(m->store, TK_TABLE_job, "night_id=?1",
			        TK_ARGS(last->id), &jobs, err);
		has_read = true;
		bool same_config = night && *last->config_hash &&
		                   !strcmp(night->row->config_hash, last->config_hash);
		s->is_unplanned = !same_config;
		for (size_t k = 0; s->is_unplanned && k < jobs.count; k++)
			s->is_unplanned =
			        TK_ROWS_AT(&jobs, struct tk_job_row, k)->series_id != s->row->id;
	}
	return status;
}

int tk_model_find_unplanned(struct tk_model *m, struct tk_error *err)
{
	for (size_t i = 0; i < m->machine_count; i++)
		if (m->machines[i].last_night)
			TRY(mark_unplanned(m, &m->machines[i], err));
	return TK_OK;
}

void tk_model_join_last_nights(struct tk_model *m)
{
	for (size_t i = 0; i < m->machine_count; i++) {
		const struct tk_site_machine *machine = &m->machines[i];
		for (size_t v = 0; v < machine->verdicts.count; v++) {
			const struct tk_verdict_row *verdict =
			        TK_ROWS_AT(&machine->verdicts, struct tk_verdict_row, v);
			struct tk_site_series *s = (struct tk_site_series *)tk_model_find_series(
			        m, verdict->series_id);
			if (s)
				s->verdict = verdict;
		}
		for (size_t r = 0; r < machine->runs.count; r++) {
			const struct tk_run_row *run =
			        TK_ROWS_AT(&machine->runs, struct tk_run_row, r);
			struct tk_site_series *s =
			        (struct tk_site_series *)tk_model_find_series(m, run->series_id);
			if (s)
				s->last_run = run;
			if (s && !tk_outcome_has_timing(run->outcome))
				s->failure = run;
		}
	}
}
