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

/* A problem on the map; `at` may be that of a sweep. */
struct cell {
	const struct tk_kernel_problem *problem;
	struct tk_axes at;
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
	tk_sort(g.rows, g.row_count, sizeof *g.rows, number_order);
	tk_sort(g.columns, g.column_count, sizeof *g.columns, number_order);
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
		if (cells[i].problem->known > 1)
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

static void add_map(struct tk_value *maps, const struct cell *cells, size_t count,
        const struct grid *g, const struct tk_axes_names *names)
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
			cell->id = here ? cells[next].problem->key : 0;
			while (here && next < count && cells[next].at.row_order == g->rows[r] &&
			        cells[next].at.column_order == g->columns[c])
				next++;
		}
	}
}

/* The map of the problems that differ by their axes alone; room: for twice as many cells. */
static void add_group(struct tk_value *maps, const struct cell *cells, size_t count,
        struct cell *room, struct tk_axes_names names, size_t *made)
{
	struct grid g = make_grid(cells, count);
	if (!g.fits) {
		size_t used;
		split_into_sweeps(cells, count, room, &used);
		if (!used)
			return;
		cells = room;
		count = used;
		tk_sort(room, count, sizeof *room, cell_order);
		g = make_grid(cells, count);
		g.fits = g.column_count <= COLUMNS_MAX && g.row_count <= ROWS_MAX;
		names.row = "";
		names.column = names.x;
	}
	if (!g.fits || !is_contested(cells, count))
		return;
	add_map(maps, cells, count, &g, &names);
	++*made;
}

void tk_kernel_set_maps(struct tk_value *o, const struct tk_kernel_table *t)
{
	struct tk_value *maps = tk_value_add_list(o, "maps");
	struct cell *cells = tk_malloc((3 * t->count + 1) * sizeof *cells);
	size_t count = 0, made = 0;
	for (size_t i = 0; t->column_count > 1 && i < t->count; i++)
		if (t->problems[i].known && *t->problems[i].at.sweep)
			cells[count++] = (struct cell){&t->problems[i], t->problems[i].at};
	if (count)
		tk_sort(cells, count, sizeof *cells, cell_order);
	for (size_t first = 0, end; first < count && made < MAPS_MAX; first = end) {
		for (end = first; end < count && !strcmp(cells[end].at.rest, cells[first].at.rest);
		        end++)
			;
		add_group(maps, cells + first, end - first, cells + count, *tk_axes_names(t->op),
		        &made);
	}
	free(cells);
}
