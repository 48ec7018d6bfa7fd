/* See rotation.h. */
#include "suite/rotation.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

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

/* The slot of a rotation depends on the lower bits. */
bool tk_rotation_is_in_part(uint32_t key, uint32_t part, uint32_t parts)
{
	return parts <= 1 || (key >> 16) % parts == part - 1;
}
