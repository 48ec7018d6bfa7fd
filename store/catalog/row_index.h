/* Rows of one table by id: the only index of rows in memory. */
#ifndef TK_STORE_ROW_INDEX_H
#define TK_STORE_ROW_INDEX_H
#include "store/store.h"

struct tk_row_index_entry {
	int64_t id;
	const void *row;
};
struct tk_row_index {
	struct tk_row_index_entry *entries; /* by id */
	size_t count;
};

/* `rows`: structs of row_size bytes that begin with their id. They must outlive the index. */
void tk_row_index_build(
        struct tk_row_index *index, const void *rows, size_t count, size_t row_size);
/* NULL: none. */
const void *tk_row_index_find(const struct tk_row_index *index, int64_t id);
/* After entries were written by the caller. Entries of equal ids are ordered by address. */
void tk_row_index_sort(struct tk_row_index *index);
void tk_row_index_free(struct tk_row_index *index);

/* A table that was read as a whole, with its index. */
struct tk_id_table {
	struct tk_rows rows; /* in the order of the query */
	struct tk_row_index by_id;
};

int tk_id_table_load(
        struct tk_id_table *table, struct tk_store *s, enum tk_table_id id, struct tk_error *err);
const void *tk_id_table_find(const struct tk_id_table *table, int64_t id); /* NULL: none */
void tk_id_table_free(struct tk_id_table *table);

#endif
