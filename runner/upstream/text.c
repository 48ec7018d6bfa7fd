/* Text of strangers (subjects, authors, build logs) made fit to print. */
#include "upstream/text.h"
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* Length of the valid UTF-8 sequence at s (0: none) and its code point. */
static size_t utf8_decode(const unsigned char *s, uint32_t *code)
{
	static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
	size_t len = s[0] < 0x80 ? 1 : (s[0] & 0xe0) == 0xc0 ? 2 : (s[0] & 0xf0) == 0xe0 ? 3 : (s[0] & 0xf8) == 0xf0 ? 4 : 0;
	if (!len)
		return 0;
	uint32_t c = len == 1 ? s[0] : s[0] & (0x7fu >> len);
	for (size_t i = 1; i < len; i++) {
		if ((s[i] & 0xc0) != 0x80)
			return 0;
		c = c << 6 | (s[i] & 0x3f);
	}
	if (len > 1 && c < least[len])
		return 0;
	if (c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff))
		return 0;
	*code = c;
	return len;
}

/* Control characters of C0, C1 and Unicode's line, paragraph and direction marks: they could disguise the text around them. */
static bool is_control(uint32_t c)
{
	return c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0x200e || c == 0x200f || (c >= 0x2028 && c <= 0x202e) ||
		(c >= 0x2066 && c <= 0x2069) || c == 0xfeff;
}

void tk_text_clean(char *out, size_t size, const char *text)
{
	const unsigned char *s = (const unsigned char *)text;
	size_t n = 0, fits = 0;        /* fits: where "..." can still be put */
	while (*s) {
		uint32_t code = 0;
		size_t len = utf8_decode(s, &code);
		const char *piece = (const char *)s;
		size_t piece_len = len;
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
		s += len;
	}
	out[n] = '\0';
}
