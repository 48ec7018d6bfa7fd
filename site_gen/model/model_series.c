/* Series of the model: joined, sorted, with their change points and environments. */
#include <math.h>

#include "core/vocabulary.h"
#include "site_gen/model/model.h"
#include "site_gen/model/model_internal.h"
#include "site_gen/render/escape.h"
#include "store/select.h"

static const struct {
	const char *op, *title;
} known_ops[] = {{"gemm", "GEMM"}, {"attention", "Attention"}, {"nsa", "Native sparse attention"},

        {"", ""}, {"copy", "Copy"}, {"read", "Read"},
        {"fma", "FMA"}}; /* others are sorted where "" is */

static size_t rank_of_op(const char *op)
{
	size_t unknown = 0;
	for (size_t i = 0; i < sizeof known_ops / sizeof *known_ops; i++) {
		if (!strcmp(known_ops[i].op, op))
			return i;
		unknown = *known_ops[i].op ? unknown : i;
	}
	return unknown;
}

char *tk_op_place(const struct tk_arg *op)
{
	return tk_sprintf("%zu", rank_of_op(op->text));
}

const char *tk_op_title(const char *op)
{
	const char *title = known_ops[rank_of_op(op)].title;
	return *title ? title : op;
}

/* ---- styles ---- */

#define NO_STYLE SIZE_MAX

/* Vendors have a colour that readers expect: NVIDIA green, Intel blue, AMD red. A style that is
 * taken goes to the first name. */
static size_t find_preferred(const char *name)
{
	static const struct {
		const char *prefix;
		size_t style;
	} vendors[] = {{"cublas", 2}, {"cudnn", 0}, {"onednn", 0}, {"mkl", 0}, {"rocblas", 1},
	        {"hipblas", 1}, {"openblas", 1}};
	for (size_t i = 0; i < sizeof vendors / sizeof *vendors; i++)
		if (!strncmp(name, vendors[i].prefix, strlen(vendors[i].prefix)))
			return vendors[i].style;
	return NO_STYLE;
}

static int compare_variants(const void *a, const void *b)
{
	const struct tk_site_series *x = *(struct tk_site_series *const *)a,
	                            *y = *(struct tk_site_series *const *)b;
	return strcmp(x->variant, y->variant);
}

/* Vendors first, then the others by name into the styles that are left. Controls and ceilings are
 * in no chart with others. */
void tk_model_assign_styles(struct tk_model *m)
{
	size_t count = m->series_count, next = 0;
	struct tk_site_series **all = tk_malloc((count + 1) * sizeof *all);
	bool *is_taken = tk_calloc(count + TK_STYLES + 1, sizeof *is_taken);
	for (size_t i = 0; i < count; i++)
		all[i] = &m->series[i];
	tk_sort(all, count, sizeof *all, compare_variants);
	for (int vendors = 1; vendors >= 0; vendors--)
		for (size_t first = 0, end; first < count; first = end) {
			bool is_drawn = false;
			size_t style = all[first]->style;
			for (end = first; end < count && !compare_variants(&all[first], &all[end]);
			        end++)
				is_drawn = is_drawn || (tk_series_is_suite_time(all[end]) &&
				                               tk_series_has_result(all[end]));
			if (vendors)
				style = is_drawn ? find_preferred(all[first]->variant) : 0;
			if (vendors && is_drawn && style != NO_STYLE && is_taken[style])
				style = NO_STYLE;
			while (!vendors && style == NO_STYLE && is_taken[next])
				next++;
			style = !vendors && style == NO_STYLE ? next : style;
			if (is_drawn && style != NO_STYLE)
				is_taken[style] = true;
			for (size_t i = first; i < end; i++)
				all[i]->style = style;
		}
	free(all);
	free(is_taken);
}

/* ---- joining ---- */

/* The texts of a series. `variant` names the upstream where another one has a backend of this name,
 * with the address where even the name is taken twice. `mode` is that of the device: the default of
 * its kind, else the first that was measured. */
