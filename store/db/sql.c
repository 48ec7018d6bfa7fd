/* Queries of any columns, and functions of SQL that the program computes. */
#include <math.h>
#include <stdlib.h>

#include "base/try.h"
#include "store/db/internal.h"

#define ARGS_MAX 4

static struct tk_arg read_value(sqlite3_value *v)
{
	struct tk_arg a = {.kind = TK_ARG_NULL, .text = "", .real = NAN};

	switch (sqlite3_value_type(v)) {
	case SQLITE_INTEGER:
		a.kind = TK_ARG_INT;
		a.i = sqlite3_value_int64(v);
		a.real = (double)a.i;
		break;
	case SQLITE_FLOAT:
		a.kind = TK_ARG_REAL;
		a.real = sqlite3_value_double(v);
		break;
	case SQLITE_NULL:
		break;
	default:
		a.kind = TK_ARG_TEXT;
		a.text = (const char *)sqlite3_value_text(v);
	}
	return a;
}

int tk_store_query(struct tk_store *s, const char *sql, const struct tk_arg *args,
        int (*each)(void *user, const struct tk_query_row *row, struct tk_error *err), void *user,
        struct tk_error *err)
{
	struct tk_query_row row;
	sqlite3_stmt *q;
	int code, status = 0;

	TRY(tk_db_prepare_args(s, sql, args, &q, err));
	if (sqlite3_column_count(q) > TK_QUERY_COLUMNS_MAX)
		return tk_fail(err, TK_EUSAGE, "a query with %d columns", sqlite3_column_count(q));
	while ((code = sqlite3_step(q)) == SQLITE_ROW && !status) {
		row.count = sqlite3_column_count(q);
		for (int i = 0; i < row.count; i++) {
			row.names[i] = sqlite3_column_name(q, i);
			row.values[i] = read_value(sqlite3_column_value(q, i));
		}
		status = each(user, &row, err);
	}
	if (!status && code != SQLITE_DONE)
		status = tk_db_fail(s, code, err, "cannot read the history");
	sqlite3_reset(q);
	return status;
}

static void call_function(sqlite3_context *context, int count, sqlite3_value **values)
{
	const struct tk_sql_function *f = sqlite3_user_data(context);
	struct tk_arg args[ARGS_MAX];

	for (int i = 0; i < count; i++)
		args[i] = read_value(values[i]);
	char *text = f->compute(args);

	if (text)
		sqlite3_result_text(context, text, -1, free);
}

int tk_store_add_function(struct tk_store *s, const struct tk_sql_function *f, struct tk_error *err)
{
	int code = f->arg_count > ARGS_MAX
	                   ? SQLITE_MISUSE
	                   : sqlite3_create_function_v2(s->db, f->name, f->arg_count,
	                             SQLITE_UTF8 | SQLITE_DETERMINISTIC, (void *)f, call_function,
	                             NULL, NULL, NULL);

	return code == SQLITE_OK
	               ? 0
	               : tk_db_fail(s, code, err, "cannot define the function %s", f->name);
}
