/* The record: one point (or one run without a value) with everything that names it, flat enough for a table. Its fields
 * are those of the tables below, "table.column", in this order: the export in every format and the import of it are
 * driven by this one list.
 *
 * Beside them stand the details, arrays of objects, each once: in the first record of their night or build. */
#ifndef TK_STORE_RECORD_H
#define TK_STORE_RECORD_H
#include "internal.h"

/* Each may refer to those before it only. */
#define TK_RECORD_GROUPS(X) \
	X(machine) \
	X(device) X(environment) X(upstream) X(revision) X(build) X(problem) X(series) X(night) X(run) X(measurement)

/* name in the record, table, the group that owns the rows, and the groups whose fields stand in each of its rows */
#define TK_RECORD_DETAILS(X) \
	X("stages", stage, night) \
	X("answers", resolution, night) X("ceilings", ceiling, night) X("kernels", kernel, build)

#define TK_RECORD_SAMPLES "samples"
/* The uid of the series that the run is of; null: of many. */
#define TK_RECORD_RUN_SERIES "run_series"

/* Whether the column is a field of its group: references are told by the groups, a point's time is its run's. */
static inline bool tk_record_has(enum tk_table_id table, const struct tk_db_column *c)
{
	return c->kind != TK_COL_REF && !(table == TK_TABLE_measurement && (c->flags & TK_COL_KEY));
}

#endif
