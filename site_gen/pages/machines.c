/* machines/: what each machine is, its devices, and how its environment changed. */
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/format.h"
#include "site_gen/model/cards.h"
#include "site_gen/model/ceilings.h"
#include "site_gen/model/links.h"
#include "site_gen/pages/cards.h"
#include "site_gen/pages/page.h"
#include "site_gen/render/escape.h"

#define ATTRIBUTES_MAX 60

static bool is_bytes(const char *name, const json_t *v)
{
	size_t len = strlen(name);
	return json_is_integer(v) && len > 6 && !strcmp(name + len - 6, "_bytes");
}

/* A JSON object as a list of keys and values; other values than texts and numbers as JSON. */
static void set_attributes(struct tk_value *o, const char *key, const char *json)
{
	json_t *attributes = tk_attributes_flatten(json), *v;
	struct tk_value *list = tk_value_add_list(o, key);
	const char *name;
	size_t count = 0;
	json_object_foreach (attributes, name, v) {
		if (++count > ATTRIBUTES_MAX)
			break;
		struct tk_value *item = tk_value_append(list);
		char *other = json_is_string(v) ? NULL
		                                : json_dumps(v, JSON_ENCODE_ANY | JSON_COMPACT |
		                                                        JSON_REAL_PRECISION(6));
		tk_value_set_clip(item, "key", name, 60);
		if (is_bytes(name, v))
			tk_value_set_quantity(
			        item, "value", (double)json_integer_value(v), "bytes", "–");
		else
			tk_value_set_clip(item, "value",
			        json_is_string(v) ? json_string_value(v)
			        : other           ? other
			                          : "",
			        300);
		free(other);
	}
	json_decref(attributes);
}

static void set_device(struct tk_site *site, struct tk_value *list,
        const struct tk_site_device *device, const struct tk_cards *cards)
{
	const struct tk_model *m = &site->model;
	struct tk_value *o = tk_value_append(list);
	const struct tk_environment_row *newest = NULL;
	tk_value_set_clip(o, "slug", device->row->slug, 60);
	tk_value_set_clip(o, "name", device->row->name, 120);
	tk_value_set_clip(o, "kind", device->row->kind, 30);
	tk_value_set_clip(o, "arch", device->row->arch, 60);
	tk_value_set_fmt(o, "roofline_href", "../roofline/%s.html", device->file);
	const struct tk_card *card = tk_cards_find(cards, device);
	tk_value_set_fmt(o, "card_href", card ? "../cards/%s.html" : "", card ? card->file : "");
	struct tk_value *changes = tk_value_add_list(o, "changes");
	for (size_t i = m->environment_rows.count; i-- > 0;) {
		const struct tk_environment_row *e =
		        TK_ROWS_AT(&m->environment_rows, struct tk_environment_row, i);
		const struct tk_environment_row *before = tk_environment_find_previous(m, e);
		if (e->device_id != device->row->id)
			continue;
		newest = !newest || e->id > newest->id ? e : newest;
		if (!before)
			continue;
		struct tk_buf text = TK_BUF_INIT;
		tk_environment_add_diff(&text, before->attributes, e->attributes);
		struct tk_value *change = tk_value_append(changes);
		tk_value_set_flag(change, "dated", m->environment_since[i] != 0);
		tk_value_set_time(change, "since", m->environment_since[i]);
		tk_value_set_clip(change, "text",
		        text.len ? tk_buf_cstr(&text) : "no listed attribute changed", 500);
		tk_buf_free(&text);
	}
	set_attributes(o, "environment", newest ? newest->attributes : "{}");
	struct tk_ceiling_set ceilings;
	tk_ceiling_set_load(m, device, &ceilings);
	struct tk_value *items = tk_value_add_list(o, "ceilings");
	for (size_t i = 0; i < ceilings.count; i++) {
		struct tk_value *c = tk_value_append(items);
		tk_value_set_clip(c, "name", ceilings.rows[i]->name, 40);
		tk_value_set_clip(
		        c, "source", tk_ceiling_source_name(ceilings.rows[i]->source), 20);
		tk_value_set_quantity(
		        c, "value", ceilings.rows[i]->value, ceilings.rows[i]->unit, "–");
	}
}

