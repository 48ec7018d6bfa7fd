/* The leaderboard: the backends at the key problems, a table for each device. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/format.h"
#include "base/try.h"
#include "site_gen/model/ceilings.h"
#include "site_gen/model/standings.h"
#include "site_gen/pages/overview.h"
#include "site_gen/charts/chart.h"

#define BOARDS_MAX 4
#define COLUMNS_MAX 7

struct board {
	const struct tk_standing *rows;
	size_t count;
	const struct tk_site_series *columns[COLUMNS_MAX]; /* any series of the backend */
	size_t column_count;
};

static const struct tk_site_series *find_backend(
        const struct tk_standing *row, const struct tk_site_series *backend, size_t *place)
{
	for (*place = 0; *place < row->count; ++*place)
		if (!strcmp(row->at[*place]->variant, backend->variant))
			return row->at[*place];
	return NULL;
}

static void choose_columns(struct board *b)
{
	for (size_t i = 0; i < b->count; i++)
		for (size_t k = 0; k < b->rows[i].count; k++) {
			size_t c = 0;
			while (c < b->column_count &&
			        strcmp(b->columns[c]->variant, b->rows[i].at[k]->variant))
				c++;
			if (c == b->column_count && c < COLUMNS_MAX)
				b->columns[b->column_count++] = b->rows[i].at[k];
		}
}

static void add_cell(struct tk_value *cells, const struct tk_standing *row,
        const struct tk_site_series *backend, const struct tk_ceiling_set *ceilings)
{
	struct tk_value *o = tk_value_append(cells);
	size_t place;
	const struct tk_site_series *s = find_backend(row, backend, &place);
	const char *unit;
	char text[TK_FORMAT_SIZE];
	tk_value_set_flag(o, "any", s != NULL);
	if (!s)
		return;
	double value = tk_series_last_point(s)->value, rate = tk_series_rate(s, value, &unit);
	double peak = tk_ceiling_set_efficiency_by_source(ceilings, TK_CEILING_DATASHEET, s, value);
	bool first = place < row->first_count && row->count > 1;
	tk_value_set_fmt(o, "href", "series/%s.html", s->file);
	tk_value_set(o, "rate",
	        isfinite(rate) ? tk_format_value(rate, unit, text)
	                       : tk_format_value(value, s->row->unit, text));
	tk_value_set_percent(o, "peak", peak, "");
	tk_value_set_flag(o, "first", first);
	tk_value_set(o, "word", !first ? "" : row->first_count > 1 ? "tie" : "best");
}

static void add_board(struct tk_site *site, struct tk_value *boards, struct board *b)
{
	const struct tk_site_device *device = b->rows[0].at[0]->device;
	struct tk_value *o = tk_value_append(boards);
	struct tk_ceiling_set ceilings;
	choose_columns(b);
	tk_ceiling_set_load(&site->model, device, &ceilings);
	tk_value_set_clip(o, "device", device->name, 60);
	tk_value_set_clip(o, "device_name", device->row->name, 60);
	struct tk_value *heads = tk_value_add_list(o, "heads"),
	                *rows = tk_value_add_list(o, "rows");
	for (size_t c = 0; c < b->column_count; c++) {
		struct tk_value *head = tk_value_append(heads);
		tk_value_set_clip(head, "name", b->columns[c]->variant, 40);
		tk_mark_draw_key(&site->markup, b->columns[c]->style);
		tk_page_set_markup(site, head, "mark_markup");
	}
	for (size_t i = 0; i < b->count; i++) {
		const struct tk_site_series *first = b->rows[i].at[0];
		struct tk_value *row = tk_value_append(rows),
		                *cells = tk_value_add_list(row, "cells");
		tk_value_set_clip(row, "problem", first->problem->title, 110);
		tk_value_set_fmt(row, "op_href", "kernels/%s.html", first->op_file);
		for (size_t c = 0; c < b->column_count; c++)
			add_cell(cells, &b->rows[i], b->columns[c], &ceilings);
	}
}

int tk_overview_set_standings(struct tk_site *site, struct tk_value *page, struct tk_error *err)
{
	struct tk_standings standings;
	struct tk_value *boards = tk_value_add_list(page, "boards");
	tk_standings_load(&site->model, site->options->tie, &standings);
	for (size_t first = 0, end, count = 0; first < standings.count && count < BOARDS_MAX;
	        first = end, count++) {
		for (end = first + 1;
		        end < standings.count &&
		        standings.at[end].at[0]->device == standings.at[first].at[0]->device;
		        end++)
			;
		struct board b = {.rows = &standings.at[first], .count = end - first};
		add_board(site, boards, &b);
	}
	free(standings.at);
	return 0;
}
