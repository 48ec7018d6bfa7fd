/* lists/: all series, on one page while they are few, else on one page for each device and
 * operation. */
#include <stdio.h>

#include "base/error.h"
#include "base/try.h"
#include "site_gen/pages/page.h"
#include "site_gen/render/escape.h"

#define ONE_PAGE_MAX 1000 /* series; longer lists are laid out on demand; matrix.sql has it too */

static int write_list(struct tk_site *site, const char *path, const char *title, int64_t device_id,
        int64_t op_id, struct tk_error *err)
{
	struct tk_value *page = tk_page_begin(site, path, title, TK_SECTION_SERIES);
	TRY(tk_page_add_sql(site, page, "list", TK_ARGS(0, device_id, op_id), err));
	return tk_page_finish(site, "list", path, err);
}

/* The page of an operation, which begins with series[first], on a device. */
static int write_part(struct tk_site *site, const struct tk_site_device *device, size_t first,
        struct tk_error *err)
{
	const struct tk_site_series *s = &site->model.series[first];
	const char *op = tk_op_title(s->problem->op);
	char path[200], title[160];
	snprintf(path, sizeof path, "lists/%s.%s.html", device->file, s->op_file);
	snprintf(title, sizeof title, "%.*s on %.*s", (int)tk_utf8_clip_len(op, 40), op,
	        (int)tk_utf8_clip_len(device->name, 80), device->name);
	return write_list(site, path, title, device->row->id, (int64_t)first, err);
}

static int write_parts(
        struct tk_site *site, const struct tk_site_device *device, struct tk_error *err)
{
	const struct tk_model *m = &site->model;
	for (size_t first = 0, end; first < m->series_count; first = end) {
		bool any = false;
		for (end = first;
		        end < m->series_count && m->series[end].op_file == m->series[first].op_file;
		        end++)
			any = any || (m->series[end].device == device &&
			                     tk_series_has_result(&m->series[end]));
		if (any)
			TRY(write_part(site, device, first, err));
	}
	return 0;
}

int tk_page_write_lists(struct tk_site *site, struct tk_error *err)
{
	static const char path[] = "lists/index.html";
	const struct tk_model *m = &site->model;
	if (m->series_count <= ONE_PAGE_MAX)
		return write_list(site, path, "Series", 0, -1, err);
	struct tk_value *page = tk_page_begin(site, path, "Series", TK_SECTION_SERIES);
	TRY(tk_page_add_sql(site, page, "matrix", TK_ARGS(0), err));
	tk_value_set_count(page, "count", m->series_count);
	TRY(tk_page_finish(site, "lists", path, err));
	for (size_t d = 0; d < m->device_count; d++)
		TRY(write_parts(site, &m->devices[d], err));
	return 0;
}
