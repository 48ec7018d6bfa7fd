/* What export_records.c and record_details.c share. */
#ifndef TK_STORE_EXPORT_INTERNAL_H
#define TK_STORE_EXPORT_INTERNAL_H
#include "store/db/id_map.h"
#include "store/export/record.h"
#include "store/export/record_writer.h"

struct tk_record_export {
	struct tk_store *store;
	struct tk_record_writer writer;
	struct tk_id_map nights, builds; /* those whose details are written */
	struct tk_id_map places;         /* likewise: devices with problems, see record_details.c */
};

/* The rows of a table as tk_store_export() writes them: references as uids, in an order that does
 * not depend on ids. Kept by the handle; the caller resets it. */
int tk_export_prepare_table(
        struct tk_store *s, enum tk_table_id table, sqlite3_stmt **out, struct tk_error *err);

/* Adds the fields of a table to the columns of a SELECT. *lead: what separates them from those
 * before. */
void tk_record_add_columns(
        struct tk_buf *sql, enum tk_table_id table, const char *alias, const char **lead);
/* The fields of a table from the columns at *column on, which it advances. null if the first one, a
 * uid or a value, is null. *status: see tk_export_set(). */
json_t *tk_record_read_group(sqlite3_stmt *stmt, enum tk_table_id table, int *column, int *status);

/* What a record is of; 0: none. */
struct tk_record_owners {
	int64_t night_id, build_id, device_id, problem_id;
};
/* Adds every detail to a record: as an array the first time its owner occurs, else as null. */
int tk_record_add_details(struct tk_record_export *x, const struct tk_record_owners *owners,
        json_t *record, struct tk_error *err);

#endif
