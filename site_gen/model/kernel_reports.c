/* See kernel_reports.h. */
#include "site_gen/model/kernel_reports.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/try.h"
#include "site_gen/model/model_internal.h"
#include "store/kernel_report.h"

const char *const tk_profiled_level_names[TK_PROFILED_LEVELS] = {"DRAM", "L2", "L1"};

/* NAN: none, or not from min to max. */
static double get_number(const json_t *o, const char *key, double min, double max)
{
	const json_t *v = json_object_get(o, key);
	double number = json_is_number(v) ? json_number_value(v) : NAN;
	return number >= min && number <= max ? number : NAN;
}

void tk_kernel_profile_read(
        const struct tk_kernel_report_row *row, double flops, struct tk_site_profile *out)
{
	static const char *const keys[TK_PROFILED_LEVELS] = {"dram_bytes", "l2_bytes", "l1_bytes"};
	json_t *result = json_loads(row->result, 0, NULL);
	out->tensor_share = get_number(result, "tensor_share", 0, 1);
	for (int i = 0; i < TK_PROFILED_LEVELS; i++) {
		out->bytes[i] = get_number(result, keys[i], 1, 1e18);
		out->intensity[i] = flops > 0 ? flops / out->bytes[i] : NAN;
	}
	json_decref(result);
}

static bool is_same_kernel(
        const struct tk_kernel_report_row *a, const struct tk_kernel_report_row *b)
{
	return a->device_id == b->device_id && a->problem_id == b->problem_id &&
	       !strcmp(a->backend, b->backend) && !strcmp(a->upstream, b->upstream) &&
	       !strcmp(a->config, b->config);
}

bool tk_kernel_trace_has_report(
        const struct tk_site_kernel_trace *t, const struct tk_kernel_report_row *row)
{
	return row->kind == TK_KERNEL_REPORT_TRACE && is_same_kernel(t->newest, row);
}

static void name_file(struct tk_model *m, struct tk_site_kernel_trace *t)
{
	const struct tk_kernel_report_row *r = t->newest;
	const char *upstream = strcmp(r->upstream, r->backend) ? r->upstream : "";
	AUTO_TEXT name =
	        tk_sprintf("%s.%s%s%s.%s%s%s", t->device->file, upstream, *upstream ? "." : "",
	                r->backend, t->problem->title, *r->config ? "." : "", r->config);
	t->file = tk_model_keep(m, tk_path_make_slug(name));
}

/* Rows come newest first. */
static int add_trace(
        struct tk_model *m, const struct tk_kernel_report_row *row, struct tk_error *err)
{
	for (size_t i = 0; i < m->kernel_trace_count; i++) {
		struct tk_site_kernel_trace *t = &m->kernel_traces[i];
		if (!tk_kernel_trace_has_report(t, row))
			continue;
		if (*t->newest->base && !*row->base)
			t->newest = row;
		return 0;
	}
	struct tk_site_kernel_trace t = {.device = tk_model_find_device(m, row->device_id),
	        .problem = tk_row_index_find(&m->problems_by_id, row->problem_id),
	        .newest = row};
	if (!t.device || !t.problem)
		return tk_fail(err, TK_EDATA, "trace %s: missing device or problem", row->uid);
	m->kernel_traces[m->kernel_trace_count++] = t;
	name_file(m, &m->kernel_traces[m->kernel_trace_count - 1]);
	return 0;
}

static bool is_of_series(const struct tk_site_series *s, const struct tk_kernel_report_row *row)
{
	return row->device_id == s->row->device_id && row->problem_id == s->row->problem_id &&
	       !strcmp(row->backend, s->row->backend) && !strcmp(row->config, s->row->config) &&
	       (!*row->upstream || !strcmp(row->upstream, s->upstream->name));
}

static void join_series(struct tk_model *m, struct tk_site_series *s)
{
	for (size_t i = 0; i < m->kernel_trace_count && !s->kernel_trace; i++)
		if (is_of_series(s, m->kernel_traces[i].newest))
			s->kernel_trace = &m->kernel_traces[i];
	for (size_t i = 0; i < m->kernel_report_rows.count && !s->kernel_profile; i++) {
		const struct tk_kernel_report_row *row =
		        TK_ROWS_AT(&m->kernel_report_rows, struct tk_kernel_report_row, i);
		if (row->kind == TK_KERNEL_REPORT_PROFILE && is_of_series(s, row))
			s->kernel_profile = row;
	}
}

int tk_model_join_kernel_reports(struct tk_model *m, struct tk_error *err)
{
	TRY(tk_store_list(
	        m->store, TK_TABLE_kernel_report, NULL, TK_NO_ARGS, &m->kernel_report_rows, err));
	m->kernel_traces = tk_calloc(m->kernel_report_rows.count + 1, sizeof *m->kernel_traces);
	for (size_t i = 0; i < m->kernel_report_rows.count; i++) {
		const struct tk_kernel_report_row *row =
		        TK_ROWS_AT(&m->kernel_report_rows, struct tk_kernel_report_row, i);
		if (row->kind == TK_KERNEL_REPORT_TRACE)
			TRY(add_trace(m, row, err));
	}
	for (size_t i = 0; i < m->series_count; i++)
		join_series(m, &m->series[i]);
	return TK_OK;
}
