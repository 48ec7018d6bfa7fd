/* See rotation.h. */
#include "suite/rotation.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "core/night.h"

/* The first 8 of the 64 digits of the hash: enough for an even spread over a few hundred slots. */
uint32_t tk_rotation_key(const char *text)
{
	char hex[TK_HASH_HEX_SIZE];

	tk_hash_bytes(text, strlen(text), hex);
	hex[8] = '\0';
	return (uint32_t)strtoul(hex, NULL, 16);
}

bool tk_rotation_is_due(uint32_t key, uint32_t nights, uint64_t night_number)
{
	return nights <= 1 || key % nights == night_number % nights;
}

/* The number that `end` follows; 0: none. */
static unsigned long parse_count(const char *text, const char *end)
{
	const size_t digits = strspn(text, "0123456789");

	return digits && text + digits == end ? strtoul(text, NULL, 10) : 0;
}

bool tk_part_parse(const char *text, uint32_t *part, uint32_t *parts)
{
	const char *slash = strchr(text, '/');
	const unsigned long k = slash ? parse_count(text, slash) : 0,
	                    n = slash ? parse_count(slash + 1, text + strlen(text)) : 0;

	if (k < 1 || k > n || n > TK_NIGHT_PARTS_MAX)
		return false;
	*part = (uint32_t)k;
	*parts = (uint32_t)n;
	return true;
}

/* The slot of a rotation depends on the lower bits. */
bool tk_rotation_is_in_part(uint32_t key, uint32_t part, uint32_t parts)
{
	return parts <= 1 || (key >> 16) % parts == part - 1;
}
