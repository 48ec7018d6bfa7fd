/* Escapes text for C source. */
#include "site_gen/render/c_text.h"

#include <stdbool.h>

#include "base/buf.h"

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
