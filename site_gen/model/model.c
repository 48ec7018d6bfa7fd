/* Loads the model: every small table once, joined. */
#include "site_gen/model/model.h"

#include "core/night.h"
#include "core/vocabulary.h"
#include "site_gen/model/model_internal.h"
#include "store/store.h"

/* Owns a text until the model is freed; returns it. */
static char *keep_text(struct tk_model *m, char *text)
{
	if (m->text_count == m->text_room) {
		m->text_room = 2 * m->text_room + 64;
		m->texts = tk_reallocarray(m->texts, m->text_room, sizeof *m->texts);
	}
	return m->texts[m->text_count++] = text;
}

static int make_indices(struct tk_model *m, struct tk_error *err)
{
	const struct {
		struct tk_row_index *index;
		const struct tk_rows *rows;
		size_t size;
	} all[] = {
	        {&m->upstreams_by_id, &m->upstream_rows, sizeof(struct tk_upstream_row)},
	        {&m->revisions_by_id, &m->revision_rows, sizeof(struct tk_revision_row)},
	        {&m->builds_by_id, &m->build_rows, sizeof(struct tk_build_row)},
	        {&m->problems_by_id, &m->problem_rows, sizeof(struct tk_problem_row)},
	};
	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		tk_row_index_build(
		        all[i].index, all[i].rows->rows, all[i].rows->count, all[i].size);
	return 0;
}

static int read_tables(struct tk_model *m, struct tk_error *err)
{
	struct tk_store *s = m->store;
	TRY(tk_store_list(s, TK_TABLE_machine, NULL, TK_NO_ARGS, &m->machine_rows, err));
	TRY(tk_store_list(s, TK_TABLE_device, NULL, TK_NO_ARGS, &m->device_rows, err));
	TRY(tk_store_list(s, TK_TABLE_upstream, NULL, TK_NO_ARGS, &m->upstream_rows, err));
	TRY(tk_store_list(s, TK_TABLE_revision, NULL, TK_NO_ARGS, &m->revision_rows, err));
	TRY(tk_store_list(s, TK_TABLE_build, NULL, TK_NO_ARGS, &m->build_rows, err));
	TRY(tk_store_list(s, TK_TABLE_problem, NULL, TK_NO_ARGS, &m->problem_rows, err));
	TRY(tk_store_list(s, TK_TABLE_series, "1 ORDER BY id", TK_NO_ARGS, &m->series_rows, err));
	return tk_store_list(s, TK_TABLE_night, NULL, TK_NO_ARGS, &m->night_rows, err);
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
	const struct tk_build_row *build = tk_row_index_find(&m->builds_by_id, build_id);
	return build ? build->revision_id : 0;
}

/* ---- machines, devices and nights ---- */

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

const struct tk_site_device *tk_model_ordered_device(const struct tk_model *m, size_t i)
{
	for (int cpu = 0; cpu < 2; cpu++)
		for (size_t d = 0; d < m->device_count; d++)
			if ((tk_device_kind_from_name(m->devices[d].row->kind) == TK_DEVICE_CPU) ==
			                cpu &&
			        !i--)
				return &m->devices[d];
	return NULL;
}

static int join_machines(struct tk_model *m, struct tk_error *err)
{
	m->machines = tk_calloc(m->machine_rows.count + 1, sizeof *m->machines);
	m->devices = tk_calloc(m->device_rows.count + 1, sizeof *m->devices);
	for (size_t i = 0; i < m->machine_rows.count; i++) {
		struct tk_site_machine *machine = &m->machines[m->machine_count++];
		machine->row = TK_ROWS_AT(&m->machine_rows, struct tk_machine_row, i);
		machine->file = keep_text(m, tk_path_make_slug(machine->row->name));
	}
	for (size_t i = 0; i < m->device_rows.count; i++) {
		struct tk_site_device *device = &m->devices[m->device_count++];
		device->row = TK_ROWS_AT(&m->device_rows, struct tk_device_row, i);
		device->machine = find_machine(m, device->row->machine_id);
		device->mode = tk_mode_name(tk_mode_default(device->row->kind));
		if (!device->machine)
			return tk_fail(err, TK_EDATA, "device %s belongs to no machine",
			        device->row->slug);
		const char *machine = device->machine->row->name, *slug = device->row->slug;
		device->name = keep_text(m, tk_sprintf("%s/%s", machine, slug));
		/* a name without '/', so that the slug of an ordinary one is the name itself */
		AUTO_TEXT dotted = tk_sprintf("%s.%s", machine, slug);
		device->file = keep_text(m, tk_path_make_slug(dotted));
	}
	return 0;
}

static bool is_turn(const struct tk_night_row *n)
{
	return n->kind == TK_NIGHT_NIGHTLY && n->finished_s && n->status != TK_NIGHT_FAILED &&
	       tk_night_read_coverage(n->summary).has_all_upstreams;
}

static int join_nights(struct tk_model *m, struct tk_error *err)
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
		char day[TK_TIME_ISO_SIZE];
		AUTO_TEXT name =
		        tk_sprintf("%s-%.24s-%.8s", tk_time_format_day(night->row->as_of_s, day),
		                machine->file, night->row->uid);
		night->file = keep_text(m, tk_path_make_slug(name));
	}
	tk_row_index_build(&m->nights_by_id, m->night_rows.rows, m->night_rows.count,
	        sizeof(struct tk_night_row));
	return 0;
}

