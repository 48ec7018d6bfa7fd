/* Memory of a list of rows: one growing array, and a chain of blocks for the strings. */
#include "base/memory.h"
#include "store/db/internal.h"
#include <stdlib.h>
#include <string.h>

struct block {
	struct block *next;
	size_t used, cap;
	char bytes[];
};

#define BLOCK_MIN ((size_t)4 << 10)
#define BLOCK_MAX ((size_t)1 << 20)

void *tk_rows_add(struct tk_rows_builder *list)
{
	struct tk_rows *out = list->out;

	if (out->count == list->cap) {
		size_t cap = list->cap ? list->cap * 2 : 16;
		void *rows = tk_realloc(out->rows, cap * list->row_size);

		out->rows = rows;
		list->cap = cap;
	}
	void *row = (char *)out->rows + out->count++ * list->row_size;

	memset(row, 0, list->row_size);
	return row;
}

void tk_rows_reserve(struct tk_rows_builder *list, size_t cap)
{
	void *rows = cap > list->cap ? tk_realloc(list->out->rows, cap * list->row_size) : NULL;

	if (rows) {
		list->out->rows = rows;
		list->cap = cap;
	}
}

static struct block *block_with_room(struct tk_rows *out, size_t size)
{
	struct block *head = out->memory;

	if (head && head->cap - head->used >= size)
		return head;
	size_t cap = head ? head->cap * 2 : BLOCK_MIN;

	if (cap > BLOCK_MAX)
		cap = BLOCK_MAX;
	if (cap < size)
		cap = size;
	struct block *block = tk_malloc(sizeof(*block) + cap);

	block->next = head;
	block->used = 0;
	block->cap = cap;
	out->memory = block;
	return block;
}

char *tk_rows_add_text(struct tk_rows_builder *list, const char *text, size_t len)
{
	struct block *block = block_with_room(list->out, len + 1);

	if (!block)
		return NULL;
	char *copy = block->bytes + block->used;

	if (len)
		memcpy(copy, text, len);
	copy[len] = '\0';
	block->used += len + 1;
	return copy;
}

void tk_rows_shrink(struct tk_rows_builder *list)
{
	struct tk_rows *out = list->out;

	if (out->count < list->cap) {
		void *rows = out->count ? tk_realloc(out->rows, out->count * list->row_size) : NULL;

		if (rows) {
			out->rows = rows;
		} else if (!out->count) {
			free(out->rows);
			out->rows = NULL;
		}
	}
}

void tk_rows_free(struct tk_rows *list)
{
	if (!list)
		return;
	for (struct block *block = list->memory, *next; block; block = next) {
		next = block->next;
		free(block);
	}
	free(list->rows);
	*list = (struct tk_rows){0};
}
