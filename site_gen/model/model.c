/* Loading and joining: all that every page stands on, read once. */
#include "site_gen/model/model.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/file.h"
#include "core/mode.h"
#include "core/outcome.h"
#include "site_gen/model/label.h"

/* ---- indices ---- */

static int entry_order(const void *a, const void *b)
{
	const struct tk_index_entry *x = a, *y = b;
	return x->id < y->id ? -1 : x->id > y->id;
}

/* Every row struct that is indexed begins with its id. */
static int index_make(
        struct tk_index *index, const void *rows, size_t count, size_t size, struct tk_error *err)
{
	index->entries = malloc((count ? count : 1) * sizeof *index->entries);
	if (!index->entries)
		return tk_fail(err, TK_ENOMEM, "out of memory");
	index->count = count;
	for (size_t i = 0; i < count; i++) {
		const char *row = (const char *)rows + i * size;
		index->entries[i] = (struct tk_index_entry){.row = row};
		memcpy(&index->entries[i].id, row, sizeof(int64_t));
	}
	qsort(index->entries, count, sizeof *index->entries, entry_order);
	return 0;
}

const void *tk_index_find(const struct tk_index *index, int64_t id)
{
	struct tk_index_entry key = {.id = id};
	/* ids are counted up by the history, mostly without a gap: most are where they would be
	 * then */
	uint64_t guess = index->count ? (uint64_t)id - (uint64_t)index->entries[0].id : 0;
	if (guess < index->count && index->entries[guess].id == id)
		return index->entries[guess].row;
	const struct tk_index_entry *found =
	        index->count ? bsearch(&key, index->entries, index->count, sizeof key, entry_order)
	                     : NULL;
	return found ? found->row : NULL;
}

static int by_revision_order(const void *a, const void *b)
{
	const struct tk_index_entry *x = a, *y = b;
	if (x->id != y->id)
		return x->id < y->id ? -1 : 1;
	return x->row < y->row ? -1 : x->row > y->row; /* the order of the rows */
}

static int index_builds(struct tk_model *m, struct tk_error *err)
{
	struct tk_index *index = &m->builds_by_revision;
	index->entries = malloc((m->build_rows.count + 1) * sizeof *index->entries);
	if (!index->entries)
		return tk_fail(err, TK_ENOMEM, "out of memory");
	for (; index->count < m->build_rows.count; index->count++) {
		const struct tk_build_row *b =
		        TK_ROWS_AT(&m->build_rows, struct tk_build_row, index->count);
		index->entries[index->count] = (struct tk_index_entry){b->revision_id, b};
	}
	if (index->count)
		qsort(index->entries, index->count, sizeof *index->entries, by_revision_order);
	return 0;
}

static int make_indices(struct tk_model *m, struct tk_error *err)
{
	const struct {
		struct tk_index *index;
		const struct tk_rows *rows;
		size_t size;
	} all[] = {
	        {&m->environments_by_id, &m->environment_rows, sizeof(struct tk_environment_row)},
	        {&m->upstreams_by_id, &m->upstream_rows, sizeof(struct tk_upstream_row)},
	        {&m->revisions_by_id, &m->revision_rows, sizeof(struct tk_revision_row)},
	        {&m->builds_by_id, &m->build_rows, sizeof(struct tk_build_row)},
	        {&m->problems_by_id, &m->problem_rows, sizeof(struct tk_problem_row)},
	};
	int status = 0;
	for (size_t i = 0; !status && i < sizeof all / sizeof *all; i++)
		status = index_make(
		        all[i].index, all[i].rows->rows, all[i].rows->count, all[i].size, err);
	return status ? status : index_builds(m, err);
}

const struct tk_index_entry *tk_model_find_builds(
        const struct tk_model *m, int64_t revision_id, size_t *count)
{
	const struct tk_index *index = &m->builds_by_revision;
	size_t first = 0, end = index->count;
	while (first < end) { /* the first that is not before */
		size_t middle = first + (end - first) / 2;
		if (index->entries[middle].id < revision_id)
			first = middle + 1;
		else
			end = middle;
	}
	for (*count = 0;
	        first + *count < index->count && index->entries[first + *count].id == revision_id;
	        ++*count)
		;
	return index->entries + first;
}

