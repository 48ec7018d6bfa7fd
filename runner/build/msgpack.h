/* Reading MessagePack (msgpack.org) in place, as far as the notes of AMD's code objects use it: no
 * floating point, no extensions. Internal to runner/build/. */
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
	int64_t number;   /* of an integer, or of a boolean 0 and 1 */
	const char *text; /* of a text or bytes: `count` of them, no NUL behind */
	size_t count;     /* of an array: the items that follow; of a map: the pairs */
};

/* The next item; what is in an array or map are the next ones. false: the end, or no MessagePack.
 */
bool tk_msgpack_next(struct tk_msgpack *m, struct tk_msgpack_item *out);
/* Passes by the next item with all that is in it. */
bool tk_msgpack_skip(struct tk_msgpack *m);
bool tk_msgpack_text_equals(const struct tk_msgpack_item *item, const char *text);

#endif