/* Backfills do not describe a machine that measures every night. */
static const char analysed_sql[] =
        "SELECT id FROM night n WHERE machine_id = ?1 AND NOT (?2 AND kind = 'backfill')"
        " AND EXISTS (SELECT 1 FROM verdict WHERE night_id = n.id) ORDER BY started_s DESC, id "
        "DESC LIMIT 1";

static struct tk_site_series *find_series(struct tk_model *m, int64_t id)
{
	const struct tk_site_series *s = tk_model_find_series(m, id);
	return s ? &m->series[s - m->series] : NULL;
}

/* The verdicts of a machine's newest analysed night, and the runs of its last night. */
static int read_last_night(
        struct tk_model *m, struct tk_site_machine *machine, struct tk_error *err)
{
	const struct tk_night_row *last = machine->last_night;
	int64_t analysed_id;
	if (!last)
		return 0;
	TRY(tk_store_list(m->store, TK_TABLE_run, "night_id=?1 ORDER BY seq", TK_ARGS(last->id),
	        &machine->runs, err));
	TRY(tk_store_select_int(m->store, analysed_sql,
	        TK_ARGS(machine->row->id, last->kind == TK_NIGHT_NIGHTLY), 0, &analysed_id, err));
	machine->analysed_night = tk_row_index_find(&m->nights_by_id, analysed_id);
	if (analysed_id)
		TRY(tk_store_list_verdicts(m->store, analysed_id, &machine->verdicts, err));
	for (size_t i = 0; i < machine->verdicts.count; i++) {
		const struct tk_verdict_row *v =
		        TK_ROWS_AT(&machine->verdicts, struct tk_verdict_row, i);
		struct tk_site_series *s = find_series(m, v->series_id);
		if (s)
			s->verdict = v;
	}
	for (size_t i = 0; i < machine->runs.count; i++) {
		const struct tk_run_row *run = TK_ROWS_AT(&machine->runs, struct tk_run_row, i);
		struct tk_site_series *s = find_series(m, run->series_id);
		if (!s)
			continue;
		s->last_run = run;
		s->failure = tk_outcome_has_timing(run->outcome) ? s->failure : run;
	}
	return 0;
}

static int read_last_nights(struct tk_model *m, struct tk_error *err)
{
	for (size_t i = 0; i < m->machine_count; i++)
		TRY(read_last_night(m, &m->machines[i], err));
	return 0;
}

static int read_ceilings(struct tk_model *m, struct tk_error *err)
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
static int find_unplanned(struct tk_model *m, struct tk_error *err)
{
	for (size_t i = 0; i < m->series_count; i++) {
		struct tk_site_series *s = &m->series[i];
		const struct tk_night_row *last = s->device->machine->last_night;
		const struct tk_point *point = tk_series_last_point(s);
		if (!last || !point || s->last_run || !s->verdict ||
		        s->verdict->status != TK_VERDICT_MISSING)
			continue;
		const struct tk_site_night *night = tk_model_find_night(m, point->night_id);
		int64_t jobs = night && *last->config_hash &&
		               !strcmp(night->row->config_hash, last->config_hash);
		if (!jobs)
			TRY(tk_store_select_int(m->store,
			        "SELECT count(*) FROM job WHERE night_id = ?1 AND series_id = ?2",
			        TK_ARGS(last->id, s->row->id), 0, &jobs, err));
		s->is_unplanned = !jobs;
	}
	return 0;
}

/* ---- the whole ---- */

int tk_model_load(struct tk_store *store, struct tk_model *m, struct tk_error *err)
{
	*m = (struct tk_model){.store = store};
	TRY(read_tables(m, err));
	TRY(make_indices(m, err));
	TRY(join_machines(m, err));
	TRY(join_nights(m, err));
	TRY(tk_model_join_series(m, err));
	TRY(tk_model_join_changes(m, err));
	TRY(read_last_nights(m, err));
	TRY(read_ceilings(m, err));
	TRY(tk_model_read_newest_points(m, err));
	tk_model_assign_styles(m);
	return find_unplanned(m, err);
}

void tk_model_free(struct tk_model *m)
{
	struct tk_rows *lists[] = {&m->machine_rows, &m->device_rows, &m->upstream_rows,
	        &m->revision_rows, &m->build_rows, &m->problem_rows, &m->series_rows,
	        &m->night_rows, &m->series_texts, &m->revision_texts, &m->ceilings};
	struct tk_row_index *indices[] = {&m->upstreams_by_id, &m->revisions_by_id,
	        &m->builds_by_id, &m->problems_by_id, &m->series_by_id, &m->nights_by_id};
	for (size_t i = 0; i < m->machine_count; i++) {
		tk_rows_free(&m->machines[i].verdicts);
		tk_rows_free(&m->machines[i].runs);
	}
	for (size_t i = 0; i < m->series_count; i++)
		tk_rows_free(&m->series[i].points);
	for (size_t i = 0; i < m->text_count; i++)
		free(m->texts[i]);
	free(m->texts);
	for (size_t i = 0; m->revision_views && i < m->revision_rows.count; i++) {
		free(m->revision_views[i].name);
		free(m->revision_views[i].href);
	}
	free(m->revision_views);
	for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
		tk_rows_free(lists[i]);
	for (size_t i = 0; i < sizeof indices / sizeof *indices; i++)
		tk_row_index_free(indices[i]);
	free(m->machines);
	free(m->devices);
	free(m->nights);
	free(m->series);
	free(m->changes);
	*m = (struct tk_model){0};
}
