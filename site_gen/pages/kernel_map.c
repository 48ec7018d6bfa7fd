/* The maps of a kernel page: the fastest backend at each point of a sweep, and its lead. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/present.h"
#include "site_gen/model/sweeps.h"
#include "site_gen/pages/page.h"
#include "site_gen/render/escape.h"
#include "site_gen/render/format_point.h"

#define MAPS_MAX 12
#define COLUMNS_MAX 16
#define ROWS_MAX 32
#define CELLS_MIN 4
#define COLOURS 4 /* backends with a colour */
#define VARIANTS_MAX 12
#define TIED_SHOWN 2

struct cell {
	struct tk_axes at;
	const struct tk_site_series *best;
	double lead; /* time of the second over time of the best; NAN: no second */
	int colour;  /* of the best; COLOURS: none */
	const struct tk_site_series
	        *of[VARIANTS_MAX]; /* in the order of the variants; NULL: none */
};

/* The contenders, in the order of the table's columns. */
struct field {
	const char *const *variants;
	size_t count;
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

static bool is_in(
        const struct tk_site_series *s, const char *op, const struct tk_site_device *device)
{
	return s->device == device && tk_series_is_ranked(s) && !strcmp(s->problem->op, op) &&
	       !s->failure && tk_series_last_point(s) && tk_series_last_point(s)->value > 0;
}

static void take(struct cell *cell, const struct tk_site_series *s, const struct field *f)
{
	for (size_t i = 0; i < f->count && i < VARIANTS_MAX; i++)
		if (!strcmp(f->variants[i], s->variant))
			cell->of[i] = s;
	double value = tk_series_last_point(s)->value,
	       best = cell->best ? tk_series_last_point(cell->best)->value : NAN;
	if (!cell->best) {
		cell->best = s;
		cell->lead = NAN;
	} else if (value < best) {
		cell->lead = best / value;
		cell->best = s;
	} else if (!(value / best > cell->lead)) {
		cell->lead = value / best;
	}
}

static int find_colour(const struct field *f, const char *variant)
{
	for (size_t i = 0; i < f->count && i < COLOURS; i++)
		if (!strcmp(f->variants[i], variant))
			return (int)i;
	return COLOURS;
}

static size_t collect(const struct tk_model *m, const char *op, const struct tk_site_device *device,
        const struct field *f, struct cell *cells)
{
	size_t count = 0;
	for (size_t i = 0; i < m->series_count; i++) {
		const struct tk_site_series *s = &m->series[i];
		if (!is_in(s, op, device))
			continue;
		if (!count || cells[count - 1].best->problem !=
		                      s->problem) { /* series of a problem are neighbours */
			cells[count].best = NULL;
			memset(cells[count].of, 0, sizeof cells[count].of);
			if (!tk_axes_from_problem(s->problem, &cells[count].at))
				continue;
			count++;
		}
		take(&cells[count - 1], s, f);
	}
	return count;
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
        const struct field *f, enum tk_point_difference *apart)
{
	struct tk_buf tied = TK_BUF_INIT;
	size_t count = 0;
	*apart = TK_POINTS_DIFFER;
	for (size_t i = 0; i < f->count && i < VARIANTS_MAX; i++) {
		enum tk_point_difference own =
		        c->of[i] && c->of[i] != c->best
		                ? tk_point_compare(tk_series_last_point(c->best),
		                          tk_series_last_point(c->of[i]), site->options->tie)
		                : TK_POINTS_DIFFER;
		*apart = own > *apart ? own : *apart;
		if ((own == TK_POINTS_TIE || c->of[i] == c->best) && c->of[i] &&
		        ++count <= TIED_SHOWN)
			tk_buf_add_printf(&tied, "%s%.*s", count > 1 ? ", " : "",
			        (int)tk_utf8_clip_len(f->variants[i], 40), f->variants[i]);
	}
	if (count > TIED_SHOWN)
		tk_buf_add_printf(&tied, " and %zu more", count - TIED_SHOWN);
	tk_value_set_clip(o, "best", *apart == TK_POINTS_TIE ? "tie" : c->best->variant, 40);
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
static void set_times(struct tk_value *o, const struct cell *c, const struct field *f)
{
	char times[VARIANTS_MAX * 16], ends[VARIANTS_MAX * 24], number[TK_FORMAT_SIZE];
	size_t len = 0, end = 0;
	for (size_t i = 0; i < f->count && i < VARIANTS_MAX; i++) {
		const struct tk_point *p = c->of[i] ? tk_series_last_point(c->of[i]) : NULL;
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

static void set_cell(
        struct tk_site *site, struct tk_value *o, const struct cell *c, const struct field *f)
{
	enum tk_point_difference apart;
	int level = !(c->lead > 1.02) ? 0 : c->lead < 1.1 ? 1 : c->lead < 1.5 ? 2 : 3;
	tk_value_set_flag(o, "any", true);
	tk_value_set_fmt(o, "href", "../series/%s.html", c->best->file);
	set_times(o, c, f);
	set_best(site, o, c, f, &apart);
	tk_value_set_fmt(
	        o, "class", apart == TK_POINTS_DIFFER ? "map-%d-%d" : "map-tie", c->colour, level);
}

static void add_map(struct tk_site *site, struct tk_value *maps, const struct cell *cells,
        size_t count, const struct grid *g, const struct tk_axes_names *names,
        const struct field *f)
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
				set_cell(site, cell, &cells[next], f);
			while (here && next < count && cells[next].at.row_order == g->rows[r] &&
			        cells[next].at.column_order == g->columns[c])
				next++;
		}
	}
}

/* The map of the problems that differ by their axes alone; room: for twice as many cells. */
static void add_group(struct tk_site *site, struct tk_value *maps, const struct cell *cells,
        size_t count, struct cell *room, const char *op, const struct field *f, size_t *made)
{
	struct tk_axes_names names = *tk_axes_names(op);
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
	add_map(site, maps, cells, count, &g, &names, f);
	++*made;
}

void tk_page_set_sweep_maps(struct tk_site *site, struct tk_value *o, const char *op,
        const struct tk_site_device *device, const char *const *variants, size_t variant_count)
{
	struct tk_value *maps = tk_value_add_list(o, "maps");
	struct cell *cells = tk_malloc((3 * site->model.series_count + 1) * sizeof *cells);
	const struct field field = {variants, variant_count};
	size_t count = variant_count > 1 ? collect(&site->model, op, device, &field, cells) : 0,
	       made = 0;
	for (size_t i = 0; i < count; i++)
		cells[i].colour = find_colour(&field, cells[i].best->variant);
	if (count)
		qsort(cells, count, sizeof *cells, cell_order);
	for (size_t first = 0, end; first < count && made < MAPS_MAX; first = end) {
		for (end = first; end < count && !strcmp(cells[end].at.rest, cells[first].at.rest);
		        end++)
			;
		add_group(site, maps, cells + first, end - first, cells + count, op, &field, &made);
	}
	free(cells);
}
