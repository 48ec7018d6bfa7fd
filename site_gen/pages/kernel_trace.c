/* traces/NAME.html: where the time goes inside the kernels of one problem; traces/index.html lists
 * them. */
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/present.h"
#include "base/try.h"
#include "core/kernel_report.h"
#include "site_gen/charts/charts.h"
#include "site_gen/data/data.h"
#include "site_gen/model/records.h"
#include "site_gen/pages/page.h"
#include "site_gen/render/escape.h"
#include "store/kernel_report.h"

#define KERNELS_MAX 16
#define COMPARISONS_MAX 10

static void set_value(struct tk_value *o, const char *key, double value, const char *unit)
{
	tk_value_set_quantity(o, key, value, unit, "–");
}

static void set_percent(struct tk_value *o, const char *key, double share)
{
	bool is_share = share >= 0 && share <= 1.0005; /* of what another program wrote */
	tk_value_set_percent(o, key, is_share ? share : NAN, "–");
}

static void set_time(struct tk_value *o, const char *key, double ns)
{
	set_value(o, key, fabs(ns) < 0.05 ? 0 : ns, "ns");
}

/* ---- tables of one kernel ---- */

static const char *const does_classes[TK_DOES_COUNT] = {
        "tensor", "compute", "store", "load", "wait", "other", "idle"};

/* What a multiprocessor does: its shares, as a bar and as rows. */
static void set_activities(struct tk_site *site, struct tk_value *o, const json_t *kernel)
{
	struct tk_value *list = tk_value_add_list(o, "activities");
	const json_t *times = json_object_get(kernel, "multiprocessor_ns");
	double whole = tk_kernel_report_number(kernel, "duration_ns"), at = 0;
	tk_buf_add_str(&site->markup,
	        "<svg class=\"parts\" viewBox=\"0 0 1000 26\" preserveAspectRatio=\"none\" "
	        "aria-hidden=\"true\">");
	for (int i = 0; i < TK_DOES_COUNT; i++) {
		double ns = tk_kernel_report_number(times, tk_does_names[i]), share = ns / whole;
		if (!(ns > 0) || !(share <= 1))
			continue;
		tk_buf_add_printf(&site->markup,
		        "<rect class=\"does-%s\" x=\"%.1f\" width=\"%.1f\" height=\"26\"/>",
		        does_classes[i], at * 1000, share * 1000);
		at += share;
		struct tk_value *row = tk_value_append(list);
		tk_value_set(row, "name", tk_does_names[i]);
		tk_value_set(row, "does", does_classes[i]);
		set_time(row, "time", ns);
		set_percent(row, "share", share);
	}
	tk_buf_add_str(&site->markup, "</svg>");
	tk_page_set_markup(site, o, "parts_markup");
}

/* The members of a path: of a tile where the kernel marks tiles, else of a block; without the cost
 * of records where the result has that. */
struct path {
	const char *key;
	double ns;
};

static struct path find_path(const json_t *kernel)
{
	const json_t *tiles = json_object_get(kernel, "tiles");
	const json_t *regions = json_object_get(kernel, "regions");
	bool has_tiles = json_is_object(tiles);
	const json_t *whole = has_tiles ? tiles : kernel;
	double other_ns = tk_kernel_report_number(whole, "critical_other_corrected_ns");
	if (!isfinite(other_ns))
		return (struct path){has_tiles ? "tile_critical_ns" : "critical_ns",
		        tk_kernel_report_number(whole, has_tiles ? "mean_ns" : "block_ns")};
	struct path p = {
	        has_tiles ? "tile_critical_corrected_ns" : "critical_corrected_ns", other_ns};
	for (size_t i = 0; i < json_array_size(regions); i++)
		p.ns += tk_kernel_report_number(json_array_get(regions, i), p.key);
	return p;
}

