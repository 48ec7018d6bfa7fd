/* trends/: the index of every kernel on every device, and of its types and backends. */
#include <math.h>

#include "core/vocabulary.h"
#include "site_gen/charts/charts.h"
#include "site_gen/data/data.h"
#include "site_gen/model/model.h"
#include "site_gen/pages/page.h"

#define CAUSES_MAX 8

/* ---- the causes of the changes of an index, which its charts mark ---- */

/* How many series were compared in each night. */
static int store_nights(struct tk_store *s, const struct tk_total *t, struct tk_error *err)
{
	for (size_t i = 0; i < t->count; i++)
		TRY(tk_page_insert(s, "page_index_night",
		        TK_ARGS((const char *)NULL, t->example->device->row->id,
		                t->example->op_file, t->nights[i].as_of_s, t->nights[i].count),
		        err));
	return 0;
}

static int set_causes(struct tk_site *site, struct tk_value *o, const struct tk_trend *trend,
        struct tk_chart_mark *marks, size_t *mark_count, struct tk_error *err)
{
	const struct tk_site_series *s = trend->all.example;
	*mark_count = 0;
	TRY(store_nights(site->model.store, &trend->all, err));
	TRY(tk_page_add_sql(
	        site, o, "trend_section", TK_ARGS(s->device->row->id, s->op_file), err));
	for (struct tk_value *c = tk_value_find_list(o, "causes")->first; c; c = c->next) {
		bool is_worse = !strcmp(tk_value_find_text(c, "tone"), "bad");
		marks[*mark_count] =
		        (struct tk_chart_mark){(double)c->id, *mark_count + 1, is_worse};
		++*mark_count;
	}
	return 0;
}

#define DAY_S 86400
#define DAILY_DAYS 400 /* earlier, a chart has one point for each week */
#define LINES_MAX TK_STYLES
#define CHANGES 5

static const struct {
	int days; /* 0: since the first night */
	const char *title;
} spans[CHANGES] = {{7, "7 d"}, {30, "30 d"}, {90, "90 d"}, {365, "365 d"}, {0, "all"}};

/* ---- one trend ---- */

/* ---- a row of a table ---- */

/* index, series, noise; changes: a cell for each of the spans. */
static void set_numbers(struct tk_site *site, struct tk_value *o, const struct tk_trend *t)
{
	char text[TK_FORMAT_SIZE];
	bool known = t->all.count > 1;
	double noise = isfinite(t->noise) ? expm1(t->noise) : NAN;
	tk_value_set_fmt(o, "index", known ? "%.1f" : "",
	        known ? 100 * exp(t->levels[t->all.count - 1]) : 0);
	tk_value_set_int(o, "series", t->all.series_count);
	tk_value_set_fmt(o, "noise", isfinite(noise) ? "±%s" : "",
	        isfinite(noise) ? tk_format_change(noise, text) + 1 : "");
	struct tk_value *list = tk_value_add_list(o, "changes");
	for (int i = 0; i < CHANGES; i++) {
		struct tk_value *cell = tk_value_append(list);
		double change = tk_trend_change(t, spans[i].days);
		tk_value_set(cell, "span", spans[i].title);
		bool even = !isfinite(change) || fabs(change) < site->options->tie;
		tk_value_set_change(cell, "change", change, "–");
		tk_tone_set(cell, "tone",
		        even         ? TK_TONE_QUIET
		        : change > 0 ? TK_TONE_GOOD
		                     : TK_TONE_BAD);
	}
}

/* ---- charts ---- */

/* The index of a part, thinned to a point a week before DAILY_DAYS; returns their number. */
static void make_points(const struct tk_total *part, struct tk_chart_point *out, size_t *count)
{
	double *levels = tk_malloc((part->count + 1) * sizeof *levels);
	*count = 0;
	tk_total_levels(part, levels);
	int64_t daily_s =
	        part->count ? part->nights[part->count - 1].as_of_s - DAILY_DAYS * DAY_S : 0;
	for (size_t i = 0; i < part->count; i++) {
		const struct tk_total_night *n = &part->nights[i];
		bool weekly = n->as_of_s < daily_s && i + 1 < part->count && i;
		if ((i && !n->count) ||
		        (weekly && n->as_of_s / (7 * DAY_S) == n[1].as_of_s / (7 * DAY_S)))
			continue;
		out[*count].x = (double)n->as_of_s;
		out[(*count)++].y = 100 * exp(levels[i]);
	}
	free(levels);
}

