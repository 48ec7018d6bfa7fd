/* Whether a file has the tables and indexes of a history, and nothing else. Another program can add
 * a trigger, replace a table by a view, or give a table a constraint that drops rows. */
#include "store/db/internal.h"
#include <string.h>

struct object {
	const char *type, *name, *table, *sql;
};

/* How a statement is laid out depends on the version of SQLite that changed a table. */
#define LAYOUT_REMOVED \
	"replace(replace(replace(replace(ifnull(sql,''),' ',''),char(10),''),char(9),''),'\"','')"
#define SELECT_OBJECTS \
	"SELECT type, name, tbl_name, " LAYOUT_REMOVED " FROM sqlite_schema" \
	" WHERE name NOT LIKE 'sqlite!_%' ESCAPE '!' ORDER BY type, name"

static const char *add_text(struct tk_rows_builder *list, sqlite3_stmt *stmt, int column)
{
	const char *text = (const char *)sqlite3_column_text(stmt, column);

	return tk_rows_add_text(
	        list, text ? text : "", text ? (size_t)sqlite3_column_bytes(stmt, column) : 0);
}

static int list_objects(struct tk_store *s, struct tk_rows *out, struct tk_error *err)
{
	struct tk_rows rows = {0};
	struct tk_rows_builder list = {&rows, sizeof(struct object), 0};
	sqlite3_stmt *stmt = NULL;
	int code = SQLITE_DONE, status = tk_db_prepare(s, SELECT_OBJECTS, &stmt, err);

	while (!status && (code = sqlite3_step(stmt)) == SQLITE_ROW) {
		struct object *o = tk_rows_add(&list);

		if (!o || !(o->type = add_text(&list, stmt, 0)) ||
		        !(o->name = add_text(&list, stmt, 1)) ||
		        !(o->table = add_text(&list, stmt, 2)) ||
		        !(o->sql = add_text(&list, stmt, 3)))
			status = tk_fail(err, TK_ENOMEM, "out of memory");
	}
	if (!status && code != SQLITE_DONE)
		status = tk_db_fail(s, code, err, "cannot read its schema");
	sqlite3_finalize(stmt);
	if (status) {
		tk_rows_free(&rows);
		return status;
	}
	*out = rows;
	return 0;
}

static int compare(const struct object *a, const struct object *b)
{
	int order = strcmp(a->type, b->type);

	return order ? order : strcmp(a->name, b->name);
}

static bool has_table(const struct tk_rows *objects, const char *name)
{
	for (size_t i = 0; i < objects->count; i++) {
		const struct object *o = TK_ROWS_AT(objects, struct object, i);

		if (!strcmp(o->type, "table") && !strcmp(o->name, name))
			return true;
	}
	return false;
}

/* Whether an object that the tracker does not know touches nothing that it reads or writes. */
static bool is_unused(const struct object *o, const struct tk_rows *expected)
{
	return (!strcmp(o->type, "table") || !strcmp(o->type, "index")) &&
	       !has_table(expected, o->table);
}

/* Both lists are in the same order. */
static int list_differences(const struct tk_rows *found, const struct tk_rows *expected,
        bool enforced_only, struct tk_rows_builder *list, size_t most, bool *readable,
        struct tk_error *err)
{
	size_t f = 0, e = 0;
	int status = 0;

	*readable = true;
	while (!status && list->out->count < most && (f < found->count || e < expected->count)) {
		const struct object *a =
		        f < found->count ? TK_ROWS_AT(found, struct object, f) : NULL;
		const struct object *b =
		        e < expected->count ? TK_ROWS_AT(expected, struct object, e) : NULL;
		int order = !a ? 1 : !b ? -1 : compare(a, b);

		f += order <= 0;
		e += order >= 0;
		if (b && !strcmp(b->type, "table") &&
		        (order > 0 || (order == 0 && strcmp(a->sql, b->sql))))
			*readable = false;
		if (order > 0)
			status = tk_db_add_problem(
			        list, err, "the %s \"%s\" is missing", b->type, b->name);
		else if (order < 0 && !(enforced_only && is_unused(a, expected)))
			status = tk_db_add_problem(list, err,
			        "the %s \"%.100s\" does not belong to a history: another program "
			        "made it",
			        a->type, a->name);
		else if (order == 0 && strcmp(a->sql, b->sql))
			status = tk_db_add_problem(list, err,
			        "the %s \"%s\" is not defined as in a history: another program "
			        "changed it",
			        a->type, a->name);
	}
	return status;
}

int tk_schema_list_differences(struct tk_store *s, bool enforced_only, struct tk_rows_builder *list,
        size_t most, bool *readable, struct tk_error *err)
{
	struct tk_rows found = {0}, expected = {0};
	struct tk_store *fresh = NULL;

	*readable = true;
	if (s->is_temporary)
		return 0;

	int status = tk_db_open_temporary(&fresh, err);

	if (!status)
		status = list_objects(fresh, &expected, err);
	if (!status)
		status = list_objects(s, &found, err);
	if (!status)
		status = list_differences(
		        &found, &expected, enforced_only, list, most, readable, err);
	tk_rows_free(&found);
	tk_rows_free(&expected);
	tk_store_close(fresh);
	return status;
}