/* The last night, if it has a page: state, time, address. */
static void set_last_night(
        struct tk_site *site, struct tk_value *page, const struct tk_site_machine *machine)
{
	const struct tk_night_row *n = machine->last_night;
	const struct tk_site_night *night = n ? tk_model_find_night(&site->model, n->id) : NULL;
	tk_value_set_flag(page, "has_night", n != NULL);
	tk_value_set_time(page, "night", n ? n->as_of_s : 0);
	tk_value_set(page, "night_state", n ? tk_night_status_name(n->status) : "");
	tk_tone_set(page, "night_tone", n ? tk_night_tone(n->status) : TK_TONE_QUIET);
	tk_value_set_fmt(page, "night_href",
	        night && night->file ? "../nights/%s.html" : "../nights/index.html",
	        night && night->file ? night->file : "");
}

static int write_machine(struct tk_site *site, const struct tk_site_machine *machine,
        const struct tk_cards *cards, struct tk_error *err)
{
	char path[128];
	snprintf(path, sizeof path, "machines/%s.html", machine->file);
	char title[120];
	snprintf(title, sizeof title, "%.*s", (int)tk_utf8_clip_len(machine->row->name, 100),
	        machine->row->name);
	struct tk_value *page = tk_page_begin(site, path, title, TK_SECTION_MACHINES);
	set_attributes(page, "attributes", machine->row->attributes);
	struct tk_value *devices = tk_value_add_list(page, "devices");
	for (size_t i = 0; i < site->model.device_count; i++)
		if (site->model.devices[i].machine == machine)
			set_device(site, devices, &site->model.devices[i], cards);
	set_last_night(site, page, machine);
	int status = tk_page_set_matrix(site, page, machine, "../", err);
	return status ? status : tk_page_finish(site, "machine", path, err);
}

/* Devices of one model are one line: "2 × NVIDIA H200". */
static void list_devices(
        struct tk_site *site, struct tk_value *list, const struct tk_site_machine *machine)
{
	const struct tk_site_device *devices = site->model.devices;
	for (size_t i = 0; i < site->model.device_count; i++) {
		const char *name = devices[i].row->name;
		size_t same = 0;
		bool is_listed = false;
		for (size_t k = 0; k < site->model.device_count; k++) {
			bool is_same = devices[k].machine == machine &&
			               !strcmp(devices[k].row->name, name);
			same += is_same;
			is_listed = is_listed || (is_same && k < i);
		}
		if (devices[i].machine != machine || is_listed)
			continue;
		struct tk_value *o = tk_value_append(list);
		tk_value_set_clip(o, "device", name, 80);
		tk_value_set_flag(o, "several", same > 1);
		tk_value_set_int(o, "count", same);
	}
}

static int write_list(struct tk_site *site, const struct tk_cards *cards, struct tk_error *err)
{
	struct tk_value *page =
	        tk_page_begin(site, "machines/index.html", "Machines", TK_SECTION_MACHINES);
	struct tk_value *list = tk_value_add_list(page, "machines");
	for (size_t i = 0; i < site->model.machine_count; i++) {
		const struct tk_site_machine *machine = &site->model.machines[i];
		struct tk_value *o = tk_value_append(list);
		size_t series = 0;
		for (size_t k = 0; k < site->model.series_count; k++)
			series += site->model.series[k].device->machine == machine;
		tk_value_set_clip(o, "name", machine->row->name, 80);
		tk_value_set_fmt(o, "href", "%s.html", machine->file);
		tk_value_set_int(o, "series", series);
		tk_value_set_time(
		        o, "night", machine->last_night ? machine->last_night->as_of_s : 0);
		list_devices(site, tk_value_add_list(o, "devices"), machine);
	}
	tk_cards_set_list(page, cards);
	return tk_page_finish(site, "machines", "machines/index.html", err);
}

int tk_page_write_machines(struct tk_site *site, struct tk_error *err)
{
	struct tk_cards cards;
	int status = tk_cards_load(&site->model, &cards, err);
	if (!status)
		status = write_list(site, &cards, err);
	for (size_t i = 0; !status && i < site->model.machine_count; i++)
		status = write_machine(site, &site->model.machines[i], &cards, err);
	if (!status)
		status = tk_cards_write(site, &cards, err);
	tk_cards_free(&cards);
	return status;
}
