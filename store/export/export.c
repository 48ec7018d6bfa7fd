/* The whole history as JSON lines in an order that does not depend on ids: two databases with the
 * same facts give the same text. And what records share with it: values of columns as JSON. */
#include "base/base.h"
#include "store/export/record.h"
#include <errno.h>
#include <unistd.h>

#define LARGE ((size_t)256 << 10)

/* ---- output ---------------------------------------------------------------------------------- */

static int add_bytes(const char *bytes, size_t size, void *buf)
{
	tk_buf_add(buf, bytes, size);
	return 0;
}

void tk_export_add_json(struct tk_export_output *o, const json_t *value)
{
	json_dump_callback(value, add_bytes, &o->buf, JSON_COMPACT | JSON_ENCODE_ANY);
}

int tk_export_flush(struct tk_export_output *o, bool always, struct tk_error *err)
{
	if (!always && o->buf.len < LARGE)
		return 0;
	for (size_t done = 0; done < o->buf.len;) {
		ssize_t n = write(o->fd, o->buf.data + done, o->buf.len - done);

		if (n < 0 && errno != EINTR)
			return tk_fail_errno(err, "cannot write the export");
		done += n > 0 ? (size_t)n : 0;
	}
	tk_buf_clear(&o->buf);
	return 0;
}

/* ---- columns --------------------------------------------------------------------------------- */

/* Damaged samples are an empty list. */
static json_t *unpack_samples(const void *data, size_t size)
{
	const struct tk_bytes packed = {data, size};
	json_t *array = json_array();
	double *samples = NULL;
	size_t count = 0;

	tk_samples_unpack(&packed, &samples, &count, NULL);
	for (size_t i = 0; i < count; i++)
		json_array_append_new(array, json_real(samples[i]));
	free(samples);
	return array;
}

static json_t *text_of(const char *text)
{
	AUTO(tk_buf) repaired = {0};

	if (tk_utf8_is_valid(text))
		return json_string(text);
	tk_buf_add_utf8(&repaired, text, strlen(text));
	return json_string(tk_buf_cstr(&repaired));
}

json_t *tk_export_column(sqlite3_stmt *stmt, int column)
{
	switch (sqlite3_column_type(stmt, column)) {
	case SQLITE_INTEGER:
		return json_integer(sqlite3_column_int64(stmt, column));
	case SQLITE_FLOAT:
		return json_real(sqlite3_column_double(stmt, column));
	case SQLITE_TEXT:
		return text_of((const char *)sqlite3_column_text(stmt, column));
	case SQLITE_BLOB:
		return unpack_samples(sqlite3_column_blob(stmt, column),
		        (size_t)sqlite3_column_bytes(stmt, column));
	default:
		return json_null();
	}
}

void tk_export_add_column_sql(
        struct tk_buf *sql, const struct tk_db_column *column, const char *alias)
{
	tk_buf_add_printf(sql, column->kind == TK_COL_CHECKSUM ? "printf('%%016x',%s.%s)" : "%s.%s",
	        alias, column->name);
}

/* ---- tables ---------------------------------------------------------------------------------- */

/* References are selected as uids. A table without uids is ordered by its key. */
static void add_select_sql(struct tk_buf *sql, const struct tk_db_table *t)
{
	const char *lead = " ORDER BY ";

	tk_buf_add_str(sql, "SELECT ");
	for (size_t i = 0; i < t->column_count; i++) {
		const struct tk_db_column *c = &t->columns[i];
		const char *parent = tk_tables[c->parent].name;

		tk_buf_add_str(sql, i ? "," : "");
		if (c->kind != TK_COL_REF)
			tk_export_add_column_sql(sql, c, "t");
		else
			tk_buf_add_printf(sql, "(SELECT uid FROM %s WHERE %s.id=t.%s)", parent,
			        parent, c->name);
	}
	tk_buf_add_printf(sql, " FROM %s t", t->name);
	for (size_t i = 0; i < t->column_count; i++)
		if (t->has_uid ? t->columns[i].kind == TK_COL_UID
		               : t->columns[i].flags & TK_COL_KEY) {
			tk_buf_add_printf(sql, "%s%zu", lead, i + 1);
			lead = ",";
		}
}

static int export_row(sqlite3_stmt *stmt, const struct tk_db_table *t, struct tk_export_output *o,
        struct tk_error *err)
{
	json_auto_t *line = json_pack("{s:s}", "table", t->name);

	for (size_t i = 0; i < t->column_count; i++) {
		const struct tk_db_column *c = &t->columns[i];
		char name[TK_RECORD_NAME_SIZE];

		/* The uid that "series_id" refers to is written as "series". */
		json_object_set_new(line,
		        c->kind == TK_COL_REF ? tk_record_nested_name(c, name) : c->name,
		        tk_export_column(stmt, (int)i));
	}
	tk_export_add_json(o, line);
	tk_buf_add_char(&o->buf, '\n');
	return tk_export_flush(o, false, err);
}

int tk_export_prepare_table(
        struct tk_store *s, enum tk_table_id table, sqlite3_stmt **out, struct tk_error *err)
{
	return tk_db_prepare_table_statement(
	        s, table, TK_STATEMENT_EXPORT, add_select_sql, out, err);
}

static int export_tables(struct tk_store *s, struct tk_export_output *o, struct tk_error *err)
{
	for (int t = 0; t < TK_TABLE_COUNT; t++) {
		sqlite3_stmt *stmt;
		int code = SQLITE_DONE, status = 0;

		TRY(tk_db_prepare_table_statement(
		        s, (enum tk_table_id)t, TK_STATEMENT_EXPORT, add_select_sql, &stmt, err));
		while (!status && (code = sqlite3_step(stmt)) == SQLITE_ROW)
			status = export_row(stmt, &tk_tables[t], o, err);
		if (!status && code != SQLITE_DONE)
			status = tk_db_fail(
			        s, code, err, "cannot read the table %s", tk_tables[t].name);
		sqlite3_reset(stmt);
		TRY(status);
	}
	return tk_export_flush(o, true, err);
}

int tk_store_export(struct tk_store *s, int fd, struct tk_error *err)
{
	struct tk_export_output o = {fd, TK_BUF_INIT};

	/* One snapshot of all tables, also while a night is being written. */
	TRY(tk_store_begin_read(s, err));
	int status = export_tables(s, &o, err);

	tk_buf_free(&o.buf);
	tk_store_end_read(s);
	return status;
}
