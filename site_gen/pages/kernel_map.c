/* The maps of a kernel page: the fastest backend at each point of a sweep, and its lead. */
#include <math.h>

#include "base/base.h"
#include "site_gen/model/sweeps.h"
#include "site_gen/pages/kernels.h"
#include "site_gen/render/escape.h"

#define MAPS_MAX 12
#define COLUMNS_MAX 16
#define ROWS_MAX 32
#define CELLS_MIN 4
#define COLOURS 4 /* backends with a colour */
#define TIED_SHOWN 2

/* A problem on the map; `at` may be that of a sweep. */
struct cell {
	const struct tk_kernel_problem *problem;
	struct tk_axes at;
	double lead;   /* time of the second over time of the best; NAN: no second */
	size_t colour; /* column of the best; COLOURS: none */
};

static int cell_order(const void *a, const void *b)
{
	const struct cell *x = a, *y = b;
	int d = tk_axes_compare_rest(x->at.rest, y->at.rest);
	if (d)
		return d;
	if (x->at.row_order != y->at.row_order)
		return x->at.row_order < y->at.row_order ? -1 : 1;
	return x->at.column_order < y->at.column_order ? -1
	                                               : x->at.column_order > y->at.column_order;
}

/* The problems that have a time. */
static size_t collect(const struct tk_kernel_columns *columns,
        const struct tk_kernel_problem *problems, size_t count, struct cell *cells)
{
	size_t used = 0;
	for (size_t i = 0; i < count; i++) {
		const struct tk_kernel_problem *p = &problems[i];
		struct cell *cell = &cells[used];
		if (!(p->best_ns > 0) || !p->best || !*p->at.sweep)
			continue;
		*cell = (struct cell){p, p->at, NAN, COLOURS};
		for (size_t c = 0; c < columns->count; c++) {
			if (p->of[c] == p->best)
				cell->colour = c < COLOURS ? c : COLOURS;
			else
				cell->lead = fmin(
				        cell->lead, tk_series_newest_value(p->of[c]) / p->best_ns);
		}
		used++;
	}
	return used;
}

struct grid {
	double rows[ROWS_MAX], columns[COLUMNS_MAX];
	size_t row_count, column_count;
	bool fits;
};

static size_t place(double *list, size_t *count, size_t max, double v, bool *fits)
{
	size_t i = 0;
	while (i < *count && list[i] != v)
		i++;
	if (i == *count && i < max)
		list[(*count)++] = v;
	*fits = *fits && i < max;
	return i;
}

static int number_order(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return x < y ? -1 : x > y;
}

static struct grid make_grid(const struct cell *cells, size_t count)
{
	struct grid g = {.fits = true};
	for (size_t i = 0; i < count; i++) {
		place(g.rows, &g.row_count, ROWS_MAX, cells[i].at.row_order, &g.fits);
		place(g.columns, &g.column_count, COLUMNS_MAX, cells[i].at.column_order, &g.fits);
	}
	qsort(g.rows, g.row_count, sizeof *g.rows, number_order);
	qsort(g.columns, g.column_count, sizeof *g.columns, number_order);
	g.fits = g.fits && count >= CELLS_MIN && g.row_count > 1 && g.column_count > 1 &&
	         count * 3 >= g.row_count * g.column_count;
	return g;
}

/* What all problems of a sweep have: "16,384 tokens", "batch 4", "n=4096 k=7168". */
static void format_sweep(
        const struct tk_sweep *sweep, const struct tk_axes *axes, char *out, size_t size)
{
	char count[TK_FORMAT_SIZE];
	const struct tk_axes *first = &axes[sweep->members[0]];
	const char *rest = strstr(first->sweep, first->rest);
	double tokens = first->x * first->column_order;
	bool same_tokens = true, same_batch = true;
	for (size_t i = 1; i < sweep->count; i++) {
		const struct tk_axes *at = &axes[sweep->members[i]];
		same_tokens = same_tokens && at->x * at->column_order == tokens;
		same_batch = same_batch && at->column_order == first->column_order;
	}
	if (rest > first->sweep)
		snprintf(out, size, "%.*s", (int)(rest - first->sweep), first->sweep);
	else if (same_tokens)
		snprintf(out, size, "%s tokens", tk_format_count((int64_t)tokens, count));
	else if (same_batch)
		snprintf(out, size, "batch %.0f", first->column_order);
	else
		snprintf(out, size, "any batch");
}