static void set_regions(struct tk_site *site, struct tk_value *o, const json_t *kernel)
{
	struct tk_value *list = tk_value_add_list(o, "regions");
	const json_t *regions = json_object_get(kernel, "regions");
	double whole = tk_kernel_report_number(kernel, "duration_ns");
	struct path path = find_path(kernel);
	for (size_t i = 0; i < json_array_size(regions) && i < TK_TIMELINE_REGIONS_MAX; i++) {
		const json_t *r = json_array_get(regions, i);
		double entered = tk_kernel_report_number(r, "entered"),
		       exposed = tk_kernel_report_number(r, "exposed_ns");
		if (!(entered > 0))
			continue;
		enum tk_does does = tk_does_from_name(tk_kernel_report_text(r, "kind"));
		struct tk_value *row = tk_value_append(list);
		tk_value_set_clip(row, "name", tk_kernel_report_text(r, "name"), 48);
		tk_value_set(row, "kind", tk_does_names[does]);
		tk_value_set(row, "does", does_classes[does]);
		tk_value_set_count(row, "entered", entered + 0.5);
		set_time(row, "time", tk_kernel_report_number(r, "time_ns"));
		set_percent(row, "share", tk_kernel_report_number(r, "share_of_groups"));
		set_time(row, "exposed", exposed);
		set_percent(row, "exposed_share", exposed / whole);
		set_percent(row, "critical", tk_kernel_report_number(r, path.key) / path.ns);
		tk_svg_draw_bar(&site->markup, exposed / whole, "rest");
		tk_page_set_markup(site, row, "bar_markup");
	}
}

/* Of a persistent kernel; none: left out. */
static void set_tile_times(struct tk_value *o, const json_t *kernel)
{
	const json_t *tiles = json_object_get(kernel, "tiles");
	double count = tk_kernel_report_number(tiles, "count");
	char number[TK_FORMAT_SIZE], mean[TK_FORMAT_SIZE], shortest[TK_FORMAT_SIZE],
	        longest[TK_FORMAT_SIZE];
	if (!(count > 0 && count < 1e15))
		return;
	tk_value_set_fmt(o, "tiles", "%s of %s in the mean, %s to %s",
	        tk_format_count((int64_t)count, number),
	        tk_format_value(tk_kernel_report_number(tiles, "mean_ns"), "ns", mean),
	        tk_format_value(tk_kernel_report_number(tiles, "shortest_ns"), "ns", shortest),
	        tk_format_value(tk_kernel_report_number(tiles, "longest_ns"), "ns", longest));
}

/* "48.7 ns in place, 12.2 ns in a row"; a build that records may be the faster one. */
static void set_record_cost(struct tk_value *o, const json_t *kernel)
{
	char place[TK_FORMAT_SIZE], row[TK_FORMAT_SIZE];
	double place_ns = tk_kernel_report_number(kernel, "record_in_place_ns"),
	       row_ns = tk_kernel_report_number(kernel, "record_ns");
	if (!isfinite(row_ns))
		return;
	if (isfinite(place_ns))
		tk_value_set_fmt(o, "record_cost", "%s%s in place, %s in a row",
		        place_ns < 0 ? "-" : "", tk_format_value(fabs(place_ns), "ns", place),
		        tk_format_value(row_ns, "ns", row));
	else
		tk_value_set_fmt(
		        o, "record_cost", "%s in a row", tk_format_value(row_ns, "ns", row));
	set_time(o, "corrected", tk_kernel_report_number(kernel, "corrected_ns"));
}

