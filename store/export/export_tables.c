/* The whole history as JSON lines in an order that does not depend on ids: two databases with the
 * same facts give the same text. */
#include "base/buf.h"
#include "store/db/internal.h"
#include "store/export/column_json.h"
#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FLUSH_AT ((size_t)256 << 10)

struct output {
	int fd;
	struct tk_buf buf;
};

static int flush(struct output *o, struct tk_error *err)
{
	int status = tk_buf_status(&o->buf, err);

	for (size_t done = 0; !status && done < o->buf.len;) {
		ssize_t n = write(o->fd, o->buf.data + done, o->buf.len - done);

		if (n < 0 && errno != EINTR)
			status = tk_fail_errno(err, "cannot write the export");
		else if (n > 0)
			done += (size_t)n;
	}
	tk_buf_clear(&o->buf);
	return status;
}

/* A reference is selected as the uid of what it names; a table without uid is ordered by its key.
 */
static int select_sql(const struct tk_db_table *t, struct tk_buf *sql)
{
	const char *lead = " ORDER BY ";

	tk_buf_add_str(sql, "SELECT ");
	for (size_t i = 0; i < t->column_count; i++) {
		const struct tk_db_column *c = &t->columns[i];
		const char *parent = tk_tables[c->parent].name;

		if (c->kind != TK_COL_REF)
			tk_buf_add_printf(sql, "%st.%s", i ? "," : "", c->name);
		else
			tk_buf_add_printf(sql, "%s(SELECT uid FROM %s WHERE %s.id=t.%s)",
			        i ? "," : "", parent, parent, c->name);
	}
	tk_buf_add_printf(sql, " FROM %s t", t->name);
	for (size_t i = 0; i < t->column_count; i++)
		if (t->has_uid ? t->columns[i].kind == TK_COL_UID
		               : t->columns[i].flags & TK_COL_KEY) {
			tk_buf_add_printf(sql, "%s%zu", lead, i + 1);
			lead = ",";
		}
	return tk_buf_status(sql, NULL);
}

/* "series_id" names a row by its uid here: "series". */
static void set_column(json_t *line, const struct tk_db_column *c, json_t *value)
{
	char name[64];
	size_t len = strlen(c->name);

	if (c->kind == TK_COL_REF)
		len -= strlen("_id");
	memcpy(name, c->name, len);
	name[len] = '\0';
	json_object_set_new(line, name, value);
}

static int add_bytes(const char *bytes, size_t size, void *buf)
{
	tk_buf_add(buf, bytes, size);
	return 0;
}

static int export_row(
        sqlite3_stmt *stmt, const struct tk_db_table *t, struct output *o, struct tk_error *err)
{
	json_t *line = json_pack("{s:s}", "table", t->name);
	int failed;

	for (size_t i = 0; line && i < t->column_count; i++)
		set_column(line, &t->columns[i], tk_db_column_to_json(stmt, (int)i));
	failed = !line || json_dump_callback(line, add_bytes, &o->buf, JSON_COMPACT);
	json_decref(line);
	if (failed)
		return tk_fail(err, TK_EDATA, "a row of %s cannot be written as JSON", t->name);
	tk_buf_add_char(&o->buf, '\n');
	return o->buf.len >= FLUSH_AT ? flush(o, err) : 0;
}

static int export_table(
        struct tk_store *s, const struct tk_db_table *t, struct output *o, struct tk_error *err)
{
	struct tk_buf sql = TK_BUF_INIT;
	sqlite3_stmt *stmt = NULL;
	int rc, status = select_sql(t, &sql) ? tk_fail(err, TK_ENOMEM, "out of memory")
	                                     : tk_db_prepare(s, sql.data, &stmt, err);

	tk_buf_free(&sql);
	if (status)
		return status;
	while ((rc = sqlite3_step(stmt)) == SQLITE_ROW && !status)
		status = export_row(stmt, t, o, err);
	if (!status && rc != SQLITE_DONE)
		status = tk_db_fail(s, rc, err, "cannot read the table %s", t->name);
	sqlite3_finalize(stmt);
	return status;
}

int tk_store_export(struct tk_store *s, int fd, struct tk_error *err)
{
	struct output o = {fd, TK_BUF_INIT};
	/* One snapshot for all tables, also while a night is written. */
	int status = tk_db_run_cached(s, "BEGIN", NULL, 0, err);

	if (status)
		return status;
	for (int t = 0; t < TK_TABLE_COUNT && !status; t++)
		status = export_table(s, &tk_tables[t], &o, err);
	if (!status)
		status = flush(&o, err);
	tk_buf_free(&o.buf);
	sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL);
	return status;
}
