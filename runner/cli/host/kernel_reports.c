/* See kernel_reports.h. The schema of the JSON is in docs/reference/kernel-reports.md. */
#include "cli/host/kernel_reports.h"

#include "base/clock.h"
#include "base/format.h"
#include "base/json.h"
#include "cli/lookup.h"
#include "cli/stored_place.h"
#include "nightly/kernel_report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SCHEMA "tracker-kernel-reports/1"

/* ---- storing ---- */

int tk_kernel_reports_put(struct tk_store *s, const struct tk_run_session *r,
        const struct tk_kernel_report_new *report, struct tk_error *err)
{
	const struct tk_run_device *d = &r->devices_open[0];
	const struct tk_kernel_report_place place = {.config = r->config,
	        .modules = r->modules,
	        .device_kind = r->device_kind,
	        .device_index = d->index,
	        .device_count = d->count,
	        .device_info = d->info,
	        .problem = report->problem,
	        .backend = r->backend_name,
	        .backend_path = r->plain_path ? r->plain_path : r->backend_path};
	char *result = tk_kernel_report_dump(report->result),
	     *timeline = tk_kernel_report_dump(report->timeline);
	const struct tk_kernel_report_row row = {.kind = report->kind,
	        .options = r->o->backend_options ? r->o->backend_options : "",
	        .config = r->o->config_name ? r->o->config_name : "",
	        .mode = tk_mode_name(r->mode),
	        .base = report->base ? report->base : "",
	        .started_s = report->started_s,
	        .result = result,
	        .timeline = timeline};
	int status = result && timeline ? tk_kernel_report_store(s, &place, &row, err)
	                                : tk_fail(err, TK_ENOMEM, "out of memory");
	free(result);
	free(timeline);
	return status;
}

/* ---- listing ---- */

static const struct tk_column columns[] = {
        {"PROBLEM", TK_COLUMN_CUT},
        {"BACKEND", TK_COLUMN_CUT},
        {"DEVICE", TK_COLUMN_CUT},
        {"REVISION", TK_COLUMN_OPTIONAL | TK_COLUMN_DROP(1)},
        {"WHEN", TK_COLUMN_DROP(2)},
        {"TIME", TK_COLUMN_RIGHT | TK_COLUMN_OPTIONAL},
        {"RECORDING", TK_COLUMN_RIGHT | TK_COLUMN_OPTIONAL},
        {"TENSOR", TK_COLUMN_RIGHT | TK_COLUMN_OPTIONAL},
        {"DRAM", TK_COLUMN_RIGHT | TK_COLUMN_OPTIONAL},
        {"COMPARED WITH", TK_COLUMN_CUT | TK_COLUMN_OPTIONAL},
        {NULL, 0},
};

static double number(const json_t *o, const char *key)
{
	const json_t *v = json_object_get(o, key);
	return json_is_number(v) ? json_number_value(v) : NAN;
}

static void set_value(struct tk_table *t, const char *column, double value, const char *unit)
{
	char text[TK_FORMAT_SIZE];
	if (isfinite(value))
		tk_table_set_cell(t, column, "%s", tk_format_value(value, unit, text));
}

static void set_figures(struct tk_table *t, const struct tk_kernel_report_row *row)
{
	json_t *result = tk_stored_json(row->result);
	char text[TK_FORMAT_SIZE];
	bool is_trace = row->kind == TK_KERNEL_REPORT_TRACE;
	double untraced_ns = number(result, "untraced_ns"), traced_ns = number(result, "traced_ns"),
	       tensor = number(result, "tensor_share");
	set_value(t, "TIME",
	        !is_trace               ? number(result, "time_ns")
	        : isfinite(untraced_ns) ? untraced_ns
	                                : traced_ns,
	        "ns");
	if (is_trace && isfinite(traced_ns / untraced_ns))
		tk_table_set_cell(
		        t, "RECORDING", "%+.1f %%", tk_percent_tenths(traced_ns / untraced_ns - 1));
	if (isfinite(tensor))
		tk_table_set_cell(t, "TENSOR", "%s", tk_format_percent(tensor, text));
	set_value(t, "DRAM", number(result, "dram_bytes"), "bytes");
	json_decref(result);
}

