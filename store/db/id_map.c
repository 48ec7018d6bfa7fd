#include "base/base.h"
#include "store/db/internal.h"
#include <stdlib.h>

#define CAP_MIN 256

/* The slot that holds `from`, or the empty one where it belongs. */
static struct tk_id_entry *find_slot(const struct tk_id_map *map, int64_t from)
{
	size_t slot =
	        (size_t)(((uint64_t)from * UINT64_C(0x9e3779b97f4a7c15)) >> 20) & (map->cap - 1);

	while (map->slots[slot].from && map->slots[slot].from != from)
		slot = (slot + 1) & (map->cap - 1);
	return &map->slots[slot];
}

int64_t tk_id_map_get(const struct tk_id_map *map, int64_t from)
{
	return map->cap && from > 0 ? find_slot(map, from)->to : 0;
}

static void grow(struct tk_id_map *map)
{
	struct tk_id_map grown = {.count = map->count, .cap = map->cap ? 2 * map->cap : CAP_MIN};

	grown.slots = tk_calloc(grown.cap, sizeof *grown.slots);
	for (size_t i = 0; i < map->cap; i++)
		if (map->slots[i].from)
			*find_slot(&grown, map->slots[i].from) = map->slots[i];
	free(map->slots);
	*map = grown;
}

int tk_id_map_set(struct tk_id_map *map, int64_t from, int64_t to, struct tk_error *err)
{
	if (from <= 0)
		return tk_fail(err, TK_EDATA, "the row id %lld is out of range", (long long)from);
	if (2 * map->count >= map->cap)
		grow(map);
	struct tk_id_entry *slot = find_slot(map, from);

	map->count += !slot->from;
	*slot = (struct tk_id_entry){from, to};
	return 0;
}

void tk_id_map_free(struct tk_id_map *map)
{
	free(map->slots);
	*map = (struct tk_id_map){0};
}
