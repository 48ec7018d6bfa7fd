/* What the files of store/merge/ share. */
#ifndef TK_STORE_MERGE_INTERNAL_H
#define TK_STORE_MERGE_INTERNAL_H
#include "store/db/id_map.h"
#include "store/db/internal.h"

struct tk_buf;

struct tk_merge {
	struct tk_store *from, *into;
	struct tk_id_map ids[TK_TABLE_COUNT]; /* from ids of `from` to ids of `into` */
	struct tk_merge_counts *counts;
};

/* ---- merge_rows.c: all rows of one table ----------------------------------------------------- */

int tk_merge_table(struct tk_merge *m, enum tk_table_id table, struct tk_error *err);

/* ---- merge_sql.c: statements from descriptors. Parameter i + 1 is column i ------------------- */

/* The id (or 0) and all columns of every row. */
void tk_merge_select_sql(struct tk_buf *sql, const struct tk_db_table *t);
void tk_merge_insert_sql(struct tk_buf *sql, const struct tk_db_table *t);
/* The id of the row with the uid (or the key) of the parameters. */
void tk_merge_find_sql(struct tk_buf *sql, const struct tk_db_table *t);
/* Updates the equal row if the parameters have greater values. */
void tk_merge_update_sql(struct tk_buf *sql, const struct tk_db_table *t);
/* Whether the row has descriptive columns besides those that identify it. */
bool tk_merge_has_description(const struct tk_db_table *t);

#endif
