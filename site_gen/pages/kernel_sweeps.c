/* The charts of a kernel page over size: one for each sweep, a line for each backend. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/format.h"
#include "site_gen/pages/kernel_internal.h"
#include "site_gen/render/line_chart.h"
#include "site_gen/render/mark.h"

#define CHARTS_MAX 12

/* The series of a problem in a column; NULL: none. */
static const struct tk_site_series *find_series(const struct tk_model *m,
        const struct tk_kernel_columns *columns, const struct tk_kernel_problem *problem, size_t c)
{
	for (size_t i = problem->first; i < problem->end; i++)
		if (tk_kernel_is_contender(columns, &m->series[i]) &&
		        !strcmp(m->series[i].variant, columns->labels[c]))
			return &m->series[i];
	return NULL;
}

static void set_title(struct tk_site *site, struct tk_value *o, const struct tk_sweep *sweep,
        const struct tk_axes *at)
{
	char title[TK_SWEEP_TITLE_SIZE], count[TK_FORMAT_SIZE];
	const char *head = at->sweep;
	size_t fixed = strcspn(at->sweep, "=") && strstr(at->sweep, at->rest)
	                       ? (size_t)(strstr(at->sweep, at->rest) - at->sweep)
	                       : 0;
	tk_sweep_format_title(at->rest, title);
	if (sweep->tokens > 0)
		tk_value_set_fmt(site->arena, o, "sweep_title", "%s, %s tokens", title,
		        tk_format_count((int64_t)sweep->tokens, count));
	else if (sweep->batch > 0)
		tk_value_set_fmt(
		        site->arena, o, "sweep_title", "%s, batch %.0f", title, sweep->batch);
	else if (fixed)
		tk_value_set_fmt(site->arena, o, "sweep_title", "%s, %.*s", title,
		        (int)(fixed - (head[fixed - 1] == ' ')), head);
	else
		tk_value_set(site->arena, o, "sweep_title", title);
}

/* A line of each backend that has at least two points. */
static int draw(struct tk_site *site, struct tk_value *o, const struct tk_kernel_columns *columns,
        const struct tk_kernel_problem *const *problems, const struct tk_sweep *sweep,
        struct tk_error *err)
{
	struct tk_chart_line lines[TK_KERNEL_COLUMNS_MAX];
	struct tk_chart_point *points = malloc(columns->count * sweep->count * sizeof *points + 1),
	                      *end = points;
	struct tk_value *keys = tk_value_set_list(site->arena, o, "keys");
	size_t count = 0;
	const char *unit = "gflop_per_s";
	if (!points)
		return tk_fail(err, TK_ENOMEM, "out of memory");
	for (size_t c = 0; c < columns->count; c++) {
		struct tk_chart_line line = {columns->looks[c], end, 0};
		for (size_t i = 0; i < sweep->count; i++) {
			const struct tk_kernel_problem *p = problems[sweep->members[i]];
			const struct tk_site_series *s = find_series(&site->model, columns, p, c);
			const char *own_unit = unit;
			double rate =
			        s ? tk_series_rate(s, tk_kernel_newest_value(s), &own_unit) : NAN;
			if (!isfinite(rate))
				continue;
			unit = own_unit;
			*end++ = (struct tk_chart_point){p->at.x, rate};
			line.count++;
		}
		if (!line.count)
			continue;
		lines[count++] = line;
		struct tk_value *key = tk_value_append_object(site->arena, keys);
		tk_page_set_clipped(site, key, "label", columns->labels[c], 60);
		tk_mark_draw_key(&site->markup, columns->looks[c]);
		tk_page_set_markup(site, key, "mark_markup");
	}
	tk_line_chart_draw(&site->markup, lines, count, tk_axes_names(columns->op)->x, unit);
	tk_page_set_markup(site, o, "drawing_markup");
	free(points);
	return 0;
}

static void note_member(struct tk_kernel_problem *p, size_t sweep)
{
	size_t len = strlen(p->sweeps);
	snprintf(p->sweeps + len, sizeof p->sweeps - len, len ? " %zu" : "%zu", sweep);
}

int tk_kernel_set_sweeps(struct tk_site *site, struct tk_value *o,
        const struct tk_kernel_columns *columns, struct tk_kernel_problem *problems, size_t count,
        struct tk_error *err)
{
	struct tk_axes *axes = malloc((count + 1) * sizeof *axes);
	const struct tk_kernel_problem **shown = malloc((count + 1) * sizeof *shown);
	struct tk_sweeps sweeps = {0};
	size_t used = 0;
	int status = axes && shown ? 0 : tk_fail(err, TK_ENOMEM, "out of memory");
	for (size_t i = 0; !status && i < count; i++)
		if (problems[i].shown) {
			axes[used] = problems[i].at;
			shown[used++] = &problems[i];
		}
	if (!status)
		status = tk_sweeps_find(axes, used, CHARTS_MAX, &sweeps, err);
	struct tk_value *list = tk_value_set_list(site->arena, o, "sweep_charts");
	for (size_t i = 0; !status && i < sweeps.count; i++) {
		struct tk_value *chart = tk_value_append_object(site->arena, list);
		for (size_t k = 0; k < sweeps.at[i].count; k++)
			note_member(&problems[shown[sweeps.at[i].members[k]] - problems], i);
		set_title(site, chart, &sweeps.at[i], &axes[sweeps.at[i].members[0]]);
		tk_value_set_int(site->arena, chart, "number", (int64_t)i);
		status = draw(site, chart, columns, shown, &sweeps.at[i], err);
	}
	tk_sweeps_free(&sweeps);
	free(axes);
	free(shown);
	return status;
}