struct series_text {
	int64_t id;
	const char *variant, *label, *file, *op_file, *mode;
};
#define TEXT(member) TK_MEMBER(struct series_text, member)
static const struct tk_db_column text_columns[] = {
        TEXT(id), TEXT(variant), TEXT(label), TEXT(file), TEXT(op_file), TEXT(mode)};
static const struct tk_row_type text_type = TK_ROW_TYPE(struct series_text, text_columns);
static const char texts_sql[] =
        "WITH used AS (SELECT DISTINCT device_id, mode FROM series WHERE role = 'suite'"
        "  AND metric = 'time' AND unit = 'ns' AND place('mode', mode) IS NOT NULL),"
        " d AS (SELECT id AS device_id, default_mode(kind) AS usual FROM device),"
        " m AS (SELECT device_id, ifnull(substr(min((mode <> usual) || place('mode', mode) || "
        "mode),"
        "  5), usual) AS device_mode FROM d LEFT JOIN used USING (device_id) GROUP BY device_id),"
        " o AS (SELECT backend, upstream_id, count(*) OVER (PARTITION BY backend) > 1 AS is_shared,"
        "  count(*) OVER (PARTITION BY backend, upstream) > 1 AS is_twin"
        "  FROM (SELECT DISTINCT backend, upstream_id, upstream FROM series_v)),"
        " v AS (SELECT s.*, device_mode, backend ||"
        "  iif(is_shared AND (is_twin OR upstream <> backend), ' (' || clip(upstream, 60) ||"
        "   iif(is_twin, ', ' || iif(upstream_url = '', upstream_kind, public_url(upstream_url)), "
        "'')"
        "   || ')', '') || iif(config = '', '', ' · ' || config) AS variant"
        "  FROM series_v s JOIN m USING (device_id) JOIN o USING (backend, upstream_id)),"
        " t AS (SELECT *, variant || iif(mode = device_mode, '', ' · ' || mode) ||"
        "  iif(metric = 'time', '', ' · ' || metric) AS label FROM v)"
        " SELECT id, variant, label, slug(slug) AS file, slug(op) AS op_file, device_mode AS mode"
        " FROM t ORDER BY op_place(op), op, dtype, flops, problem, machine || '/' || device, label,"
        " t.slug";

int tk_model_join_series(struct tk_model *m, struct tk_error *err)
{
	AUTO(tk_row_index) rows = {0};
	TRY(tk_store_select(m->store, texts_sql, TK_NO_ARGS, &text_type, &m->series_texts, err));
	tk_row_index_build(
	        &rows, m->series_rows.rows, m->series_rows.count, sizeof(struct tk_series_row));
	m->series = tk_calloc(m->series_rows.count + 1, sizeof *m->series);
	m->series_by_id.entries =
	        tk_malloc((m->series_rows.count + 1) * sizeof *m->series_by_id.entries);
	if (m->series_texts.count != m->series_rows.count)
		return tk_fail(err, TK_EDATA, "some series have no device, upstream or problem");
	for (size_t i = 0; i < m->series_texts.count; i++) {
		const struct series_text *t = TK_ROWS_AT(&m->series_texts, struct series_text, i);
		struct tk_site_series *s = &m->series[m->series_count++];
		s->row = tk_row_index_find(&rows, t->id);
		s->device = tk_model_find_device(m, s->row->device_id);
		m->devices[s->device - m->devices].mode = t->mode;
		s->upstream = tk_row_index_find(&m->upstreams_by_id, s->row->upstream_id);
		s->problem = tk_row_index_find(&m->problems_by_id, s->row->problem_id);
		s->metric = tk_metric_from_name(s->row->metric);
		s->unit = tk_unit_from_name(s->row->unit);
		s->file = t->file;
		s->label = t->label;
		s->variant = t->variant;
		bool same = i && !strcmp(s->problem->op, s[-1].problem->op);
		s->op_file = same ? s[-1].op_file : t->op_file;
		m->series_by_id.entries[i] = (struct tk_row_index_entry){t->id, s};
	}
	m->series_by_id.count = m->series_count;
	tk_row_index_sort(&m->series_by_id);
	return 0;
}

/* ---- change points ---- */

