/* What the files of store/ share: the descriptors of the tables, the handle, and the generic insert
 * and select that both drive. */
#ifndef TK_STORE_TABLES_H
#define TK_STORE_TABLES_H
#include "store/kernel_report.h"
#include "store/store.h"
#include "store/tuning.h"

/* ---- tables: one descriptor each drives insert, select, check and export --------------------- */

/* Parents first: the order of the export, so that a reader can resolve every reference as it comes.
 */
/* clang-format off */
#define TK_TABLES(X) \
	X(machine) X(device) X(environment) X(upstream) X(revision) X(build) X(kernel) X(problem) \
	X(series) X(night) X(stage) X(resolution) X(run) X(job) X(measurement) X(sample) \
	X(ceiling) X(ab_pair) X(tuning) X(kernel_report) X(triage) X(notification) X(change_point) \
	X(verdict) X(alert) X(bisection) X(monitor_event) X(monitored_night)
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
	TK_COL_WORD, /* an enum, one of `words` in the file; another word is read as words->count */
	TK_COL_INT,  /* int64_t */
	TK_COL_U32,  /* uint32_t */
	TK_COL_REAL, /* double; what is not finite is NULL in the file and NAN in the row */
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

struct tk_db_column {
	const char *name;
	enum tk_column_kind kind;
	unsigned flags;
	size_t offset;
	int64_t none;
	enum tk_table_id parent;
	const struct tk_vocabulary *words; /* of WORD, and of TEXT that may be a word; else NULL */
	const char *old_name;              /* in records of format 1; NULL: the same */
};

enum tk_put_rule {
	TK_PUT_KEEP,    /* an equal row is kept; only its NEWEST columns change */
	TK_PUT_REPLACE, /* the new row takes the place of the one with the same key */
};

struct tk_db_table {
	const char *name;
	const char *uid_name; /* hashed into uids: the original name of the table */
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

struct tk_sample_row {
	int64_t run_id, series_id;
	struct tk_bytes data;
};

#endif
