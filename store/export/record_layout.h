/* The record: one point (or one run without a value) with everything that names it, flat enough for
 * a table. Its fields are those of the tables below, "table.column", in this order: the export in
 * every format and the import of it are driven by this one list.
 *
 * Beside them stand the details, arrays of objects, each once: in the first record of their night
 * or build. */
#ifndef TK_STORE_RECORD_H
#define TK_STORE_RECORD_H
#include "store/db/internal.h"
#include <stdio.h>
#include <string.h>

/* Each may refer to those before it only. */
#define TK_RECORD_GROUPS(X) \
	X(machine) \
	X(device) \
	X(environment) \
	X(upstream) X(revision) X(build) X(problem) X(series) X(night) X(run) X(measurement)

/* name in the record, table, and the group that owns the rows */
#define TK_RECORD_DETAILS(X) \
	X("stages", stage, night) \
	X("answers", resolution, night) \
	X("ceilings", ceiling, night) \
	X("confirmations", confirmation, night) \
	X("culprits", culprit, night) X("kernels", kernel, build)

#define TK_RECORD_SAMPLES "samples"
/* The uid of the series that the run is of; null: of many. */
#define TK_RECORD_RUN_SERIES "run_series"

/* Whether the column is a field of its group: references are told by the groups, a point's time is
 * its run's. */
static inline bool tk_record_has_column(enum tk_table_id table, const struct tk_db_column *c)
{
	return c->kind != TK_COL_REF && !(table == TK_TABLE_measurement && (c->flags & TK_COL_KEY));
}

/* Whether an object in a row of a detail says, with its fields, what a column refers to: all but
 * the owner of the row; of what it refers to in turn, what the row does not say itself. The machine
 * is that of the night. */
static inline bool tk_record_has_nested_row(enum tk_table_id detail, enum tk_table_id owner,
        enum tk_table_id table, const struct tk_db_column *c)
{
	const struct tk_db_table *d = &tk_tables[detail];
	bool told = c->kind != TK_COL_REF || c->parent == owner || c->parent == TK_TABLE_machine;

	for (size_t i = 0; i < d->column_count && table != detail; i++)
		told |= d->columns[i].kind == TK_COL_REF && d->columns[i].parent == c->parent;
	return !told;
}

/* The name of that object: "good_build" of good_build_id. */
#define TK_RECORD_NAME_SIZE 64
static inline const char *tk_record_nested_name(
        const struct tk_db_column *c, char out[TK_RECORD_NAME_SIZE])
{
	snprintf(out, TK_RECORD_NAME_SIZE, "%.*s", (int)(strlen(c->name) - strlen("_id")), c->name);
	return out;
}

#endif
