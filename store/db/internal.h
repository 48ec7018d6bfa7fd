/* What the files of store/ share: the descriptors of the tables, the handle, and the generic insert
 * and select that both drive. */
#ifndef TK_STORE_INTERNAL_H
#define TK_STORE_INTERNAL_H
#include "base/error.h"
#include "store/store.h"
#include <sqlite3.h>

/* ---- tables: one descriptor each drives insert, select, check and export
 * ---------------------------------- */

/* Parents first: the order of the export, so that a reader can resolve every reference as it comes.
 */
/* clang-format off */
#define TK_TABLES(X) \
	X(machine) X(device) X(environment) X(upstream) X(revision) X(build) X(kernel) X(problem) X(series) X(night) \
	X(stage) X(resolution) X(run) X(job) X(measurement) X(sample) X(ceiling) X(confirmation) X(triage) X(notification) \
	X(change_point) X(verdict) X(alert) X(culprit) X(alarm) X(watched)
/* clang-format on */

enum tk_table_id {
#define TK_TABLE_ENUM(name) TK_TABLE_##name,
	TK_TABLES(TK_TABLE_ENUM)
#undef TK_TABLE_ENUM
	        TK_TABLE_COUNT
};

enum tk_column_kind {
	TK_COL_UID,  /* const char *: content hash of the KEY columns */
	TK_COL_TEXT, /* const char * */
	TK_COL_INT,  /* int64_t */
	TK_COL_U32,  /* uint32_t */
	TK_COL_REAL, /* double; what is not finite is NULL in the file and NAN in the row */
	TK_COL_REF,  /* int64_t: id of a row of `parent`; exported as its uid */
	TK_COL_BLOB, /* struct tk_bytes: packed float64, exported as numbers */
};

#define TK_COL_KEY \
	1u /* identifies the row: hashed into its uid, or its primary key where it has none */
#define TK_COL_NEWEST \
	2u /* describes, does not identify: follows the newest put that says anything */
#define TK_COL_NULLABLE 4u /* `none` in the row is NULL in the file */
#define TK_COL_LONG 8u     /* left out of lists */
#define TK_COL_RANKED \
	16u /* a word of which a later or worse one wins where two histories meet (merge.c) */

struct tk_db_column {
	const char *name;
	enum tk_column_kind kind;
	unsigned flags;
	size_t offset;
	int64_t none;
	enum tk_table_id parent;
};

enum tk_put_rule {
	TK_PUT_KEEP,    /* an equal row stays as it is, but for its NEWEST columns */
	TK_PUT_REPLACE, /* the new row takes the place of the one with the same key */
};

struct tk_db_table {
	const char *name;
	const struct tk_db_column *columns;
	size_t column_count;
	size_t row_size;
	bool has_id; /* an int64_t at the start of the row */
	bool has_uid;
	enum tk_put_rule rule;
};

#define TK_COLUMNS_MAX 24
#define TK_SAMPLES_MAX \
	((size_t)1 << 30) /* bytes of samples in one run: more is not a measurement */
/* A uid is the first 32 hex digits (128 bits) of a SHA-256. */
#define TK_UID_SIZE 33

extern const struct tk_db_table tk_tables[TK_TABLE_COUNT];

struct tk_bytes {
	const void *data;
	size_t size;
};

struct tk_sample_row {
	int64_t run_id, series_id;
	struct tk_bytes data;
};

/* ---- the handle
 * ---------------------------------------------------------------------------------------- */

struct tk_migration {
	const char *name;
	const char *sql;
};
extern const struct tk_migration tk_migrations[TK_STORE_SCHEMA];

enum tk_row_statement {
	TK_ROW_STATEMENT_PUT,
	TK_ROW_STATEMENT_FIND,
	TK_ROW_STATEMENT_UID,
	TK_ROW_STATEMENT_COUNT
};

struct tk_cached_query {
	enum tk_table_id table;
	const char *tail; /* compared by content */
	sqlite3_stmt *stmt;
};

struct tk_store {
	sqlite3 *db;
	char *path;
	bool read_only;
	bool damaged;      /* SQLite met a page that cannot be read */
	int reading;       /* tk_store_begin_read() */
	int depth;         /* of nested transactions */
	bool doomed;       /* an inner one was rolled back: the outermost cannot commit */
	int doomed_status; /* why */
	sqlite3_stmt *verbs[TK_TABLE_COUNT][TK_ROW_STATEMENT_COUNT];
	struct tk_cached_query *queries;
	size_t query_count, query_cap;
	struct tk_point_collector *gathering; /* query_pages.c: what the SQL function adds points
	                                         to; NULL: none in hand */
	bool can_gather;                      /* the function is there */
	/* The last parent looked up in each table: a night's results all have the same few. */
	struct {
		int64_t id;
		char uid[TK_UID_SIZE];
	} seen[TK_TABLE_COUNT];
};

