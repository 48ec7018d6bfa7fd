#include "build/msgpack.h"
#include <string.h>

/* The number in the next `bytes` bytes, most significant first. */
static bool read_number(struct tk_msgpack *m, unsigned bytes, uint64_t *out)
{
	if ((size_t)(m->end - m->at) < bytes)
		return false;
	*out = 0;
	for (unsigned i = 0; i < bytes; i++)
		*out = *out << 8 | *m->at++;
	return true;
}

static bool read_text(struct tk_msgpack *m, uint64_t length, struct tk_msgpack_item *out)
{
	if (length > (size_t)(m->end - m->at))
		return false;
	out->type = TK_MSGPACK_TEXT;
	out->text = (const char *)m->at;
	out->count = (size_t)length;
	m->at += length;
	return true;
}

/* Every item has at least one byte: more items than bytes are damage. */
static bool read_many(struct tk_msgpack *m, int type, uint64_t count, struct tk_msgpack_item *out)
{
	if (count > (size_t)(m->end - m->at))
		return false;
	out->type = type;
	out->count = (size_t)count;
	return true;
}

static bool read_integer(
        struct tk_msgpack *m, unsigned bytes, bool with_sign, struct tk_msgpack_item *out)
{
	uint64_t n;
	if (!read_number(m, bytes, &n) || (!with_sign && n > INT64_MAX))
		return false;
	const unsigned unused = 64 - 8 * bytes;
	out->type = TK_MSGPACK_INT;
	out->number = with_sign ? (int64_t)(n << unused) >> unused : (int64_t)n;
	return true;
}

/* First bytes from 0xc0 to 0xdf. */
static bool read_long(struct tk_msgpack *m, unsigned char first, struct tk_msgpack_item *out)
{
	uint64_t n;
	switch (first) {
	case 0xc0:
		out->type = TK_MSGPACK_NIL;
		return true;
	case 0xc2:
	case 0xc3:
		out->type = TK_MSGPACK_INT;
		out->number = first & 1;
		return true;
	case 0xc4: /* bytes with a length of 1, 2 and 4 bytes, and texts */
	case 0xc5:
	case 0xc6:
		return read_number(m, 1u << (first - 0xc4), &n) && read_text(m, n, out);
	case 0xd9:
	case 0xda:
	case 0xdb:
		return read_number(m, 1u << (first - 0xd9), &n) && read_text(m, n, out);
	case 0xcc:
	case 0xcd:
	case 0xce:
	case 0xcf:
		return read_integer(m, 1u << (first - 0xcc), false, out);
	case 0xd0:
	case 0xd1:
	case 0xd2:
	case 0xd3:
		return read_integer(m, 1u << (first - 0xd0), true, out);
	case 0xdc:
	case 0xdd:
		return read_number(m, 2u << (first - 0xdc), &n) &&
		       read_many(m, TK_MSGPACK_ARRAY, n, out);
	case 0xde:
	case 0xdf:
		return read_number(m, 2u << (first - 0xde), &n) &&
		       read_many(m, TK_MSGPACK_MAP, n, out);
	default: /* extensions, floating point */
		return false;
	}
}

bool tk_msgpack_next(struct tk_msgpack *m, struct tk_msgpack_item *out)
{
	*out = (struct tk_msgpack_item){0};
	if (m->at >= m->end)
		return false;
	const unsigned char first = *m->at++;
	if (first < 0x80 || first >= 0xe0) {
		out->type = TK_MSGPACK_INT;
		out->number = (signed char)first;
		return true;
	}
	if (first < 0x90)
		return read_many(m, TK_MSGPACK_MAP, first & 0x0f, out);
	if (first < 0xa0)
		return read_many(m, TK_MSGPACK_ARRAY, first & 0x0f, out);
	return first < 0xc0 ? read_text(m, first & 0x1f, out) : read_long(m, first, out);
}

bool tk_msgpack_skip(struct tk_msgpack *m)
{
	uint64_t left = 1;
	for (struct tk_msgpack_item item; left > 0; left--) {
		if (!tk_msgpack_next(m, &item))
			return false;
		left += item.type == TK_MSGPACK_ARRAY ? item.count
		        : item.type == TK_MSGPACK_MAP ? 2 * item.count
		                                      : 0;
	}
	return true;
}

bool tk_msgpack_text_equals(const struct tk_msgpack_item *item, const char *text)
{
	return item->type == TK_MSGPACK_TEXT && item->count == strlen(text) &&
	       !memcmp(item->text, text, item->count);
}
