/* tunings/NAME.html: what `tracker tune` found for one problem on one backend: the default and the
 * winner, every candidate, the landscape, and the results before it. */
#include "site_gen/pages/tuning.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/present.h"
#include "base/memory.h"
#include "site_gen/charts/bars.h"
#include "site_gen/model/tunings.h"
#include "site_gen/render/escape.h"
#include "store/tuning.h"
#include "store/tuning_groups.h"
#include "store/tuning_state.h"

#define CANDIDATES_SHOWN 60
#define RESULTS_SHOWN 20

static enum tk_tone verdict_tone(enum tk_tune_verdict verdict)
{
	switch (verdict) {
	case TK_TUNE_VERDICT_FASTER:
	case TK_TUNE_VERDICT_FIXED:
		return TK_TONE_GOOD;
	case TK_TUNE_VERDICT_FAILING:
		return TK_TONE_BAD;
	case TK_TUNE_VERDICT_INCONCLUSIVE:
	case TK_TUNE_VERDICT_SLOWER:
		return TK_TONE_NOTE;
	default:
		return TK_TONE_QUIET;
	}
}

static void set_time(struct tk_value *o, const char *key, double ns)
{
	tk_value_set_quantity(o, key, ns > 0 ? ns : NAN, "ns", "–");
}

/* ---- what one result says ---- */

static void set_gain(struct tk_value *o, const struct tk_tuning_row *row)
{
	char change[TK_FORMAT_SIZE] = "", range[TK_FORMAT_SIZE] = "";
	bool is_known = isfinite(row->change) && row->change > -1;
	if (is_known) {
		tk_format_change(row->change, change);
		tk_format_change_range(row->change, row->change_lo, row->change_hi, range);
	}
	tk_value_set(o, "gain", change);
	tk_value_set(o, "gain_range", range);
	tk_value_set_fmt(o, "pairs", row->pair_count > 0 ? "%lld" : "", (long long)row->pair_count);
	tk_tone_set(o, "gain_tone", is_known ? verdict_tone(row->verdict) : 0);
}

static void set_verdict(struct tk_value *o, const struct tk_tuning_row *row)
{
	tk_value_set(o, "verdict", tk_tune_verdict_name(row->verdict));
	tk_value_set(o, "verdict_meaning",
	        tk_vocabulary_meaning(&tk_tune_verdict_words, (int)row->verdict));
	tk_tone_set(o, "verdict_tone", verdict_tone(row->verdict));
}

/* The time of a configuration in the race; NAN: it has none. */
static double find_time_ns(const struct tk_tuning_space *s, const char *config)
{
	double ns = NAN;
	for (size_t i = 0; i < s->count; i++)
		if (!isnan(s->candidates[i].median_ns) && !strcmp(s->candidates[i].config, config))
			ns = s->candidates[i].median_ns;
	return ns;
}

/* The backend's default comes first. */
static void set_default(
        struct tk_value *o, const struct tk_tuning_row *row, const struct tk_tuning_space *s)
{
	const struct tk_tuning_candidate *first = s->count ? &s->candidates[0] : NULL;
	double race_ns = first ? first->median_ns : NAN, winner_ns = find_time_ns(s, row->config);
	tk_value_set_clip(o, "default", first ? first->config : "", 80);
	tk_value_set_clip(o, "winner", row->config, 80);
	tk_value_set_flag(o, "is_default", first && !strcmp(first->config, row->config));
	set_time(o, "default_time", row->default_ns > 0 ? row->default_ns : race_ns);
	set_time(o, "winner_time",
	        row->winner_ns > 0 && !strcmp(row->winner, row->config) ? row->winner_ns
	                                                                : winner_ns);
}

