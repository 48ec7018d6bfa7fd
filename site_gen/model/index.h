/* Rows of a table by id. */
#ifndef TK_SITE_INDEX_H
#define TK_SITE_INDEX_H
#include <stddef.h>
#include <stdint.h>

struct tk_error;

struct tk_index_entry {
	int64_t id;
	const void *row;
};
struct tk_index {
	struct tk_index_entry *entries; /* by id */
	size_t count;
};

/* `rows`: structs of `size` bytes that begin with their id; they must outlive the index. */
int tk_index_build(
        struct tk_index *index, const void *rows, size_t count, size_t size, struct tk_error *err);
/* NULL: none. */
const void *tk_index_find(const struct tk_index *index, int64_t id);
void tk_index_sort(struct tk_index *index);

#endif