/* ---- tables ---- */

static int read_tables(struct tk_model *m, struct tk_error *err)
{
	struct tk_store *s = m->store;
	int status = tk_store_list_machines(s, &m->machine_rows, err);
	if (!status)
		status = tk_store_list_devices(s, &m->device_rows, err);
	if (!status)
		status = tk_store_list_environments(s, &m->environment_rows, err);
	if (!status)
		status = tk_store_list_upstreams(s, &m->upstream_rows, err);
	if (!status)
		status = tk_store_list_revisions(s, &m->revision_rows, err);
	if (!status)
		status = tk_store_list_builds(s, &m->build_rows, err);
	if (!status)
		status = tk_store_list_problems(s, &m->problem_rows, err);
	if (!status)
		status = tk_store_list_series(s, &m->series_rows, err);
	if (!status)
		status = tk_store_list_nights(s, &m->night_rows, err);
	if (!status)
		status = tk_store_list_change_points(s, 0, &m->change_rows, err);
	if (!status)
		status = tk_store_list_alerts(s, &m->alert_rows, err);
	if (!status)
		status = tk_store_list_triage(s, &m->triage_rows, err);
	if (!status)
		status = tk_store_list_bisections(s, &m->culprit_rows, err);
	return status;
}

static struct tk_site_machine *find_machine(const struct tk_model *m, int64_t id)
{
	for (size_t i = 0; i < m->machine_count; i++)
		if (m->machines[i].row->id == id)
			return &m->machines[i];
	return NULL;
}

static struct tk_site_device *find_device(const struct tk_model *m, int64_t id)
{
	for (size_t i = 0; i < m->device_count; i++)
		if (m->devices[i].row->id == id)
			return &m->devices[i];
	return NULL;
}

static int join_machines(struct tk_model *m, struct tk_error *err)
{
	m->machines = calloc(m->machine_rows.count + 1, sizeof *m->machines);
	m->devices = calloc(m->device_rows.count + 1, sizeof *m->devices);
	if (!m->machines || !m->devices)
		return tk_fail(err, TK_ENOMEM, "out of memory");
	for (size_t i = 0; i < m->machine_rows.count; i++) {
		struct tk_site_machine *machine = &m->machines[m->machine_count++];
		machine->row = TK_ROWS_AT(&m->machine_rows, struct tk_machine_row, i);
		if (!(machine->file = tk_path_make_slug(machine->row->name)))
			return tk_fail(err, TK_ENOMEM, "out of memory");
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
		if (!device->name || !device->file)
			return tk_fail(err, TK_ENOMEM, "out of memory");
	}
	return 0;
}

static int join_nights(struct tk_model *m, struct tk_error *err)
{
	tk_store_mark_stopped(m->store, &m->night_rows);
	m->nights = calloc(m->night_rows.count + 1, sizeof *m->nights);
	if (!m->nights)
		return tk_fail(err, TK_ENOMEM, "out of memory");
	for (size_t i = 0; i < m->night_rows.count; i++) {
		struct tk_site_night *night = &m->nights[m->night_count++];
		night->row = TK_ROWS_AT(&m->night_rows, struct tk_night_row, i);
		struct tk_site_machine *machine = find_machine(m, night->row->machine_id);
		if (!machine)
			return tk_fail(
			        err, TK_EDATA, "night %s belongs to no machine", night->row->uid);
		night->machine = machine;
		bool nightly = !strcmp(night->row->kind, "nightly");
		if (!machine->last_night ||
		        (nightly && strcmp(machine->last_night->kind, "nightly")))
			machine->last_night = night->row;
		if (i >= TK_SITE_NIGHT_PAGES)
			continue;
		char day[TK_TIME_ISO_SIZE], *name = NULL;
		if (asprintf(&name, "%s-%.24s-%.8s", tk_time_format_day(night->row->as_of_s, day),
		            machine->file, night->row->uid) >= 0)
			night->file = tk_path_make_slug(name);
		free(name);
		if (!night->file)
			return tk_fail(err, TK_ENOMEM, "out of memory");
	}
	return index_make(&m->nights_by_id, m->night_rows.rows, m->night_rows.count,
	        sizeof(struct tk_night_row), err);
}