static bool is_contested(const struct cell *cells, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (isfinite(cells[i].lead))
			return true;
	return false;
}

/* Where few points of a grid are measured: a row for each sweep, a column for each size. `out` has
 * room for each cell twice; *used: how many cells it has. */
static void split_into_sweeps(
        const struct cell *cells, size_t count, struct cell *out, size_t *used)
{
	struct tk_sweeps sweeps = {0};
	struct tk_axes *axes = tk_malloc((count + 1) * sizeof *axes);
	*used = 0;
	for (size_t i = 0; i < count; i++)
		axes[i] = cells[i].at;
	tk_sweeps_find(axes, count, false, ROWS_MAX, &sweeps);
	for (size_t i = 0; i < sweeps.count; i++) {
		const struct tk_sweep *sweep = &sweeps.at[i];
		for (size_t k = 0; k < sweep->count; k++) {
			struct cell *cell = &out[(*used)++];
			*cell = cells[sweep->members[k]];
			format_sweep(sweep, axes, cell->at.row, sizeof cell->at.row);
			cell->at.row_order = (double)i;
			cell->at.column_order = cell->at.x;
		}
	}
	tk_sweeps_free(&sweeps);
	free(axes);
}

/* "a, b and 2 more": the backends whose intervals overlap the best; *apart: the comparison. */
static void set_best(struct tk_site *site, struct tk_value *o, const struct cell *c,
        const struct tk_kernel_columns *columns, enum tk_point_difference *apart)
{
	struct tk_buf tied = TK_BUF_INIT;
	size_t count = 0;
	*apart = TK_POINTS_DIFFER;
	for (size_t i = 0; i < columns->count; i++) {
		const struct tk_site_series *best = c->problem->best, *s = c->problem->of[i];
		if (!isfinite(tk_series_newest_value(s)))
			continue;
		enum tk_point_difference own =
		        s == best ? TK_POINTS_DIFFER
		                  : tk_point_compare(tk_series_last_point(best),
		                            tk_series_last_point(s), site->options->tie);
		*apart = own > *apart ? own : *apart;
		if ((own == TK_POINTS_TIE || s == best) && ++count <= TIED_SHOWN)
			tk_buf_add_printf(&tied, "%s%.*s", count > 1 ? ", " : "",
			        (int)tk_utf8_clip_len(s->variant, 40), s->variant);
	}
	if (count > TIED_SHOWN)
		tk_buf_add_printf(&tied, " and %zu more", count - TIED_SHOWN);
	tk_value_set_clip(
	        o, "best", *apart == TK_POINTS_TIE ? "tie" : c->problem->best->variant, 40);
	if (*apart == TK_POINTS_TIE)
		tk_value_set(o, "lead", tk_buf_cstr(&tied));
	else
		tk_value_set_fmt(o, "lead", isfinite(c->lead) ? "%.2f×%s" : "alone", c->lead,
		        *apart == TK_POINTS_DIFFER ? "" : ", no interval");
	tk_buf_free(&tied);
}

static double in_steps(double part)
{
	return fmax(-1e6, fmin(part * 1e4, 1e6));
}

/* For each variant its time and the ends of its interval as distances in steps of 0.01 %. */
static void set_times(
        struct tk_value *o, const struct cell *c, const struct tk_kernel_columns *columns)
{
	char times[TK_KERNEL_COLUMNS_MAX * 16], ends[TK_KERNEL_COLUMNS_MAX * 24],
	        number[TK_FORMAT_SIZE];
	size_t len = 0, end = 0;
	for (size_t i = 0; i < columns->count; i++) {
		const struct tk_site_series *s = c->problem->of[i];
		const struct tk_point *p =
		        isfinite(tk_series_newest_value(s)) ? tk_series_last_point(s) : NULL;
		len += (size_t)snprintf(times + len, sizeof times - len, "%s%s", i ? " " : "",
		        p ? tk_format_digits(p->value, 5, number) : "-");
		bool known = p && tk_point_has_interval(p);
		end += (size_t)snprintf(ends + end, sizeof ends - end,
		        known ? "%s%.0f,%.0f" : "%s-", i ? " " : "",
		        known ? in_steps(1 - p->lo / p->value) : 0,
		        known ? in_steps(p->hi / p->value - 1) : 0);
	}
	tk_value_set(o, "times", times);
	tk_value_set(o, "ends", ends);
}

