/* The statements of a merge, from the descriptors of the tables. */
#include "base/buf.h"
#include "store/merge/merge_internal.h"
#include <stdio.h>
#include <string.h>

/* The order of outcomes and states: a later or worse one wins. */
#define RANK \
	"CASE %s WHEN 'running' THEN 0 WHEN 'open' THEN 0 WHEN 'skipped' THEN 1 WHEN 'done' THEN " \
	"2" \
	" WHEN 'complete' THEN 2 WHEN 'incomplete' THEN 3 ELSE 4 END"

/* What a value is ordered by: its rank, its length and itself; a reference by the uid of its row.
 * NULL is the least. */
static void add_order(struct tk_buf *sql, const struct tk_db_column *c, const char *value)
{
	if (c->flags & TK_COL_RANKED) {
		tk_buf_add_printf(sql, RANK, value);
		tk_buf_add_printf(sql, ",%s", value);
	} else if (c->kind == TK_COL_TEXT || c->kind == TK_COL_WORD || c->kind == TK_COL_BLOB) {
		tk_buf_add_printf(sql, "length(%s),%s", value, value);
	} else if (c->kind == TK_COL_REF) {
		tk_buf_add_printf(sql, "%s IS NOT NULL,ifnull((SELECT uid FROM %s WHERE id=%s),'')",
		        value, tk_tables[c->parent].name, value);
	} else {
		tk_buf_add_printf(sql, "%s IS NOT NULL,ifnull(%s,0)", value, value);
	}
}

/* The slugs of series follow from other columns. The uid of a machine does not depend on its newest
 * name. */
static bool is_identity(const struct tk_db_table *t, const struct tk_db_column *c)
{
	if (t == &tk_tables[TK_TABLE_machine])
		return c->kind == TK_COL_UID;
	return c->kind == TK_COL_UID || (c->flags & TK_COL_KEY) ||
	       (t == &tk_tables[TK_TABLE_series] && !strcmp(c->name, "slug"));
}

bool tk_merge_has_description(const struct tk_db_table *t)
{
	for (size_t i = 0; i < t->column_count; i++)
		if (!is_identity(t, &t->columns[i]))
			return true;
	return false;
}

/* Columns that belong together: mixing those of two rows would create a third, false statement. */
static bool is_atomic(const struct tk_db_table *t)
{
	return t == &tk_tables[TK_TABLE_resolution] || t == &tk_tables[TK_TABLE_measurement] ||
	       t == &tk_tables[TK_TABLE_verdict] || t == &tk_tables[TK_TABLE_change_point] ||
	       t == &tk_tables[TK_TABLE_bisection] || t == &tk_tables[TK_TABLE_tuning] ||
	       t == &tk_tables[TK_TABLE_kernel_report] || t == &tk_tables[TK_TABLE_monitor_event];
}

static void format_parameter(size_t column, char out[24])
{
	snprintf(out, 24, "?%zu", column + 1);
}

/* The stored value; of the slug of a device without what makes it unique. */
static void format_stored(const struct tk_db_table *t, const struct tk_db_column *c, char out[80])
{
	if (!strcmp(c->name, "slug"))
		snprintf(out, 80, "device_root(device.slug,device.uid)");
	else
		snprintf(out, 80, "%s.%s", t->name, c->name);
}

/* The order of a whole row: of the parameters, or of the stored one. */
static void add_row_order(struct tk_buf *sql, const struct tk_db_table *t, bool of_parameters)
{
	const char *separator = "";

	for (size_t i = 0; i < t->column_count; i++) {
		char value[80];

		if (is_identity(t, &t->columns[i]))
			continue;
		if (of_parameters)
			format_parameter(i, value);
		else
			format_stored(t, &t->columns[i], value);
		tk_buf_add_str(sql, separator);
		add_order(sql, &t->columns[i], value);
		separator = ",";
	}
}

static void add_atomic_update(struct tk_buf *sql, const struct tk_db_table *t)
{
	const char *separator = "";

	for (size_t i = 0; i < t->column_count; i++)
		if (!is_identity(t, &t->columns[i])) {
			tk_buf_add_printf(sql, "%s%s=?%zu", separator, t->columns[i].name, i + 1);
			separator = ",";
		}
	tk_buf_add_str(sql, " WHERE ((");
	add_row_order(sql, t, true);
	tk_buf_add_str(sql, ")>(");
	add_row_order(sql, t, false);
	tk_buf_add_str(sql, "))");
}

