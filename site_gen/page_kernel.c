/* kernels/OP.html: every problem of one operation, all backends side by side, relative to the best. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "problem/mode.h"
#include "site_gen/axes.h"
#include "site_gen/facts.h"
#include "site_gen/format.h"
#include "site_gen/page.h"
#include "site_gen/svg.h"

#define COLUMNS_MAX 12
#define LONG_ROWS 60 /* above, the table is laid out where it comes into view */

/* One table: the variants that a device has for an operation in one mode, and for each the product of its ratios to the
 * best. */
struct columns {
	const struct tk_site_device *device;
	const char *op, *mode;
	const char *labels[COLUMNS_MAX];
	double log_ratio[COLUMNS_MAX];
	size_t shared[COLUMNS_MAX], wins[COLUMNS_MAX];
	size_t count;
	bool cut;
};

static size_t column_of(struct columns *c, const char *label)
{
	for (size_t i = 0; i < c->count; i++)
		if (!strcmp(c->labels[i], label))
			return i;
	if (c->count == COLUMNS_MAX) {
		c->cut = true;
		return COLUMNS_MAX;
	}
	c->labels[c->count] = label;
	return c->count++;
}

/* A contender of the table: modes are never mixed in one ranking. */
static bool is_in(const struct columns *c, const struct tk_site_series *s)
{
	return s->device == c->device && tk_series_is_suite_time(s) && tk_series_is_there(s) &&
	       !strcmp(s->row->mode, c->mode) && !strcmp(s->problem->op, c->op);
}

static double latest(const struct tk_site_series *s)
{
	const struct tk_point *last = s ? tk_series_last(s) : NULL;
	return last && !s->failure ? last->value : NAN;
}

/* What it takes besides the median: energy, 95th percentile, workspace, memory, launch, build; "-" for what is not
 * known. For the script that ranks by them. */
static void set_more(struct tk_site *site, struct tk_value *cell, const struct tk_site_series *s)
{
	const struct tk_point *last = tk_series_last(s);
	const struct tk_build_row *build = last ? tk_index_find(&site->model.builds_by_id, last->build_id) : NULL;
	const struct tk_facts facts = tk_facts_of(s->last_run ? s->last_run->attributes : "");
	const double all[] = {last ? last->p95 : NAN, facts.energy_j, facts.workspace_bytes, facts.device_bytes,
	        facts.launch_ns, build && build->wall_s > 0 ? build->wall_s : NAN};
	char text[160];
	size_t len = 0;
	bool any = false;
	for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
		/* no workspace is as good as it gets; no memory means that nobody looked */
		bool known = isfinite(all[i]) && (all[i] > 0 || i == 2);
		any = any || known;
		len += (size_t)snprintf(text + len, sizeof text - len, known ? "%s%.5g" : "%s-", i ? " " : "", all[i]);
	}
	tk_set(site->arena, cell, "more", any ? text : "");
}

/* best: of several; NAN where nobody else has a time. */
static void add_cell(struct tk_site *site, struct tk_value *cells, const struct tk_site_series *s, double best)
{
	struct tk_arena *a = site->arena;
	struct tk_value *cell = tk_add_object(a, cells);
	char text[TK_FORMAT_SIZE];
	const char *rate_unit;
	tk_set_flag(a, cell, "is_there", s != NULL);
	if (!s)
		return;
	double value = latest(s), ratio = best / value, rate = tk_series_rate(s, value, &rate_unit);
	bool is_best = value == best;
	tk_set_fmt(a, cell, "href", "../series/%s.html", s->file);
	tk_set_flag(a, cell, "measured", isfinite(value));
	tk_set(a, cell, "outcome", s->failure ? s->failure->outcome : "not measured");
	tk_set(a, cell, "tone", s->failure ? tk_tone_of_state(s->failure->outcome) : "quiet");
	tk_set(a, cell, "value", tk_format_value(value, s->row->unit, text));
	tk_set(a, cell, "rate", isfinite(rate) ? tk_format_value(rate, rate_unit, text) : "");
	tk_set_flag(a, cell, "best", is_best);
	const struct tk_point *last = tk_series_last(s);
	double rate_lo = last ? tk_series_rate(s, last->hi, &rate_unit) : NAN,
	       rate_hi = last ? tk_series_rate(s, last->lo, &rate_unit) : NAN;
	tk_set_fmt(a, cell, "data", isfinite(rate) ? "%.5g %.5g %.5g" : "", rate, isfinite(rate_lo) ? rate_lo : rate,
	        isfinite(rate_hi) ? rate_hi : rate);
	set_more(site, cell, s);
	tk_set_flag(a, cell, "ranked", isfinite(best));
	tk_set_fmt(a, cell, "ratio", is_best ? "best" : "%.2f×", value / best);
	tk_svg_bar(&site->markup, ratio, is_best ? "best" : "rest");
	tk_set_markup_of(site, cell, "bar_markup");
}

