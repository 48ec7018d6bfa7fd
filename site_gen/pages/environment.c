/* environment.html: changes of driver, clocks, libraries and machine, with their change points. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/format.h"
#include "site_gen/model/links.h"
#include "site_gen/pages/page.h"

#define CHANGES_SHOWN 8

/* Change points at the start of this environment that have no new commit. */
static void set_change_points(
        struct tk_site *site, struct tk_value *o, const struct tk_environment_row *e)
{
	const struct tk_site_changes *changes = &site->model.revision_changes;
	struct tk_value *list = tk_value_set_list(site->arena, o, "change_points");
	size_t worse = 0, better = 0;
	for (size_t i = 0; i < changes->count; i++) {
		const struct tk_site_change *change = &changes->all[i];
		if (change->environment != e || change->environment_before == e ||
		        (change->bad && change->good != change->bad))
			continue;
		if (worse + better < CHANGES_SHOWN)
			tk_page_set_change_point(
			        site, tk_value_append_object(site->arena, list), change, "");
		worse += change->worse;
		better += !change->worse;
	}
	tk_value_set_int(site->arena, o, "worse", (int64_t)worse);
	tk_value_set_int(site->arena, o, "better", (int64_t)better);
	tk_value_set_flag(site->arena, o, "any_worse", worse > 0);
	tk_value_set_flag(site->arena, o, "any_better", better > 0);
	tk_value_set_int(site->arena, o, "more",
	        (int64_t)(worse + better > CHANGES_SHOWN ? worse + better - CHANGES_SHOWN : 0));
	tk_value_set_flag(site->arena, o, "change_points_cut", worse + better > CHANGES_SHOWN);
}

static void add_change(struct tk_site *site, struct tk_value *list, size_t at)
{
	const struct tk_model *m = &site->model;
	const struct tk_environment_row *e = TK_ROWS_AT(&m->environment_rows,
	                                        struct tk_environment_row, at),
	                                *before = tk_environment_find_previous(m, e);
	struct tk_value *o = tk_value_append_object(site->arena, list);
	tk_value_set_flag(site->arena, o, "dated", m->environment_since[at] != 0);
	tk_page_set_time(site, o, "since", m->environment_since[at]);
	tk_value_set_flag(site->arena, o, "first", !before);
	struct tk_buf text = TK_BUF_INIT;
	if (before)
		tk_environment_add_diff(&text, before->attributes, e->attributes);
	tk_page_set_clipped(site, o, "text", tk_buf_cstr(&text), 600);
	tk_value_set_flag(site->arena, o, "nothing_listed", before && !text.len);
	tk_buf_free(&text);
	set_change_points(site, o, e);
}

static void add_device(
        struct tk_site *site, struct tk_value *list, const struct tk_site_device *device)
{
	const struct tk_model *m = &site->model;
	struct tk_value *o = tk_value_append_object(site->arena, list);
	size_t count = 0;
	tk_page_set_clipped(site, o, "device", device->name, 80);
	tk_page_set_clipped(site, o, "device_name", device->row->name, 80);
	tk_value_set_fmt(site->arena, o, "machine_href", "machines/%s.html", device->machine->file);
	struct tk_value *changes = tk_value_set_list(site->arena, o, "changes");
	for (size_t i = m->environment_rows.count; i-- > 0;)
		if (TK_ROWS_AT(&m->environment_rows, struct tk_environment_row, i)->device_id ==
		        device->row->id) {
			add_change(site, changes, i);
			count++;
		}
	tk_value_set_flag(site->arena, o, "none", count == 0);
}

int tk_page_write_environment(struct tk_site *site, struct tk_error *err)
{
	struct tk_value *page =
	        tk_page_begin(site, "environment.html", "Environment", TK_SECTION_MACHINES);
	struct tk_value *devices = tk_value_set_list(site->arena, page, "devices");
	for (size_t i = 0; i < site->model.device_count; i++)
		add_device(site, devices, &site->model.devices[i]);
	return tk_page_finish(site, "environment", "environment.html", err);
}
