/* Queries of other rooms, and the functions that they use. */
#include "store/sql.h"

#include <math.h>

#include "base/try.h"
#include "store/db/handle.h"

static void set_names(sqlite3_stmt *q, struct tk_cell *row, int count)
{
	for (int i = 0; i < count; i++)
		row[i].name = sqlite3_column_name(q, i);
}

static struct tk_cell read_value(sqlite3_value *v)
{
	struct tk_cell cell = {.text = "", .real = NAN};

	switch (sqlite3_value_type(v)) {
	case SQLITE_INTEGER:
		cell.type = TK_CELL_INT;
		cell.integer = sqlite3_value_int64(v);
		cell.real = (double)cell.integer;
		break;
	case SQLITE_FLOAT:
		cell.type = TK_CELL_REAL;
		cell.real = sqlite3_value_double(v);
		break;
	case SQLITE_NULL:
		break;
	default:
		cell.type = TK_CELL_TEXT;
		cell.text = (const char *)sqlite3_value_text(v);
	}
	return cell;
}

static int bind_cell(sqlite3_stmt *q, int at, const struct tk_cell *c)
{
	switch (c->type) {
	case TK_CELL_INT:
		return sqlite3_bind_int64(q, at, c->integer);
	case TK_CELL_REAL:
		return sqlite3_bind_double(q, at, c->real);
	case TK_CELL_TEXT:
		return sqlite3_bind_text(q, at, c->text, -1, SQLITE_STATIC);
	default:
		return sqlite3_bind_null(q, at);
	}
}

int tk_sql_query(struct tk_store *s, const char *sql, const struct tk_cell *args, size_t arg_count,
        int (*row)(void *user, const struct tk_cell *cells, size_t count, struct tk_error *err),
        void *user, struct tk_error *err)
{
	struct tk_cell cells[TK_QUERY_COLUMNS_MAX];
	sqlite3_stmt *q;
	int code = SQLITE_OK, status = 0, count;

	TRY(tk_db_prepare_args(s, sql, TK_NO_ARGS, &q, err));
	count = sqlite3_column_count(q);
	if (count > TK_QUERY_COLUMNS_MAX)
		return tk_fail(err, TK_EUSAGE, "a query with %d columns", count);
	for (size_t i = 0, used = (size_t)sqlite3_bind_parameter_count(q);
	        code == SQLITE_OK && i < arg_count && i < used; i++)
		code = bind_cell(q, (int)i + 1, &args[i]);
	while (!status && code == SQLITE_OK && (code = sqlite3_step(q)) == SQLITE_ROW) {
		for (int i = 0; i < count; i++)
			cells[i] = read_value(sqlite3_column_value(q, i));
		set_names(q, cells, count);
		status = row(user, cells, (size_t)count, err);
		code = SQLITE_OK;
	}
	if (!status && code != SQLITE_DONE)
		status = tk_db_fail(s, code, err, "cannot read the history");
	sqlite3_reset(q);
	sqlite3_clear_bindings(q);
	return status;
}

static void call_function(sqlite3_context *context, int count, sqlite3_value **values)
{
	const struct tk_sql_function *f = sqlite3_user_data(context);
	struct tk_cell args[TK_SQL_ARGS_MAX], result = {.text = "", .real = NAN};
	char scratch[TK_SQL_SCRATCH_SIZE];

	for (int i = 0; i < count; i++)
		args[i] = read_value(values[i]);
	f->compute(args, &result, scratch);
	switch (result.type) {
	case TK_CELL_INT:
		sqlite3_result_int64(context, result.integer);
		break;
	case TK_CELL_REAL:
		sqlite3_result_double(context, result.real);
		break;
	case TK_CELL_TEXT:
		sqlite3_result_text(context, result.text, -1, SQLITE_TRANSIENT);
		break;
	case TK_CELL_NULL:
		break;
	}
}

int tk_sql_define_functions(struct tk_store *s, const struct tk_sql_function *functions,
        size_t count, struct tk_error *err)
{
	for (size_t i = 0; i < count; i++) {
		const struct tk_sql_function *f = &functions[i];
		int code = f->arg_count > TK_SQL_ARGS_MAX
		                   ? SQLITE_MISUSE
		                   : sqlite3_create_function_v2(s->db, f->name, f->arg_count,
		                             SQLITE_UTF8 | SQLITE_DETERMINISTIC, (void *)f,
		                             call_function, NULL, NULL, NULL);

		if (code != SQLITE_OK)
			return tk_db_fail(s, code, err, "cannot define the function %s", f->name);
	}
	return 0;
}
