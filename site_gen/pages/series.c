/* series/NAME.html: one metric of one problem and backend over all nights. */
#include <math.h>

#include "base/base.h"
#include "site_gen/charts/charts.h"
#include "site_gen/data/data.h"
#include "site_gen/model/model.h"
#include "site_gen/pages/page.h"
#include "site_gen/render/escape.h"

#define PEERS_MAX 12

/* ---- what the trend shows besides its points: the change of the last night while it is no change
 * point yet, and the nights without a timing ---- */

static bool is_change_point(const struct tk_site_series *s, int64_t since_s)
{
	return s->change_count && s->changes[s->change_count - 1].as_of_s >= since_s;
}

/* The verdict calls it changed, and no change point says so. */
static bool has_pending_change(const struct tk_site_series *s)
{
	const struct tk_point *last = tk_series_last_point(s);
	const enum tk_tone tone = tk_series_change_tone(s);
	return last && tk_series_has_change(s) && (tone == TK_TONE_BAD || tone == TK_TONE_GOOD) &&
	       !is_change_point(s, last->as_of_s);
}

static void set_pending(struct tk_site *site, struct tk_value *page, const struct tk_site_series *s)
{
	struct tk_value *list = tk_value_add_list(page, "pending");
	if (!has_pending_change(s))
		return;
	struct tk_value *o = tk_value_append(list);
	tk_page_set_series(site, o, s, "../");
	tk_page_set_verdict(site, o, s);
}

/* Whether the machine had more nights than the series has points since the first of its window. */
static bool has_gap(const struct tk_model *m, const struct tk_site_series *s, int64_t since_s)
{
	size_t nights = 0;
	for (size_t i = 0; i < m->night_count && m->nights[i].row->as_of_s >= since_s; i++)
		nights += m->nights[i].machine == s->device->machine;
	return nights > s->sparkline.count || s->failure;
}

static void add_mark(
        json_t *marks, int64_t time_s, const char *word, bool is_verdict, bool is_worse)
{
	json_array_append_new(marks, json_pack("{sIsssbsb}", "time", (json_int_t)time_s, "word",
	                                     word, "isVerdict", is_verdict, "isWorse", is_worse));
}

/* Nights whose run of the series has no timing. An unsupported problem never has one. */
static int add_failures(
        struct tk_site *site, json_t *marks, const struct tk_site_series *s, struct tk_error *err)
{
	AUTO(tk_rows) runs = {0};
	const int64_t since_s = s->sparkline.count ? s->sparkline.at->as_of_s : 0;
	if (!has_gap(&site->model, s, since_s))
		return 0;
	TRY(tk_store_list(site->model.store, TK_TABLE_run,
	        "series_id=?1 AND as_of_s>=?2 AND outcome<>'ok'", TK_ARGS(s->row->id, since_s),
	        &runs, err));
	for (size_t i = 0; i < runs.count; i++) {
		const struct tk_run_row *run = TK_ROWS_AT(&runs, struct tk_run_row, i);
		if (!tk_outcome_has_timing(run->outcome) && run->outcome != TK_OUTCOME_UNSUPPORTED)
			add_mark(marks, run->as_of_s, tk_outcome_name(run->outcome), false,
			        tk_outcome_tone(run->outcome) == TK_TONE_BAD);
	}
	return 0;
}

/* Sets marks, a JSON text, and pending. */
static int set_marks(struct tk_site *site, struct tk_value *page, const struct tk_site_series *s,
        json_t *marks, struct tk_error *err)
{
	char text[TK_FORMAT_SIZE];
	set_pending(site, page, s);
	if (has_pending_change(s))
		add_mark(marks, tk_series_last_point(s)->as_of_s,
		        tk_format_change(s->verdict->change, text), true,
		        tk_series_change_tone(s) == TK_TONE_BAD);
	TRY(add_failures(site, marks, s, err));
	AUTO_TEXT json = json_array_size(marks) ? json_dumps(marks, JSON_COMPACT) : NULL;
	tk_value_set(page, "marks", json);
	return 0;
}

/* ---- the page ---- */

