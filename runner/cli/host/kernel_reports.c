/* See kernel_reports.h. The schema of the JSON is in docs/reference/kernel-reports.md. */
#include "cli/host/kernel_reports.h"

#include "base/present.h"
#include "base/try.h"
#include "cli/table.h"
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
	AUTO_TEXT result = tk_kernel_report_dump(report->result);
	AUTO_TEXT timeline = tk_kernel_report_dump(report->timeline);
	const struct tk_kernel_report_row row = {.kind = report->kind,
	        .options = r->o->backend_options ? r->o->backend_options : "",
	        .config = r->o->config_name ? r->o->config_name : "",
	        .mode = tk_mode_name(r->mode),
	        .base = report->base ? report->base : "",
	        .started_s = report->started_s,
	        .result = result,
	        .timeline = timeline};

	return tk_kernel_report_store(s, &place, &row, err);
}

/* ---- listing ---- */

static const char list_sql[] =
        "SELECT p.text AS problem, p.title, m.name AS machine, d.slug AS device,"
        "  d.name AS device_name, e.attributes AS \"environment:json\", k.uid, k.kind,"
        "  k.started_s AS \"started:time\", k.upstream AS \"upstream:text\","
        "  k.revision AS \"revision:text\", k.artifact_key, k.backend,"
        "  k.options AS \"options:text\", k.config AS \"config:text\", k.mode,"
        "  k.base AS \"base:text\", k.result AS \"result:json\""
        " FROM kernel_report k JOIN problem p ON p.id = k.problem_id"
        "  JOIN device d ON d.id = k.device_id JOIN machine m ON m.id = d.machine_id"
        "  JOIN environment e ON e.id = k.environment_id"
        " WHERE k.kind = ?1 AND (?2 IS NULL OR ?2 IN (k.backend, k.upstream))"
        " ORDER BY k.started_s DESC, k.id DESC";

static const struct tk_column columns[] = {
        {"PROBLEM", TK_COLUMN_CUT, "title", 0, NULL},
        {"BACKEND", TK_COLUMN_CUT, "backend", 0, NULL},
        {"DEVICE", TK_COLUMN_CUT, "device", 0, NULL},
        {"REVISION", TK_COLUMN_OPTIONAL | TK_COLUMN_DROP(1), "revision", TK_SHOW_SHORT, NULL},
        {"WHEN", TK_COLUMN_DROP(2), "started", TK_SHOW_DAY, NULL},
        {"TIME", TK_COLUMN_RIGHT | TK_COLUMN_OPTIONAL, "result.time_ns", TK_SHOW_NS, NULL},
        {"RECORDING", TK_COLUMN_RIGHT | TK_COLUMN_OPTIONAL, NULL, 0, NULL},
        {"TENSOR", TK_COLUMN_RIGHT | TK_COLUMN_OPTIONAL, "result.tensor_share", TK_SHOW_PERCENT,
                NULL},
        {"DRAM", TK_COLUMN_RIGHT | TK_COLUMN_OPTIONAL, "result.dram_bytes", TK_SHOW_BYTES, NULL},
        {"COMPARED WITH", TK_COLUMN_CUT | TK_COLUMN_OPTIONAL, "base", 0, NULL},
        {0},
};

static void add_row(struct tk_table *t, const json_t *row)
{
	double untraced_ns = tk_record_number(row, "result.untraced_ns"),
	       traced_ns = tk_record_number(row, "result.traced_ns"),
	       time_ns = isfinite(untraced_ns) ? untraced_ns : traced_ns;

	tk_table_add_record(t, row);
	tk_table_set_cell(t, "BACKEND", "%s%s%s", tk_record_text(row, "backend"),
	        *tk_record_text(row, "config") ? ", " : "", tk_record_text(row, "config"));
	tk_table_set_value(t, "TIME", time_ns, "ns");
	if (isfinite(traced_ns / untraced_ns))
		tk_table_set_cell(
		        t, "RECORDING", "%+.1f %%", tk_percent_tenths(traced_ns / untraced_ns - 1));
}

static int print_text(
        const struct tk_globals *g, const json_t *rows, const char *kind, struct tk_error *err)
{
	struct tk_table *t = tk_table_new(g, columns);
	const json_t *row;
	size_t i;

	json_array_foreach (rows, i, row)
		add_row(t, row);
	if (!json_array_size(rows))
		printf("nothing is stored; `tracker %s BACKEND PROBLEM` records a kernel\n", kind);
	return tk_table_finish(t, stdout, err);
}

int tk_kernel_reports_list(const struct tk_globals *g, enum tk_kernel_report kind, const char *of,
        bool json, struct tk_error *err)
{
	const char *word = tk_kernel_report_name(kind);
	json_t *rows;
	int status = tk_records_select(g->store, list_sql, TK_ARGS(word, of), &rows, err);

	if (!status && json)
		return tk_command_print_json(
		        json_pack("{s:s,s:o}", "schema", SCHEMA, "rows", rows), err);
	if (!status)
		status = print_text(g, rows, word, err);
	json_decref(rows);
	return status;
}
