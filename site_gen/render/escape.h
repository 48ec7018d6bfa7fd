/* Text of others made harmless: for HTML and XML, for scripts, for CSV, for a line of limited
 * length. Input need not be UTF-8. */
#ifndef TK_SITE_ESCAPE_H
#define TK_SITE_ESCAPE_H
#include <stddef.h>

struct tk_buf;

/* & < > " ' become entities; bytes that are not UTF-8, control characters (except tab and newline)
 * and characters that turn the direction of writing become U+FFFD. Right for element text and for
 * quoted attributes. */
void tk_escape_html(struct tk_buf *out, const char *text, size_t len);

/* A JSON string with its quotes, for classic scripts: < > & and U+2028/9 as \u, nothing that could
 * end a script element. */
void tk_escape_json(struct tk_buf *out, const char *text, size_t len);

/* For one value in the query or fragment of an address: all but letters, digits and -._~ as %XX. */
void tk_escape_url(struct tk_buf *out, const char *text);

/* The length of at most max bytes of text without half a character at its end. */
size_t tk_utf8_clip_len(const char *text, size_t max);

#endif
