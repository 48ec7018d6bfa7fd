/* roofline/DEVICE.html: the last measurements under the ceilings of the device. */
#include <math.h>

#include "base/base.h"
#include "site_gen/charts/charts.h"
#include "site_gen/data/data.h"
#include "site_gen/pages/page.h"
#include "site_gen/render/escape.h"

#define TRAIL_MAX 8
#define TRAILS_MANY \
	500          /* of more points a trail is where it began: more could not be told apart \
	                 */
#define ROWS_MAX 400 /* that the table has; of more the nearest and the farthest */
#define ROWS_END 100 /* of either */

#define OLDER_NIGHTS 8

/* The oldest night whose points are shown beside those of the last one. A backfill is as old as its
 * commit, so it counts only if there is no other night. */
static int find_since(const struct tk_model *m, const struct tk_site_machine *machine,
        int64_t *since_s, struct tk_error *err)
{
	return tk_store_select_int(m->store,
	        "SELECT min(as_of_s) FROM (SELECT as_of_s FROM night WHERE machine_id = ?1"
	        " AND (?2 = 0 OR kind = 'nightly') ORDER BY started_s DESC LIMIT ?3)",
	        TK_ARGS(machine->row->id, machine->last_night->kind == TK_NIGHT_NIGHTLY,
	                OLDER_NIGHTS),
	        INT64_MAX, since_s, err);
}

/* Sets what `tracker profile` counted of a series. */
static int set_measured(void *user, const struct tk_query_row *row, struct tk_error *err)
{
	struct tk_roofline_points *points = user;
	for (size_t i = 0; i < points->count; i++)
		for (int k = 0;
		        points->at[i].series->row->id == row->values[0].i && k < TK_PROFILED_LEVELS;
		        k++)
			points->at[i].measured[k] = row->values[1 + k].real;
	return 0;
}

/* The newest point of each series that is not too old for the ceilings. */
static int collect(const struct tk_site *site, const struct tk_site_device *device,
        const struct tk_ceiling_set *ceilings, struct tk_roofline_points *out, struct tk_error *err)
{
	const struct tk_model *m = &site->model;
	int64_t since_s;
	TRY(find_since(m, device->machine, &since_s, err));
	out->at = tk_malloc((m->series_count + 1) * sizeof *out->at);
	for (size_t i = 0; i < m->series_count; i++) {
		const struct tk_site_series *s = &m->series[i];
		const struct tk_point *last = tk_series_last_point(s);
		if (s->device != device || !tk_series_is_ranked(s) || !last ||
		        last->as_of_s < since_s || !(s->problem->flops > 0) ||
		        !(s->problem->bytes > 0) || !(last->value > 0))
			continue;
		out->at[out->count++] = (struct tk_roofline_point){s,
		        s->problem->flops / s->problem->bytes, s->problem->flops / last->value,
		        tk_ceiling_set_efficiency(ceilings, s, last->value),
		        last->night_id != device->machine->last_night->id, {NAN, NAN, NAN}};
	}
	return tk_store_query(m->store,
	        "SELECT series_id, flops / dram, flops / l2, flops / l1 FROM page_profile",
	        TK_NO_ARGS, set_measured, out, err);
}

