/* What the files of store/ share. */
#ifndef TK_STORE_INTERNAL_H
#define TK_STORE_INTERNAL_H
#include "store/db/handle.h"
#include "store/db/row_io.h"

struct tk_buf;

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

#endif