static void set_summary(
        struct tk_value *o, const struct tk_site_tuning *t, const struct tk_tuning_space *s)
{
	set_default(o, t->row, s);
	set_gain(o, t->row);
	set_verdict(o, t->row);
	tk_value_set_fmt(o, "evaluations", t->row->evaluation_count >= 0 ? "%lld" : "–",
	        (long long)t->row->evaluation_count);
	tk_value_set_int(o, "candidate_count", s->count);
	tk_value_set_flag(o, "is_stale", tk_tune_state_is_stale(t->state));
	tk_value_set(o, "state",
	        t->state == TK_TUNE_STATE_CURRENT        ? "fresh"
	        : t->state == TK_TUNE_STATE_NEW_REVISION ? "stale: new revision"
	        : t->state == TK_TUNE_STATE_NEW_DRIVER   ? "stale: new driver"
	                                                 : "not measured by a night");
	tk_value_set_time(o, "when", t->row->started_s);
}

void tk_tuning_set_summary(struct tk_value *o, const struct tk_site_tuning *t)
{
	struct tk_tuning_space space;
	tk_tuning_space_read(t->row, &space);
	set_summary(o, t, &space);
	tk_tuning_space_free(&space);
}

/* ---- candidates ---- */

static int fastest_first(const void *a, const void *b)
{
	const struct tk_tuning_candidate *x = *(const struct tk_tuning_candidate *const *)a,
	                                 *y = *(const struct tk_tuning_candidate *const *)b;
	if (isnan(x->median_ns) != isnan(y->median_ns))
		return !!isnan(x->median_ns) - !!isnan(y->median_ns);
	if (!isnan(x->median_ns) && x->median_ns != y->median_ns)
		return x->median_ns < y->median_ns ? -1 : 1;
	return (x > y) - (x < y);
}

static void add_candidate(struct tk_site *site, struct tk_value *list,
        const struct tk_tuning_space *s, const struct tk_tuning_candidate *c,
        const struct tk_tuning_row *row)
{
	struct tk_value *o = tk_value_append(list);
	char range[TK_FORMAT_SIZE];
	bool is_timed = c->median_ns > 0 && tk_outcome_has_timing(c->outcome),
	     has_range = isfinite(c->lo) && isfinite(c->hi) && isfinite(c->slower);
	tk_value_set_clip(o, "config", c->config, 100);
	tk_value_set_flag(o, "is_default", c == s->candidates);
	tk_value_set_flag(o, "is_chosen", !strcmp(c->config, row->config));
	set_time(o, "time", c->median_ns);
	tk_value_set_change(
	        o, "slower", is_timed && has_range && c->slower > 0 ? c->slower : NAN, "");
	tk_value_set(o, "range",
	        is_timed && has_range && c->slower > 0
	                ? tk_format_change_range(c->slower, c->lo, c->hi, range)
	                : "");
	tk_value_set_fmt(o, "runs", c->evaluations >= 0 ? "%.15g" : "–", c->evaluations);
	tk_value_set(o, "outcome",
	        !is_timed && c->outcome != TK_OUTCOME_SKIPPED ? tk_outcome_name(c->outcome) : "");
	tk_tone_set(o, "outcome_tone", tk_outcome_tone(c->outcome));
	tk_value_set(o, "left",
	        c->outcome == TK_OUTCOME_SKIPPED ? "not measured"
	        : c->is_dropped                  ? "dropped"
	                                         : "");
	tk_value_set_clip(o, "message", is_timed ? "" : c->message, 160);
	if (is_timed)
		tk_svg_draw_bar(&site->markup, s->best_ns / c->median_ns, "rest");
	tk_page_set_markup(site, o, "bar_markup");
}

static int set_candidates(struct tk_site *site, struct tk_value *page,
        const struct tk_tuning_space *s, const struct tk_tuning_row *row, struct tk_error *err)
{
	struct tk_value *list = tk_value_add_list(page, "candidates");
	const struct tk_tuning_candidate **sorted = tk_malloc((s->count + 1) * sizeof *sorted);
	char text[TK_FORMAT_SIZE];
	for (size_t i = 0; i < s->count; i++)
		sorted[i] = &s->candidates[i];
	if (s->count)
		qsort(sorted, s->count, sizeof *sorted, fastest_first);
	for (size_t i = 0; i < s->count && i < CANDIDATES_SHOWN; i++)
		add_candidate(site, list, s, sorted[i], row);
	tk_value_set(page, "more",
	        s->count > CANDIDATES_SHOWN
	                ? tk_format_count((int64_t)(s->count - CANDIDATES_SHOWN), text)
	                : "");
	free(sorted);
	return TK_OK;
}