/* The verdicts of the newest of a machine's nights that was judged, and the runs of its last night. */
static int read_last_nights(struct tk_model *m, struct tk_error *err)
{
	int status = 0;
	for (size_t i = 0; i < m->machine_count && !status; i++) {
		struct tk_site_machine *machine = &m->machines[i];
		if (machine->last_night)
			status = tk_store_list_night_runs(
			        m->store, machine->last_night->id, &machine->runs, err);
		/* a machine that measures every night is told by these, not by what somebody
		 * measured of its past */
		const bool nightly =
		        machine->last_night && !strcmp(machine->last_night->kind, "nightly");
		for (size_t n = 0, tried = 0;
		        !status && n < m->night_count && tried < 5 && !machine->analysed_night;
		        n++) {
			const struct tk_night_row *night = m->nights[n].row;
			if (m->nights[n].machine != machine ||
			        (nightly && !strcmp(night->kind, "backfill")))
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

size_t tk_model_list_recent_nights(const struct tk_model *m, const struct tk_site_machine *machine,
        const struct tk_night_row *out[TK_SITE_RECENT_NIGHTS])
{
	size_t count = 0, of_kind[2] = {0};
	for (size_t n = 0; n < m->night_count && count < TK_SITE_RECENT_NIGHTS; n++) {
		const struct tk_night_row *night = m->nights[n].row;
		size_t *had = &of_kind[!strcmp(night->kind, "backfill")];
		if (m->nights[n].machine != machine || *had == TK_SITE_CEILING_NIGHTS)
			continue;
		++*had;
		out[count++] = night;
	}
	return count;
}

static int read_ceilings(struct tk_model *m, struct tk_error *err)
{
	int status = 0;
	m->ceiling_lists =
	        calloc(m->machine_count * TK_SITE_RECENT_NIGHTS + 1, sizeof *m->ceiling_lists);
	if (!m->ceiling_lists)
		return tk_fail(err, TK_ENOMEM, "out of memory");
	for (size_t i = 0; i < m->machine_count; i++) {
		const struct tk_night_row *nights[TK_SITE_RECENT_NIGHTS];
		size_t count = tk_model_list_recent_nights(m, &m->machines[i], nights);
		for (size_t n = 0; !status && n < count; n++) {
			status = tk_store_list_ceilings(m->store, nights[n]->id,
			        &m->ceiling_lists[m->ceiling_list_count], err);
			m->ceiling_list_count += !status;
		}
	}
	return status;
}

/* ---- series ---- */

static const struct {
	const char *op, *title;
} known_ops[] = {{"gemm", "GEMM"}, {"attention", "Attention"}, {"nsa", "Native sparse attention"},
        {"", ""}, {"copy", "Copy"}, {"read", "Read"},
        {"fma", "FMA"}}; /* unknown ones stand where "" is */

static size_t op_rank(const char *op)
{
	size_t unknown = 0;
	for (size_t i = 0; i < sizeof known_ops / sizeof *known_ops; i++) {
		if (!strcmp(known_ops[i].op, op))
			return i;
		unknown = *known_ops[i].op ? unknown : i;
	}
	return unknown;
}

const char *tk_op_title(const char *op)
{
	const char *title = known_ops[op_rank(op)].title;
	return *title ? title : op;
}

static int series_order(const void *a, const void *b)
{
	const struct tk_site_series *x = a, *y = b;
	int d = (int)op_rank(x->problem->op) - (int)op_rank(y->problem->op);
	if (!d)
		d = strcmp(x->problem->op, y->problem->op);
	if (!d)
		d = strcmp(x->problem->dtype, y->problem->dtype);
	if (!d && x->problem->flops != y->problem->flops)
		d = x->problem->flops < y->problem->flops ? -1 : 1;
	if (!d)
		d = strcmp(x->problem->text, y->problem->text);
	if (!d)
		d = strcmp(x->device->name, y->device->name);
	if (!d)
		d = strcmp(x->label, y->label);
	return d ? d : strcmp(x->row->slug, y->row->slug);
}

/* The default of the device's kind; where nothing was measured so, the first mode that was. */
static void choose_modes(struct tk_model *m)
{
	for (size_t d = 0; d < m->device_count; d++) {
		enum tk_mode best = tk_mode_default(m->devices[d].row->kind), mode;
		bool measured[TK_MODE_COUNT] = {0};
		for (size_t i = 0; i < m->series_count; i++)
			if (m->series[i].device == &m->devices[d] &&
			        tk_series_is_suite_time(&m->series[i]) &&
			        !tk_mode_parse(m->series[i].row->mode, &mode))
				measured[mode] = true;
		for (int k = 0; k < TK_MODE_COUNT && !measured[best]; k++)
			best = measured[k] ? (enum tk_mode)k : best;
		m->devices[d].mode = tk_mode_name(best);
	}
}

static int join_series(struct tk_model *m, struct tk_error *err)
{
	m->series = calloc(m->series_rows.count + 1, sizeof *m->series);
	if (!m->series)
		return tk_fail(err, TK_ENOMEM, "out of memory");
	for (size_t i = 0; i < m->series_rows.count; i++) {
		struct tk_site_series *s = &m->series[m->series_count++];
		s->row = TK_ROWS_AT(&m->series_rows, struct tk_series_row, i);
		s->device = find_device(m, s->row->device_id);
		s->upstream = tk_index_find(&m->upstreams_by_id, s->row->upstream_id);
		s->problem = tk_index_find(&m->problems_by_id, s->row->problem_id);
		if (!s->device || !s->upstream || !s->problem)
			return tk_fail(err, TK_EDATA,
			        "series %s: missing device, upstream or problem", s->row->slug);
		if (!(s->file = tk_path_make_slug(s->row->slug)))
			return tk_fail(err, TK_ENOMEM, "out of memory");
	}
	choose_modes(m);
	int status = tk_labels_assign(m, err);
	if (status)
		return status;
	qsort(m->series, m->series_count, sizeof *m->series, series_order);
	for (size_t i = 0; i < m->series_count; i++) {
		struct tk_site_series *s = &m->series[i];
		bool same = i && !strcmp(s->problem->op, s[-1].problem->op);
		if (!(s->op_file = same ? s[-1].op_file : tk_path_make_slug(s->problem->op)))
			return tk_fail(err, TK_ENOMEM, "out of memory");
	}
	m->series_by_id.entries = malloc((m->series_count + 1) * sizeof *m->series_by_id.entries);
	if (!m->series_by_id.entries)
		return tk_fail(err, TK_ENOMEM, "out of memory");
	m->series_by_id.count = m->series_count;
	for (size_t i = 0; i < m->series_count; i++)
		m->series_by_id.entries[i] =
		        (struct tk_index_entry){m->series[i].row->id, &m->series[i]};
	qsort(m->series_by_id.entries, m->series_count, sizeof *m->series_by_id.entries,
	        entry_order);
	return 0;
}

static int change_order(const void *a, const void *b)
{
	const struct tk_change_point_row *x = *(const struct tk_change_point_row *const *)a,
	                                 *y = *(const struct tk_change_point_row *const *)b;
	if (x->series_id != y->series_id)
		return x->series_id < y->series_id ? -1 : 1;
	return x->as_of_s < y->as_of_s ? -1 : x->as_of_s > y->as_of_s;
}

static int join_changes(struct tk_model *m, struct tk_error *err)
{
	size_t count = m->change_rows.count;
	m->changes = malloc((count + 1) * sizeof *m->changes);
	if (!m->changes)
		return tk_fail(err, TK_ENOMEM, "out of memory");
	for (size_t i = 0; i < count; i++)
		m->changes[i] = TK_ROWS_AT(&m->change_rows, struct tk_change_point_row, i);
	qsort(m->changes, count, sizeof *m->changes, change_order);
	for (size_t i = 0, end; i < count; i = end) {
		for (end = i; end < count && m->changes[end]->series_id == m->changes[i]->series_id;
		        end++)
			;
		struct tk_site_series *s =
		        (struct tk_site_series *)tk_model_find_series(m, m->changes[i]->series_id);
		if (!s)
			continue;
		s->changes = &m->changes[i];
		s->change_count = end - i;
	}
	return 0;
}

static void join_last_nights(struct tk_model *m)
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
			enum tk_outcome outcome;
			if (s)
				s->last_run = run;
			if (s && (tk_outcome_parse(run->outcome, &outcome) ||
			                 !tk_outcome_has_timing(outcome)))
				s->failure = run;
		}
	}
}

