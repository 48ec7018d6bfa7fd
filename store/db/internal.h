/* What the files of store/ share: the descriptors of the tables, the handle, statements, rows. */
#ifndef TK_STORE_INTERNAL_H
#define TK_STORE_INTERNAL_H
#include "base/base.h"
#include "store/tuning.h"
#include <sqlite3.h>

/* ---- tables: one descriptor each drives insert, select, check and export --------------------- */

enum tk_put_rule {
	TK_PUT_KEEP,    /* an equal row is kept; only its NEWEST columns change */
	TK_PUT_REPLACE, /* the new row takes the place of the one with the same key */
};

struct tk_db_table {
	const char *name;
	const struct tk_db_column *columns;
	size_t column_count;
	size_t row_size;
	const char *order; /* of lists */
	bool has_id;       /* an int64_t at the start of the row */
	bool has_uid;
	enum tk_put_rule rule;
};

#define TK_COLUMNS_MAX 48
#define TK_SELECT_COLUMNS_MAX 64
#define TK_SAMPLES_MAX \
	((size_t)1 << 30) /* bytes of samples in one run: more is not a measurement */
/* Of a text. The end of a build log, the longest that a night stores, has 64 KiB. */
#define TK_TEXT_MAX_BYTES 1048576
/* Times before and after are the mistakes of a converter: 0, the years 1 and 9999. */
#define TK_TIME_MIN_S 1
#define TK_TIME_END_S 7258118400 /* 2200-01-01 */
/* A uid is the first 32 hex digits (128 bits) of a SHA-256. */
#define TK_UID_SIZE 33
/* A checksum is the first 16 hex digits (64 bits) of a SHA-256. */
#define TK_CHECKSUM_DIGITS 16

extern const struct tk_db_table tk_tables[TK_TABLE_COUNT];

struct tk_bytes {
	const void *data;
	size_t size;
};

/* Samples of a run, packed. The caller frees those that are unpacked; NULL where there are none. */
int tk_samples_put(struct tk_store *s, int64_t run_id, int64_t series_id, const double *samples,
        size_t count, struct tk_error *err);
int tk_samples_unpack(
        const struct tk_bytes *packed, double **samples, size_t *count, struct tk_error *err);

struct tk_sample_row {
	int64_t run_id, series_id;
	struct tk_bytes data;
};

/* store/schema.sql and store/views.sql, with a NUL. */
extern const unsigned char tk_schema_sql[], tk_views_sql[];

/* The statements that a handle keeps for each table. */
enum tk_table_statement {
	/* row_io.c */
	TK_STATEMENT_PUT,
	TK_STATEMENT_FIND,
	/* merge/merge.c */
	TK_STATEMENT_MERGE_READ,
	TK_STATEMENT_MERGE_FIND,
	TK_STATEMENT_MERGE_INSERT,
	TK_STATEMENT_MERGE_UPDATE,
	/* export/export.c */
	TK_STATEMENT_EXPORT,
	TK_STATEMENT_COUNT
};

struct tk_cached_query {
	char *sql;
	const char *given; /* where the text was at first; compared only */
	sqlite3_stmt *stmt;
};

#define TK_KNOWN_UIDS 4096 /* of a table */
struct tk_known_uid {
	int64_t id;
	char uid[TK_UID_SIZE];
};

struct tk_point_collector { /* see store/query/points.c */
	struct tk_rows_builder *points;
	int64_t series_id;
	bool is_known; /* to SQLite */
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
	struct tk_point_collector collector;
	/* For checksums, by table and id % TK_KNOWN_UIDS; NULL where rows with a uid can change. */
	struct tk_known_uid (*known_uids)[TK_KNOWN_UIDS];
	/* Nights that this transaction has changed, some more than once. */
	struct tk_touched {
		int64_t night_id, sum; /* of the hashes of its new measurements */
	} * touched;
	size_t touched_count, touched_cap;
	/* Records of another tracker before they are merged into this history; empty between two
	 * imports. NULL: none yet. */
	struct tk_store *scratch;
};

/* ---- statement.c ---------------------------------------------------------------------------- */

/* Writes "PATH: what: why" with the status that belongs to SQLite's result code. */
int tk_db_fail(struct tk_store *s, int code, struct tk_error *err, const char *fmt, ...)
        __attribute__((format(printf, 4, 5)));

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
int tk_db_end_write(struct tk_store *s, struct tk_error *err);
void tk_db_finalize_statements(struct tk_store *s); /* closes every kept statement */

/* ---- transactions ---------------------------------------------------------------------------- */

int tk_db_check_writable(struct tk_store *s, struct tk_error *err);

/* ---- row_io.c: one row ----------------------------------------------------------------------- */

