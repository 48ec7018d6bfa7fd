/* Rows out of the history: one row by its id, the rows of a table, and what any SQL selects, as
 * structs. Views (store/views.sql) join what a question needs; nothing is joined in C.
 * sql.h gives the columns of any query one by one.
 *
 *   struct tk_series_row series;
 *   TRY(tk_store_get(s, TK_TABLE_series, id, &series, err));
 *
 *   struct tk_rows runs = {0};
 *   TRY(tk_store_list(s, TK_TABLE_run, "night_id=?1 ORDER BY seq", TK_ARGS(night_id), &runs, err));
 *
 *   struct line { const char *series, *machine; double change; enum tk_alert_status status; };
 *   static const struct tk_db_column line_columns[] = {
 *           TK_MEMBER(struct line, series), TK_MEMBER(struct line, machine),
 *           TK_MEMBER(struct line, change), TK_MEMBER_WORD(struct line, status, alert_status)};
 *   static const struct tk_row_type line_type = TK_ROW_TYPE(struct line, line_columns);
 *   TRY(tk_store_select(s, "SELECT * FROM alert_v WHERE night_id=?1", TK_ARGS(night_id),
 *           &line_type, &rows, err)); */
#ifndef TK_STORE_SELECT_H
#define TK_STORE_SELECT_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tk_error;
struct tk_store;
struct tk_vocabulary;

/* Parents first: the order of the export, so that a reader can resolve every reference as it comes.
 */
/* clang-format off */
#define TK_TABLES(X) \
	X(machine) X(device) X(environment) X(upstream) X(revision) X(build) X(kernel) X(problem) \
	X(series) X(night) X(stage) X(resolution) X(run) X(job) X(measurement) X(sample) \
	X(ceiling) X(ab_pair) X(tuning) X(kernel_report) X(triage) X(renaming) X(notification) \
	X(change_point) X(verdict) X(sensitivity) X(alert) X(bisection) X(monitor_event) \
	X(monitored_night)
/* clang-format on */

enum tk_table_id {
#define TK_TABLE_ENUM(name) TK_TABLE_##name,
	TK_TABLES(TK_TABLE_ENUM)
#undef TK_TABLE_ENUM
	        TK_TABLE_COUNT
};

/* ---- lists of rows --------------------------------------------------------------------------- */

/* A list of one kind of row; it owns its rows and their strings. `rows` points to `count` structs.
 */
struct tk_rows {
	void *rows;
	size_t count;
	void *memory;
};
void tk_rows_free(struct tk_rows *list);
#define TK_ROWS_AT(list, type, i) (&((const type *)(list)->rows)[i])

/* ---- types of rows --------------------------------------------------------------------------- */

enum tk_column_kind {
	TK_COL_UID,  /* const char *: content hash of the KEY columns */
	TK_COL_TEXT, /* const char *; NULL in the file is "" */
	TK_COL_WORD, /* an enum, one of `words` in the file; another word is read as words->count */
	TK_COL_INT,  /* int64_t; NULL is `none` */
	TK_COL_U32,  /* uint32_t */
	TK_COL_REAL, /* double; what is not finite is NULL in the file and NAN in the row */
	TK_COL_BOOL, /* bool */
	TK_COL_REF,  /* int64_t: id of a row of `parent`; exported as its uid */
	TK_COL_BLOB, /* struct tk_bytes: packed float64, exported as numbers */
	/* Not in the row: an integer of the file that is computed from all other columns, exported
	 * as hex digits (checksum.c). */
	TK_COL_CHECKSUM,
};

#define TK_COL_KEY \
	1u /* identifies the row: hashed into its uid, or its primary key where it has none */
#define TK_COL_NEWEST \
	2u /* describes, does not identify: follows the newest put that says anything */
#define TK_COL_NULLABLE 4u /* `none` in the row is NULL in the file */
#define TK_COL_LONG 8u     /* left out of lists */
#define TK_COL_RANKED \
	16u /* a word of which a later or worse one wins where two histories meet (merge.c) */

/* A column and the member of a struct that it is read into. */
struct tk_db_column {
	const char *name;
	enum tk_column_kind kind;
	unsigned flags;
	size_t offset;
	int64_t none;
	enum tk_table_id parent;
	const struct tk_vocabulary *words; /* of WORD, and of TEXT that may be a word; else NULL */
};

struct tk_row_type {
	const struct tk_db_column *columns;
	size_t column_count, row_size;
};

/* The column with the name of a member: a text, an int64_t, a double or a bool. */
#define TK_MEMBER(type, member) \
	{ \
		.name = #member, .kind = _Generic(((type *)0)->member, const char *: TK_COL_TEXT, \
			int64_t: TK_COL_INT, double: TK_COL_REAL, bool: TK_COL_BOOL), \
		.flags = TK_COL_NULLABLE, .offset = offsetof(type, member) \
	}
/* The same of an enum that tk_<vocabulary>_words names. */
#define TK_MEMBER_WORD(type, member, vocabulary) \
	{ \
		.name = #member, .kind = TK_COL_WORD, .offset = offsetof(type, member), \
		.words = &tk_##vocabulary##_words \
	}
#define TK_ROW_TYPE(type, columns) \
	{ \
		columns, sizeof(columns) / sizeof(*(columns)), sizeof(type) \
	}

/* ---- parameters of SQL ----------------------------------------------------------------------- */

