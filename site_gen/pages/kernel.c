/* kernels/OP.html: every backend of an operation, and one page with all problems of a device. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "site_gen/model/kernel_reports.h"
#include "site_gen/model/standings.h"
#include "site_gen/model/tunings.h"
#include "site_gen/pages/kernel_table.h"
#include "site_gen/pages/page.h"

static void set_tabs(struct tk_site *site, struct tk_value *page, const char *current)
{
	const struct tk_model *m = &site->model;
	struct tk_value *tabs = tk_value_add_list(page, "tabs");
	const char *done = "";
	for (size_t i = 0; i < m->series_count; i++) {
		const char *op = m->series[i].problem->op;
		if (!strcmp(op, done) || !tk_series_is_suite_time(&m->series[i]))
			continue;
		done = op;
		struct tk_value *tab = tk_value_append(tabs);
		tk_value_set_clip(tab, "name", tk_op_title(op), 40);
		tk_value_set_flag(tab, "current", !strcmp(op, current));
		tk_value_set_fmt(tab, "href", "%s.html", m->series[i].op_file);
	}
}

/* How many kernels of the operation have a trace; "": none. */
static void set_traced(struct tk_site *site, struct tk_value *page, const char *op)
{
	size_t count = 0;
	for (size_t i = 0; i < site->model.kernel_trace_count; i++)
		count += !strcmp(site->model.kernel_traces[i].problem->op, op);
	tk_value_set_fmt(page, "traced", count ? "%zu" : "", count);
}

/* How many of its problems were tuned; "": none. */
static void set_tuned(struct tk_site *site, struct tk_value *page, const char *op)
{
	size_t count = 0;
	for (size_t i = 0; i < site->model.tuning_count; i++)
		count += !strcmp(site->model.tunings[i].problem->op, op);
	tk_value_set_fmt(page, "tuned", count ? "%zu" : "", count);
}

/* Every problem of an operation on one device. */
static int write_all(struct tk_site *site, const char *op, const char *file,
        const struct tk_site_device *device, struct tk_error *err)
{
	char path[256];
	tk_kernel_all_path(path, file, device);
	struct tk_kernel_page kernel = {.op = op, .file = file, .whole = true};
	struct tk_value *page = tk_page_begin(site, path, tk_op_title(op), TK_SECTION_KERNELS);
	set_tabs(site, page, op);
	tk_value_set_flag(page, "whole", true);
	set_traced(site, page, op);
	set_tuned(site, page, op);
	tk_value_set_fmt(page, "op_href", "%s.html", file);
	struct tk_value *devices = tk_value_add_list(page, "devices");
	int status = tk_kernel_table_add_device(site, devices, &kernel, device, err);
	tk_kernel_table_set_metrics(site, page, kernel.known);
	return status ? status : tk_page_finish(site, "kernel", path, err);
}

static int write_op(struct tk_site *site, const char *op, const char *file, struct tk_error *err)
{
	const struct tk_model *m = &site->model;
	char path[128];
	snprintf(path, sizeof path, "kernels/%s.html", file);
	struct tk_value *page = tk_page_begin(site, path, tk_op_title(op), TK_SECTION_KERNELS);
	set_tabs(site, page, op);
	tk_value_set_fmt(page, "description",
	        "%s: the rate of every backend over the problem size, and which one to use for "
	        "which problem.",
	        tk_op_title(op));
	tk_value_set_flag(page, "whole", false);
	set_traced(site, page, op);
	set_tuned(site, page, op);
	struct tk_value *devices = tk_value_add_list(page, "devices");
	bool *cut = tk_calloc(m->device_count + 1, sizeof *cut);
	int status = cut ? 0 : tk_fail(err, TK_ENOMEM, "out of memory");
	unsigned known = 0;
	for (size_t d = 0; !status && d < m->device_count; d++) {
		struct tk_kernel_page kernel = {.op = op, .file = file};
		status = tk_kernel_table_add_device(
		        site, devices, &kernel, tk_model_ordered_device(m, d), err);
		cut[d] = kernel.cut;
		known |= kernel.known;
	}
	tk_kernel_table_set_metrics(site, page, known);
	if (!status)
		status = tk_page_finish(site, "kernel", path, err);
	for (size_t d = 0; !status && d < m->device_count; d++)
		if (cut[d])
			status = write_all(site, op, file, tk_model_ordered_device(m, d), err);
	free(cut);
	return status;
}

int tk_page_write_kernels(struct tk_site *site, struct tk_error *err)
{
	const char *done = "";
	int status = 0;
	for (size_t i = 0; !status && i < site->model.series_count; i++) {
		const struct tk_site_series *s = &site->model.series[i];
		if (!strcmp(s->problem->op, done) || !tk_series_is_suite_time(s))
			continue;
		done = s->problem->op;
		status = write_op(site, done, s->op_file, err);
	}
	return status;
}
