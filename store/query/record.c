/* See record.h. */
#include "store/query/record.h"

#include <math.h>

#include "core/fields.h"
#include "store/select.h"

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

/* ---- alerts ---------------------------------------------------------------------------------- */

static const char alerts_sql[] =
        "SELECT a.uid, a.group_uid, a.kind, a.status, a.state, a.title, a.series, a.machine, "
        "a.upstream,"
        "  a.cause, a.good_rev, a.bad_rev, a.opened_s AS \"opened:time\","
        "  a.closed_s AS \"closed:time\", a.change AS \"change.value\","
        "  a.change_lo AS \"change.lo\", a.change_hi AS \"change.hi\", a.before_value AS "
        "\"before.value\","
        "  a.before_lo AS \"before.lo\", a.before_hi AS \"before.hi\","
        "  a.after_value AS \"after.value\", a.after_lo AS \"after.lo\","
        "  a.after_hi AS \"after.hi\", nullif(a.ab_decision, 'none') AS \"ab_test.decision\","
        "  a.ab_count AS \"ab_test.count\", a.ab_failed AS \"ab_test.failed\","
        "  iif(a.ab_fastest, 'min', 'median') AS \"ab_test.statistic\","
        "  a.ab_change AS \"ab_test.change.value\", a.ab_lo AS \"ab_test.change.lo\","
        "  a.ab_hi AS \"ab_test.change.hi\", a.first_bad_rev AS \"first_bad_commit.rev\","
        "  a.first_bad_subject AS \"first_bad_commit.subject\","
        "  a.first_bad_author AS \"first_bad_commit.author\","
        "  a.first_bad_time_s AS \"first_bad_commit.author_time:time\","
        "  a.first_bad_change AS \"first_bad_commit.change\","
        "  a.first_bad_confidence AS \"first_bad_commit.confidence\", a.subject AS \"bad_subject\","
        "  a.author AS \"bad_author\" FROM alert_v a ";

int tk_records_select_alerts(struct tk_store *s, const char *end, const struct tk_arg *args,
        json_t **out, struct tk_error *err)
{
	AUTO_TEXT sql = tk_sprintf("%s%s", alerts_sql, end);

	return tk_records_select(s, sql, args, out, err);
}

/* ---- members --------------------------------------------------------------------------------- */

json_t *tk_record_get(const json_t *row, const char *path)
{
	char name[NAME_SIZE];
	const json_t *o = row;

	for (; *path; path += strcspn(path, "."), path += *path == '.') {
		snprintf(name, sizeof name, "%.*s", (int)strcspn(path, "."), path);
		o = json_is_array(o) ? json_array_get(o, strtoul(name, NULL, 10))
		                     : json_object_get(o, name);
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

json_t *tk_records_find(const json_t *rows, const char *member, const char *text)
{
	json_t *row;
	size_t i;

	json_array_foreach (rows, i, row)
		if (strcmp(tk_record_text(row, member), text) == 0)
			return row;
	return NULL;
}
