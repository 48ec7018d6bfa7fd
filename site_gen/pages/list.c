/* lists/: all series, on one page while they are few, else on one page for each device and
 * operation. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/format.h"
#include "base/memory.h"
#include "core/status.h"
#include "site_gen/model/ceilings.h"
#include "site_gen/pages/page.h"
#include "site_gen/render/escape.h"
#include "stats/summary/summary.h"

#define ONE_PAGE_MAX 1000 /* rows; longer lists are laid out on demand */

bool tk_page_list_is_single(const struct tk_model *m)
{
	return m->series_count <= ONE_PAGE_MAX;
}

static bool is_new_op(const struct tk_model *m, size_t i)
{
	return !i || strcmp(m->series[i].problem->op, m->series[i - 1].problem->op);
}

/* ---- devices x operations ---- */

struct state {
	size_t series, worse, missing, better, failing, skipped, unplanned, compared;
	double efficiency; /* median roofline efficiency; NAN: unknown */
};

/* Roofline efficiency of a series that was measured in the last night. */
static double find_efficiency(const struct tk_site_series *s, const struct tk_ceiling_set *ceilings)
{
	const struct tk_point *last = tk_series_last_point(s);
	bool tonight = last && s->device->machine->last_night && tk_series_is_ranked(s) &&
	               last->night_id == s->device->machine->last_night->id;
	return tonight ? tk_ceiling_set_efficiency(ceilings, s, last->value) : NAN;
}

static struct state count_state(const struct tk_model *m, const struct tk_site_device *device,
        const struct tk_ceiling_set *ceilings, const char *op, double *efficiencies)
{
	struct state state = {0};
	size_t known = 0;
	for (size_t i = 0; i < m->series_count; i++) {
		const struct tk_site_series *s = &m->series[i];
		const enum tk_tone tone = tk_series_tone(s);
		if (s->device != device || strcmp(s->problem->op, op) != 0 ||
		        !tk_series_has_result(s))
			continue;
		state.series++;
		bool missing = tone == TK_TONE_BAD && s->verdict->status == TK_VERDICT_MISSING;
		state.missing += missing;
		state.worse += tone == TK_TONE_BAD && !missing;
		state.better += tone == TK_TONE_GOOD;
		state.unplanned += s->is_unplanned;
		state.skipped += tk_series_is_skipped(s);
		state.failing +=
		        s->failure && !tk_series_is_skipped(s) && !tk_series_is_unsupported(s);
		state.compared += s->verdict && s->verdict->before_value > 0;
		efficiencies[known] = find_efficiency(s, ceilings);
		known += isfinite(efficiencies[known]);
	}
	state.efficiency = known ? tk_median(efficiencies, known) : NAN;
	return state;
}

static void set_list_href(struct tk_site *site, struct tk_value *o,
        const struct tk_site_device *device, const struct tk_site_series *of_op, const char *root)
{
	if (!tk_page_list_is_single(&site->model)) {
		tk_value_set_fmt(
		        o, "href", "%slists/%s.%s.html", root, device->file, of_op->op_file);
		return;
	}
	struct tk_buf at = TK_BUF_INIT;
	tk_buf_add_printf(&at, "%slists/index.html#op=", root);
	tk_escape_url(&at, tk_op_title(of_op->problem->op));
	tk_buf_add_str(&at, "&device=");
	tk_escape_url(&at, device->name);
	tk_value_set(o, "href", tk_buf_cstr(&at));
	tk_buf_free(&at);
}

static void add_cell(struct tk_site *site, struct tk_value *cells, const struct state *of,
        const struct tk_site_device *device, const struct tk_site_series *of_op, const char *root)
{
	const struct state state = *of;
	struct tk_value *cell = tk_value_append(cells);
	tk_value_set_percent(cell, "efficiency", state.efficiency, "");
	tk_value_set_fmt(cell, "roofline_href", "%sroofline/%s.html", root, device->file);
	tk_value_set_flag(cell, "any", state.series > 0);
	tk_value_set_count(cell, "count", state.series);
	tk_value_set_int(cell, "worse", state.worse);
	tk_value_set_fmt(cell, "missing", state.missing ? "%zu" : "", state.missing);
	tk_value_set_int(cell, "better", state.better);
	tk_value_set_int(cell, "failing", state.failing);
	tk_value_set_flag(cell, "any_worse", state.worse > 0);
	tk_value_set_flag(cell, "any_better", state.better > 0);
	tk_value_set_flag(cell, "any_failing", state.failing > 0);
	bool unchanged = !state.worse && !state.missing && !state.better && !state.failing;
	char skipped[40] = "", unplanned[40] = "";
	if (state.skipped)
		snprintf(skipped, sizeof skipped, "%zu skipped ", state.skipped);
	if (state.unplanned)
		snprintf(unplanned, sizeof unplanned, "%zu not planned", state.unplanned);
	tk_value_set_fmt(cell, "unchanged", "%s%s%s", skipped, unplanned,
	        !unchanged || *skipped || *unplanned ? ""
	        : state.compared                     ? "no change"
	                                             : "not compared");
	set_list_href(site, cell, device, of_op, root);
}

