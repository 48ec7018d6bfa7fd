/* An open-addressing hash table. */
#include "cli/history/name_table.h"
#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

static uint64_t hash_name(const char *s, size_t len)
{
	uint64_t h = 14695981039346656037u; /* FNV-1a */

	for (size_t i = 0; i < len; i++)
		h = (h ^ (unsigned char)s[i]) * 1099511628211u;
	return h ^ h >> 32;
}

static bool is_name(const struct tk_name_table *t, size_t number, const char *s)
{
	return number < t->count && strcmp(t->at[number], s) == 0;
}

static bool grow_slots(struct tk_name_table *t)
{
	size_t count = t->slot_count ? 2 * t->slot_count : 256;
	uint32_t *slots = tk_calloc(count, sizeof *slots);

	for (size_t i = 0; i < t->count; i++) {
		size_t slot = hash_name(t->at[i], strlen(t->at[i])) & (count - 1);

		while (slots[slot])
			slot = (slot + 1) & (count - 1);
		slots[slot] = (uint32_t)i + 1;
	}
	free(t->slots);
	t->slots = slots;
	t->slot_count = count;
	return true;
}

static bool add_name(struct tk_name_table *t, size_t slot, const char *s, size_t len)
{
	char *copy;

	if (t->count == t->cap) {
		size_t cap = t->cap ? 2 * t->cap : 64;
		char **at = tk_realloc(t->at, cap * sizeof *at);

		t->at = at;
		t->cap = cap;
	}
	copy = tk_malloc(len + 1);
	if (!copy || t->count >= UINT32_MAX - 1) {
		free(copy);
		return false;
	}
	memcpy(copy, s, len + 1);
	t->at[t->count++] = copy;
	t->slots[slot] = (uint32_t)t->count;
	return true;
}

bool tk_name_table_add(struct tk_name_table *t, const char *s, size_t len, size_t *number)
{
	size_t slot;

	for (size_t near = 0; near < 2; near++)
		if (is_name(t, t->last + near, s)) {
			*number = t->last += near;
			return true;
		}
	if (2 * t->count >= t->slot_count && !grow_slots(t))
		return false;
	for (slot = hash_name(s, len) & (t->slot_count - 1); t->slots[slot];
	        slot = (slot + 1) & (t->slot_count - 1))
		if (is_name(t, t->slots[slot] - 1, s))
			break;
	if (!t->slots[slot] && !add_name(t, slot, s, len))
		return false;
	*number = t->last = t->slots[slot] - 1;
	return true;
}

void tk_name_table_free(struct tk_name_table *t)
{
	for (size_t i = 0; i < t->count; i++)
		free(t->at[i]);
	free(t->at);
	free(t->slots);
}
