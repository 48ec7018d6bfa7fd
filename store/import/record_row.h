/* Rows from the JSON objects of a record, by the descriptors of the tables. */
#ifndef TK_STORE_RECORD_ROW_H
#define TK_STORE_RECORD_ROW_H
#include "store/import/import.h"

/* Large enough for the row of every group. */
union tk_record_row {
	int64_t id;
	char bytes[512];
	struct tk_revision_row aligned;
};

struct tk_record_reader {
	const struct tk_import_file *file;
	size_t line;
	int64_t record_count;
	struct tk_store *store;
	struct tk_store *into;       /* where the records go in the end */
	const char *machine;         /* instead of the name in the records; NULL: that name */
	bool has_other_identity;     /* the machine has another uid than in the records */
	int64_t ids[TK_TABLE_COUNT]; /* of the rows that the current record refers to */
};

/* "FILE:LINE: GROUP.FIELD: what"; group "": a field of the record itself. TK_EDATA. */
int tk_record_fail(const struct tk_record_reader *r, struct tk_error *err, const char *group,
        const char *field, const char *what);
/* The same with "expected WHAT, found VALUE". */
int tk_record_fail_expected(const struct tk_record_reader *r, struct tk_error *err,
        const char *group, const char *field, const char *what, const json_t *value);

/* The object as a row. Its references are refs[column], or r->ids where refs is NULL. Strings of
 * the row belong to the object. */
int tk_record_read_row(const struct tk_record_reader *r, enum tk_table_id table,
        const int64_t *refs, const json_t *object, union tk_record_row *row, struct tk_error *err);

/* Stores the object and sets r->ids[table]. */
int tk_record_put_row(struct tk_record_reader *r, enum tk_table_id table, const int64_t *refs,
        const json_t *object, struct tk_error *err);

#endif
