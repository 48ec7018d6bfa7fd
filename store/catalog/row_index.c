#include "store/catalog/row_index.h"
#include "base/base.h"
#include "store/db/internal.h"

static int compare_entries(const void *a, const void *b)
{
	const struct tk_row_index_entry *x = a, *y = b;

	if (x->id != y->id)
		return x->id < y->id ? -1 : 1;
	return x->row < y->row ? -1 : x->row > y->row;
}

void tk_row_index_sort(struct tk_row_index *index)
{
	if (index->count)
		qsort(index->entries, index->count, sizeof *index->entries, compare_entries);
}

void tk_row_index_build(struct tk_row_index *index, const void *rows, size_t count, size_t row_size)
{
	index->entries = tk_malloc((count ? count : 1) * sizeof *index->entries);
	index->count = count;
	for (size_t i = 0; i < count; i++) {
		const char *row = (const char *)rows + i * row_size;

		index->entries[i] = (struct tk_row_index_entry){.row = row};
		memcpy(&index->entries[i].id, row, sizeof(int64_t));
	}
	tk_row_index_sort(index);
}

const void *tk_row_index_find(const struct tk_row_index *index, int64_t id)
{
	/* The history counts ids up, mostly without a gap: try the position where the row would be
	 * then. */
	uint64_t guess = index->count ? (uint64_t)id - (uint64_t)index->entries[0].id : 0;

	if (guess < index->count && index->entries[guess].id == id)
		return index->entries[guess].row;
	for (size_t first = 0, end = index->count; first < end;) {
		size_t middle = first + (end - first) / 2;

		if (index->entries[middle].id == id)
			return index->entries[middle].row;
		if (index->entries[middle].id < id)
			first = middle + 1;
		else
			end = middle;
	}
	return NULL;
}

void tk_row_index_free(struct tk_row_index *index)
{
	free(index->entries);
	*index = (struct tk_row_index){0};
}

int tk_id_table_load(
        struct tk_id_table *table, struct tk_store *s, enum tk_table_id id, struct tk_error *err)
{
	TRY(tk_store_list(s, id, NULL, TK_NO_ARGS, &table->rows, err));
	tk_row_index_build(
	        &table->by_id, table->rows.rows, table->rows.count, tk_tables[id].row_size);
	return 0;
}

const void *tk_id_table_find(const struct tk_id_table *table, int64_t id)
{
	return tk_row_index_find(&table->by_id, id);
}

void tk_id_table_free(struct tk_id_table *table)
{
	tk_rows_free(&table->rows);
	tk_row_index_free(&table->by_id);
}
