/* Tiles of the overview: a kernel on a device, its index, best rate and share of the peak. */
#include <math.h>
#include <string.h>

#include "base/format.h"
#include "base/try.h"
#include "site_gen/charts/trend.h"
#include "site_gen/model/ceilings.h"
#include "site_gen/model/perf_index.h"
#include "site_gen/model/standings.h"
#include "site_gen/pages/overview.h"

#define TILES_MAX 6

/* The series with the highest rate; NULL: none was measured. */
static const struct tk_site_series *find_best(const struct tk_model *m,
        const struct tk_site_device *device, const char *op, size_t *count)
{
	const struct tk_site_series *best = NULL;
	double best_rate = 0;
	*count = 0;
	for (size_t i = 0; i < m->series_count; i++) {
		const struct tk_site_series *s = &m->series[i];
		const struct tk_point *last = tk_series_last_point(s);
		const char *unit;
		if (s->device != device || !tk_series_is_ranked(s) || !last || s->failure ||
		        strcmp(s->problem->op, op))
			continue;
		double rate = tk_series_rate(s, last->value, &unit);
		++*count;
		if (rate > best_rate) {
			best = s;
			best_rate = rate;
		}
	}
	return best;
}

static void set_change(
        struct tk_site *site, struct tk_value *o, const char *key, const char *tone, double change)
{
	bool is_even = !isfinite(change) || fabs(change) < site->options->tie;
	tk_value_set_change(o, key, change, "");
	tk_tone_set(o, tone, is_even ? TK_TONE_QUIET : change > 0 ? TK_TONE_GOOD : TK_TONE_BAD);
}

static void set_index(struct tk_site *site, struct tk_value *o, const struct tk_perf_index *index)
{
	char text[TK_FORMAT_SIZE];
	double value = index->count ? index->at[index->count - 1].value : NAN;
	bool known = index->count > 1;
	tk_value_set_fmt(o, "index", known ? "%.1f" : "", 100 * value);
	tk_value_set(o, "index_half",
	        known && isfinite(index->lo)
	                ? tk_format_half_width(value, index->lo, index->hi, text)
	                : "");
	tk_value_set_int(o, "index_nights", index->count);
	set_change(site, o, "week", "week_tone", tk_perf_index_change(index, 7));
	set_change(site, o, "month", "month_tone", tk_perf_index_change(index, 30));
	tk_index_draw(&site->markup, index);
	tk_page_set_markup(site, o, "index_markup");
}

static int add_tile(struct tk_site *site, struct tk_value *list,
        const struct tk_site_device *device, const struct tk_site_series *of_op, bool *added,
        struct tk_error *err)
{
	const struct tk_model *m = &site->model;
	struct tk_perf_index index;
	struct tk_ceiling_set ceilings;
	size_t count, problems;
	char text[TK_FORMAT_SIZE];
	const char *unit, *op = of_op->problem->op;
	const struct tk_site_series *best = find_best(m, device, op, &count);
	*added = best != NULL;
	if (!best)
		return 0;
	tk_perf_index_load(m, device, op, &index);
	struct tk_value *o = tk_value_append(list);
	double value = tk_series_last_point(best)->value, rate = tk_series_rate(best, value, &unit);
	tk_ceiling_set_load(m, device, &ceilings);
	double peak = tk_ceiling_set_efficiency_by_source(
	               &ceilings, TK_CEILING_DATASHEET, best, value),
	       measured = tk_ceiling_set_efficiency_by_source(
	               &ceilings, TK_CEILING_MEASURED, best, value);
	tk_value_set_clip(o, "op", tk_op_title(op), 40);
	tk_value_set_fmt(o, "op_href", "kernels/%s.html", of_op->op_file);
	tk_value_set_clip(o, "device", device->name, 60);
	tk_value_set_clip(o, "device_name", device->row->name, 60);
	tk_value_set_quantity(o, "best_rate", rate, unit, "–");
	tk_value_set_clip(o, "best_backend", best->variant, 40);
	tk_value_set_clip(o, "best_type", best->problem->dtype, 20);
	tk_value_set(o, "peak",
	        isfinite(peak)       ? tk_format_percent(peak, text)
	        : isfinite(measured) ? tk_format_percent(measured, text)
	                             : "");
	tk_value_set(o, "peak_of", isfinite(peak) ? "of datasheet peak" : "of measured ceiling");
	set_index(site, o, &index);
	double ratio = tk_standing_against_vendor(m, device, op, &problems);
	tk_value_set_fmt(o, "vendor",
	        isfinite(ratio) ? "%.2f× the vendor’s speed in %zu problem%s" : "", ratio, problems,
	        problems == 1 ? "" : "s");
	tk_value_set_int(o, "count", count);
	return 0;
}

int tk_overview_set_tiles(struct tk_site *site, struct tk_value *page, struct tk_error *err)
{
	const struct tk_model *m = &site->model;
	struct tk_value *list = tk_value_add_list(page, "tiles");
	size_t tiles = 0;
	int status = 0;
	for (size_t d = 0; d < m->device_count; d++) {
		const struct tk_site_device *device = tk_model_ordered_device(m, d);
		const char *done = "";
		for (size_t i = 0; !status && i < m->series_count && tiles < TILES_MAX; i++) {
			const struct tk_site_series *s = &m->series[i];
			bool added;
			if (!strcmp(s->problem->op, done) || !tk_series_is_suite_time(s) ||
			        !(s->problem->flops > 0))
				continue;
			done = s->problem->op;
			status = add_tile(site, list, device, s, &added, err);
			tiles += !status && added;
		}
	}
	return status;
}
