/* The pages that are their queries and their template: nights/, upstreams/, revisions/, lists/,
 * machines/, environment.html and method.html. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/file.h"
#include "base/present.h"
#include "base/try.h"
#include "core/outcome.h"
#include "core/status.h"
#include "site_gen/model/model.h"
#include "site_gen/pages/page.h"
#include "site_gen/render/escape.h"

/* ---- nights: upstreams, builds, measurements, verdicts ---- */

void tk_page_set_night_link(struct tk_value *o, const struct tk_site_night *night)
{
	bool has_page = night && night->file;
	tk_value_set_flag(o, "page", has_page);
	tk_value_set_fmt(o, "href", "%s.html", has_page ? night->file : "");
}

static int write_night(
        struct tk_site *site, const struct tk_site_night *night, struct tk_error *err)
{
	const char *machine = night->machine->row->name;
	char path[128], title[200], when[TK_FORMAT_SIZE];
	snprintf(path, sizeof path, "nights/%s.html", night->file);
	snprintf(title, sizeof title, "Night of %s on %.*s",
	        tk_format_minute(night->row->as_of_s, when), (int)tk_utf8_clip_len(machine, 80),
	        machine);
	struct tk_value *page = tk_page_begin(site, path, title, TK_SECTION_NIGHTS);
	TRY(tk_page_add_sql(site, page, "night", TK_ARGS(night->row->id), err));
	return tk_page_finish(site, "night", path, err);
}

int tk_page_write_nights(struct tk_site *site, struct tk_error *err)
{
	struct tk_value *page =
	        tk_page_begin(site, "nights/index.html", "Nights", TK_SECTION_NIGHTS);
	TRY(tk_page_add_sql(site, page, "nights", TK_NO_ARGS, err));
	TRY(tk_page_finish(site, "nights", "nights/index.html", err));
	for (size_t i = 0; i < site->model.night_count; i++)
		if (site->model.nights[i].file)
			TRY(write_night(site, &site->model.nights[i], err));
	return 0;
}

/* ---- upstreams and their revisions ---- */

static int write_upstream(
        struct tk_site *site, const struct tk_upstream_row *u, struct tk_error *err)
{
	char title[100], path[TK_PAGE_PATH_SIZE];
	tk_page_upstream_path(u, "upstreams/", path);
	snprintf(title, sizeof title, "%.*s", (int)tk_utf8_clip_len(u->name, 90), u->name);
	struct tk_value *page = tk_page_begin(site, path, title, TK_SECTION_UPSTREAMS);
	tk_page_set_versions_link(site, page, u);
	TRY(tk_page_add_sql(site, page, "upstream", TK_ARGS(u->id), err));
	return tk_page_finish(site, "upstream", path, err);
}

void tk_page_upstream_path(
        const struct tk_upstream_row *u, const char *folder, char path[TK_PAGE_PATH_SIZE])
{
	char *file = tk_path_make_slug(u->name);
	snprintf(path, TK_PAGE_PATH_SIZE, "%s%s.html", folder,
	        strcmp(file, "index") ? file : "index_");
	free(file);
}

int tk_page_write_upstreams(struct tk_site *site, struct tk_error *err)
{
	struct tk_value *page =
	        tk_page_begin(site, "upstreams/index.html", "Upstreams", TK_SECTION_UPSTREAMS);
	TRY(tk_page_add_sql(site, page, "upstreams", TK_NO_ARGS, err));
	TRY(tk_page_finish(site, "upstreams", "upstreams/index.html", err));
	for (size_t i = 0; i < site->model.upstream_rows.count; i++)
		TRY(write_upstream(site,
		        TK_ROWS_AT(&site->model.upstream_rows, struct tk_upstream_row, i), err));
	return 0;
}

/* ---- one commit: its change points, its builds and its machine code ---- */

static int write_revision(struct tk_site *site, const struct tk_revision_row *r, const char *file,
        struct tk_error *err)
{
	char path[140], title[300];
	snprintf(path, sizeof path, "revisions/%s.html", file);
	const char *what = *r->subject ? r->subject : r->rev;
	snprintf(title, sizeof title, "%.*s", (int)tk_utf8_clip_len(what, 160), what);
	struct tk_value *page = tk_page_begin(site, path, title, TK_SECTION_UPSTREAMS);
	TRY(tk_page_add_sql(site, page, "revision", TK_ARGS(r->id), err));
	return tk_page_finish(site, "revision", path, err);
}

