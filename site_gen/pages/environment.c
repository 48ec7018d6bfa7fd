/* environment.html: changes of driver, clocks, libraries and machine, with their change points. */
#include "base/error.h"
#include "base/format.h"
#include "base/try.h"
#include "site_gen/model/links.h"
#include "site_gen/pages/page.h"

static int add_change(struct tk_site *site, struct tk_value *list, size_t at, struct tk_error *err)
{
	const struct tk_model *m = &site->model;
	const struct tk_environment_row *e = TK_ROWS_AT(&m->environment_rows,
	                                        struct tk_environment_row, at),
	                                *before = tk_environment_find_previous(m, e);
	struct tk_value *o = tk_value_append(list);
	struct tk_buf text = TK_BUF_INIT;
	tk_value_set_flag(o, "dated", m->environment_since[at] != 0);
	tk_value_set_time(o, "since", m->environment_since[at]);
	tk_value_set_flag(o, "first", !before);
	if (before)
		tk_environment_add_diff(&text, before->attributes, e->attributes);
	tk_value_set_clip(o, "text", tk_buf_cstr(&text), 600);
	tk_value_set_flag(o, "nothing_listed", before && !text.len);
	tk_buf_free(&text);
	return tk_page_add_sql(site, o, "environment", e->id, err);
}

static int add_device(struct tk_site *site, struct tk_value *list,
        const struct tk_site_device *device, struct tk_error *err)
{
	const struct tk_rows *rows = &site->model.environment_rows;
	struct tk_value *o = tk_value_append(list);
	tk_value_set_clip(o, "device", device->name, 80);
	tk_value_set_clip(o, "device_name", device->row->name, 80);
	tk_value_set_fmt(o, "machine_href", "machines/%s.html", device->machine->file);
	struct tk_value *changes = tk_value_add_list(o, "changes");
	for (size_t i = rows->count; i-- > 0;)
		if (TK_ROWS_AT(rows, struct tk_environment_row, i)->device_id == device->row->id)
			TRY(add_change(site, changes, i, err));
	tk_value_set_flag(o, "none", !changes->first);
	return 0;
}

int tk_page_write_environment(struct tk_site *site, struct tk_error *err)
{
	struct tk_value *page =
	        tk_page_begin(site, "environment.html", "Environment", TK_SECTION_MACHINES);
	struct tk_value *devices = tk_value_add_list(page, "devices");
	for (size_t i = 0; i < site->model.device_count; i++)
		TRY(add_device(site, devices, &site->model.devices[i], err));
	return tk_page_finish(site, "environment", "environment.html", err);
}
