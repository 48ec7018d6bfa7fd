/* The charts of a kernel page over size: one for each sweep, a line for each backend. */
#include <math.h>

#include "base/base.h"
#include "site_gen/charts/charts.h"
#include "site_gen/model/model.h"
#include "site_gen/model/sweeps.h"
#include "site_gen/pages/kernels.h"

#define CHARTS_MAX 14
#define PEAK_RATE_MIN 0.3 /* of the peak; it is not drawn over rates that are lower */

/* A chart among those of its table. */
struct panel {
	const struct tk_sweep *sweep;
	const struct tk_axes *axes; /* of its first problem */
	size_t place;               /* by length of the sweep */
	const char *dtype;
	double top, peak; /* of the y axis, which the panels of a type share; NAN: no peak */
};

static void set_title(struct tk_value *o, const struct tk_sweep *sweep, const struct tk_axes *at)
{
	char title[TK_SWEEP_TITLE_SIZE], count[TK_FORMAT_SIZE];
	const char *head = at->sweep;
	size_t fixed = strcspn(at->sweep, "=") && strstr(at->sweep, at->rest)
	                       ? (size_t)(strstr(at->sweep, at->rest) - at->sweep)
	                       : 0;
	tk_sweep_format_title(at->rest, title);
	if (sweep->tokens > 0)
		tk_value_set_fmt(o, "sweep_title", "%s, %s tokens", title,
		        tk_format_count((int64_t)sweep->tokens, count));
	else if (sweep->batch > 0)
		tk_value_set_fmt(o, "sweep_title", "%s, batch %.0f", title, sweep->batch);
	else if (sweep->length > 0)
		tk_value_set_fmt(o, "sweep_title", "%s, length %s", title,
		        tk_format_count((int64_t)sweep->length, count));
	else if (fixed)
		tk_value_set_fmt(o, "sweep_title", "%s, %.*s", title,
		        (int)(fixed - (head[fixed - 1] == ' ')), head);
	else
		tk_value_set(o, "sweep_title", title);
}

/* Forward before backward, then by the constant keys: a grid that reads like a table. Over the
 * length before over the batch. */
static int compare_panels(const void *a, const void *b)
{
	const struct panel *x = a, *y = b;
	int d = tk_axes_compare_rest(x->axes->sweep, y->axes->sweep);
	if (!d)
		d = (x->sweep->length > 0) - (y->sweep->length > 0);
	return d ? d : (x->place > y->place) - (x->place < y->place);
}

/* Panels of one type share the top of their axis. */
static void set_tops(struct panel *panels, size_t count, const struct tk_kernel_table *table,
        const struct tk_kernel_problem *const *problems)
{
	struct tk_ceiling_set ceilings;
	tk_ceiling_set_load(table->model, table->device, &ceilings);
	for (size_t i = 0; i < count; i++)
		for (size_t k = 0; k < panels[i].sweep->count; k++)
			for (size_t c = 0; c < table->column_count; c++)
				panels[i].top = fmax(panels[i].top,
				        problems[panels[i].sweep->members[k]]->rates[c]);
	for (size_t i = 0; i < count; i++)
		for (size_t k = 0; k < count; k++)
			if (!strcmp(panels[i].dtype, panels[k].dtype))
				panels[i].top = panels[k].top = fmax(panels[i].top, panels[k].top);
	for (size_t i = 0; i < count; i++) {
		double peak = tk_ceiling_set_peak(&ceilings, panels[i].dtype);
		panels[i].peak = panels[i].top > PEAK_RATE_MIN * peak ? peak : NAN;
		panels[i].top = fmax(panels[i].top, panels[i].peak);
	}
}

static const char *x_name(const struct tk_kernel_table *table, const struct tk_sweep *sweep)
{
	const struct tk_axes_names *names = tk_axes_names(table->op);
	return sweep->length > 0 ? names->column : names->x;
}