struct tk_arg {
	enum { TK_ARG_END, TK_ARG_NULL, TK_ARG_INT, TK_ARG_REAL, TK_ARG_TEXT } kind;
	int64_t i;
	double real;
	const char *text;
};
static inline struct tk_arg tk_arg_int(int64_t i)
{
	return (struct tk_arg){.kind = TK_ARG_INT, .i = i};
}
static inline struct tk_arg tk_arg_real(double real)
{
	return (struct tk_arg){.kind = TK_ARG_REAL, .real = real};
}
static inline struct tk_arg tk_arg_text(const char *text) /* NULL: NULL */
{
	return (struct tk_arg){.kind = text ? TK_ARG_TEXT : TK_ARG_NULL, .text = text};
}
/* clang-format off */
#define TK_ARG(x) _Generic((x), char *: tk_arg_text, const char *: tk_arg_text, \
	double: tk_arg_real, float: tk_arg_real, default: tk_arg_int)(x)
#define TK_ARGS_1(a) TK_ARG(a)
#define TK_ARGS_2(a, ...) TK_ARG(a), TK_ARGS_1(__VA_ARGS__)
#define TK_ARGS_3(a, ...) TK_ARG(a), TK_ARGS_2(__VA_ARGS__)
#define TK_ARGS_4(a, ...) TK_ARG(a), TK_ARGS_3(__VA_ARGS__)
#define TK_ARGS_5(a, ...) TK_ARG(a), TK_ARGS_4(__VA_ARGS__)
#define TK_ARGS_6(a, ...) TK_ARG(a), TK_ARGS_5(__VA_ARGS__)
#define TK_ARGS_7(a, ...) TK_ARG(a), TK_ARGS_6(__VA_ARGS__)
#define TK_ARGS_8(a, ...) TK_ARG(a), TK_ARGS_7(__VA_ARGS__)
#define TK_ARGS_PICK(a, b, c, d, e, f, g, h, name, ...) name
/* ?1, ?2, ...: at most eight, evaluated once. TK_NO_ARGS: none. */
#define TK_ARGS(...) ((const struct tk_arg[]){TK_ARGS_PICK(__VA_ARGS__, TK_ARGS_8, TK_ARGS_7, \
	TK_ARGS_6, TK_ARGS_5, TK_ARGS_4, TK_ARGS_3, TK_ARGS_2, TK_ARGS_1, )(__VA_ARGS__), {0}})
#define TK_NO_ARGS NULL
/* clang-format on */

/* ---- reading and writing --------------------------------------------------------------------- */

/* The row of a table (struct tk_<table>_row) with this id. Its strings live until the history is
 * closed. TK_ENOTFOUND: there is none. */
int tk_store_get(
        struct tk_store *s, enum tk_table_id table, int64_t id, void *row, struct tk_error *err);
/* The rows of a table. where: a condition, which may have its own ORDER BY and LIMIT; NULL: all.
 * Long texts (the log of a build, the timeline of a report) are "". */
int tk_store_list(struct tk_store *s, enum tk_table_id table, const char *where,
        const struct tk_arg *args, struct tk_rows *out, struct tk_error *err);
/* Any query into structs: the columns of the type are found by name. */
int tk_store_select(struct tk_store *s, const char *sql, const struct tk_arg *args,
        const struct tk_row_type *type, struct tk_rows *out, struct tk_error *err);
/* The number in the first column of the first row; `none` where there is no row, or NULL. */
int tk_store_select_int(struct tk_store *s, const char *sql, const struct tk_arg *args,
        int64_t none, int64_t *out, struct tk_error *err);
/* Stores a row: an equal one (by uid, or key) is kept, replaced, or described anew, as its table
 * says (tables.c). id and uid of the given row are ignored; *id, which may be NULL, is that of the
 * stored row. */
int tk_store_put(struct tk_store *s, enum tk_table_id table, const void *row, int64_t *id,
        struct tk_error *err);
/* Runs SQL that returns nothing. */
int tk_store_run(
        struct tk_store *s, const char *sql, const struct tk_arg *args, struct tk_error *err);

/* ---- any columns, and functions of SQL ------------------------------------------------------- */

#define TK_QUERY_COLUMNS_MAX 64
struct tk_query_row {
	const char *names[TK_QUERY_COLUMNS_MAX];
	struct tk_arg values[TK_QUERY_COLUMNS_MAX];
	int count;
};
/* A query, a row at a time: *statement is NULL at first, and must be ended, also after an error.
 * The count of the row after the last one is 0. Its texts live until the next one. */
int tk_store_query_next(struct tk_store *s, const char *sql, const struct tk_arg *args,
        void **statement, struct tk_query_row *row, struct tk_error *err);
void tk_store_query_end(void *statement);
/* Calls `each` for every row of a query; its texts live until that returns. A status but 0 ends the
 * query and is returned. `each` must not run the same query. */
int tk_store_query(struct tk_store *s, const char *sql, const struct tk_arg *args,
        int (*each)(void *user, const struct tk_query_row *row, struct tk_error *err), void *user,
        struct tk_error *err);

/* What C knows of values, for the SQL of this handle: compute() returns a new text, or NULL for
 * NULL. A NULL and a number have the text "", a NULL and a text the number NAN. */
struct tk_sql_function {
	const char *name;
	int arg_count;
	char *(*compute)(const struct tk_arg *args);
	double (*number)(const struct tk_arg *args); /* instead; NAN: NULL */
};
int tk_store_add_function(
        struct tk_store *s, const struct tk_sql_function *f, struct tk_error *err);

#endif