static void add_line_data(struct tk_buf *out, const struct tk_chart_line *line)
{
	int64_t before = 0;
	tk_buf_add_printf(out, "{\"time\":[");
	for (size_t i = 0; i < line->count; i++) {
		tk_buf_add_str(out, i ? "," : "");
		tk_buf_add_int(out, (int64_t)line->points[i].x - before);
		before = (int64_t)line->points[i].x;
	}
	tk_buf_add_str(out, "],\"index\":[");
	before = 0;
	for (size_t i = 0; i < line->count; i++) {
		int64_t value = llround(100 * line->points[i].y);
		tk_buf_add_str(out, i ? "," : "");
		tk_buf_add_int(out, value - before);
		before = value;
	}
	tk_buf_add_str(out, "]}");
}

/* Number of neighbours of one type. */
static size_t count_type(const struct tk_total *parts, size_t count)
{
	size_t n = 1;
	while (n < count && parts[n].dtype && !strcmp(parts[n].dtype, parts[0].dtype))
		n++;
	return n;
}

/* One chart: the backends of a type. */
static void add_panel(struct tk_site *site, struct tk_value *list, const struct tk_total *parts,
        size_t count, const struct tk_chart_mark *marks, size_t mark_count, struct tk_buf *data)
{
	struct tk_value *o = tk_value_append(list);
	struct tk_value *keys = tk_value_add_list(o, "keys");
	struct tk_chart_line lines[LINES_MAX];
	size_t all = 0, used = 0, line_count = 0;
	for (size_t i = 0; i < count; i++)
		all += parts[i].count;
	struct tk_chart_point *points = tk_malloc((all + 1) * sizeof *points);
	tk_value_set_clip(o, "type", parts[0].dtype ? parts[0].dtype : "all types", 20);
	tk_buf_add_str(data, "{\"lines\":[");
	for (size_t i = 0; i < count && line_count < LINES_MAX; i++) {
		struct tk_chart_line line = {parts[i].example->style, points + used, 0};
		make_points(&parts[i], points + used, &line.count);
		if (line.count < 2)
			continue;
		used += line.count;
		tk_buf_add_str(data, line_count ? "," : "");
		add_line_data(data, &line);
		lines[line_count++] = line;
		struct tk_value *key = tk_value_append(keys);
		tk_value_set_int(key, "style", line.style);
		tk_page_set_key(site, key, line.style,
		        parts[i].variant ? parts[i].variant : "all backends");
	}
	tk_buf_add_str(data, "]}");
	tk_chart_draw(&site->markup, &(struct tk_chart){.kind = TK_CHART_TIMES,
	                                     .lines = lines,
	                                     .count = line_count,
	                                     .y_title = "index, first night = 100",
	                                     .reference = NAN,
	                                     .marks = marks,
	                                     .mark_count = mark_count});
	tk_value_set_flag(o, "drawn", site->markup.len > 0);
	tk_page_set_markup(site, o, "drawing_markup");
	free(points);
}

static void add_marks_data(
        struct tk_buf *data, const struct tk_chart_mark *marks, size_t mark_count)
{
	tk_buf_add_str(data, "],\"marks\":[");
	for (size_t i = 0; i < mark_count; i++)
		tk_buf_add_printf(data, "%s[%lld,%zu,%d]", i ? "," : "", (long long)marks[i].at,
		        marks[i].number, marks[i].worse);
	tk_buf_add_str(data, "]}");
}

/* ---- the page of a kernel ---- */

static void add_row(struct tk_site *site, struct tk_value *rows, const struct tk_total *part)
{
	struct tk_trend t;
	tk_trend_load(part, 1, &t);
	struct tk_value *o = tk_value_append(rows);
	tk_value_set_clip(o, "backend", part->variant ? part->variant : "all backends", 60);
	tk_value_set_clip(o, "type", part->dtype ? part->dtype : "all types", 20);
	tk_mark_draw_key(&site->markup, part->example->style);
	tk_page_set_markup(site, o, "mark_markup");
	set_numbers(site, o, &t);
	tk_trend_free(&t);
}

