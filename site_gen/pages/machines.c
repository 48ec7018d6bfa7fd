/* machines/: what each machine is, its devices, and how its environment changed; and
 * environment.html. */
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/try.h"
#include "site_gen/model/cards.h"
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
void tk_page_set_attributes(struct tk_value *o, const char *key, const char *json)
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

static int write_machine(struct tk_site *site, const struct tk_site_machine *machine,
        const struct tk_cards *cards, struct tk_error *err)
{
	const struct tk_model *m = &site->model;
	const char *name = machine->row->name;
	char path[128], title[120];
	snprintf(path, sizeof path, "machines/%s.html", machine->file);
	snprintf(title, sizeof title, "%.*s", (int)tk_utf8_clip_len(name, 100), name);
	struct tk_value *page = tk_page_begin(site, path, title, TK_SECTION_MACHINES);
	TRY(tk_page_add_sql(site, page, "machine", TK_ARGS(machine->row->id), err));
	for (struct tk_value *o = tk_value_find_list(page, "devices")->first; o; o = o->next) {
		const struct tk_card *card = tk_cards_find(cards, tk_model_find_device(m, o->id));
		tk_value_set_fmt(
		        o, "card_href", card ? "../cards/%s.html" : "", card ? card->file : "");
	}
	TRY(tk_page_add_sql(site, page, "matrix", TK_ARGS(machine->row->id), err));
	return tk_page_finish(site, "machine", path, err);
}

static int write_pages(struct tk_site *site, const struct tk_cards *cards, struct tk_error *err)
{
	struct tk_value *page =
	        tk_page_begin(site, "machines/index.html", "Machines", TK_SECTION_MACHINES);
	TRY(tk_page_add_sql(site, page, "machines", TK_NO_ARGS, err));
	tk_cards_set_list(page, cards);
	TRY(tk_page_finish(site, "machines", "machines/index.html", err));
	for (size_t i = 0; i < site->model.machine_count; i++)
		TRY(write_machine(site, &site->model.machines[i], cards, err));
	page = tk_page_begin(site, "environment.html", "Environment", TK_SECTION_MACHINES);
	TRY(tk_page_add_sql(site, page, "environment", TK_NO_ARGS, err));
	return tk_page_finish(site, "environment", "environment.html", err);
}

int tk_page_write_machines(struct tk_site *site, struct tk_error *err)
{
	struct tk_cards cards;
	tk_cards_load(&site->model, &cards);
	int status = write_pages(site, &cards, err);
	if (!status)
		status = tk_cards_write(site, &cards, err);
	tk_cards_free(&cards);
	return status;
}
