/* A record is one point (or one run without a value) with all rows that identify it, flat enough
 * for a table. Its fields are the columns of the groups below, "group.column", in this order.
 * Export and import in every format are driven by this list.
 *
 * Details are arrays of objects beside the groups. Each is written once: in the first record of its
 * night or build; those of a device in the first record of that device and their problem. */
#ifndef TK_STORE_RECORD_H
#define TK_STORE_RECORD_H
#include "base/base.h"
#include "store/db/internal.h"

/* Each group refers to groups before it only. */
#define TK_RECORD_GROUPS(X) \
	X(machine) \
	X(device) \
	X(environment) \
	X(upstream) X(revision) X(build) X(problem) X(series) X(night) X(run) X(measurement)

/* Name in the record, table, and the group that owns the rows. */
#define TK_RECORD_DETAILS(X) \
	X("stages", stage, night) \
	X("resolutions", resolution, night) \
	X("ceilings", ceiling, night) \
	X("ab_pairs", ab_pair, night) \
	X("bisections", bisection, night) \
	X("kernels", kernel, build) \
	X("kernel_reports", kernel_report, device) \
	X("tunings", tuning, device)

struct tk_record_detail {
	const char *name;
	enum tk_table_id table, owner;
};

#define TK_RECORD_COUNT_ONE(...) +1
#define TK_RECORD_GROUP_COUNT (0 TK_RECORD_GROUPS(TK_RECORD_COUNT_ONE))
#define TK_RECORD_DETAIL_COUNT (0 TK_RECORD_DETAILS(TK_RECORD_COUNT_ONE))
extern const enum tk_table_id tk_record_groups[TK_RECORD_GROUP_COUNT];
extern const struct tk_record_detail tk_record_details[TK_RECORD_DETAIL_COUNT];

/* The version of the layout, in every record. */
#define TK_RECORD_FORMAT "format"
#define TK_RECORD_FORMAT_VERSION 2

#define TK_RECORD_SAMPLES "samples"
/* The uid of the series that the run belongs to; null: the run has points of many series. */
#define TK_RECORD_RUN_SERIES "run_series"

/* Whether the column is a field of its group. References follow from the groups, and the time of a
 * point from its run. */
bool tk_record_has_column(enum tk_table_id table, const struct tk_db_column *c);

/* Whether a row of a detail holds the row that column c of `table` refers to as an object. `table`
 * is the detail itself, or a table that it refers to. The owner, the machine (that of the night)
 * and what the detail refers to by itself are not repeated. */
bool tk_record_has_nested_row(enum tk_table_id detail, enum tk_table_id owner,
        enum tk_table_id table, const struct tk_db_column *c);

/* The name of that object: "base_build" for base_build_id. Returns out. */
#define TK_RECORD_NAME_SIZE 64
const char *tk_record_nested_name(const struct tk_db_column *c, char out[TK_RECORD_NAME_SIZE]);

/* ---- export.c: JSON on its way to a file descriptor -------------------------------------------
 */

struct tk_export_output {
	int fd;
	struct tk_buf buf;
};
/* The rows of a table as tk_store_export() writes them. Kept by the handle; the caller resets it.
 */
int tk_export_prepare_table(
        struct tk_store *s, enum tk_table_id table, sqlite3_stmt **out, struct tk_error *err);
void tk_export_add_json(struct tk_export_output *o, const json_t *value); /* compact */
/* Writes the added text, always or only if it is large. */
int tk_export_flush(struct tk_export_output *o, bool always, struct tk_error *err);
/* Adds the expression that selects a column: checksums as hex digits, because readers of JSON round
 * large integers. */
void tk_export_add_column_sql(
        struct tk_buf *sql, const struct tk_db_column *column, const char *alias);
/* A column of a result, as a new reference; packed samples become an array of numbers. */
json_t *tk_export_column(sqlite3_stmt *stmt, int column);

#endif