static void add_row(struct tk_site *site, struct tk_value *rows, const struct tk_site_series *s,
        size_t i, struct tk_format_scale scale)
{
	const struct tk_point *p = TK_ROWS_AT(&s->points, struct tk_point, i),
	                      *before = i ? p - 1 : NULL;
	const struct tk_site_night *night = tk_model_find_night(&site->model, p->night_id);
	const struct tk_revision_row *revision =
	        tk_model_find_build_revision(&site->model, p->build_id);
	struct tk_value *row = tk_value_append(rows);
	char text[TK_FORMAT_SIZE];
	tk_value_set_time(row, "night", p->as_of_s);
	tk_value_set_int(row, "time", p->as_of_s);
	tk_value_set_flag(row, "has_page", night && night->file);
	tk_value_set_joined(
	        row, "night_href", "../nights/", night && night->file ? night->file : "", ".html");
	tk_value_set(row, "value", tk_format_scaled(p->value, scale, text));
	tk_value_set(row, "half", tk_format_point_half_width(p, text));
	tk_page_set_change(
	        row, s, before && before->value > 0 ? p->value / before->value - 1 : NAN);
	tk_page_set_revision(site, row, revision);
	tk_value_set_flag(row, "new_rev",
	        revision && (!before || revision != tk_model_find_build_revision(
	                                                    &site->model, before->build_id)));
	tk_value_set_flag(row, "new_env", before && p->environment_id != before->environment_id);
	tk_value_set_flag(row, "throttled", p->flags & TK_POINT_THROTTLED);
	tk_value_set_flag(row, "unstable", p->flags & TK_POINT_UNSTABLE);
}

static void set_changes(struct tk_site *site, struct tk_value *page, const struct tk_site_series *s)
{
	struct tk_value *list = tk_value_add_list(page, "changes");
	for (size_t i = s->change_count; i-- > 0;) {
		const struct tk_site_change *c = &s->changes[i];
		struct tk_value *o = tk_value_append(list);
		tk_value_set_int(o, "number", i + 1);
		tk_value_set_time(o, "when", c->as_of_s);
		tk_page_set_change(o, s, c->before > 0 ? c->after / c->before - 1 : NAN);
		tk_tone_set(o, "tone", c->is_worse ? TK_TONE_BAD : TK_TONE_GOOD);
		tk_value_set_quantity(o, "before", c->before, s->row->unit, "–");
		tk_value_set_quantity(o, "after", c->after, s->row->unit, "–");
		tk_value_set_clip(o, "cause", tk_cause_name(c->cause), 40);
		tk_page_set_revision_range(site, o, c->good, c->bad);
	}
}

static void add_peer(struct tk_site *site, struct tk_value *peers, const struct tk_site_series *s,
        const struct tk_site_series *peer)
{
	struct tk_value *o = tk_value_append(peers);
	const struct tk_point *mine = tk_series_last_point(s), *theirs = tk_series_last_point(peer);
	tk_page_set_series(site, o, peer, "../");
	tk_value_set_flag(o, "same_device", peer->device == s->device);
	char file[TK_DATA_PATH_SIZE];
	AUTO(tk_buf) files = TK_BUF_INIT;
	tk_chart_data_add_older_files(&site->data, &files, peer);
	tk_chart_data_page_file(&site->data, peer, file);
	tk_buf_add_printf(&files, "%s%s", files.len ? " " : "", file);
	tk_value_set(o, "files", tk_buf_cstr(&files));
	tk_value_set_fmt(o, "ratio", mine && theirs && mine->value > 0 ? "%.2f×" : "–",
	        mine && theirs ? theirs->value / mine->value : 0.0);
}

/* The series of the problem of `s`: series are sorted by problem. */
static void find_same_problem(
        const struct tk_model *m, const struct tk_site_series *s, size_t *first, size_t *end)
{
	*first = *end = (size_t)(s - m->series);
	while (*first > 0 && m->series[*first - 1].problem == s->problem)
		--*first;
	while (*end < m->series_count && m->series[*end].problem == s->problem)
		++*end;
}

/* The same problem on other backends and devices. */
static void set_peers(struct tk_site *site, struct tk_value *page, const struct tk_site_series *s)
{
	const struct tk_model *m = &site->model;
	struct tk_value *peers = tk_value_add_list(page, "peers");
	size_t first, end, added = 0;
	find_same_problem(m, s, &first, &end);
	for (size_t i = first; i < end && added < PEERS_MAX; i++) {
		if (&m->series[i] == s || !tk_series_has_result(&m->series[i]) ||
		        !tk_series_are_comparable(&m->series[i], s))
			continue;
		add_peer(site, peers, s, &m->series[i]);
		added++;
	}
}

/* Other metrics and modes of the same problem. */
static void set_others(struct tk_site *site, struct tk_value *page, const struct tk_site_series *s)
{
	const struct tk_model *m = &site->model;
	struct tk_value *list = tk_value_add_list(page, "others");
	size_t first, end, added = 0;
	find_same_problem(m, s, &first, &end);
	for (size_t i = first; i < end && added < PEERS_MAX; i++) {
		const struct tk_site_series *other = &m->series[i];
		if (other == s || other->device != s->device || other->upstream != s->upstream ||
		        strcmp(other->row->backend, s->row->backend) ||
		        strcmp(other->row->config, s->row->config) ||
		        other->row->role != s->row->role || !tk_series_has_result(other))
			continue;
		struct tk_value *o = tk_value_append(list);
		tk_value_set_fmt(o, "other_href", "%s.html", other->file);
		tk_value_set_clip(o, "other_metric", other->row->metric, 40);
		tk_value_set(o, "other_mode", other->row->mode);
		added++;
	}
}

