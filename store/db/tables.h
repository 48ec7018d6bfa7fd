/* What the files of store/ share: the descriptors of the tables, the handle, and the generic insert
 * and select that both drive. */
#ifndef TK_STORE_TABLES_H
#define TK_STORE_TABLES_H
#include "store/kernel_report.h"
#include "store/store.h"
#include "store/tuning.h"

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
/* Rows of verdict_v and alert_v. */
extern const struct tk_row_type tk_verdict_v_type, tk_alert_v_type;

struct tk_bytes {
	const void *data;
	size_t size;
};

struct tk_sample_row {
	int64_t run_id, series_id;
	struct tk_bytes data;
};

#endif
