/* See records.h. */
#include "cli/records.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/json.h"
#include "base/try.h"
#include "cli/commands.h"
#include "core/fields.h"

#define NAME_SIZE 80

/* ---- rows ------------------------------------------------------------------------------------ */

static json_t *cell_to_json(const struct tk_arg *c, const char *type)
{
	json_t *stored;

	if (strcmp(type, "bool") == 0)
		return json_boolean(c->i);
	if (strcmp(type, "time") == 0)
		return tk_time_to_json(c->i);
	if (strcmp(type, "json") == 0) {
		stored = json_loads(c->text, 0, NULL);
		return stored ? stored : json_null();
	}
	if (strcmp(type, "text") == 0)
		return tk_json_text(c->text);
	switch (c->kind) {
	case TK_ARG_INT:
		return json_integer((json_int_t)c->i);
	case TK_ARG_REAL:
		return tk_json_number(c->real);
	case TK_ARG_TEXT:
		return *c->text ? tk_json_text(c->text) : json_string("");
	case TK_ARG_NULL:
	case TK_ARG_END:
		break;
	}
	return json_null();
}

/* "name:time" -> "name", "time" */
static const char *split_name(const char *column, char name[NAME_SIZE])
{
	const char *type = strchr(column, ':');

	snprintf(name, NAME_SIZE, "%.*s", (int)strcspn(column, ":"), column);
	return type ? type + 1 : "";
}

static void set_member(json_t *row, const char *name, json_t *value)
{
	const char *dot = strchr(name, '.');
	char object[NAME_SIZE];
	json_t *o;

	if (!dot) {
		json_object_set_new(row, name, value);
		return;
	}
	snprintf(object, sizeof object, "%.*s", (int)(dot - name), name);
	o = json_object_get(row, object);
	if (!o) { /* the first member decides */
		o = json_is_null(value) ? json_null() : json_object();
		json_object_set_new(row, object, o);
	}
	if (json_is_object(o))
		set_member(o, dot + 1, value);
	else
		json_decref(value);
}

static int add_row(void *rows, const struct tk_query_row *cells, struct tk_error *err)
{
	json_t *row = json_object();
	char name[NAME_SIZE];

	(void)err;
	for (int i = 0; i < cells->count; i++) {
		const char *type = split_name(cells->names[i], name);

		set_member(row, name, cell_to_json(&cells->values[i], type));
	}
	json_array_append_new(rows, row);
	return TK_OK;
}

int tk_records_select(struct tk_store *s, const char *sql, const struct tk_arg *args, json_t **out,
        struct tk_error *err)
{
	*out = json_array();
	return tk_store_query(s, sql, args, add_row, *out, err);
}

int tk_records_print(const struct tk_globals *g, const struct tk_column *columns, json_t *rows,
        bool as_json, const char *empty, struct tk_error *err)
{
	struct tk_table *t = NULL;
	const json_t *row;
	size_t i;
	int status = TK_OK;

	if (as_json)
		return tk_command_print_json(rows, err);
	if (!json_array_size(rows) && empty) {
		puts(empty);
	} else {
		t = tk_table_new(g, columns);
		json_array_foreach (rows, i, row)
			tk_table_add_record(t, row);
		status = tk_table_print(t, stdout, err);
		tk_table_free(t);
	}
	json_decref(rows);
	return status;
}

/* ---- members --------------------------------------------------------------------------------- */

json_t *tk_record_get(const json_t *row, const char *path)
{
	char name[NAME_SIZE];
	const json_t *o = row;

	for (; *path; path += strcspn(path, "."), path += *path == '.') {
		snprintf(name, sizeof name, "%.*s", (int)strcspn(path, "."), path);
		o = json_object_get(o, name);
	}
	return (json_t *)o;
}

const char *tk_record_text(const json_t *row, const char *path)
{
	const char *text = json_string_value(tk_record_get(row, path));

	return text ? text : "";
}

double tk_record_number(const json_t *row, const char *path)
{
	const json_t *v = tk_record_get(row, path);

	return json_is_number(v) ? json_number_value(v) : NAN;
}

/* ---- nights ---------------------------------------------------------------------------------- */

int tk_records_find_night(
        struct tk_store *s, const char *text, int64_t *night_id, struct tk_error *err)
{
	static const char sql[] = "SELECT id FROM night WHERE CASE"
	                          " WHEN ?1 = 'last' THEN id = (SELECT id FROM night"
	                          " ORDER BY as_of_s DESC, id DESC LIMIT 1)"
	                          " WHEN EXISTS (SELECT 1 FROM night WHERE CAST(id AS TEXT) = ?1)"
	                          " THEN CAST(id AS TEXT) = ?1"
	                          " ELSE ?1 <> '' AND substr(uid, 1, length(?1)) = ?1 END";
	json_t *found;
	int status = tk_records_select(s, sql, TK_ARGS(text), &found, err);
	size_t count = json_array_size(found);

	*night_id = json_integer_value(json_object_get(json_array_get(found, 0), "id"));
	json_decref(found);
	if (status || count == 1)
		return status;
	if (strcmp(text, "last") == 0)
		return tk_fail(
		        err, TK_EUSAGE, "no night \"%s\": the history has no nights yet", text);
	return tk_fail(err, TK_EUSAGE,
	        count ? "\"%s\" is ambiguous: %zu nights start with it"
	              : "no night \"%s\"; `tracker log` lists the nights",
	        text, count);
}