int tk_page_write_revisions(struct tk_site *site, struct tk_error *err)
{
	const struct tk_model *m = &site->model;
	for (size_t i = 0; i < m->revision_rows.count; i++)
		if (m->revision_files[i])
			TRY(write_revision(site,
			        TK_ROWS_AT(&m->revision_rows, struct tk_revision_row, i),
			        m->revision_files[i], err));
	return 0;
}

/* ---- lists: all series, or while they are many those of each device and operation ---- */

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

/* ---- machines, devices, environments ---- */

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

static int write_machine(
        struct tk_site *site, const struct tk_site_machine *machine, struct tk_error *err)
{
	const char *name = machine->row->name;
	char path[128], title[120];
	snprintf(path, sizeof path, "machines/%s.html", machine->file);
	snprintf(title, sizeof title, "%.*s", (int)tk_utf8_clip_len(name, 100), name);
	struct tk_value *page = tk_page_begin(site, path, title, TK_SECTION_MACHINES);
	TRY(tk_page_add_sql(site, page, "machine", TK_ARGS(machine->row->id), err));
	TRY(tk_page_add_sql(site, page, "matrix", TK_ARGS(machine->row->id), err));
	return tk_page_finish(site, "machine", path, err);
}

/* cards/MODEL.html: the devices of one model: which are comparable, how fast they are relative to each
 * other, and their backends ranked together. */
static int write_card(void *user, const struct tk_query_row *row, struct tk_error *err)
{
	struct tk_site *site = user;
	const char *path = row->values[1].text, *title = row->values[2].text;
	struct tk_value *page = tk_page_begin(site, path, title, TK_SECTION_MACHINES);
	TRY(tk_page_add_sql(
	        site, page, "card", TK_ARGS(row->values[0].i, site->options->tie), err));
	return tk_page_finish(site, "card", path, err);
}

int tk_page_write_machines(struct tk_site *site, struct tk_error *err)
{
	struct tk_value *page =
	        tk_page_begin(site, "machines/index.html", "Machines", TK_SECTION_MACHINES);
	TRY(tk_page_add_sql(site, page, "machines", TK_NO_ARGS, err));
	TRY(tk_page_finish(site, "machines", "machines/index.html", err));
	for (size_t i = 0; i < site->model.machine_count; i++)
		TRY(write_machine(site, &site->model.machines[i], err));
	page = tk_page_begin(site, "environment.html", "Environment", TK_SECTION_MACHINES);
	TRY(tk_page_add_sql(site, page, "environment", TK_NO_ARGS, err));
	TRY(tk_page_finish(site, "environment", "environment.html", err));
	return tk_store_query(site->model.store,
	        "SELECT card, 'cards/' || file || '.html', substr(name, 1, 100) FROM page_card"
	        " WHERE card_place = 1 ORDER BY card",
	        TK_NO_ARGS, write_card, site, err);
}

/* ---- method: how numbers are measured, and what verdicts and outcomes mean ---- */

static void add_word(
        struct tk_value *list, const char *word, enum tk_tone tone, const char *meaning)
{
	struct tk_value *o = tk_value_append(list);
	tk_value_set(o, "word", word);
	tk_tone_set(o, "tone", tone);
	tk_value_set(o, "meaning", meaning);
}

int tk_page_write_method(struct tk_site *site, struct tk_error *err)
{
	struct tk_value *page = tk_page_begin(site, "method.html", "Method", TK_SECTION_METHOD);
	struct tk_value *verdicts = tk_value_add_list(page, "verdicts");
#define VERDICT(id, word, mark, meaning) add_word(verdicts, word, tk_verdict_tone(id), meaning);
	TK_VERDICT_STATUSES(VERDICT)
#undef VERDICT
	struct tk_value *outcomes = tk_value_add_list(page, "outcomes");
	for (int i = 0; i < TK_OUTCOME_COUNT; i++)
		add_word(outcomes, tk_outcome_name((enum tk_outcome)i),
		        tk_outcome_tone((enum tk_outcome)i),
		        tk_outcome_meaning((enum tk_outcome)i));
	return tk_page_finish(site, "method", "method.html", err);
}
