/* tunings/: what `tracker tune` found: the page of each result, with every candidate and the
 * landscape, and the list of all with the rules that they give. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/present.h"
#include "base/try.h"
#include "site_gen/charts/charts.h"
#include "site_gen/model/records.h"
#include "site_gen/pages/page.h"
#include "site_gen/render/escape.h"
#include "store/tuning.h"
#include "store/tuning_groups.h"
#include "store/tuning_state.h"

/* ---- the landscape: a map of the two parameters that matter most, and the best times ---- */

static void set_value_name(struct tk_value *o, const char *key, double value)
{
	tk_value_set_fmt(o, key, isnan(value) ? "none" : "%.0f", value);
}

/* How much slower than the best: classes of the style sheet, 0 the best. */
static int heat_level(double slower)
{
	static const double limits[] = {0.005, 0.02, 0.05, 0.1, 0.25};
	int level = 0;
	while (level < (int)(sizeof limits / sizeof *limits) && slower > limits[level])
		level++;
	return level;
}

static void set_best(
        struct tk_value *o, const struct tk_tuning_space *s, const struct tk_tuning_candidate *best)
{
	tk_value_set_flag(o, "any", best != NULL);
	if (!best)
		return;
	double slower = best->median_ns / s->best_ns - 1;
	tk_value_set_int(o, "level", heat_level(slower));
	tk_value_set_change(o, "slower", slower > 0 ? slower : NAN, "best");
	tk_value_set_quantity(o, "time", best->median_ns, "ns", "–");
	tk_value_set_clip(o, "config", best->config, 80);
}

static void set_map(struct tk_value *page, const struct tk_tuning_space *s)
{
	/* columns: the one with more values */
	const struct tk_tuning_parameter *a = &s->parameters[0], *b = &s->parameters[1];
	const struct tk_tuning_parameter *rows = a->count > b->count ? b : a,
	                                 *columns = a->count > b->count ? a : b;
	struct tk_value *heads = tk_value_add_list(page, "map_columns"),
	                *lines = tk_value_add_list(page, "map_rows");
	tk_value_set_clip(page, "row_name", rows->name, 40);
	tk_value_set_clip(page, "column_name", columns->name, 40);
	for (size_t c = 0; c < columns->count; c++)
		set_value_name(tk_value_append(heads), "column", columns->values[c]);
	for (size_t r = 0; r < rows->count; r++) {
		struct tk_value *line = tk_value_append(lines);
		struct tk_value *cells = tk_value_add_list(line, "cells");
		set_value_name(line, "row", rows->values[r]);
		for (size_t c = 0; c < columns->count; c++)
			set_best(tk_value_append(cells), s,
			        tk_tuning_space_find_best(
			                s, rows, rows->values[r], columns, columns->values[c]));
	}
}

static void add_parameter(struct tk_site *site, struct tk_value *list,
        const struct tk_tuning_space *s, const struct tk_tuning_parameter *p)
{
	for (size_t k = 0; k < p->count; k++) {
		const struct tk_tuning_candidate *best =
		        tk_tuning_space_find_best(s, p, p->values[k], NULL, 0);
		struct tk_value *o = tk_value_append(list);
		tk_value_set_clip(o, "parameter", p->name, 40);
		tk_value_set_flag(o, "is_first", k == 0);
		tk_value_set_int(o, "values", p->count);
		set_value_name(o, "value", p->values[k]);
		set_best(o, s, best);
		if (!best)
			continue;
		tk_svg_draw_bar(&site->markup, s->best_ns / best->median_ns, "rest");
		tk_page_set_markup(site, o, "bar_markup");
	}
}

static void set_landscape(
        struct tk_site *site, struct tk_value *page, const struct tk_tuning_space *s)
{
	struct tk_value *list = tk_value_add_list(page, "parameters");
	tk_value_set_flag(page, "map", s->parameter_count > 1);
	tk_value_set_flag(page, "others", s->parameter_count > 2);
	if (s->parameter_count > 1)
		set_map(page, s);
	for (size_t i = 0; i < s->parameter_count; i++)
		add_parameter(site, list, s, &s->parameters[i]);
}

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

static void set_candidates(struct tk_site *site, struct tk_value *page,
        const struct tk_tuning_space *s, const struct tk_tuning_row *row)
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

