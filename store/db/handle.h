/* The handle of a history, and access to SQLite through it: statements, transactions, errors. */
#ifndef TK_STORE_HANDLE_H
#define TK_STORE_HANDLE_H
#include "base/error.h"
#include "store/db/tables.h"
#include <sqlite3.h>

struct tk_buf;

/* store/schema.sql and store/views.sql, with a NUL. */
extern const unsigned char tk_schema_sql[], tk_views_sql[];

/* The statements that a handle keeps for each table. */
enum tk_table_statement {
	/* row_io.c */
	TK_STATEMENT_PUT,
	TK_STATEMENT_FIND,
	TK_STATEMENT_UID,
	/* merge/merge_rows.c */
	TK_STATEMENT_MERGE_READ,
	TK_STATEMENT_MERGE_FIND,
	TK_STATEMENT_MERGE_INSERT,
	TK_STATEMENT_MERGE_UPDATE,
	/* export/export_tables.c */
	TK_STATEMENT_EXPORT,
	TK_STATEMENT_COUNT
};

struct tk_cached_query {
	char *sql;
	sqlite3_stmt *stmt;
};

/* More than a history has nights: an import refers to the run of every night again for each
 * series. */
#define TK_KNOWN_UIDS 4096

struct tk_known_uid {
	int64_t id;
	uint64_t generation; /* of the handle when it was stored; valid while the two are equal */
	char uid[TK_UID_SIZE];
};

struct tk_store {
	sqlite3 *db;
	char *path;
	bool read_only;
	bool is_temporary; /* made by this process alone: its schema needs no check */
	bool is_trusted;   /* all its rows were written by this process: nor do they */
	int64_t lock_deadline_ns, lock_least_ns; /* of a wait for another writer */
	int64_t lock_wait_start_ns;
	bool is_damaged;   /* SQLite met a page that cannot be read */
	int read_depth;    /* of tk_store_begin_read() */
	int depth;         /* of nested transactions */
	bool doomed;       /* an inner transaction was rolled back: the outermost cannot commit */
	int doomed_status; /* why */
	sqlite3_stmt *table_statements[TK_TABLE_COUNT][TK_STATEMENT_COUNT];
	struct tk_cached_query *queries;
	size_t query_count, query_cap;
	struct tk_rows kept; /* the strings of tk_store_get() */
	/* Records of another tracker before they are merged into this history; empty between two
	 * imports. NULL: none yet. */
	struct tk_store *scratch;
	struct tk_point_collector *point_collector; /* query/points.c; NULL: no query in progress */
	bool has_collect_functions;
	/* Uids that were looked up, at id % TK_KNOWN_UIDS; NULL: none of the table. */
	struct tk_known_uid *known_uids[TK_TABLE_COUNT];
	uint64_t uid_generation; /* from 1 */
};

/* ---- lock.c ---------------------------------------------------------------------------------- */

void tk_db_install_lock_wait(struct tk_store *s);

/* ---- sqlite_error.c -------------------------------------------------------------------------- */

/* Writes "PATH: what: why" with the status that belongs to SQLite's result code. */
int tk_db_fail(struct tk_store *s, int code, struct tk_error *err, const char *fmt, ...)
        __attribute__((format(printf, 4, 5)));

/* ---- statement.c ----------------------------------------------------------------------------- */

int tk_db_exec(struct tk_store *s, const char *sql, struct tk_error *err); /* constant SQL only */
int tk_db_prepare(struct tk_store *s, const char *sql, sqlite3_stmt **out, struct tk_error *err);
/* The statement of a table, which is kept; `add_sql` makes its text at the first call. The caller
 * resets it. */
int tk_db_prepare_table_statement(struct tk_store *s, enum tk_table_id table,
        enum tk_table_statement which,
        void (*add_sql)(struct tk_buf *sql, const struct tk_db_table *t), sqlite3_stmt **out,
        struct tk_error *err);
/* A statement that is kept, with its parameters bound: texts are not copied. The caller resets
 * it. */
int tk_db_prepare_args(struct tk_store *s, const char *sql, const struct tk_arg *args,
        sqlite3_stmt **out, struct tk_error *err);
void tk_db_finalize_statements(struct tk_store *s); /* closes every kept statement */

/* ---- row_io.c -------------------------------------------------------------------------------- */

/* A rollback gives ids back: they can become those of other rows. */
void tk_db_forget_uids(struct tk_store *s);
void tk_db_free_uids(struct tk_store *s);

/* ---- transaction.c --------------------------------------------------------------------------- */

int tk_db_check_writable(struct tk_store *s, struct tk_error *err);
/* Commits where status is 0, else rolls back. Returns status, or that of the commit. */
int tk_db_end_transaction(struct tk_store *s, int status, struct tk_error *err);

#endif
