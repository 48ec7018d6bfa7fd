/* Strings of others on their way into the history: what is not UTF-8 is made harmless here, once. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "internal.h"

/* Length of the well-formed sequence at p (RFC 3629: no overlong forms, no surrogates, at most U+10FFFF); 0 where there is none. */
static size_t sequence_length(const unsigned char *p)
{
	unsigned char lo = 0x80, hi = 0xbf;
	size_t len;

	if (p[0] < 0x80)
		return 1;
	if (p[0] >= 0xc2 && p[0] <= 0xdf) {
		len = 2;
	} else if ((p[0] & 0xf0) == 0xe0) {
		len = 3;
		lo = p[0] == 0xe0 ? 0xa0 : 0x80;
		hi = p[0] == 0xed ? 0x9f : 0xbf;
	} else if (p[0] >= 0xf0 && p[0] <= 0xf4) {
		len = 4;
		lo = p[0] == 0xf0 ? 0x90 : 0x80;
		hi = p[0] == 0xf4 ? 0x8f : 0xbf;
	} else {
		return 0;
	}
	if (p[1] < lo || p[1] > hi)
		return 0;
	for (size_t i = 2; i < len; i++)
		if ((p[i] & 0xc0) != 0x80)
			return 0;
	return len;
}

char *tk_text_repair(const char *text, bool *failed)
{
	const unsigned char *p = (const unsigned char *)text;
	size_t len;

	*failed = false;
	while (*p && (len = sequence_length(p)))
		p += len;
	if (!*p)
		return NULL;
	char *copy = malloc(strlen(text) * 3 + 1), *to = copy;

	if (!copy) {
		*failed = true;
		return NULL;
	}
	for (p = (const unsigned char *)text; *p;) {
		len = sequence_length(p);
		memcpy(to, len ? (const char *)p : "\xef\xbf\xbd", len ? len : 3);
		to += len ? len : 3;
		p += len ? len : 1;
	}
	*to = '\0';
	return copy;
}
