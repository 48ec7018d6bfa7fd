/* What the statements of a format select, docs/reference/import-formats.md: a row with a `series`
 * is a result, another one says what the results of the file have in common. They run apart from
 * the history, and can only read. */
#include "base/base.h"
#include "store/import/import.h"
#include <math.h>

#define MEMBER(name) TK_MEMBER(struct tk_import_row, name)
#define TIME \
	{ \
		.name = "time", .kind = TK_COL_INT, \
		.offset = offsetof(struct tk_import_row, time_s) \
	}
static const struct tk_db_column members[] = {MEMBER(series), MEMBER(metric), MEMBER(value),
        MEMBER(unit), MEMBER(better), MEMBER(statistic), MEMBER(outcome), MEMBER(message),
        MEMBER(revision), TIME, MEMBER(order), MEMBER(attributes), MEMBER(place), MEMBER(version),
        MEMBER(run_attributes), MEMBER(machine), MEMBER(machine_attributes), MEMBER(device),
        MEMBER(arch), MEMBER(upstream), MEMBER(url), MEMBER(author), MEMBER(subject),
        MEMBER(backend), MEMBER(config), MEMBER(dtype), MEMBER(family), MEMBER(lo), MEMBER(hi),
        MEMBER(min), MEMBER(q25), MEMBER(q75), MEMBER(p95), MEMBER(n)};
#define MEMBER_COUNT (sizeof(members) / sizeof(members[0]))

/* ---- errors of the format -------------------------------------------------------------------- */

/* at: where in its text. */
static int fail_format(
        const struct tk_import_sink *s, const char *at, const char *what, struct tk_error *err)
{
	const char *sql = s->format->sql, *line = sql;
	size_t number = 1;

	for (const char *c = sql; c < at; c++)
		if (*c == '\n') {
			number++;
			line = c + 1;
		}
	return tk_fail(err, TK_EUSAGE, "%s:%zu:%zu: %s",
	        s->format->path ? s->format->path : s->format->name, number,
	        (size_t)(at - line) + 1, what);
}

static int fail_column(
        struct tk_import_sink *s, const char *sql, const char *name, struct tk_error *err)
{
	AUTO(tk_buf) what = {0};

	tk_buf_add_printf(&what, "the column \"%s\" is unknown, expected", name);
	for (size_t i = 0; i < MEMBER_COUNT; i++)
		tk_buf_add_printf(&what, "%s %s", i ? "," : "", members[i].name);
	return fail_format(s, sql, tk_buf_cstr(&what), err);
}

/* ---- rows ------------------------------------------------------------------------------------ */

static int read_time(struct tk_import_sink *s, sqlite3_value *value, struct tk_import_row *row)
{
	const char *text = (const char *)sqlite3_value_text(value);

	if (sqlite3_value_numeric_type(value) != SQLITE_TEXT) {
		row->time_s = sqlite3_value_int64(value);
	} else if (*text && !tk_import_parse_time(text, &row->time_s)) {
		AUTO_TEXT what = tk_sprintf("\"%.64s\" is not a time", text);

		return tk_import_fail(s, row->place ? row->place : "", what);
	}
	return 0;
}

/* Texts are numbers where they look so; an empty one is no value. */
static int read_number(struct tk_import_sink *s, sqlite3_value *value,
        const struct tk_db_column *column, struct tk_import_row *row)
{
	const char *text = (const char *)sqlite3_value_text(value);
	char *field = (char *)row + column->offset, *end;

	if (sqlite3_value_type(value) != SQLITE_TEXT) {
		if (column->kind == TK_COL_INT)
			*(int64_t *)field = sqlite3_value_int64(value);
		else
			*(double *)field = sqlite3_value_double(value);
		return 0;
	}
	if (!*text)
		return 0;
	double number = strtod(text, &end);

	if (*end) {
		AUTO_TEXT what = tk_sprintf("\"%.64s\" is not a number", text);

		return tk_import_fail(s, row->place ? row->place : column->name, what);
	}
	if (column->kind == TK_COL_INT)
		*(int64_t *)field = number > -9e15 && number < 9e15 ? (int64_t)number : 0;
	else
		*(double *)field = number;
	return 0;
}

/* found: the column of each member, -1: none */
static int take_row(
        struct tk_import_sink *s, sqlite3_stmt *stmt, const int *found, struct tk_error *err)
{
	struct tk_import_row row = TK_IMPORT_ROW();