static void set_recording(struct tk_value *o, const json_t *kernel)
{
	char records[TK_FORMAT_SIZE], blocks[TK_FORMAT_SIZE], launched[TK_FORMAT_SIZE];
	double count = tk_kernel_report_number(kernel, "records"),
	       lost = tk_kernel_report_number(kernel, "groups_with_loss"),
	       recorded = tk_kernel_report_number(kernel, "blocks"),
	       all = tk_kernel_report_number(kernel, "blocks_launched");
	bool has_all = !(all > recorded) && isfinite(all);
	tk_value_set_fmt(o, "records", isfinite(count) ? "%s, %s" : "–",
	        isfinite(count) ? tk_format_count((int64_t)count, records) : "",
	        lost > 0 ? "some lost" : "none lost");
	tk_value_set_fmt(o, "blocks",
	        has_all         ? "%s"
	        : isfinite(all) ? "the first %s of %s"
	                        : "the first %s",
	        tk_format_count(recorded > 0 ? (int64_t)recorded : 0, blocks),
	        isfinite(all) ? tk_format_count((int64_t)all, launched) : "");
	double multiprocessors = tk_kernel_report_number(kernel, "multiprocessors"),
	       mhz = tk_kernel_report_number(kernel, "clock_mhz");
	tk_value_set_fmt(o, "multiprocessors",
	        multiprocessors > 0 && mhz > 0 ? "%.0f at %.0f MHz" : "–", multiprocessors, mhz);
	set_record_cost(o, kernel);
	set_time(o, "tail", tk_kernel_report_number(kernel, "tail_ns"));
}

/* ---- timeline ---- */

static void set_timeline(
        struct tk_site *site, struct tk_value *o, const struct tk_timeline *t, size_t index)
{
	int64_t end_ns = tk_svg_draw_timeline(&site->markup, t);
	char text[TK_FORMAT_SIZE];
	tk_page_set_markup(site, o, "timeline_markup");
	tk_value_set_flag(o, "timeline", end_ns > 0);
	tk_value_set_int(o, "index", index);
	tk_value_set_int(o, "multiprocessor", t->multiprocessor);
	set_time(o, "drawn_end", (double)end_ns);
	tk_value_set(o, "left_out", t->left_out ? tk_format_count(t->left_out, text) : "");
	tk_data_add_timeline(&site->page, t, index);
}

/* ---- comparisons ---- */

/* "8.7 % faster", "softmax -800 ns, of which -20 ns are exposed" */
static void set_comparison(struct tk_value *o, const json_t *kernel)
{
	struct tk_kernel_change change;
	char percent[TK_FORMAT_SIZE];
	tk_kernel_change_read(kernel, &change);
	tk_value_set_clip(o, "kernel", change.kernel, 60);
	if (change.share == 0) {
		tk_value_set(o, "change", "no change of its time");
		return;
	}
	tk_value_set_fmt(o, "change", "%s %s", tk_format_percent(fabs(change.share), percent),
	        change.share > 0 ? "slower" : "faster");
	tk_tone_set(o, "tone", change.share > 0 ? TK_TONE_BAD : TK_TONE_GOOD);
	tk_value_set_clip(o, "cause", change.cause, TK_KERNEL_CAUSE_SIZE);
}

static void add_comparison(struct tk_value *list, const struct tk_kernel_report_row *row)
{
	json_auto_t *result = json_loads(row->result, 0, NULL);
	const json_t *kernels = json_object_get(result, "kernels");
	for (size_t i = 0; i < json_array_size(kernels) && i < KERNELS_MAX; i++) {
		struct tk_value *o = tk_value_append(list);
		tk_value_set_time(o, "when", row->started_s);
		tk_value_set_clip(o, "base", row->base, 100);
		tk_value_set_clip(o, "head", row->revision, 12);
		set_comparison(o, json_array_get(kernels, i));
	}
}

static void set_comparisons(
        struct tk_site *site, struct tk_value *page, const struct tk_site_kernel_trace *t)
{
	struct tk_value *list = tk_value_add_list(page, "comparisons");
	const struct tk_rows *rows = &site->model.kernel_report_rows;
	for (size_t i = 0, shown = 0; i < rows->count && shown < COMPARISONS_MAX; i++) {
		const struct tk_kernel_report_row *row =
		        TK_ROWS_AT(rows, struct tk_kernel_report_row, i);
		if (!*row->base || !tk_kernel_trace_has_report(t, row))
			continue;
		add_comparison(list, row);
		shown++;
	}
}