static void note_environments(struct tk_model *m, const struct tk_rows *points)
{
	for (size_t i = 0; i < points->count; i++) {
		const struct tk_point *p = TK_ROWS_AT(points, struct tk_point, i);
		if (i && p[-1].environment_id == p->environment_id)
			continue;
		const struct tk_environment_row *e =
		        tk_index_find(&m->environments_by_id, p->environment_id);
		int64_t *since = e ? &m->environment_since[e - (const struct tk_environment_row *)
		                                                       m->environment_rows.rows]
		                   : NULL;
		if (since && (!*since || p->as_of_s < *since))
			*since = p->as_of_s;
	}
}

/* The past of a device is read from three of its series: the one that was measured first, a
 * control, and the one that was measured last. */
static int read_past(struct tk_model *m, const struct tk_site_series *s, struct tk_error *err)
{
	struct tk_rows points = {0};
	int status = s ? tk_store_list_points_between(
	                         m->store, s->row->id, INT64_MIN, INT64_MAX, &points, err)
	               : 0;
	if (!status)
		note_environments(m, &points);
	tk_rows_free(&points);
	return status;
}

static int read_environments(struct tk_model *m, struct tk_error *err)
{
	int status = 0;
	for (size_t d = 0; !status && d < m->device_count; d++) {
		const struct tk_site_series *oldest = NULL, *control = NULL, *newest = NULL;
		for (size_t i = 0; i < m->series_count; i++) {
			const struct tk_site_series *s = &m->series[i];
			if (s->device != &m->devices[d])
				continue;
			oldest = oldest && oldest->row->id < s->row->id ? oldest : s;
			control = control || strcmp(s->row->role, "control") ? control : s;
			const struct tk_point *last = tk_series_last_point(s),
			                      *best = newest ? tk_series_last_point(newest) : NULL;
			newest = last && (!best || last->as_of_s > best->as_of_s) ? s : newest;
		}
		status = read_past(m, oldest, err);
		if (!status)
			status = read_past(m, control, err);
		if (!status && newest != oldest && newest != control)
			status = read_past(m, newest, err);
	}
	return status;
}