struct step {
	int64_t series_id, as_of_s, good_id, bad_id;
	double before_value, after_value;
	enum tk_cause cause;
};
static const struct tk_db_column step_columns[] = {
        TK_MEMBER(struct step, series_id),
        TK_MEMBER(struct step, as_of_s),
        TK_MEMBER(struct step, good_id),
        TK_MEMBER(struct step, bad_id),
        TK_MEMBER(struct step, before_value),
        TK_MEMBER(struct step, after_value),
        TK_MEMBER_WORD(struct step, cause, cause),
};
static const struct tk_row_type step_type = TK_ROW_TYPE(struct step, step_columns);
static const char steps_sql[] =
        "SELECT c.*, a.revision_id AS good_id, b.revision_id AS bad_id"
        " FROM change_point_v c LEFT JOIN build a ON a.id = c.previous_build_id"
        " LEFT JOIN build b ON b.id = c.build_id ORDER BY c.series_id, c.as_of_s, c.run_id";

static void add_change(struct tk_model *m, const struct step *step)
{
	const struct tk_site_series *found = tk_model_find_series(m, step->series_id);
	if (!found)
		return;
	struct tk_site_series *s = &m->series[found - m->series];
	struct tk_site_change *c = &m->changes[m->change_count++];
	*c = (struct tk_site_change){.series = s,
	        .as_of_s = step->as_of_s,
	        .before = step->before_value,
	        .after = step->after_value,
	        .cause = step->cause,
	        .good = tk_row_index_find(&m->revisions_by_id, step->good_id),
	        .bad = tk_row_index_find(&m->revisions_by_id, step->bad_id),
	        .is_worse = (step->after_value > step->before_value) ==
	                    (s->row->better == TK_BETTER_LOWER)};
	c->is_of_commit = c->bad && c->bad != c->good;
	s->changes = s->change_count ? s->changes : c;
	s->change_count++;
}

struct revision_text {
	int64_t id;
	const char *file;
};
static const struct tk_db_column revision_columns[] = {
        TK_MEMBER(struct revision_text, id), TK_MEMBER(struct revision_text, file)};
static const struct tk_row_type revision_type = TK_ROW_TYPE(struct revision_text, revision_columns);

int tk_model_read_revision_files(struct tk_model *m, struct tk_error *err)
{
	const struct tk_revision_row *first = m->revision_rows.rows;
	m->revision_views = tk_calloc(m->revision_rows.count + 1, sizeof *m->revision_views);
	TRY(tk_store_select(m->store, "SELECT id, file FROM page_revision_file", TK_NO_ARGS,
	        &revision_type, &m->revision_texts, err));
	for (size_t i = 0; i < m->revision_texts.count; i++) {
		const struct revision_text *t =
		        TK_ROWS_AT(&m->revision_texts, struct revision_text, i);
		const struct tk_revision_row *r = tk_row_index_find(&m->revisions_by_id, t->id);
		m->revision_views[r - first].file = t->file;
	}
	return 0;
}

static struct tk_revision_view *find_view(const struct tk_model *m, const struct tk_revision_row *r)
{
	return &m->revision_views[r - (const struct tk_revision_row *)m->revision_rows.rows];
}

const struct tk_revision_view *tk_model_view_revision(
        const struct tk_model *m, const struct tk_revision_row *r)
{
	struct tk_revision_view *v = r ? find_view(m, r) : NULL;
	if (v && !v->name) {
		char link[TK_LINK_SIZE];
		const struct tk_upstream_row *u =
		        tk_row_index_find(&m->upstreams_by_id, r->upstream_id);
		v->name = tk_strdup(tk_rev_abbreviate(r->rev, link));
		v->href = tk_strdup(tk_link_commit(u ? u->url : "", r->rev, link));
	}
	return v;
}

const char *tk_model_find_revision_file(const struct tk_model *m, const struct tk_revision_row *r)
{
	return r ? find_view(m, r)->file : NULL;
}