static int add_section(struct tk_site *site, struct tk_value *o, const struct tk_trend *t,
        struct tk_buf *data, struct tk_error *err)
{
	struct tk_chart_mark marks[CAUSES_MAX];
	size_t mark_count;
	const struct tk_site_device *device = t->all.example->device;
	tk_value_set_clip(o, "anchor", device->file, 80);
	tk_value_set_clip(o, "device", device->name, 60);
	tk_value_set_clip(o, "device_name", device->row->name, 60);
	set_numbers(site, o, t);
	TRY(set_causes(site, o, t, marks, &mark_count, err));
	struct tk_value *panels = tk_value_add_list(o, "panels");
	struct tk_value *rows = tk_value_add_list(o, "rows");
	tk_buf_add_str(data, "{\"panels\":[");
	for (size_t i = 0, n; i < t->count; i += n) {
		n = count_type(t->parts + i, t->count - i);
		tk_buf_add_str(data, i ? ",\n" : "\n");
		add_panel(site, panels, t->parts + i, n, marks, mark_count, data);
	}
	add_marks_data(data, marks, mark_count);
	for (size_t i = 0; i < t->count; i++)
		add_row(site, rows, &t->parts[i]);
	return 0;
}

static int put_data(
        struct tk_site *site, const char *op_file, struct tk_buf *data, struct tk_error *err)
{
	char path[TK_PAGE_PATH_SIZE];
	tk_buf_add_str(data, "]});\n");
	snprintf(path, sizeof path, "data/trends-%.100s.js", op_file);
	return tk_output_put(site->out, path, data, err);
}

int tk_page_add_trend(
        struct tk_site *site, struct tk_value *page, int64_t op_id, struct tk_error *err)
{
	const struct tk_model *m = &site->model;
	const struct tk_site_series *of_op = &m->series[op_id];
	AUTO(tk_buf) data = TK_BUF_INIT;
	int status = 0;
	bool any = false;
	struct tk_value *devices = tk_value_add_list(page, "devices");
	tk_buf_add_str(&data, "tracker.data.add(\"trends\",{\"devices\":[\n");
	for (size_t d = 0; !status && d < m->device_count; d++) {
		const struct tk_total *parts;
		struct tk_trend t;
		size_t count = tk_totals_find(
		        &site->totals, tk_model_ordered_device(m, d), of_op->problem->op, &parts);
		if (!count)
			continue;
		tk_trend_load(parts, count, &t);
		tk_buf_add_str(&data, any ? ",\n" : "");
		any = true;
		status = add_section(site, tk_value_append(devices), &t, &data, err);
		tk_trend_free(&t);
	}
	return status ? status : put_data(site, of_op->op_file, &data, err);
}

/* ---- the list ---- */

static void add_to_list(struct tk_site *site, struct tk_value *list,
        const struct tk_site_device *device, const struct tk_site_series *of_op)
{
	const struct tk_total *parts;
	struct tk_trend t;
	size_t count = tk_totals_find(&site->totals, device, of_op->problem->op, &parts);
	if (!count)
		return;
	tk_trend_load(parts, count, &t);
	struct tk_value *o = tk_value_append(list);
	tk_value_set_clip(o, "op", tk_op_title(of_op->problem->op), 60);
	tk_value_set_clip(o, "op_file", of_op->op_file, 100);
	tk_value_set_clip(o, "anchor", device->file, 80);
	tk_value_set_clip(o, "device", device->name, 60);
	tk_value_set_clip(o, "device_name", device->row->name, 60);
	set_numbers(site, o, &t);
	tk_index_draw(&site->markup, &t);
	tk_page_set_markup(site, o, "index_markup");
	tk_trend_free(&t);
}

int tk_page_add_trends(
        struct tk_site *site, struct tk_value *page, int64_t unused, struct tk_error *err)
{
	const struct tk_model *m = &site->model;
	struct tk_value *list = tk_value_add_list(page, "list");
	for (size_t d = 0; d < m->device_count; d++) {
		const char *done = "";
		for (size_t i = 0; i < m->series_count; i++) {
			if (!strcmp(m->series[i].problem->op, done))
				continue;
			done = m->series[i].problem->op;
			add_to_list(site, list, tk_model_ordered_device(m, d), &m->series[i]);
		}
	}
	return 0;
}
