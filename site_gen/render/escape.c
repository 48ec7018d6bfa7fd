/* Escaping works on decoded characters, so that no byte sequence can be read differently by a
 * browser. */
#include "site_gen/render/escape.h"

#include "base/base.h"

#define REPLACEMENT "\xEF\xBF\xBD"

static bool is_harmful(uint32_t c)
{
	return (c < 0x20 && c != '\t' && c != '\n') || (c >= 0x7F && c < 0xA0) ||
	       (c >= 0x202A && c <= 0x202E) || (c >= 0x2066 && c <= 0x2069) ||
	       (c & 0xFFFE) == 0xFFFE;
}

static const char *html_entity(uint32_t c)
{
	switch (c) {
	case '&':
		return "&amp;";
	case '<':
		return "&lt;";
	case '>':
		return "&gt;";
	case '"':
		return "&quot;";
	case '\'':
		return "&#39;";
	default:
		return NULL;
	}
}

static const char *json_entity(uint32_t c)
{
	switch (c) {
	case '"':
		return "\\\"";
	case '\\':
		return "\\\\";
	case '\n':
		return "\\n";
	case '\t':
		return "\\t";
	case '<':
		return "\\u003c";
	case '>':
		return "\\u003e";
	case '&':
		return "\\u0026";
	case 0x2028:
		return "\\u2028";
	case 0x2029:
		return "\\u2029";
	default:
		return NULL;
	}
}

/* ASCII that no kind of escaping changes: nearly all text. */
static const bool is_plain[256] = {[' '] = true,
        ['!'] = true,
        ['#' ... '%'] = true,
        ['(' ... ';'] = true,
        ['='] = true,
        ['?' ... '['] = true,
        [']' ... '~'] = true};

static void escape(
        struct tk_buf *out, const char *text, size_t len, const char *(*entity)(uint32_t))
{
	const unsigned char *s = (const unsigned char *)text;
	size_t clean = 0; /* start of the text that can be copied unchanged */
	for (size_t i = 0, n; i < len; i += n) {
		uint32_t c = 0;
		if (is_plain[s[i]]) {
			n = 1;
			continue;
		}
		n = tk_utf8_decode(text + i, len - i, &c);
		const char *instead = n ? entity(c) : REPLACEMENT;
		if (!instead && is_harmful(c))
			instead = REPLACEMENT;
		n = n ? n : 1;
		if (!instead)
			continue;
		tk_buf_add(out, text + clean, i - clean);
		tk_buf_add_str(out, instead);
		clean = i + n;
	}
	tk_buf_add(out, text + clean, len - clean);
}

void tk_escape_html(struct tk_buf *out, const char *text, size_t len)
{
	escape(out, text, len, html_entity);
}

void tk_escape_json(struct tk_buf *out, const char *text, size_t len)
{
	tk_buf_add_char(out, '"');
	escape(out, text, len, json_entity);
	tk_buf_add_char(out, '"');
}

size_t tk_utf8_clip_len(const char *text, size_t max)
{
	size_t n = strnlen(text, max + 1);
	if (n <= max)
		return n;
	for (n = max; n && ((unsigned char)text[n] & 0xC0) == 0x80; n--)
		;
	return n;
}

void tk_escape_url(struct tk_buf *out, const char *text)
{
	for (const unsigned char *p = (const unsigned char *)text; *p; p++) {
		bool plain = (*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z') ||
		             (*p >= '0' && *p <= '9') || (*p && strchr("-._~", *p));
		if (plain)
			tk_buf_add_char(out, (char)*p);
		else
			tk_buf_add_printf(out, "%%%02X", *p);
	}
}

size_t tk_utf8_clip_clauses_len(const char *text, size_t max)
{
	size_t len = tk_utf8_clip_len(text, max), end = len;
	if (!text[len])
		return len;
	while (end && strncmp(text + end, "; ", 2) != 0)
		end--;
	return end ? end : len;
}

/* ---- c text ---- */

static bool is_letter_or_digit(unsigned char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

static bool is_printable(unsigned char c)
{
	return c >= ' ' && c <= '~';
}

void tk_c_add_string(struct tk_buf *out, const char *text)
{
	tk_buf_add_char(out, '"');
	for (const unsigned char *c = (const unsigned char *)text; c && *c; c++) {
		if (!is_printable(*c)) {
			tk_buf_add_printf(out, "\\%03o", *c);
			continue;
		}
		if (*c == '"' || *c == '\\' || *c == '?')
			tk_buf_add_char(out, '\\');
		tk_buf_add_char(out, (char)*c);
	}
	tk_buf_add_char(out, '"');
}

void tk_c_add_comment(struct tk_buf *out, const char *text)
{
	for (const unsigned char *c = (const unsigned char *)text; *c; c++)
		/* a backslash or a trigraph could join lines */
		tk_buf_add_char(out,
		        is_printable(*c) && *c != '*' && *c != '\\' && *c != '?' ? (char)*c : '_');
}

void tk_c_add_name(struct tk_buf *out, const char *text)
{
	for (const unsigned char *c = (const unsigned char *)text; *c; c++)
		tk_buf_add_char(out, is_letter_or_digit(*c) ? (char)*c : '_');
}
