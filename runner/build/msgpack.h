/* Reading MessagePack (msgpack.org) in place, without floating point and extensions, which the
 * notes of AMD's code objects do not have. */
#ifndef TK_BUILD_MSGPACK_H
#define TK_BUILD_MSGPACK_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tk_msgpack {
	const unsigned char *at, *end;
};

struct tk_msgpack_item {
	enum {
		TK_MSGPACK_NIL,
		TK_MSGPACK_INT,
		TK_MSGPACK_TEXT,
		TK_MSGPACK_ARRAY,
		TK_MSGPACK_MAP
	} type;
	int64_t number;   /* of an integer; booleans are 0 and 1 */
	const char *text; /* of texts and bytes: `count` bytes without a NUL */
	size_t count;     /* items of an array, pairs of a map; they follow */
};

/* The next item; items inside an array or map follow it. False: the end, or damage. */
bool tk_msgpack_next(struct tk_msgpack *m, struct tk_msgpack_item *out);
/* Skips the next item with everything in it. */
bool tk_msgpack_skip(struct tk_msgpack *m);
bool tk_msgpack_text_equals(const struct tk_msgpack_item *item, const char *text);

#endif
