/* Rows of any table between structs and SQLite, by the descriptors of tables.h. */
#ifndef TK_STORE_ROW_IO_H
#define TK_STORE_ROW_IO_H
#include "store/db/handle.h"

/* ---- row_io.c: one row ----------------------------------------------------------------------- */

/* *inserted (may be NULL): false where an equal row was there. *id (may be NULL): of that row. */
int tk_row_put(struct tk_store *s, enum tk_table_id table, const void *row, int64_t *id,
        bool *inserted, struct tk_error *err);
int tk_row_find_uid(struct tk_store *s, enum tk_table_id table, int64_t id, char uid[TK_UID_SIZE],
        struct tk_error *err);
/* All rows of "SELECT all columns FROM table tail". */
int tk_rows_select(struct tk_store *s, enum tk_table_id table, const char *tail,
        const struct tk_arg *args, struct tk_rows *out, struct tk_error *err);

/* ---- select.c: the memory of a list ---------------------------------------------------------- */

struct tk_rows_builder {
	struct tk_rows *out;
	size_t row_size, cap;
};
void *tk_rows_add(struct tk_rows_builder *rows); /* a zeroed row; NULL: out of memory */
/* Room for rows to come; without memory for it there is none. */
void tk_rows_reserve(struct tk_rows_builder *rows, size_t cap);
/* A copy that lives as long as the list. NULL: out of memory. */
char *tk_rows_add_text(struct tk_rows_builder *rows, const char *text, size_t len);
void tk_rows_shrink(struct tk_rows_builder *rows);

#endif
