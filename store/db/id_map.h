/* A map from row ids to row ids. Its memory follows the number of entries, not the size of the ids:
 * the ids of a foreign file can be any 64-bit number. */
#ifndef TK_STORE_ID_MAP_H
#define TK_STORE_ID_MAP_H
#include <stddef.h>
#include <stdint.h>

struct tk_error;

struct tk_id_entry {
	int64_t from, to; /* from 0: an empty slot */
};

struct tk_id_map {
	struct tk_id_entry *slots; /* a power of two, at most half full */
	size_t count, cap;
};

/* Returns 0 where `from` is not in the map. */
int64_t tk_id_map_get(const struct tk_id_map *map, int64_t from);
/* Replaces an entry. TK_EDATA: `from` is not positive, as every id of a history is. */
int tk_id_map_set(struct tk_id_map *map, int64_t from, int64_t to, struct tk_error *err);
void tk_id_map_free(struct tk_id_map *map);

#endif
