/* Names -> numbers from 0 in the order of appearance. */
#ifndef TK_CLI_NAME_TABLE_H
#define TK_CLI_NAME_TABLE_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Starts as {0}. */
struct tk_name_table {
	char **at;
	size_t count, cap;
	uint32_t *slots; /* number + 1; a power of two, at most half full */
	size_t slot_count;
	size_t last; /* the last result: the next lookup is often the same name or its successor */
};

/* The number of `name`, which is added if it is new; len: its length. False: out of memory. */
bool tk_name_table_add(struct tk_name_table *t, const char *name, size_t len, size_t *number);
void tk_name_table_free(struct tk_name_table *t);

#endif