static void add_row(
        struct tk_table *t, const struct tk_lookup *l, const struct tk_kernel_report_row *row)
{
	char day[TK_TIME_ISO_SIZE];
	tk_table_add_row(t);
	tk_table_set_cell(t, "PROBLEM", "%s", tk_lookup_problem(l, row->problem_id)->title);
	tk_table_set_cell(
	        t, "BACKEND", "%s%s%s", row->backend, *row->config ? ", " : "", row->config);
	tk_table_set_cell(t, "DEVICE", "%s", tk_lookup_device(l, row->device_id)->slug);
	tk_table_set_cell(t, "REVISION", "%.12s", row->revision);
	tk_table_set_cell(t, "WHEN", "%s", tk_time_format_day(row->started_s, day));
	tk_table_set_cell(t, "COMPARED WITH", "%s", row->base);
	set_figures(t, row);
}

static json_t *encode_row(const struct tk_lookup *l, const struct tk_kernel_report_row *row)
{
	char when[TK_TIME_ISO_SIZE];
	json_t *o = tk_stored_place_json(l, row->device_id, row->environment_id, row->problem_id);
	json_t *rest = json_pack("{s:s,s:s,s:s,s:o,s:o,s:s,s:s,s:o,s:o,s:s,s:o,s:o}", "uid",
	        row->uid, "kind", tk_kernel_report_name(row->kind), "started",
	        tk_time_format_iso(row->started_s, when), "upstream", tk_json_text(row->upstream),
	        "revision", tk_json_text(row->revision), "artifact_key", row->artifact_key,
	        "backend", row->backend, "options", tk_json_text(row->options), "config",
	        tk_json_text(row->config), "mode", row->mode, "base", tk_json_text(row->base),
	        "result", tk_stored_json(row->result));
	json_object_update(o, rest);
	json_decref(rest);
	return o;
}

struct list {
	struct tk_lookup lookup;
	struct tk_rows rows;
	enum tk_kernel_report kind;
	const char *of;
};

static bool is_listed(const struct list *l, const struct tk_kernel_report_row *row)
{
	return row->kind == l->kind &&
	       (!l->of || !strcmp(row->backend, l->of) || !strcmp(row->upstream, l->of));
}

static int print_json(const struct list *l, struct tk_error *err)
{
	json_t *rows = json_array();
	for (size_t i = 0; i < l->rows.count; i++) {
		const struct tk_kernel_report_row *row =
		        TK_ROWS_AT(&l->rows, struct tk_kernel_report_row, i);
		if (is_listed(l, row))
			json_array_append_new(rows, encode_row(&l->lookup, row));
	}
	return tk_command_print_json(json_pack("{s:s,s:o}", "schema", SCHEMA, "rows", rows), err);
}

static int print_text(const struct list *l, const struct tk_globals *g, struct tk_error *err)
{
	struct tk_table *t = tk_table_new(g, columns);
	for (size_t i = 0; i < l->rows.count; i++) {
		const struct tk_kernel_report_row *row =
		        TK_ROWS_AT(&l->rows, struct tk_kernel_report_row, i);
		if (is_listed(l, row))
			add_row(t, &l->lookup, row);
	}
	if (!tk_table_row_count(t))
		printf("nothing is stored; `tracker %s BACKEND PROBLEM` records a kernel\n",
		        tk_kernel_report_name(l->kind));
	int status = tk_table_print(t, stdout, err);
	tk_table_free(t);
	return status;
}

int tk_kernel_reports_list(const struct tk_globals *g, enum tk_kernel_report kind, const char *of,
        bool json, struct tk_error *err)
{
	struct list l = {.kind = kind, .of = of};
	int status = tk_lookup_load(g->store, &l.lookup, err);

	if (!status)
		status = tk_store_list(
		        g->store, TK_TABLE_kernel_report, NULL, TK_NO_ARGS, &l.rows, err);
	if (!status)
		status = json ? print_json(&l, err) : print_text(&l, g, err);
	tk_rows_free(&l.rows);
	tk_lookup_free(&l.lookup);
	return status;
}