/* ---- the page ---- */

static const struct tk_site_series *find_series(
        const struct tk_model *m, const struct tk_site_kernel_trace *t)
{
	for (size_t i = 0; i < m->series_count; i++)
		if (m->series[i].kernel_trace == t && tk_series_is_suite_time(&m->series[i]))
			return &m->series[i];
	return NULL;
}

static void set_head(
        struct tk_site *site, struct tk_value *page, const struct tk_site_kernel_trace *t)
{
	const struct tk_kernel_report_row *r = t->newest;
	const struct tk_site_series *s = find_series(&site->model, t);
	tk_value_set_clip(page, "problem", t->problem->title, 120);
	tk_value_set_clip(page, "backend", r->backend, 60);
	tk_value_set_clip(page, "device", t->device->name, 80);
	tk_value_set_clip(page, "device_name", t->device->row->name, 80);
	tk_value_set_time(page, "when", r->started_s);
	tk_value_set_clip(page, "mode", r->mode, 40);
	tk_value_set_clip(page, "config", r->config, 60);
	tk_value_set_clip(page, "options", r->options, 100);
	tk_value_set_clip(page, "base", r->base, 100);
	tk_value_set_clip(page, "upstream", r->upstream, 60);
	tk_value_set_clip(page, "revision", r->revision, 12);
	tk_value_set_clip(page, "build", r->artifact_key, 12);
	tk_value_set_fmt(page, "series_href", s ? "../series/%s.html" : "", s ? s->file : "");
}

static void set_tiles(struct tk_value *page, const json_t *result)
{
	double untraced = tk_kernel_report_number(result, "untraced_ns"),
	       traced = tk_kernel_report_number(result, "traced_ns"),
	       runs = tk_kernel_report_number(result, "runs");
	set_value(page, "time", isfinite(untraced) ? untraced : traced, "ns");
	tk_value_set_fmt(page, "recording", traced > 0 && untraced > 0 ? "%+.1f %%" : "",
	        tk_percent_tenths(traced / untraced - 1));
	tk_value_set_fmt(page, "runs", runs > 0 ? "%.0f" : "–", runs);
}

/* The shares of all kernels of a launch together. */
static void set_shares(struct tk_value *o, const json_t *result)
{
	const json_t *kernels = json_object_get(result, "kernels");
	double whole = 0, sums[TK_DOES_COUNT] = {0};
	for (size_t i = 0; i < json_array_size(kernels); i++) {
		const json_t *kernel = json_array_get(kernels, i),
		             *times = json_object_get(kernel, "multiprocessor_ns");
		double ns = tk_kernel_report_number(kernel, "duration_ns");
		whole += ns > 0 ? ns : 0;
		for (int k = 0; k < TK_DOES_COUNT; k++) {
			ns = tk_kernel_report_number(times, tk_does_names[k]);
			sums[k] += ns > 0 ? ns : 0;
		}
	}
	set_percent(o, "tensor_share", sums[TK_DOES_TENSOR] / whole);
	set_percent(o, "wait_share", sums[TK_DOES_WAIT] / whole);
	set_percent(o, "idle_share", sums[TK_DOES_IDLE] / whole);
}

static void add_kernel(struct tk_site *site, struct tk_value *list, const json_t *kernel)
{
	struct tk_value *o = tk_value_append(list);
	tk_value_set_clip(o, "name", tk_kernel_report_text(kernel, "name"), 60);
	set_time(o, "duration", tk_kernel_report_number(kernel, "duration_ns"));
	set_activities(site, o, kernel);
	set_regions(site, o, kernel);
	set_recording(o, kernel);
	set_tile_times(o, kernel);
}