	/* Texts first: `place` is in the errors of numbers. */
	for (size_t i = 0; i < MEMBER_COUNT; i++)
		if (found[i] >= 0 && members[i].kind == TK_COL_TEXT)
			*(const char **)((char *)&row + members[i].offset) =
			        (const char *)sqlite3_column_text(stmt, found[i]);
	for (size_t i = 0; i < MEMBER_COUNT; i++) {
		if (found[i] < 0 || members[i].kind == TK_COL_TEXT ||
		        sqlite3_column_type(stmt, found[i]) == SQLITE_NULL)
			continue;
		sqlite3_value *value = sqlite3_column_value(stmt, found[i]);

		TRY(members[i].offset == offsetof(struct tk_import_row, time_s)
		                ? read_time(s, value, &row)
		                : read_number(s, value, &members[i], &row));
	}
	if (found[0] < 0)
		return tk_import_set_file(s, &row, err);
	return row.series ? tk_import_add_result(s, &row, err)
	                  : tk_import_fail(s, row.place ? row.place : "", "has no series");
}

static int find_columns(struct tk_import_sink *s, sqlite3_stmt *stmt, const char *sql, int *found,
        struct tk_error *err)
{
	for (size_t i = 0; i < MEMBER_COUNT; i++)
		found[i] = -1;
	for (int c = 0; c < sqlite3_column_count(stmt); c++) {
		const char *name = sqlite3_column_name(stmt, c);
		size_t i = 0;

		while (i < MEMBER_COUNT && strcmp(members[i].name, name))
			i++;
		if (i == MEMBER_COUNT)
			return fail_column(s, sql, name, err);
		found[i] = c;
	}
	return 0;
}

static int run_statement(
        struct tk_import_sink *s, sqlite3_stmt *stmt, const char *sql, struct tk_error *err)
{
	int found[MEMBER_COUNT], code, status = 0;

	TRY(find_columns(s, stmt, sql, found, err));
	s->failed = 0;
	while (!status && (code = sqlite3_step(stmt)) == SQLITE_ROW)
		status = take_row(s, stmt, found, err);
	if (status || code == SQLITE_DONE)
		return status;
	return s->failed ? s->failed : fail_format(s, sql, sqlite3_errmsg(s->documents), err);
}

/* ---- a file ---------------------------------------------------------------------------------- */

/* A database of its own: a format, which may be anybody's, sees the file alone. It may keep what it
 * needs twice in tables. */
static int open_documents(struct tk_import_sink *s, struct tk_error *err)
{
	sqlite3_close(s->documents);
	s->documents = NULL;
	if (sqlite3_open(":memory:", &s->documents) != SQLITE_OK)
		return tk_fail(err, TK_EIO, "%s", sqlite3_errmsg(s->documents));
	sqlite3_limit(s->documents, SQLITE_LIMIT_ATTACHED, 0);
	sqlite3_db_config(s->documents, SQLITE_DBCONFIG_DQS_DML, 0, NULL);
	TRY(tk_import_register_functions(s, err));
	return sqlite3_exec(s->documents,
	               "CREATE TABLE csv(line INTEGER PRIMARY KEY, place TEXT, cells TEXT,"
	               " name TEXT, attributes TEXT, before TEXT);"
	               "CREATE TABLE lines(line INTEGER PRIMARY KEY, place TEXT, text TEXT)",
	               NULL, NULL, NULL) == SQLITE_OK
	               ? 0
	               : tk_fail(err, TK_EIO, "%s", sqlite3_errmsg(s->documents));
}

int tk_import_read_document(struct tk_import_sink *s, struct tk_error *err)
{
	AUTO(tk_buf) document = {0};
	int status;

	TRY(open_documents(s, err));
	TRY(tk_import_load(s, &document, err));
	for (const char *sql = s->format->sql, *next; *sql; sql = next) {
		sqlite3_stmt *stmt = NULL;

		if (sqlite3_prepare_v2(s->documents, sql, -1, &stmt, &next) != SQLITE_OK) {
			int at = sqlite3_error_offset(s->documents);

			return fail_format(
			        s, sql + (at > 0 ? at : 0), sqlite3_errmsg(s->documents), err);
		}
		if (!stmt)
			break;
		const int doc = sqlite3_bind_parameter_index(stmt, ":doc"),
		          path = sqlite3_bind_parameter_index(stmt, ":path");

		if (doc && document.data)
			sqlite3_bind_text64(
			        stmt, doc, document.data, document.len, SQLITE_STATIC, SQLITE_UTF8);
		if (path)
			sqlite3_bind_text(stmt, path, s->file->path, -1, SQLITE_STATIC);
		status = run_statement(s, stmt, sql, err);
		sqlite3_finalize(stmt);
		TRY(status);
	}
	return 0;
}
