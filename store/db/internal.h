/* What the files of store/ share. */
#ifndef TK_STORE_INTERNAL_H
#define TK_STORE_INTERNAL_H
#include "base/hash.h"
#include "store/db/handle.h"
#include "store/db/row_io.h"

struct tk_buf;

/* ---- open.c ---------------------------------------------------------------------------------- */

/* An empty history in memory, which SQLite moves to a nameless file when it grows. */
int tk_db_open_temporary(struct tk_store **out, struct tk_error *err);

/* ---- damage.c -------------------------------------------------------------------------------- */

/* Adds a row to a list of const char *. */
int tk_db_add_problem(struct tk_rows_builder *rows, struct tk_error *err, const char *fmt, ...)
        __attribute__((format(printf, 3, 4)));
/* Adds what SQLite finds wrong with the pages, by tables. */
int tk_db_check_pages(struct tk_store *s, struct tk_rows_builder *rows, struct tk_error *err);

/* ---- checksum.c ------------------------------------------------------------------------------ */

int tk_checksum_register(struct tk_store *s, struct tk_error *err);
int tk_verdict_reason_register(struct tk_store *s, struct tk_error *err); /* verdicts.c */
/* Adds the expression for the checksum of a row of `t`: of the parameters, where ?1 is the first
 * column, or of the row that is selected. */
void tk_checksum_add_sql(struct tk_buf *sql, const struct tk_db_table *t, bool of_parameters);
/* Adds each measurement, tuning and kernel report that differs from its checksum, until the list
 * has `most` rows. */
int tk_checksum_list_changed(
        struct tk_store *s, struct tk_rows_builder *list, size_t most, struct tk_error *err);

/* ---- schema.c -------------------------------------------------------------------------------- */

/* Adds each trigger, view, index and table that no history has, and each that is missing or defined
 * differently, until the list has `most` rows. enforced_only: not the tables that the tracker does
 * not know, which `sqlite3 .recover` makes and nothing reads. *readable false: a table of the
 * tracker is among them. */
int tk_schema_list_differences(struct tk_store *s, bool enforced_only, struct tk_rows_builder *list,
        size_t most, bool *readable, struct tk_error *err);

/* ---- check.c --------------------------------------------------------------------------------- */

/* TK_EDATA: the schema or a row is not as the tracker writes it; the message names the first. A row
 * that refers to a lost one is none of these. */
int tk_store_verify(struct tk_store *s, struct tk_error *err);
/* The same of the schema alone. */
int tk_schema_verify(struct tk_store *s, struct tk_error *err);

/* ---- catalog/slug.c -------------------------------------------------------------------------- */

int tk_slug_register(struct tk_store *s, struct tk_error *err);
/* Slugs become file names and addresses: whether the tracker could have made it. */
bool tk_slug_is_valid(const char *slug);
/* Of a new row, whose device has the slug that was asked for. */
int tk_slug_set_device(struct tk_store *s, int64_t id, struct tk_error *err);
int tk_slug_set_series(struct tk_store *s, int64_t id, struct tk_error *err);
/* Of all devices and series, after a merge or a new name of a machine. */
int tk_slug_update_all(struct tk_store *s, struct tk_error *err);

#endif