/* A text lacks a part that could not be made. */
static void take_failure(struct tk_buf *sql, const struct tk_buf *part)
{
	if (!sql->status)
		sql->status = part->status;
}

/* Each column takes the greater value of the two. */
static void add_column_updates(struct tk_buf *sql, const struct tk_db_table *t)
{
	struct tk_buf where = TK_BUF_INIT, is_greater = TK_BUF_INIT;
	const char *separator = "";

	for (size_t i = 0; i < t->column_count; i++) {
		const struct tk_db_column *c = &t->columns[i];
		char stored[80], given[24];

		if (is_identity(t, c))
			continue;
		format_stored(t, c, stored);
		format_parameter(i, given);
		tk_buf_clear(&is_greater);
		tk_buf_add_char(&is_greater, '(');
		/* The newest name of a machine, which its first two columns tell. */
		if (c->flags & TK_COL_KEY)
			tk_buf_add_str(&is_greater, "?2,");
		add_order(&is_greater, c, given);
		tk_buf_add_str(&is_greater, ")>(");
		if (c->flags & TK_COL_KEY)
			tk_buf_add_str(&is_greater, "machine.renamed_s,");
		add_order(&is_greater, c, stored);
		tk_buf_add_char(&is_greater, ')');
		tk_buf_add_printf(sql, "%s%s=CASE WHEN %s THEN %s ELSE %s END", separator, c->name,
		        tk_buf_cstr(&is_greater), given, stored);
		tk_buf_add_printf(
		        &where, "%s%s", where.len ? " OR " : "", tk_buf_cstr(&is_greater));
		take_failure(sql, &is_greater);
		separator = ",";
	}
	tk_buf_add_printf(sql, " WHERE (%s)", tk_buf_cstr(&where));
	take_failure(sql, &where);
	tk_buf_free(&is_greater);
	tk_buf_free(&where);
}

/* `lead` and what identifies a row: its uid, or its key. */
static void add_identity(struct tk_buf *sql, const struct tk_db_table *t, const char *lead)
{
	for (size_t i = 0; i < t->column_count; i++)
		if (t->has_uid ? t->columns[i].kind == TK_COL_UID
		               : t->columns[i].flags & TK_COL_KEY) {
			tk_buf_add_printf(
			        sql, "%s%s.%s=?%zu", lead, t->name, t->columns[i].name, i + 1);
			lead = " AND ";
		}
}

void tk_merge_update_sql(struct tk_buf *sql, const struct tk_db_table *t)
{
	tk_buf_add_printf(sql, "UPDATE %s SET ", t->name);
	if (is_atomic(t))
		add_atomic_update(sql, t);
	else
		add_column_updates(sql, t);
	add_identity(sql, t, " AND ");
}

void tk_merge_find_sql(struct tk_buf *sql, const struct tk_db_table *t)
{
	tk_buf_add_printf(sql, "SELECT id FROM %s", t->name);
	add_identity(sql, t, " WHERE ");
}

void tk_merge_insert_sql(struct tk_buf *sql, const struct tk_db_table *t)
{
	tk_buf_add_printf(sql, "INSERT INTO %s(", t->name);
	for (size_t i = 0; i < t->column_count; i++)
		tk_buf_add_printf(sql, "%s%s", i ? "," : "", t->columns[i].name);
	tk_buf_add_str(sql, ") VALUES (");
	for (size_t i = 0; i < t->column_count; i++)
		tk_buf_add_printf(sql, "%s?%zu", i ? "," : "", i + 1);
	tk_buf_add_str(sql, ") ON CONFLICT DO NOTHING");
}

void tk_merge_select_sql(struct tk_buf *sql, const struct tk_db_table *t)
{
	tk_buf_add_printf(sql, "SELECT %s", t->has_id ? "id" : "0");
	for (size_t i = 0; i < t->column_count; i++)
		if (t == &tk_tables[TK_TABLE_device] && !strcmp(t->columns[i].name, "slug"))
			tk_buf_add_str(sql, ",device_root(slug,uid)");
		else
			tk_buf_add_printf(sql, ",%s", t->columns[i].name);
	tk_buf_add_printf(sql, " FROM %s", t->name);
}