static void set_cell(struct tk_site *site, struct tk_value *o, const struct cell *c,
        const struct tk_kernel_columns *columns)
{
	enum tk_point_difference apart;
	int level = !(c->lead > 1.02) ? 0 : c->lead < 1.1 ? 1 : c->lead < 1.5 ? 2 : 3;
	tk_value_set_flag(o, "any", true);
	tk_value_set_fmt(o, "href", "../series/%s.html", c->problem->best->file);
	set_times(o, c, columns);
	set_best(site, o, c, columns, &apart);
	tk_value_set_fmt(
	        o, "class", apart == TK_POINTS_DIFFER ? "map-%zu-%d" : "map-tie", c->colour, level);
}

static void add_map(struct tk_site *site, struct tk_value *maps, const struct cell *cells,
        size_t count, const struct grid *g, const struct tk_axes_names *names,
        const struct tk_kernel_columns *columns)
{
	struct tk_value *o = tk_value_append(maps);
	char title[TK_SWEEP_TITLE_SIZE];
	tk_value_set(o, "rest", tk_sweep_format_title(cells->at.rest, title));
	tk_value_set(o, "row_name", names->row);
	tk_value_set(o, "column_name", names->column);
	struct tk_value *heads = tk_value_add_list(o, "columns"),
	                *rows = tk_value_add_list(o, "rows");
	for (size_t c = 0; c < g->column_count; c++)
		tk_value_set_fmt(tk_value_append(heads), "column", "%.0f", g->columns[c]);
	size_t next = 0; /* cells are sorted by row, then column */
	for (size_t r = 0; r < g->row_count; r++) {
		struct tk_value *row = tk_value_append(rows),
		                *list = tk_value_add_list(row, "cells");
		tk_value_set(row, "row", next < count ? cells[next].at.row : "");
		for (size_t c = 0; c < g->column_count; c++) {
			struct tk_value *cell = tk_value_append(list);
			bool here = next < count && cells[next].at.row_order == g->rows[r] &&
			            cells[next].at.column_order == g->columns[c];
			tk_value_set_flag(cell, "any", false);
			if (here)
				set_cell(site, cell, &cells[next], columns);
			while (here && next < count && cells[next].at.row_order == g->rows[r] &&
			        cells[next].at.column_order == g->columns[c])
				next++;
		}
	}
}

/* The map of the problems that differ by their axes alone; room: for twice as many cells. */
static void add_group(struct tk_site *site, struct tk_value *maps, const struct cell *cells,
        size_t count, struct cell *room, const struct tk_kernel_columns *columns, size_t *made)
{
	struct tk_axes_names names = *tk_axes_names(columns->op);
	struct grid g = make_grid(cells, count);
	if (!g.fits) {
		size_t used;
		split_into_sweeps(cells, count, room, &used);
		if (!used)
			return;
		cells = room;
		count = used;
		qsort(room, count, sizeof *room, cell_order);
		g = make_grid(cells, count);
		g.fits = g.column_count <= COLUMNS_MAX && g.row_count <= ROWS_MAX;
		names.row = "";
		names.column = names.x;
	}
	if (!g.fits || !is_contested(cells, count))
		return;
	add_map(site, maps, cells, count, &g, &names, columns);
	++*made;
}

void tk_kernel_set_maps(struct tk_site *site, struct tk_value *o,
        const struct tk_kernel_columns *columns, const struct tk_kernel_problem *problems,
        size_t problem_count)
{
	struct tk_value *maps = tk_value_add_list(o, "maps");
	struct cell *cells = tk_malloc((3 * problem_count + 1) * sizeof *cells);
	size_t count = columns->count > 1 && tk_axes_names(columns->op)
	                       ? collect(columns, problems, problem_count, cells)
	                       : 0,
	       made = 0;
	if (count)
		qsort(cells, count, sizeof *cells, cell_order);
	for (size_t first = 0, end; first < count && made < MAPS_MAX; first = end) {
		for (end = first; end < count && !strcmp(cells[end].at.rest, cells[first].at.rest);
		        end++)
			;
		add_group(site, maps, cells + first, end - first, cells + count, columns, &made);
	}
	free(cells);
}