static int read_newest(struct tk_model *m, struct tk_error *err)
{
	int status = 0;
	m->environment_since = calloc(m->environment_rows.count + 1, sizeof *m->environment_since);
	if (!m->environment_since)
		return tk_fail(err, TK_ENOMEM, "out of memory");
	for (size_t i = 0; i < m->series_count && !status; i++) {
		struct tk_site_series *s = &m->series[i];
		status = tk_store_read_newest_points(
		        m->store, s->row->id, s->newest, 2, &s->newest_count, err);
		const struct tk_point *last = status ? NULL : tk_series_last_point(s);
		if (last && last->as_of_s > m->newest_s)
			m->newest_s = last->as_of_s;
	}
	return status;
}

static int join_moves(struct tk_model *m, struct tk_error *err)
{
	struct tk_rows steps = {0};
	int status = tk_store_list_change_point_builds(m->store, &steps, err);
	if (!status)
		status = tk_site_changes_join(m, &steps, &m->moves, err);
	tk_rows_free(&steps);
	return status;
}

int tk_model_load(struct tk_store *store, struct tk_model *m, struct tk_error *err)
{
	*m = (struct tk_model){.store = store};
	int status = read_tables(m, err);
	if (!status)
		status = make_indices(m, err);
	if (!status)
		status = join_machines(m, err);
	if (!status)
		status = join_nights(m, err);
	if (!status)
		status = join_series(m, err);
	if (!status)
		status = join_changes(m, err);
	if (!status)
		status = join_moves(m, err);
	if (!status)
		status = read_last_nights(m, err);
	if (!status)
		status = read_ceilings(m, err);
	if (!status)
		status = read_newest(m, err);
	if (!status)
		status = read_environments(m, err);
	if (!status)
		join_last_nights(m);
	return status;
}