/* The series of one problem on one device: series[first..end). */
static void add_problem(struct tk_site *site, struct tk_value *rows, struct columns *columns, size_t first, size_t end)
{
	const struct tk_model *m = &site->model;
	const struct tk_site_series *of_column[COLUMNS_MAX] = {0};
	double best = INFINITY;
	size_t measured = 0;
	for (size_t i = first; i < end; i++) {
		size_t c = is_in(columns, &m->series[i]) ? column_of(columns, m->series[i].variant) : COLUMNS_MAX;
		if (c == COLUMNS_MAX)
			continue;
		of_column[c] = &m->series[i];
		best = fmin(best, isfinite(latest(&m->series[i])) ? latest(&m->series[i]) : INFINITY);
		measured += isfinite(latest(&m->series[i]));
	}
	struct tk_value *row = tk_add_object(site->arena, rows);
	tk_set_clipped(site, row, "problem", m->series[first].problem->title, 110);
	tk_set_clipped(site, row, "family", m->series[first].problem->family, 60);
	struct tk_axes at;
	bool swept = tk_axes_of(m->series[first].problem, &at);
	tk_set_fmt(site->arena, row, "x", swept ? "%.6g" : "", at.x);
	tk_set_clipped(site, row, "sweep", at.sweep, 240);
	struct tk_value *cells = tk_set_list(site->arena, row, "cells");
	for (size_t c = 0; c < columns->count; c++) {
		columns->wins[c] += measured > 1 && of_column[c] && latest(of_column[c]) == best;
		add_cell(site, cells, of_column[c], measured > 1 ? best : NAN);
		if (of_column[c] && isfinite(latest(of_column[c])) && measured > 1) {
			columns->log_ratio[c] += log(latest(of_column[c]) / best);
			columns->shared[c]++;
		}
	}
}

static bool same_problem(const struct tk_site_series *a, const struct tk_site_series *b)
{
	return a->problem == b->problem && a->device == b->device;
}

static void add_heads(struct tk_site *site, struct tk_value *heads, const struct columns *columns)
{
	struct tk_arena *a = site->arena;
	for (size_t c = 0; c < columns->count; c++) {
		struct tk_value *head = tk_add_object(a, heads);
		tk_set_clipped(site, head, "name", columns->labels[c], 60);
		tk_set_flag(a, head, "mean", columns->shared[c] > 0);
		tk_set_fmt(a, head, "geomean", "%.2f×",
		        columns->shared[c] ? exp(columns->log_ratio[c] / (double)columns->shared[c]) : 0.0);
		tk_set_int(a, head, "shared", (int64_t)columns->shared[c]);
		tk_set_int(a, head, "wins", (int64_t)columns->wins[c]);
	}
}

