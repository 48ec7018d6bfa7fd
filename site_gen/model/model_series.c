/* Series of the model: joined, sorted, with their change points and environments. */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/try.h"
#include "core/mode.h"
#include "core/outcome.h"
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

const char *tk_op_title(const char *op)
{
	const char *title = known_ops[rank_of_op(op)].title;
	return *title ? title : op;
}

static int compare_series(const void *a, const void *b)
{
	const struct tk_site_series *x = a, *y = b;
	int d = (int)rank_of_op(x->problem->op) - (int)rank_of_op(y->problem->op);
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

/* The default mode of the device's kind; else the first mode that was measured. */
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

/* ---- labels ---- */

/* Whether another upstream has a backend of this name, and even one of the same name does. */
struct owner {
	bool is_shared, is_twin;
};
static const struct tk_db_column owner_columns[] = {
        TK_MEMBER(struct owner, is_shared), TK_MEMBER(struct owner, is_twin)};
static const struct tk_row_type owner_type = TK_ROW_TYPE(struct owner, owner_columns);
static const char owners_sql[] =
        "WITH o AS (SELECT backend, upstream_id,"
        " count(*) OVER (PARTITION BY backend) > 1 AS is_shared,"
        " count(*) OVER (PARTITION BY backend, upstream) > 1 AS is_twin"
        " FROM (SELECT DISTINCT backend, upstream_id, upstream FROM series_v))"
        " SELECT is_shared, is_twin FROM series JOIN o USING (backend, upstream_id) ORDER BY id";

/* " (upstream)", unless the upstream is named after the backend; with the address where even the
 * name is taken twice. */
static void add_upstream(
        struct tk_buf *b, const struct tk_site_series *s, const struct owner *owner)
{
	const struct tk_upstream_row *u = s->upstream;
	char link[TK_LINK_SIZE];
	if (!owner->is_shared || (!owner->is_twin && !strcmp(u->name, s->row->backend)))
		return;
	tk_buf_add_printf(b, " (%.*s", (int)tk_utf8_clip_len(u->name, 60), u->name);
	if (owner->is_twin)
		tk_buf_add_printf(b, ", %s", *u->url ? tk_link_strip_user(u->url, link) : u->kind);
	tk_buf_add_char(b, ')');
}

static void make_label(struct tk_model *m, struct tk_site_series *s, const struct owner *owner)
{
	struct tk_buf b = TK_BUF_INIT;
	tk_buf_add_str(&b, s->row->backend);
	add_upstream(&b, s, owner);
	if (*s->row->config)
		tk_buf_add_printf(&b, " · %s", s->row->config);
	s->variant = tk_model_keep(m, tk_strdup(tk_buf_cstr(&b)));
	if (strcmp(s->row->mode, s->device->mode))
		tk_buf_add_printf(&b, " · %s", s->row->mode);
	if (s->metric != TK_METRIC_TIME)
		tk_buf_add_printf(&b, " · %s", s->row->metric);
	s->label = tk_model_keep(m, tk_buf_detach(&b, NULL));
}

static int make_labels(struct tk_model *m, struct tk_error *err)
{
	AUTO(tk_rows) owners = {0};
	TRY(tk_store_select(m->store, owners_sql, TK_NO_ARGS, &owner_type, &owners, err));
	for (size_t i = 0; i < m->series_count && i < owners.count; i++)
		make_label(m, &m->series[i], TK_ROWS_AT(&owners, struct owner, i));
	return owners.count == m->series_count
	               ? 0
	               : tk_fail(err, TK_EDATA, "some series have no upstream");
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
	qsort(all, count, sizeof *all, compare_variants);
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

int tk_model_join_series(struct tk_model *m, struct tk_error *err)
{
	m->series = tk_calloc(m->series_rows.count + 1, sizeof *m->series);
	for (size_t i = 0; i < m->series_rows.count; i++) {
		struct tk_site_series *s = &m->series[m->series_count++];
		s->row = TK_ROWS_AT(&m->series_rows, struct tk_series_row, i);
		s->device = tk_model_find_device(m, s->row->device_id);
		s->upstream = tk_row_index_find(&m->upstreams_by_id, s->row->upstream_id);
		s->problem = tk_row_index_find(&m->problems_by_id, s->row->problem_id);
		s->metric = tk_metric_from_name(s->row->metric);
		s->unit = tk_unit_from_name(s->row->unit);
		if (!s->device || !s->upstream || !s->problem)
			return tk_fail(err, TK_EDATA,
			        "series %s: missing device, upstream or problem", s->row->slug);
		s->file = tk_model_keep(m, tk_path_make_slug(s->row->slug));
	}
	choose_modes(m);
	TRY(make_labels(m, err));
	qsort(m->series, m->series_count, sizeof *m->series, compare_series);
	for (size_t i = 0; i < m->series_count; i++) {
		struct tk_site_series *s = &m->series[i];
		bool same = i && !strcmp(s->problem->op, s[-1].problem->op);
		s->op_file =
		        same ? s[-1].op_file : tk_model_keep(m, tk_path_make_slug(s->problem->op));
	}
	m->series_by_id.entries =
	        tk_malloc((m->series_count + 1) * sizeof *m->series_by_id.entries);
	m->series_by_id.count = m->series_count;
	for (size_t i = 0; i < m->series_count; i++)
		m->series_by_id.entries[i] =
		        (struct tk_row_index_entry){m->series[i].row->id, &m->series[i]};
	tk_row_index_sort(&m->series_by_id);
	return 0;
}

/* ---- change points ---- */

struct step {
	int64_t series_id, as_of_s, good_id, bad_id;
	double before_value, after_value, change_lo, change_hi;
	enum tk_cause cause;
};
static const struct tk_db_column step_columns[] = {
        TK_MEMBER(struct step, series_id),
        TK_MEMBER(struct step, as_of_s),
        TK_MEMBER(struct step, good_id),
        TK_MEMBER(struct step, bad_id),
        TK_MEMBER(struct step, before_value),
        TK_MEMBER(struct step, after_value),
        TK_MEMBER(struct step, change_lo),
        TK_MEMBER(struct step, change_hi),
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
	        .change_lo = step->change_lo,
	        .change_hi = step->change_hi,
	        .cause = step->cause,
	        .good = tk_row_index_find(&m->revisions_by_id, step->good_id),
	        .bad = tk_row_index_find(&m->revisions_by_id, step->bad_id),
	        .is_worse = (step->after_value > step->before_value) ==
	                    (s->row->better == TK_BETTER_LOWER)};
	c->is_of_commit = c->bad && c->bad != c->good;
	s->changes = s->change_count ? s->changes : c;
	s->change_count++;
}

/* ---- pages of revisions ---- */

/* The first 12 digits of a hash are its own. Those of a time (20261101000001) are not. */
static bool is_commit_hash(const char *rev)
{
	size_t digits = strspn(rev, "0123456789"), len = strspn(rev, "0123456789abcdef");
	return len >= 40 && digits < len && !rev[len];
}

static char *make_revision_file(struct tk_model *m, const struct tk_revision_row *r)
{
	const struct tk_upstream_row *u = tk_row_index_find(&m->upstreams_by_id, r->upstream_id);
	char rev[TK_LINK_SIZE];
	tk_rev_abbreviate(r->rev, rev);
	bool hash = is_commit_hash(r->rev) && !strncmp(rev, r->rev, 12) && strlen(rev) == 12;
	/* A shortened version may not be unique; the end of the uid is. */
	AUTO_TEXT name = tk_sprintf(
	        "%.40s-%s%s%.*s", u ? u->name : "", rev, hash ? "" : "-", hash ? 0 : 8, r->uid);
	return tk_model_keep(m, tk_path_make_slug(name));
}

static size_t find_revision_index(const struct tk_model *m, const struct tk_revision_row *r)
{
	return (size_t)(r - (const struct tk_revision_row *)m->revision_rows.rows);
}

const char *tk_model_find_revision_file(const struct tk_model *m, const struct tk_revision_row *r)
{
	return r ? m->revision_files[find_revision_index(m, r)] : NULL;
}

/* Revisions that changed something, and the newest, which are at the end of their upstream. */
static void name_revisions(struct tk_model *m)
{
	const struct tk_revision_row *rows = m->revision_rows.rows;
	m->revision_files = tk_calloc(m->revision_rows.count + 1, sizeof *m->revision_files);
	for (size_t i = 0; i < m->change_count; i++) {
		const struct tk_site_change *c = &m->changes[i];
		char **file =
		        c->is_of_commit ? &m->revision_files[find_revision_index(m, c->bad)] : NULL;
		if (file && !*file)
			*file = make_revision_file(m, c->bad);
	}
	for (size_t i = m->revision_rows.count, newer = 0; i-- > 0;) {
		bool same = i + 1 < m->revision_rows.count &&
		            rows[i + 1].upstream_id == rows[i].upstream_id;
		newer = same ? newer + 1 : 0;
		if (newer < TK_SITE_REVISION_PAGES && !m->revision_files[i])
			m->revision_files[i] = make_revision_file(m, &rows[i]);
	}
}

int tk_model_join_changes(struct tk_model *m, struct tk_error *err)
{
	AUTO(tk_rows) steps = {0};
	TRY(tk_store_select(m->store, steps_sql, TK_NO_ARGS, &step_type, &steps, err));
	m->changes = tk_calloc(steps.count + 1, sizeof *m->changes);
	for (size_t i = 0; i < steps.count; i++)
		add_change(m, TK_ROWS_AT(&steps, struct step, i));
	name_revisions(m);
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
		const struct tk_point *last = status ? NULL : tk_series_last_point(s);
		if (last && last->as_of_s > m->newest_s)
			m->newest_s = last->as_of_s;
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