static bool op_has_page(const struct tk_model *m, size_t first)
{
	for (size_t i = first; i < m->series_count &&
	                       !strcmp(m->series[i].problem->op, m->series[first].problem->op);
	        i++)
		if (tk_series_is_suite_time(&m->series[i]) && tk_series_has_result(&m->series[i]))
			return true;
	return false;
}

static void add_matrix_row(struct tk_site *site, struct tk_value *rows,
        const struct tk_site_device *device, const char *root, double *efficiencies)
{
	const struct tk_model *m = &site->model;
	struct tk_ceiling_set ceilings;
	tk_ceiling_set_load(m, device, &ceilings);
	struct tk_value *row = tk_value_append(rows);
	tk_value_set_clip(row, "device", device->name, 60);
	tk_value_set_clip(row, "device_name", device->row->name, 60);
	tk_value_set_fmt(row, "machine_href", "%smachines/%s.html", root, device->machine->file);
	struct tk_value *cells = tk_value_add_list(row, "cells");
	for (size_t i = 0; i < m->series_count; i++) {
		if (!is_new_op(m, i))
			continue;
		struct state state =
		        count_state(m, device, &ceilings, m->series[i].problem->op, efficiencies);
		add_cell(site, cells, &state, device, &m->series[i], root);
	}
}

int tk_page_set_matrix(struct tk_site *site, struct tk_value *o,
        const struct tk_site_machine *machine, const char *root, struct tk_error *err)
{
	const struct tk_model *m = &site->model;
	double *efficiencies = tk_malloc((m->series_count + 1) * sizeof *efficiencies);
	struct tk_value *heads = tk_value_add_list(o, "matrix_heads"),
	                *rows = tk_value_add_list(o, "matrix");
	for (size_t i = 0; i < m->series_count; i++) {
		if (!is_new_op(m, i))
			continue;
		struct tk_value *head = tk_value_append(heads);
		tk_value_set_clip(head, "name", tk_op_title(m->series[i].problem->op), 40);
		tk_value_set_fmt(head, "kernel_href", op_has_page(m, i) ? "%skernels/%s.html" : "",
		        root, m->series[i].op_file);
	}
	for (size_t d = 0; d < m->device_count; d++)
		if (!machine || m->devices[d].machine == machine)
			add_matrix_row(site, rows, &m->devices[d], root, efficiencies);
	free(efficiencies);
	return 0;
}

/* ---- the tables ---- */

/* NULL: all. */
struct choice {
	const struct tk_site_device *device;
	const char *op;
};

static bool is_chosen(const struct choice *c, const struct tk_site_series *s)
{
	return tk_series_has_result(s) && (!c->device || s->device == c->device) &&
	       (!c->op || !strcmp(s->problem->op, c->op));
}

static void add_row(struct tk_site *site, struct tk_value *rows, const struct tk_site_series *s)
{
	struct tk_value *row = tk_value_append(rows);
	tk_page_set_series(site, row, s, "../");
	tk_page_set_sparkline(site, row, s);
	tk_value_set_clip(row, "dtype", s->problem->dtype, 20);
	tk_value_set_clip(row, "backend", s->variant, 60);
	const uint32_t waiting = tk_series_count_waiting_nights(&site->model, s);
	tk_value_set_fmt(row, "waiting", waiting ? "measured %u night%s ago" : "", waiting,
	        waiting == 1 ? "" : "s");
	tk_value_set(row, "role",
	        s->row->role != TK_ROLE_SUITE ? tk_series_role_name(s->row->role) : "");
}