/* *inserted (may be NULL): false where an equal row was there. *id (may be NULL): of that row. */
int tk_row_put(struct tk_store *s, enum tk_table_id table, const void *row, int64_t *id,
        bool *inserted, struct tk_error *err);

/* ---- select.c: the memory of a list ---------------------------------------------------------- */

struct tk_rows_builder {
	struct tk_rows *out;
	size_t row_size, cap;
};
void *tk_rows_add(struct tk_rows_builder *rows); /* a zeroed row */
/* A copy that lives as long as the list. */
char *tk_rows_add_text(struct tk_rows_builder *rows, const char *text, size_t len);

/* ---- points.c -------------------------------------------------------------------------------- */

void tk_points_reverse(struct tk_rows *points); /* struct tk_point */
/* The points that a query collects: TK_POINTS() of what follows "series_id=?1 AND as_of_s". */
int tk_points_read(struct tk_store *s, const char *sql, const struct tk_arg *args,
        struct tk_rows *out, struct tk_error *err);
/* The columns of a point of a past month on a page, and of a whole one. */
#define TK_POINT_SHORT "as_of_s, value, lo, hi, p95, night_id, build_id, environment_id, flags"
#define TK_POINT_WHOLE TK_POINT_SHORT ", run_id, n, min, q25, q75"
#define TK_POINTS(tail) \
	"SELECT tk_collect_point(" TK_POINT_WHOLE ") FROM (SELECT " TK_POINT_WHOLE \
	" FROM measurement WHERE series_id=?1 AND as_of_s" tail ")"

/* ---- open.c ---------------------------------------------------------------------------------- */

/* An empty history in memory, which SQLite moves to a nameless file when it grows. */
int tk_db_open_temporary(struct tk_store **out, struct tk_error *err);

/* ---- checksum.c ------------------------------------------------------------------------------ */

int tk_checksum_register(struct tk_store *s, struct tk_error *err);
int tk_verdict_reason_register(struct tk_store *s, struct tk_error *err); /* verdicts.c */
/* Add the expression for the checksum and the uid of a row of `t`: of the parameters, where ?1 is
 * the first column, or of the row that is selected. */
void tk_checksum_add_sql(struct tk_buf *sql, const struct tk_db_table *t, bool of_parameters);
void tk_uid_add_sql(struct tk_buf *sql, const struct tk_db_table *t, bool of_parameters);

/* ---- digest.c -------------------------------------------------------------------------------- */

int tk_digest_register(struct tk_store *s, struct tk_error *err);
/* Keeps the sums of all tables from now on, in a connection that writes. */
int tk_digest_watch(struct tk_store *s, struct tk_error *err);
/* Adds the nights that were touched to the chain; within the transaction. */
int tk_digest_seal(struct tk_store *s, struct tk_error *err);
/* `each` gets the queries whose rows are problems, as text. */
int tk_digest_check(struct tk_store *s,
        int (*each)(void *user, const char *sql, struct tk_error *err), void *user,
        struct tk_error *err);

/* ---- check.c --------------------------------------------------------------------------------- */

/* TK_EDATA: the schema or a row is not as the tracker writes it; the message names the first. A row
 * that refers to a lost one is none of these. */
int tk_store_verify(struct tk_store *s, struct tk_error *err);
/* The same of the schema alone. */
int tk_schema_verify(struct tk_store *s, struct tk_error *err);

/* ---- catalog/slug.c -------------------------------------------------------------------------- */

int tk_slug_register(struct tk_store *s, struct tk_error *err);
/* Of a new row, whose device has the slug that was asked for. */
int tk_slug_set_device(struct tk_store *s, int64_t id, struct tk_error *err);
int tk_slug_set_series(struct tk_store *s, int64_t id, struct tk_error *err);
/* Of all devices and series, after a merge or a new name of a machine. */
int tk_slug_update_all(struct tk_store *s, struct tk_error *err);

/* ---- row_io.c: row ids to row ids ----------------------------------------------------------- */

/* Its memory follows the number of entries, not the size of the ids: the ids of a foreign file can
 * be any 64-bit number. */
struct tk_id_entry {
	int64_t from, to; /* from 0: an empty slot */
};

struct tk_id_map {
	struct tk_id_entry *slots; /* a power of two, at most half full */
	size_t count, cap;
};

/* Returns 0 where `from` is not in the map. */
int64_t tk_id_map_get(const struct tk_id_map *map, int64_t from);
/* Replaces an entry. TK_EDATA: `from` is not positive, as every id of a history is. */
int tk_id_map_set(struct tk_id_map *map, int64_t from, int64_t to, struct tk_error *err);
void tk_id_map_free(struct tk_id_map *map);

#endif