/* A line of each backend that has at least two points. */
static void draw(struct tk_site *site, struct tk_value *o, const struct tk_kernel_table *table,
        const struct tk_kernel_problem *const *problems, const struct panel *panel)
{
	const struct tk_sweep *sweep = panel->sweep;
	struct tk_chart_line lines[TK_KERNEL_COLUMNS_MAX];
	struct tk_chart_point *points = tk_malloc(
	                              table->column_count * sweep->count * sizeof *points + 1),
	                      *end = points;
	struct tk_value *keys = tk_value_add_list(o, "keys");
	size_t count = 0;
	bool has_flops = problems[sweep->members[0]]->row->flops > 0;
	for (size_t c = 0; c < table->column_count; c++) {
		const struct tk_site_series *s = table->columns[c];
		struct tk_chart_line line = {s ? s->style : 0, end, 0};
		for (size_t i = 0; i < sweep->count; i++) {
			const struct tk_kernel_problem *p = problems[sweep->members[i]];
			if (!isfinite(p->rates[c]))
				continue;
			*end++ =
			        (struct tk_chart_point){tk_sweep_place(sweep, &p->at), p->rates[c]};
			line.count++;
		}
		if (!line.count)
			continue;
		lines[count++] = line;
		struct tk_value *key = tk_value_append(keys);
		tk_page_set_key(site, key, s->style, s->variant);
	}
	tk_chart_draw(&site->markup, &(struct tk_chart){.kind = TK_CHART_SIZES,
	                                     .lines = lines,
	                                     .count = count,
	                                     .x_title = x_name(table, sweep),
	                                     .unit = has_flops ? "gflop_per_s" : "gb_per_s",
	                                     .top = panel->top,
	                                     .reference = panel->peak});
	tk_page_set_markup(site, o, "drawing_markup");
	free(points);
}

static void note_member(struct tk_kernel_problem *p, size_t number, const struct tk_sweep *sweep)
{
	size_t len = strlen(p->sweeps);
	snprintf(p->sweeps + len, sizeof p->sweeps - len, len ? " %zu" : "%zu", number);
	p->over_batch = p->over_batch || sweep->length > 0;
}

/* axes[i] belongs to shown[i]. */
static void add_panels(struct tk_site *site, struct tk_value *o,
        const struct tk_kernel_table *table, const struct tk_kernel_problem *const *shown,
        const struct tk_axes *axes, const struct tk_sweeps *sweeps)
{
	struct panel panels[CHARTS_MAX];
	struct tk_value *list = tk_value_add_list(o, "sweep_charts");
	for (size_t i = 0; i < sweeps->count; i++) {
		size_t first = sweeps->at[i].members[0];
		panels[i] = (struct panel){.sweep = &sweeps->at[i],
		        .axes = &axes[first],
		        .place = i,
		        .dtype = shown[first]->row->dtype};
	}
	set_tops(panels, sweeps->count, table, shown);
	tk_sort(panels, sweeps->count, sizeof *panels, compare_panels);
	for (size_t i = 0; i < sweeps->count; i++) {
		struct tk_value *chart = tk_value_append(list);
		char text[TK_FORMAT_SIZE];
		for (size_t k = 0; k < panels[i].sweep->count; k++)
			note_member(&table->problems[shown[panels[i].sweep->members[k]]->place], i,
			        panels[i].sweep);
		tk_value_set(chart, "over",
		        panels[i].sweep->length > 0 ? x_name(table, panels[i].sweep) : "");
		set_title(chart, panels[i].sweep, panels[i].axes);
		tk_value_set_int(chart, "number", i);
		tk_value_set(chart, "top", tk_format_digits(panels[i].top, 5, text));
		tk_value_set(chart, "peak",
		        isfinite(panels[i].peak) ? tk_format_digits(panels[i].peak, 5, text) : "");
		tk_value_set_quantity(chart, "peak_text", panels[i].peak, "gflop_per_s", "");
		draw(site, chart, table, shown, &panels[i]);
	}
}

void tk_kernel_set_sweeps(struct tk_site *site, struct tk_value *o, struct tk_kernel_table *table)
{
	struct tk_axes *axes = tk_malloc((table->count + 1) * sizeof *axes);
	const struct tk_kernel_problem **shown = tk_malloc((table->count + 1) * sizeof *shown);
	struct tk_sweeps sweeps = {0};
	size_t used = 0;
	for (size_t i = 0; i < table->count; i++)
		if (table->problems[i].shown) {
			axes[used] = table->problems[i].at;
			shown[used++] = &table->problems[i];
		}
	tk_sweeps_find(axes, used, true, CHARTS_MAX, &sweeps);
	add_panels(site, o, table, shown, axes, &sweeps);
	tk_sweeps_free(&sweeps);
	free(axes);
	free(shown);
}