/* What changed comes first. */
enum rank { RANK_WORSE, RANK_BETTER, RANK_OTHER, RANK_COUNT };
static int rank_of(const struct tk_site_series *s)
{
	enum tk_tone tone = tk_series_tone(s);
	return tone == TK_TONE_BAD ? RANK_WORSE : tone == TK_TONE_GOOD ? RANK_BETTER : RANK_OTHER;
}

static size_t add_group(struct tk_site *site, struct tk_value *groups, const struct choice *c,
        size_t first, size_t end)
{
	const struct tk_model *m = &site->model;
	struct tk_value *group = tk_value_append(groups), *rows = tk_value_add_list(group, "rows");
	size_t count = 0;
	bool has_rate = false;
	const char *unit;
	for (int rank = RANK_WORSE; rank < RANK_COUNT; rank++)
		for (size_t i = first; i < end; i++)
			if (is_chosen(c, &m->series[i]) && rank_of(&m->series[i]) == rank) {
				add_row(site, rows, &m->series[i]);
				has_rate = has_rate ||
				           isfinite(tk_series_rate(&m->series[i], 1, &unit));
				count++;
			}
	tk_value_set_clip(group, "name", tk_op_title(m->series[first].problem->op), 40);
	tk_value_set_int(group, "count", count);
	tk_value_set_flag(group, "any", count > 0);
	tk_value_set_flag(group, "has_rate", has_rate);
	tk_value_set_flag(group, "page", op_has_page(m, first));
	tk_value_set_fmt(group, "group_href", "../kernels/%s.html", m->series[first].op_file);
	return count;
}

static int write_list(struct tk_site *site, const struct choice *c, const char *path,
        const char *title, struct tk_error *err)
{
	const struct tk_model *m = &site->model;
	struct tk_value *page = tk_page_begin(site, path, title, TK_SECTION_SERIES);
	struct tk_value *groups = tk_value_add_list(page, "groups");
	size_t count = 0;
	for (size_t first = 0, end; first < m->series_count; first = end) {
		for (end = first + 1; end < m->series_count && !is_new_op(m, end);)
			end++;
		count += add_group(site, groups, c, first, end);
	}
	tk_value_set_count(page, "count", count);
	tk_value_set_flag(page, "many", count > ONE_PAGE_MAX);
	tk_value_set_flag(page, "part", c->device != NULL);
	return tk_page_finish(site, "list", path, err);
}

static bool any_there(const struct tk_model *m, const struct tk_site_device *device, const char *op)
{
	for (size_t i = 0; i < m->series_count; i++)
		if (m->series[i].device == device && !strcmp(m->series[i].problem->op, op) &&
		        tk_series_has_result(&m->series[i]))
			return true;
	return false;
}

static int write_parts(
        struct tk_site *site, const struct tk_site_device *device, struct tk_error *err)
{
	const struct tk_model *m = &site->model;
	int status = 0;
	for (size_t i = 0; !status && i < m->series_count; i++) {
		const char *op = m->series[i].problem->op;
		char path[200], title[160];
		if (!is_new_op(m, i) || !any_there(m, device, op))
			continue;
		snprintf(path, sizeof path, "lists/%s.%s.html", device->file, m->series[i].op_file);
		snprintf(title, sizeof title, "%.*s on %.*s",
		        (int)tk_utf8_clip_len(tk_op_title(op), 40), tk_op_title(op),
		        (int)tk_utf8_clip_len(device->name, 80), device->name);
		status = write_list(site, &(struct choice){device, op}, path, title, err);
	}
	return status;
}

int tk_page_write_lists(struct tk_site *site, struct tk_error *err)
{
	const struct tk_model *m = &site->model;
	int status = 0;
	if (tk_page_list_is_single(m))
		return write_list(site, &(struct choice){0}, "lists/index.html", "Series", err);
	struct tk_value *page =
	        tk_page_begin(site, "lists/index.html", "Series", TK_SECTION_SERIES);
	status = tk_page_set_matrix(site, page, NULL, "../", err);
	tk_value_set_count(page, "count", m->series_count);
	if (!status)
		status = tk_page_finish(site, "lists", "lists/index.html", err);
	for (size_t d = 0; !status && d < m->device_count; d++)
		status = write_parts(site, &m->devices[d], err);
	return status;
}