void tk_model_free(struct tk_model *m)
{
	struct tk_rows *lists[] = {&m->machine_rows, &m->device_rows, &m->environment_rows,
	        &m->upstream_rows, &m->revision_rows, &m->build_rows, &m->problem_rows,
	        &m->series_rows, &m->night_rows, &m->change_rows, &m->alert_rows, &m->triage_rows,
	        &m->culprit_rows};
	struct tk_index *indices[] = {&m->environments_by_id, &m->upstreams_by_id,
	        &m->revisions_by_id, &m->builds_by_id, &m->problems_by_id, &m->series_by_id,
	        &m->nights_by_id, &m->builds_by_revision};
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
	for (size_t i = 0; i < m->ceiling_list_count; i++)
		tk_rows_free(&m->ceiling_lists[i]);
	free(m->ceiling_lists);
	for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
		tk_rows_free(lists[i]);
	for (size_t i = 0; i < sizeof indices / sizeof *indices; i++)
		free(indices[i]->entries);
	free(m->machines);
	free(m->devices);
	free(m->nights);
	free(m->series);
	free(m->changes);
	free(m->environment_since);
	tk_site_changes_free(&m->moves);
	*m = (struct tk_model){0};
}

/* ---- questions ---- */

const struct tk_site_series *tk_model_find_series(const struct tk_model *m, int64_t id)
{
	return tk_index_find(&m->series_by_id, id);
}

const struct tk_site_night *tk_model_find_night(const struct tk_model *m, int64_t id)
{
	const struct tk_night_row *row = tk_index_find(&m->nights_by_id, id);
	return row ? &m->nights[row - (const struct tk_night_row *)m->night_rows.rows] : NULL;
}

const struct tk_revision_row *tk_model_find_build_revision(
        const struct tk_model *m, int64_t build_id)
{
	const struct tk_build_row *build = tk_index_find(&m->builds_by_id, build_id);
	return build ? tk_index_find(&m->revisions_by_id, build->revision_id) : NULL;
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

const struct tk_point *tk_series_find_run_point(const struct tk_site_series *s, int64_t run_id)
{
	for (size_t i = s->points.count; i-- > 0;)
		if (TK_ROWS_AT(&s->points, struct tk_point, i)->run_id == run_id)
			return TK_ROWS_AT(&s->points, struct tk_point, i);
	return NULL;
}

const struct tk_point *tk_series_last_point(const struct tk_site_series *s)
{
	return s->newest_count ? &s->newest[s->newest_count - 1] : NULL;
}

double tk_series_rate(const struct tk_site_series *s, double value, const char **unit)
{
	bool compute = s->problem->flops > 0;
	*unit = compute ? "gflop_per_s" : "gb_per_s";
	if (strcmp(s->row->unit, "ns") || strcmp(s->row->metric, "time") || !(value > 0))
		return NAN;
	double amount = compute ? s->problem->flops : s->problem->bytes;
	return amount > 0 ? amount / value : NAN; /* per ns = giga per second */
}

bool tk_series_is_unsupported(const struct tk_site_series *s)
{
	return s->failure && !strcmp(s->failure->outcome, tk_outcome_name(TK_OUTCOME_UNSUPPORTED));
}

bool tk_series_is_skipped(const struct tk_site_series *s)
{
	return s->failure && !strcmp(s->failure->outcome, tk_outcome_name(TK_OUTCOME_SKIPPED));
}

bool tk_series_has_result(const struct tk_site_series *s)
{
	return s->newest_count || (s->failure && !tk_series_is_unsupported(s));
}

bool tk_series_is_suite_time(const struct tk_site_series *s)
{
	return !strcmp(s->row->role, "suite") && !strcmp(s->row->metric, "time") &&
	       !strcmp(s->row->unit, "ns");
}

bool tk_series_is_ranked(const struct tk_site_series *s)
{
	return tk_series_is_suite_time(s) && !strcmp(s->row->mode, s->device->mode);
}

bool tk_series_are_comparable(const struct tk_site_series *a, const struct tk_site_series *b)
{
	bool defaults =
	        !strcmp(a->row->mode, a->device->mode) && !strcmp(b->row->mode, b->device->mode);
	return !strcmp(a->row->metric, b->row->metric) && !strcmp(a->row->unit, b->row->unit) &&
	       !strcmp(a->row->role, b->row->role) &&
	       (defaults || !strcmp(a->row->mode, b->row->mode));
}