static int compare_by_efficiency(const void *a, const void *b)
{
	const struct tk_roofline_point *x = a, *y = b;
	if (x->efficiency != y->efficiency && isfinite(x->efficiency) && isfinite(y->efficiency))
		return x->efficiency < y->efficiency ? 1 : -1;
	return x->series < y->series ? -1 : x->series > y->series;
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Backends by name, with their colours and shapes. */
static void name_marks(struct tk_roofline_points *points)
{
	size_t count = 0;
	points->labels = tk_malloc((points->count + 1) * sizeof *points->labels);
	points->styles = tk_calloc(points->count + 1, sizeof *points->styles);
	for (size_t i = 0; i < points->count; i++)
		points->labels[i] = points->at[i].series->label;
	if (points->count)
		qsort(points->labels, points->count, sizeof *points->labels, by_text);
	for (size_t i = 0; i < points->count; i++)
		if (!count || strcmp(points->labels[count - 1], points->labels[i]))
			points->labels[count++] = points->labels[i];
	points->label_count = count;
	for (size_t i = 0; i < points->count; i++)
		for (size_t k = 0; k < count; k++)
			if (!strcmp(points->labels[k], points->at[i].series->label))
				points->styles[k] = points->at[i].series->style;
}

/* ---- data for the chart ---- */

static void add_text(struct tk_buf *out, const char *key, const char *text)
{
	tk_buf_add_str(out, ",\"");
	tk_buf_add_str(out, key);
	tk_buf_add_str(out, "\":");
	tk_escape_json(out, text, tk_utf8_clip_len(text, 120));
}

/* The trail: [[time, rate], ...] of earlier nights, oldest first, evenly chosen. */
static void add_trail(struct tk_buf *out, const struct tk_site_series *s, bool many)
{
	size_t past = s->sparkline.count ? s->sparkline.count - 1 : 0,
	       step = many               ? past
	              : past > TRAIL_MAX ? (past + TRAIL_MAX - 1) / TRAIL_MAX
	                                 : 1;
	for (size_t i = 0; i < past; i += step) {
		const struct tk_sparkline_point *p = &s->sparkline.at[i];
		tk_buf_add_str(out, i ? ",[" : ",\"trail\":[[");
		tk_buf_add_int(out, p->as_of_s);
		tk_buf_add_char(out, ',');
		tk_data_add_number(out, s->problem->flops / (double)p->value);
		tk_buf_add_char(out, ']');
	}
	tk_buf_add_str(out, past ? "]" : "");
}

static bool has_measured(const struct tk_roofline_point *s)
{
	bool any = false;
	for (int i = 0; i < TK_PROFILED_LEVELS; i++)
		any = any || isfinite(s->measured[i]);
	return any;
}

static void add_point(struct tk_buf *out, const struct tk_ceiling_set *ceilings,
        const struct tk_roofline_point *s, bool many)
{
	char href[160];
	snprintf(href, sizeof href, "series/%s.html", s->series->file);
	tk_buf_add_str(out, "{\"x\":");
	tk_data_add_number(out, s->intensity);
	tk_buf_add_str(out, ",\"y\":");
	tk_data_add_number(out, s->rate);
	tk_buf_add_str(out, ",\"efficiency\":");
	tk_data_add_number(out, s->efficiency);
	tk_buf_add_str(out, ",\"peak\":");
	tk_data_add_number(out, tk_ceiling_set_efficiency_by_source(ceilings, TK_CEILING_DATASHEET,
	                                s->series, tk_series_last_point(s->series)->value));
	add_text(out, "title", s->series->problem->title);
	add_text(out, "label", s->series->label);
	add_text(out, "type", s->series->problem->dtype);
	add_text(out, "op", tk_op_title(s->series->problem->op));
	tk_buf_add_printf(out, ",\"style\":%zu", s->series->style);
	add_text(out, "href", href);
	if (s->old) {
		tk_buf_add_str(out, ",\"older_s\":");
		tk_buf_add_int(out, tk_series_last_point(s->series)->as_of_s);
	}
	if (has_measured(s)) {
		tk_buf_add_str(out, ",\"measured\":[");
		for (int i = 0; i < TK_PROFILED_LEVELS; i++) {
			tk_buf_add_str(out, i ? "," : "");
			tk_data_add_number(out, s->measured[i]);
		}
		tk_buf_add_char(out, ']');
	}
	add_trail(out, s->series, many);
	tk_buf_add_char(out, '}');
}

static int write_data(struct tk_site *site, const struct tk_ceiling_set *ceilings,
        const struct tk_roofline_points *points, const char *path, struct tk_error *err)
{
	struct tk_buf *out = &site->page;
	tk_buf_clear(out);
	tk_buf_add_str(out, "tracker.data.add(\"roofline\",{\"ceilings\":[");
	for (size_t i = 0; i < ceilings->count; i++) {
		tk_buf_add_printf(out, "%s\n{\"value\":", i ? "," : "");
		tk_data_add_number(out, ceilings->rows[i]->value);
		add_text(out, "name", ceilings->rows[i]->name);
		add_text(out, "unit", ceilings->rows[i]->unit);
		add_text(out, "source", tk_ceiling_source_name(ceilings->rows[i]->source));
		tk_buf_add_str(
		        out, tk_ceiling_is_cache(ceilings->rows[i]) ? ",\"cache\":true}" : "}");
	}
	tk_buf_add_str(out, "],\"points\":[");
	for (size_t i = 0; i < points->count; i++) {
		tk_buf_add_str(out, i ? ",\n" : "\n");
		add_point(out, ceilings, &points->at[i], points->count > TRAILS_MANY);
	}
	tk_buf_add_str(out, "]});\n");
	return tk_output_put(site->out, path, out, err);
}

/* ---- the page ---- */

static void set_ceilings(struct tk_value *page, const struct tk_ceiling_set *ceilings)
{
	struct tk_value *list = tk_value_add_list(page, "ceilings");
	bool caches = false;
	for (size_t i = 0; i < ceilings->count; i++) {
		struct tk_value *o = tk_value_append(list);
		tk_value_set_clip(o, "name", ceilings->rows[i]->name, 40);
		tk_value_set_clip(
		        o, "source", tk_ceiling_source_name(ceilings->rows[i]->source), 20);
		tk_value_set_quantity(
		        o, "value", ceilings->rows[i]->value, ceilings->rows[i]->unit, "–");
		caches = caches || tk_ceiling_is_cache(ceilings->rows[i]);
	}
	tk_value_set_flag(page, "caches", caches);
}

/* "683" and "L2 85, L1 341" */
static void set_measured_cells(struct tk_value *o, const struct tk_roofline_point *s)
{
	char caches[80] = "";
	double dram = s->measured[TK_PROFILED_DRAM];
	for (int i = TK_PROFILED_L2; i < TK_PROFILED_LEVELS; i++) {
		size_t length = strlen(caches);
		if (isfinite(s->measured[i]))
			snprintf(caches + length, sizeof caches - length, "%s%s %.*f",
			        length ? ", " : "", tk_profiled_level_names[i],
			        s->measured[i] < 9.95 ? 1 : 0, s->measured[i]);
	}
	tk_value_set_fmt(o, "measured", isfinite(dram) ? "%.*f" : "–", dram < 9.95 ? 1 : 0, dram);
	tk_value_set(o, "measured_caches", caches);
}

static void add_row(struct tk_site *site, struct tk_value *rows,
        const struct tk_ceiling_set *ceilings, const struct tk_roofline_point *s)
{
	struct tk_value *o = tk_value_append(rows);
	const struct tk_point *last = tk_series_last_point(s->series);
	const struct tk_sparkline_point *first = s->series->sparkline.at;
	char day[TK_TIME_ISO_SIZE];
	bool has_trail = s->series->sparkline.count > 1 && first->value > 0;
	tk_value_set_fmt(o, "href", "../series/%s.html", s->series->file);
	tk_value_set_clip(o, "title", s->series->problem->title, 110);
	tk_value_set_clip(o, "label", s->series->label, 60);
	tk_value_set(o, "type", s->series->problem->dtype);
	tk_value_set(o, "op", tk_op_title(s->series->problem->op));
	tk_value_set(o, "old", s->old ? tk_time_format_day(last->as_of_s, day) : "");
	tk_value_set_fmt(o, "intensity", "%.*f", s->intensity < 9.95 ? 1 : 0, s->intensity);
	set_measured_cells(o, s);
	tk_value_set(o, "under",
	        tk_ceiling_set_limiting(ceilings, s->series->problem->dtype, s->intensity));
	tk_value_set_quantity(o, "rate", s->rate, "gflop_per_s", "–");
	tk_value_set_change(
	        o, "trail_change", has_trail ? (double)first->value / last->value - 1 : NAN, "");
	tk_value_set(o, "since", has_trail ? tk_time_format_day(first->as_of_s, day) : "");
	tk_value_set_percent(o, "efficiency", s->efficiency, "–");
	double peak = tk_ceiling_set_efficiency_by_source(
	        ceilings, TK_CEILING_DATASHEET, s->series, last->value);
	tk_value_set_percent(o, "peak", peak, "–");
	tk_value_set_flag(o, "over_peak", peak > 1.02);
	tk_value_set_flag(o, "over", s->efficiency > 1.02);
	tk_svg_draw_bar(&site->markup, s->efficiency, "rest");
	tk_page_set_markup(site, o, "bar_markup");
}

static void set_tables(struct tk_site *site, struct tk_value *page,
        const struct tk_ceiling_set *ceilings, const struct tk_roofline_points *points)
{
	set_ceilings(page, ceilings);
	struct tk_value *rows = tk_value_add_list(page, "rows");
	bool any_old = false, any_measured = false, cut = points->count > ROWS_MAX;
	for (size_t i = 0; i < points->count; i++) {
		if (!cut || i < ROWS_END || i >= points->count - ROWS_END)
			add_row(site, rows, ceilings, &points->at[i]);
		any_old = any_old || points->at[i].old;
		any_measured = any_measured || has_measured(&points->at[i]);
	}
	tk_value_set_fmt(page, "rows_left", cut ? "%zu" : "", points->count - 2 * ROWS_END);
	tk_value_set_flag(page, "any_older", any_old);
	tk_value_set_flag(page, "any_measured", any_measured);
}

static void set_drawing(struct tk_site *site, struct tk_value *page,
        const struct tk_ceiling_set *ceilings, const struct tk_roofline_points *points)
{
	tk_roofline_draw(&site->markup, points, ceilings);
	tk_page_set_markup(site, page, "roofline_markup");
	struct tk_value *marks = tk_value_add_list(page, "marks");
	for (size_t i = 0; i < points->label_count && points->label_count > 1; i++) {
		struct tk_value *o = tk_value_append(marks);
		tk_page_set_key(site, o, points->styles[i], points->labels[i]);
	}
}

int tk_page_add_roofline(
        struct tk_site *site, struct tk_value *page, int64_t device_id, struct tk_error *err)
{
	const struct tk_site_device *device = tk_model_find_device(&site->model, device_id);
	struct tk_ceiling_set ceilings;
	struct tk_roofline_points points = {0};
	tk_ceiling_set_load(&site->model, device, &ceilings);
	tk_ceiling_set_drop_times(&ceilings);
	int status =
	        device->machine->last_night ? collect(site, device, &ceilings, &points, err) : 0;
	if (points.count)
		qsort(points.at, points.count, sizeof *points.at, compare_by_efficiency);
	if (!status) {
		name_marks(&points);
		status =
		        write_data(site, &ceilings, &points, tk_value_find_text(page, "data"), err);
	}
	if (!status) {
		tk_value_set_flag(page, "any", points.count > 0);
		set_drawing(site, page, &ceilings, &points);
		set_tables(site, page, &ceilings, &points);
	}
	free(points.at);
	free(points.labels);
	free(points.styles);
	return status;
}