static int write_tuning(struct tk_site *site, const struct tk_site_tuning *t, struct tk_error *err)
{
	char path[TK_PAGE_PATH_SIZE], title[300];
	AUTO(tk_tuning_space) space;
	tk_tuning_space_read(t->row, &space);
	tk_tuning_path(t, path);
	snprintf(title, sizeof title, "Tuning of %.*s · %.*s",
	        (int)tk_utf8_clip_len(t->row->backend, 60), t->row->backend,
	        (int)tk_utf8_clip_len(t->problem->title, 120), t->problem->title);
	struct tk_value *page = tk_page_begin(site, path, title, TK_SECTION_KERNELS);
	set_head(site, page, t);
	set_summary(page, t, &space);
	tk_tuning_space_find_parameters(&space);
	set_landscape(site, page, &space);
	set_results(site, page, t);
	set_candidates(site, page, &space, t->row);
	return tk_page_finish(site, "tuning", path, err);
}

/* ---- the list ---- */

#define RULE_SIZE 400

static void add_rules(struct tk_value *list, const struct tk_tune_rules *rules)
{
	char text[RULE_SIZE];
	for (size_t i = 0; i < rules->count; i++) {
		struct tk_value *o = tk_value_append(list);
		tk_value_set_clip(o, "sweep", rules->at[i].sweep, 160);
		tk_value_set_clip(o, "rule", tk_tune_rule_format(&rules->at[i], text, sizeof text),
		        RULE_SIZE);
	}
}

static void add_row(struct tk_site *site, struct tk_value *list, const struct tk_site_tuning *t)
{
	struct tk_value *o = tk_value_append(list);
	tk_tuning_set_summary(o, t);
	tk_value_set_clip(o, "problem", t->problem->title, 120);
	tk_value_set_fmt(o, "href", "%s.html", t->file);
}

static int add_group(struct tk_site *site, struct tk_value *groups,
        const struct tk_site_tuning *tunings, size_t count, struct tk_error *err)
{
	struct tk_value *o = tk_value_append(groups);
	struct tk_value *rows = tk_value_add_list(o, "rows");
	const struct tk_tuning_row *r = tunings->row;
	AUTO(tk_tune_rules) rules = {0};
	tk_value_set_clip(o, "backend", r->backend, 60);
	tk_value_set_clip(o, "upstream", strcmp(r->upstream, r->backend) ? r->upstream : "", 60);
	tk_value_set_clip(o, "device", tunings->device->name, 80);
	tk_value_set_clip(o, "device_name", tunings->device->row->name, 80);
	tk_value_set_clip(o, "mode", r->mode, 40);
	tk_value_set_clip(o, "options", r->options, 100);
	for (size_t i = 0; i < count; i++)
		add_row(site, rows, &tunings[i]);
	TRY(tk_tuning_group_find_rules(tunings->group, &site->model.problems_by_id, &rules, err));
	add_rules(tk_value_add_list(o, "rules"), &rules);
	return 0;
}

/* Which tuned backend, on each device and in each mode that several were tuned in. */
static int add_places(struct tk_site *site, struct tk_value *page, struct tk_error *err)
{
	struct tk_value *list = tk_value_add_list(page, "places");
	const struct tk_model *m = &site->model;
	for (size_t i = 0; i < m->tuning_count; i++) {
		const struct tk_site_tuning *t = &m->tunings[i];
		size_t group = (size_t)(t->group - m->tuning_groups->at);
		AUTO(tk_tune_rules) rules = {0};
		bool is_first = !i || m->tunings[i - 1].group != t->group;
		if (!is_first || !tk_tuning_groups_is_first_at_place(m->tuning_groups, group))
			continue;
		TRY(tk_tuning_groups_find_backend_rules(
		        m->tuning_groups, t->group, &m->problems_by_id, &rules, err));
		if (rules.count) {
			struct tk_value *o = tk_value_append(list);
			tk_value_set_clip(o, "device", t->device->name, 80);
			tk_value_set_clip(o, "mode", t->row->mode, 40);
			add_rules(tk_value_add_list(o, "rules"), &rules);
		}
	}
	return 0;
}

static int write_index(struct tk_site *site, struct tk_error *err)
{
	const struct tk_model *m = &site->model;
	struct tk_value *page =
	        tk_page_begin(site, "tunings/index.html", "Tuning", TK_SECTION_KERNELS);
	struct tk_value *groups = tk_value_add_list(page, "groups");
	TRY(add_places(site, page, err));
	for (size_t first = 0, end; first < m->tuning_count; first = end) {
		for (end = first + 1;
		        end < m->tuning_count && m->tunings[end].group == m->tunings[first].group;
		        end++)
			;
		TRY(add_group(site, groups, &m->tunings[first], end - first, err));
	}
	return tk_page_finish(site, "tunings", "tunings/index.html", err);
}

int tk_page_write_tunings(struct tk_site *site, struct tk_error *err)
{
	for (size_t i = 0; i < site->model.tuning_count; i++)
		TRY(write_tuning(site, &site->model.tunings[i], err));
	return site->model.tuning_count ? write_index(site, err) : 0;
}
