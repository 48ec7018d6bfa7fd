/* Rows of a table by id. */
#include "site_gen/model/index.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"

static int compare_entries(const void *a, const void *b)
{
	const struct tk_index_entry *x = a, *y = b;
	return x->id < y->id ? -1 : x->id > y->id;
}

void tk_index_sort(struct tk_index *index)
{
	if (index->count)
		qsort(index->entries, index->count, sizeof *index->entries, compare_entries);
}

int tk_index_build(
        struct tk_index *index, const void *rows, size_t count, size_t size, struct tk_error *err)
{
	index->entries = malloc((count ? count : 1) * sizeof *index->entries);
	if (!index->entries)
		return tk_fail(err, TK_ENOMEM, "out of memory");
	index->count = count;
	for (size_t i = 0; i < count; i++) {
		const char *row = (const char *)rows + i * size;
		index->entries[i] = (struct tk_index_entry){.row = row};
		memcpy(&index->entries[i].id, row, sizeof(int64_t));
	}
	tk_index_sort(index);
	return 0;
}

const void *tk_index_find(const struct tk_index *index, int64_t id)
{
	struct tk_index_entry key = {.id = id};
	/* ids are counted up by the history, mostly without a gap: most are where they would be
	 * then */
	uint64_t guess = index->count ? (uint64_t)id - (uint64_t)index->entries[0].id : 0;
	if (guess < index->count && index->entries[guess].id == id)
		return index->entries[guess].row;
	const struct tk_index_entry *found =
	        index->count
	                ? bsearch(&key, index->entries, index->count, sizeof key, compare_entries)
	                : NULL;
	return found ? found->row : NULL;
}