int tk_model_join_changes(struct tk_model *m, struct tk_error *err)
{
	AUTO(tk_rows) steps = {0};
	TRY(tk_store_select(m->store, steps_sql, TK_NO_ARGS, &step_type, &steps, err));
	m->changes = tk_calloc(steps.count + 1, sizeof *m->changes);
	for (size_t i = 0; i < steps.count; i++)
		add_change(m, TK_ROWS_AT(&steps, struct step, i));
	return 0;
}

int tk_model_read_newest_points(struct tk_model *m, struct tk_error *err)
{
	int status = 0;
	for (size_t i = 0; i < m->series_count && !status; i++) {
		struct tk_site_series *s = &m->series[i];
		AUTO(tk_rows) newest = {0};
		status = tk_store_list_points(m->store, s->row->id, INT64_MIN, 2, &newest, err);
		s->newest_count = newest.count;
		if (newest.count)
			memcpy(s->newest, newest.rows, newest.count * sizeof *s->newest);
	}
	return status;
}

/* ---- series ---- */

const struct tk_point *tk_series_last_point(const struct tk_site_series *s)
{
	return s->newest_count ? &s->newest[s->newest_count - 1] : NULL;
}

double tk_series_newest_value(const struct tk_site_series *s)
{
	const struct tk_point *last = s ? tk_series_last_point(s) : NULL;
	return last && !s->failure && last->value > 0 ? last->value : NAN;
}

double tk_series_rate(const struct tk_site_series *s, double value, const char **unit)
{
	bool compute = s->problem->flops > 0;
	*unit = compute ? "gflop_per_s" : "gb_per_s";
	if (s->unit != TK_UNIT_NS || s->metric != TK_METRIC_TIME || !(value > 0))
		return NAN;
	double amount = compute ? s->problem->flops : s->problem->bytes;
	return amount > 0 ? amount / value : NAN; /* per ns = giga per second */
}

bool tk_series_is_unsupported(const struct tk_site_series *s)
{
	return s->failure && s->failure->outcome == TK_OUTCOME_UNSUPPORTED;
}

bool tk_series_is_skipped(const struct tk_site_series *s)
{
	return s->failure && s->failure->outcome == TK_OUTCOME_SKIPPED;
}

bool tk_series_has_result(const struct tk_site_series *s)
{
	return s->newest_count || (s->failure && !tk_series_is_unsupported(s));
}

enum tk_verdict_status tk_series_status(const struct tk_site_series *s)
{
	return s->verdict && !s->is_unplanned ? s->verdict->status : TK_VERDICT_STATUS_COUNT;
}

uint32_t tk_series_count_waiting_nights(const struct tk_model *m, const struct tk_site_series *s)
{
	const struct tk_point *last = tk_series_last_point(s);
	uint32_t count = 0;
	if (s->row->rotate_nights <= 1 || !last || s->failure)
		return 0;
	/* Sorted by their start; a backfill that started later may be of an earlier day. */
	for (size_t i = 0; i < m->night_count && m->nights[i].row->started_s > last->as_of_s; i++)
		count += m->nights[i].machine == s->device->machine && m->nights[i].is_turn &&
		         m->nights[i].row->as_of_s > last->as_of_s;
	return count < s->row->rotate_nights ? count : 0;
}

const char *tk_series_status_word(const struct tk_site_series *s)
{
	if (!s->verdict)
		return "";
	if (s->is_unplanned)
		return "not planned";
	return s->verdict->status == TK_VERDICT_MISSING && tk_series_is_skipped(s)
	               ? tk_outcome_name(TK_OUTCOME_SKIPPED)
	               : tk_verdict_status_name(s->verdict->status);
}

bool tk_series_has_change(const struct tk_site_series *s)
{
	return s->verdict && isfinite(s->verdict->before_value) &&
	       isfinite(s->verdict->after_value) && isfinite(s->verdict->change);
}

bool tk_series_is_suite_time(const struct tk_site_series *s)
{
	return s->row->role == TK_ROLE_SUITE && s->metric == TK_METRIC_TIME &&
	       s->unit == TK_UNIT_NS;
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
	       a->row->role == b->row->role && (defaults || !strcmp(a->row->mode, b->row->mode));
}