/* The table of one device and mode; nothing where it has no series. */
static int add_table(struct tk_site *site, struct tk_value *devices, struct columns *columns, bool default_mode,
        struct tk_error *err)
{
	const struct tk_model *m = &site->model;
	struct tk_arena *a = site->arena;
	for (size_t i = 0; i < m->series_count; i++)
		if (is_in(columns, &m->series[i]))
			column_of(columns, m->series[i].variant);
	if (!columns->count)
		return 0;
	struct tk_value *o = tk_add_object(a, devices);
	tk_set_clipped(site, o, "device", columns->device->name, 80);
	tk_set_clipped(site, o, "device_name", columns->device->row->name, 80);
	tk_set(a, o, "mode", default_mode ? "" : columns->mode);
	tk_set_flag(a, o, "cut", columns->cut);
	struct tk_value *heads = tk_set_list(a, o, "heads");
	struct tk_value *rows = tk_set_list(a, o, "rows");
	size_t problems = 0;
	for (size_t i = 0, end; i < m->series_count; i = end) {
		bool any = is_in(columns, &m->series[i]);
		for (end = i + 1; end < m->series_count && same_problem(&m->series[i], &m->series[end]); end++)
			any = any || is_in(columns, &m->series[end]);
		if (any)
			add_problem(site, rows, columns, i, end), problems++;
	}
	tk_set_flag(a, o, "long", problems > LONG_ROWS);
	add_heads(site, heads, columns);
	tk_set_flag(a, o, "swept", tk_axes_names(columns->op) != NULL);
	tk_set(a, o, "x_name", tk_axes_names(columns->op) ? tk_axes_names(columns->op)->x : "");
	return default_mode ? tk_set_maps(site, o, columns->op, columns->device, columns->labels, columns->count, err)
	                    : 0;
}

/* The device's own mode first, then the others. */
static int add_device(struct tk_site *site, struct tk_value *devices, const char *op,
        const struct tk_site_device *device, struct tk_error *err)
{
	struct columns usual = {.device = device, .op = op, .mode = device->mode};
	int status = add_table(site, devices, &usual, true, err);
	for (int i = 0; !status && i < TK_MODE_COUNT; i++) {
		struct columns other = {.device = device, .op = op, .mode = tk_mode_word((enum tk_mode)i)};
		if (strcmp(other.mode, device->mode))
			status = add_table(site, devices, &other, false, err);
	}
	return status;
}

static void set_tabs(struct tk_site *site, struct tk_value *page, const char *current)
{
	const struct tk_model *m = &site->model;
	struct tk_value *tabs = tk_set_list(site->arena, page, "tabs");
	const char *done = "";
	for (size_t i = 0; i < m->series_count; i++) {
		const char *op = m->series[i].problem->op;
		if (!strcmp(op, done) || !tk_series_is_suite_time(&m->series[i]))
			continue;
		done = op;
		struct tk_value *tab = tk_add_object(site->arena, tabs);
		tk_set_clipped(site, tab, "name", tk_op_title(op), 40);
		tk_set_flag(site->arena, tab, "current", !strcmp(op, current));
		tk_set_fmt(site->arena, tab, "href", "%s.html", m->series[i].op_file);
	}
}

static int write_op(struct tk_site *site, const char *op, const char *file, struct tk_error *err)
{
	char path[128];
	snprintf(path, sizeof path, "kernels/%s.html", file);
	struct tk_value *page = tk_page_begin(site, path, tk_op_title(op), TK_SECTION_KERNELS);
	set_tabs(site, page, op);
	struct tk_value *devices = tk_set_list(site->arena, page, "devices");
	int status = 0;
	for (size_t d = 0; !status && d < site->model.device_count; d++)
		status = add_device(site, devices, op, &site->model.devices[d], err);
	return status ? status : tk_page_end(site, "kernel", path, err);
}

int tk_page_kernels(struct tk_site *site, struct tk_error *err)
{
	const char *done = "";
	int status = 0;
	for (size_t i = 0; !status && i < site->model.series_count; i++) {
		const struct tk_site_series *s = &site->model.series[i];
		if (!strcmp(s->problem->op, done) || !tk_series_is_suite_time(s))
			continue;
		done = s->problem->op;
		status = write_op(site, done, s->op_file, err);
	}
	return status;
}