/* The kernels of a launch, and after them their timelines: both lists are in one order. */
static void set_kernels(
        struct tk_site *site, struct tk_value *page, const json_t *result, const json_t *stored)
{
	struct tk_value *list = tk_value_add_list(page, "kernels"),
	                *lines = tk_value_add_list(page, "timelines");
	const json_t *kernels = json_object_get(result, "kernels");
	for (size_t i = 0; i < json_array_size(kernels) && i < KERNELS_MAX; i++)
		add_kernel(site, list, json_array_get(kernels, i));
	tk_buf_clear(&site->page);
	for (size_t i = 0; i < json_array_size(stored) && i < KERNELS_MAX; i++) {
		struct tk_timeline t;
		tk_timeline_read(json_array_get(stored, i), &t);
		if (t.span_count && t.duration_ns) {
			struct tk_value *o = tk_value_append(lines);
			tk_value_set_clip(o, "name", t.kernel, 60);
			set_timeline(site, o, &t, i);
		}
		tk_timeline_free(&t);
	}
}

static int write_trace(
        struct tk_site *site, const struct tk_site_kernel_trace *t, struct tk_error *err)
{
	char path[TK_PAGE_PATH_SIZE], data[TK_PAGE_PATH_SIZE], title[300];
	AUTO_TEXT text = NULL;
	TRY(tk_store_read_kernel_timeline(site->model.store, t->newest->id, &text, err));
	json_auto_t *result = json_loads(t->newest->result, 0, NULL);
	json_auto_t *timeline = json_loads(text, 0, NULL);
	tk_kernel_trace_path(t, path);
	snprintf(data, sizeof data, "data/trace-%s.js", t->file);
	snprintf(title, sizeof title, "Inside %.*s · %.*s",
	        (int)tk_utf8_clip_len(t->newest->backend, 60), t->newest->backend,
	        (int)tk_utf8_clip_len(t->problem->title, 120), t->problem->title);
	struct tk_value *page = tk_page_begin(site, path, title, TK_SECTION_KERNELS);
	set_head(site, page, t);
	set_shares(page, result);
	set_tiles(page, result);
	set_comparisons(site, page, t);
	set_kernels(site, page, result, timeline);
	tk_value_set(page, "data", data);
	TRY(tk_output_put(site->out, data, &site->page, err));
	return tk_page_finish(site, "kernel_trace", path, err);
}

static int write_index(struct tk_site *site, struct tk_error *err)
{
	const struct tk_model *m = &site->model;
	struct tk_value *page =
	        tk_page_begin(site, "traces/index.html", "Inside kernels", TK_SECTION_KERNELS);
	struct tk_value *list = tk_value_add_list(page, "traces");
	for (size_t i = 0; i < m->kernel_trace_count; i++) {
		const struct tk_site_kernel_trace *t = &m->kernel_traces[i];
		struct tk_value *o = tk_value_append(list);
		tk_kernel_trace_set_summary(o, t);
		tk_value_set_clip(o, "problem", t->problem->title, 120);
		tk_value_set_clip(o, "backend", t->newest->backend, 60);
		tk_value_set_clip(o, "device", t->device->name, 80);
		tk_value_set_fmt(o, "href", "%s.html", t->file);
	}
	return tk_page_finish(site, "kernel_traces", "traces/index.html", err);
}

void tk_kernel_trace_path(const struct tk_site_kernel_trace *t, char path[TK_PAGE_PATH_SIZE])
{
	snprintf(path, TK_PAGE_PATH_SIZE, "traces/%s.html", t->file);
}

void tk_kernel_trace_set_summary(struct tk_value *o, const struct tk_site_kernel_trace *t)
{
	json_auto_t *result = json_loads(t->newest->result, 0, NULL);
	set_shares(o, result);
	set_tiles(o, result);
	tk_value_set_time(o, "when", t->newest->started_s);
}

int tk_page_write_kernel_traces(struct tk_site *site, struct tk_error *err)
{
	for (size_t i = 0; i < site->model.kernel_trace_count; i++)
		TRY(write_trace(site, &site->model.kernel_traces[i], err));
	return site->model.kernel_trace_count ? write_index(site, err) : 0;
}
