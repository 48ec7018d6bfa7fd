/* The landscape of a tuned space: a map of the two parameters that matter most, and the best time
 * for each value of each parameter. */
#include <math.h>
#include <stdio.h>

#include "base/present.h"
#include "site_gen/model/tunings.h"
#include "site_gen/pages/tuning.h"
#include "site_gen/charts/bars.h"

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

void tk_tuning_set_landscape(
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