/* ---- database.c
 * ---------------------------------------------------------------------------------------- */

/* Writes "PATH: what: why" with the status that belongs to SQLite's code rc. */
int tk_db_fail(struct tk_store *s, int rc, struct tk_error *err, const char *fmt, ...)
        __attribute__((format(printf, 4, 5)));
int tk_db_exec(struct tk_store *s, const char *sql, struct tk_error *err); /* constant text only */
int tk_db_prepare(struct tk_store *s, const char *sql, sqlite3_stmt **out, struct tk_error *err);
int tk_db_get_int(struct tk_store *s, const char *sql, int64_t *out,
        struct tk_error *err); /* the one number it selects */
/* A statement that is kept: for the n bound integers of args. tail is the statement where table is
 * TK_TABLE_COUNT, else what follows "SELECT ... FROM table". */
int tk_db_prepare_cached(struct tk_store *s, enum tk_table_id table, const char *tail,
        const int64_t *args, int arg_count, sqlite3_stmt **out, struct tk_error *err);
/* Runs a kept statement that returns nothing. */
int tk_db_run_cached(struct tk_store *s, const char *sql, const int64_t *args, int arg_count,
        struct tk_error *err);
int tk_db_check_writable(struct tk_store *s, struct tk_error *err);
/* Ends a transaction: commits where status is 0, rolls back otherwise. Returns status or what the
 * commit said. */
int tk_db_end_transaction(struct tk_store *s, int status, struct tk_error *err);
void tk_db_finalize_statements(struct tk_store *s); /* closes every kept statement */

/* ---- migrate.c
 * ----------------------------------------------------------------------------------------- */

int tk_db_read_version(struct tk_store *s, int64_t *version,
        struct tk_error *err); /* 0: empty file; refuses foreign and newer ones */
int tk_db_migrate(struct tk_store *s, int64_t from, const struct tk_migration *migrations,
        int64_t to, struct tk_error *err);

/* ---- row.c
 * --------------------------------------------------------------------------------------------- */

int tk_row_put(struct tk_store *s, enum tk_table_id table, const void *row, int64_t *id,
        bool *fresh, struct tk_error *err);
/* The uid that a row with these values has. */
int tk_row_compute_uid(struct tk_store *s, enum tk_table_id table, const void *row,
        char uid[TK_UID_SIZE], struct tk_error *err);
int tk_row_find_uid(struct tk_store *s, enum tk_table_id table, int64_t id, char uid[TK_UID_SIZE],
        struct tk_error *err);
int tk_row_exists(struct tk_store *s, enum tk_table_id table, const char *uid, bool *out,
        struct tk_error *err);
int tk_rows_select(struct tk_store *s, enum tk_table_id table, const char *tail,
        const int64_t *args, int arg_count, struct tk_rows *out, struct tk_error *err);

/* ---- list.c
 * -------------------------------------------------------------------------------------------- */

struct tk_rows_builder {
	struct tk_rows *out;
	size_t row_size, cap;
};
void *tk_rows_add(struct tk_rows_builder *list); /* a zeroed row; NULL: out of memory */
char *tk_rows_add_text(struct tk_rows_builder *list, const char *text,
        size_t len); /* a copy that lives as long as the list */
void tk_rows_shrink(struct tk_rows_builder *list);

/* ---- damage.c
 * ------------------------------------------------------------------------------------------ */

/* A row of a list of const char *. */
int tk_db_add_problem(struct tk_rows_builder *list, struct tk_error *err, const char *fmt, ...)
        __attribute__((format(printf, 3, 4)));
/* What SQLite finds wrong with the pages, by tables. */
int tk_db_check_pages(struct tk_store *s, struct tk_rows_builder *list, struct tk_error *err);

/* ---- text.c
 * -------------------------------------------------------------------------------------------- */

/* A copy with U+FFFD for what is not UTF-8; NULL where the text is well-formed as it is. *failed:
 * out of memory. */
char *tk_text_repair_utf8(const char *text, bool *failed);

/* ---- slug.c
 * -------------------------------------------------------------------------------------------- */

char *tk_slug_make_series(
        struct tk_store *s, const struct tk_series_row *row, const char *uid, struct tk_error *err);
char *tk_slug_make_device(
        struct tk_store *s, const struct tk_device_row *row, const char *uid, struct tk_error *err);

/* The length of the end of a uid in a slug, with its dash: what merge.c takes off and puts on
 * again. */
#define TK_SLUG_TAIL_LEN 7
#define TK_SLUG_MAX_LEN 120

/* ---- upkeep.c
 * ------------------------------------------------------------------------------------------ */

int tk_db_copy_file(struct tk_store *s, const char *to, struct tk_error *err);

#endif
