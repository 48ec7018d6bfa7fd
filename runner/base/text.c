/* The one place that decodes UTF-8 and knows which characters are dangerous to print. */
#include "base/text.h"

#include <string.h>

size_t tk_utf8_decode(const char *text, size_t left, uint32_t *code)
{
	static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
	const unsigned char *s = (const unsigned char *)text;
	size_t len = s[0] < 0x80             ? 1
	             : (s[0] & 0xe0) == 0xc0 ? 2
	             : (s[0] & 0xf0) == 0xe0 ? 3
	             : (s[0] & 0xf8) == 0xf0 ? 4
	                                     : 0;
	uint32_t c = len == 1 ? s[0] : s[0] & (0x7fu >> len);

	if (!len || len > left)
		return 0;
	for (size_t i = 1; i < len; i++) {
		if ((s[i] & 0xc0) != 0x80)
			return 0;
		c = c << 6 | (s[i] & 0x3f);
	}
	if (c < least[len] || c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff))
		return 0;
	if (code)
		*code = c;
	return len;
}

/* Marks of direction could disguise the text around them. */
static bool is_control(uint32_t c)
{
	return c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0x200e || c == 0x200f ||
	       (c >= 0x2028 && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069) || c == 0xfeff;
}

bool tk_utf8_is_valid(const char *s)
{
	size_t n;

	while (*s && (n = tk_utf8_decode(s, SIZE_MAX, NULL)))
		s += n;
	return !*s;
}

size_t tk_utf8_count(const char *s)
{
	size_t count = 0;

	for (; *s; s++)
		count += ((unsigned char)*s & 0xc0) != 0x80;
	return count;
}

size_t tk_text_next_char(const char *s, bool *unprintable)
{
	uint32_t code;
	size_t len = *s ? tk_utf8_decode(s, SIZE_MAX, &code) : 0;

	*unprintable = *s && (!len || is_control(code));
	return *s && !len ? 1 : len;
}

void tk_text_sanitize(char *text, const char *keep, char instead)
{
	bool unprintable;

	for (size_t n; (n = tk_text_next_char(text, &unprintable)); text += n)
		if (unprintable && !strchr(keep, *text))
			memset(text, instead, n);
}

void tk_text_write_sanitized(FILE *out, const char *text, const char *keep)
{
	bool unprintable;

	for (size_t n; (n = tk_text_next_char(text, &unprintable)); text += n)
		if (unprintable && !strchr(keep, *text))
			fputc('?', out);
		else
			fwrite(text, 1, n, out);
}

void tk_text_copy_line(char *out, size_t size, const char *text)
{
	size_t n = 0, fits = 0; /* fits: where "..." can still be put */

	while (*text) {
		uint32_t code = 0;
		size_t len = tk_utf8_decode(text, SIZE_MAX, &code), piece_len = len;
		const char *piece = text;

		if (!len) {
			piece = "\xef\xbf\xbd";
			piece_len = 3;
			len = 1;
		} else if (is_control(code)) {
			piece = " ";
			piece_len = 1;
		}
		if (n + piece_len >= size) {
			memcpy(out + fits, "...", 4);
			return;
		}
		memcpy(out + n, piece, piece_len);
		n += piece_len;
		if (n + 4 <= size)
			fits = n;
		text += len;
	}
	out[n] = '\0';
}

const char *tk_text_format_excerpt(const char *text, char out[TK_TEXT_EXCERPT_SIZE])
{
	tk_text_copy_line(out, TK_TEXT_EXCERPT_SIZE, text);
	return out;
}