/* ---- results before it ---- */

static void set_results(struct tk_site *site, struct tk_value *page, const struct tk_site_tuning *t)
{
	struct tk_value *list = tk_value_add_list(page, "results");
	const struct tk_rows *rows = &site->model.tuning_rows;
	for (size_t i = 0, shown = 0; i < rows->count && shown < RESULTS_SHOWN; i++) {
		const struct tk_tuning_row *row = TK_ROWS_AT(rows, struct tk_tuning_row, i);
		if (row->problem_id != t->row->problem_id || !tk_tuning_is_same_group(row, t->row))
			continue;
		struct tk_value *o = tk_value_append(list);
		tk_value_set_time(o, "when", row->started_s);
		tk_value_set_clip(o, "config", row->config, 80);
		tk_value_set_clip(o, "revision", row->revision, 12);
		set_verdict(o, row);
		set_gain(o, row);
		shown++;
	}
}

/* ---- the page ---- */

static const struct tk_site_series *find_series(
        const struct tk_model *m, const struct tk_site_tuning *t)
{
	for (size_t i = 0; i < m->series_count; i++)
		if (m->series[i].tuning == t && tk_series_is_suite_time(&m->series[i]))
			return &m->series[i];
	return NULL;
}

static void set_head(struct tk_site *site, struct tk_value *page, const struct tk_site_tuning *t)
{
	const struct tk_tuning_row *r = t->row;
	const struct tk_site_series *s = find_series(&site->model, t);
	tk_value_set_clip(page, "backend", r->backend, 60);
	tk_value_set_clip(page, "device", t->device->name, 80);
	tk_value_set_clip(page, "device_name", t->device->row->name, 80);
	tk_value_set_clip(page, "mode", r->mode, 40);
	tk_value_set_clip(page, "options", r->options, 100);
	tk_value_set_clip(page, "upstream", r->upstream, 60);
	tk_value_set_clip(page, "revision", r->revision, 12);
	tk_value_set_clip(page, "build", r->artifact_key, 12);
	tk_value_set_fmt(page, "series_href", s ? "../series/%s.html" : "", s ? s->file : "");
}

void tk_tuning_path(const struct tk_site_tuning *t, char path[TK_PAGE_PATH_SIZE])
{
	snprintf(path, TK_PAGE_PATH_SIZE, "tunings/%s.html", t->file);
}

int tk_page_write_tuning(struct tk_site *site, const struct tk_site_tuning *t, struct tk_error *err)
{
	char path[TK_PAGE_PATH_SIZE], title[300];
	struct tk_tuning_space space;
	tk_tuning_space_read(t->row, &space);
	int status = 0;
	tk_tuning_path(t, path);
	snprintf(title, sizeof title, "Tuning of %.*s · %.*s",
	        (int)tk_utf8_clip_len(t->row->backend, 60), t->row->backend,
	        (int)tk_utf8_clip_len(t->problem->title, 120), t->problem->title);
	if (!status) {
		struct tk_value *page = tk_page_begin(site, path, title, TK_SECTION_KERNELS);
		set_head(site, page, t);
		set_summary(page, t, &space);
		tk_tuning_space_find_parameters(&space);
		tk_tuning_set_landscape(site, page, &space);
		set_results(site, page, t);
		status = set_candidates(site, page, &space, t->row, err);
	}
	if (!status)
		status = tk_page_finish(site, "tuning", path, err);
	tk_tuning_space_free(&space);
	return status;
}