static void set_trend(struct tk_site *site, struct tk_value *page, const struct tk_site_series *s,
        struct tk_format_scale scale, const json_t *marks)
{
	struct tk_plot plot;
	bool drawn = tk_trend_draw(&site->markup, &plot, s, marks, scale);
	tk_page_set_markup(site, page, "trend_markup");
	tk_value_set_flag(page, "trend", drawn);
	tk_trend_draw_y_labels(&site->markup, &plot);
	tk_page_set_markup(site, page, "y_markup");
	tk_trend_draw_x_labels(&site->markup, &plot);
	tk_page_set_markup(site, page, "x_markup");
	tk_value_set(page, "unit", scale.unit);
	tk_value_set_fmt(page, "divisor", "%.17g", scale.divisor);
}

/* "41.20 µs, 807 TFLOP/s on lab/cpu; regressed" */
static void set_description(struct tk_value *page, const struct tk_site_series *s)
{
	const struct tk_point *last = tk_series_last_point(s);
	const char *unit, *word = tk_series_status_word(s);
	char value[TK_FORMAT_SIZE], rate_text[TK_FORMAT_SIZE];
	double rate = last ? tk_series_rate(s, last->value, &unit) : NAN;
	tk_value_set_fmt(page, "description", "%s%s%s on %.*s%s%s",
	        last ? tk_format_value(last->value, s->row->unit, value) : "Not measured",
	        isfinite(rate) ? ", " : "",
	        isfinite(rate) ? tk_format_value(rate, unit, rate_text) : "",
	        (int)tk_utf8_clip_len(s->device->name, 80), s->device->name, *word ? "; " : "",
	        word);
}

static void set_scripts(struct tk_site *site, struct tk_value *page, const struct tk_site_series *s)
{
	struct tk_value *scripts = tk_value_add_list(page, "scripts");
	char revisions[160], file[TK_DATA_PATH_SIZE];
	AUTO(tk_buf) older = TK_BUF_INIT;
	snprintf(revisions, sizeof revisions, "data/revisions-%lld.js", (long long)s->upstream->id);
	tk_chart_data_page_file(&site->data, s, file);
	const char *const all[] = {"data/nights.js", "data/environments.js", revisions, file};
	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		tk_value_append_text(scripts, all[i]);
	tk_chart_data_add_older_files(&site->data, &older, s);
	tk_value_set(page, "older", tk_buf_cstr(&older));
}

static int write_page(struct tk_site *site, const struct tk_site_series *s, struct tk_error *err)
{
	char title[400], path[TK_PAGE_PATH_SIZE];
	const struct tk_point *last = tk_series_last_point(s);
	struct tk_format_scale scale = tk_format_choose_scale(last ? last->value : 0, s->row->unit);
	snprintf(title, sizeof title, "%.*s · %.*s", (int)tk_utf8_clip_len(s->problem->title, 120),
	        s->problem->title, (int)tk_utf8_clip_len(s->label, 60), s->label);
	snprintf(path, sizeof path, "series/%s.html", s->file);
	struct tk_value *page = tk_page_begin(site, path, title, TK_SECTION_KERNELS);
	tk_page_set_series(site, tk_value_add_object(page, "series"), s, "../");
	set_description(page, s);
	tk_value_set_clip(page, "failure_message", s->failure ? s->failure->message : "", 400);
	set_changes(site, page, s);
	set_peers(site, page, s);
	set_others(site, page, s);
	TRY(tk_page_add_sql(site, page, "series", TK_ARGS(s->row->id), err));
	TRY(tk_page_set_run_facts(site, page, s, err));
	json_auto_t *marks = json_array();
	TRY(set_marks(site, page, s, marks, err));
	set_trend(site, page, s, scale, marks);
	struct tk_value *rows = tk_value_add_list(page, "rows");
	for (size_t i = s->points.count, shown = 0; i-- > 0 && shown < TK_SITE_LISTED_POINTS;
	        shown++)
		add_row(site, rows, s, i, scale);
	set_scripts(site, page, s);
	return tk_page_finish(site, "series", path, err);
}

int tk_page_write_series(struct tk_site *site, struct tk_error *err)
{
	for (size_t i = 0; i < site->model.series_count; i++)
		TRY(write_page(site, &site->model.series[i], err));
	return 0;
}
