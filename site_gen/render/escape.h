/* Escapes text from outside for HTML, XML, scripts and addresses. Input need not be UTF-8. */
#ifndef TK_SITE_ESCAPE_H
#define TK_SITE_ESCAPE_H
#include <stddef.h>
#include <stdint.h>

struct tk_buf;

/* & < > " ' become entities. Bytes that are not UTF-8, control characters (except tab and
 * newline) and characters that change the writing direction become U+FFFD. For element text and
 * quoted attributes. */
void tk_escape_html(struct tk_buf *out, const char *text, size_t len);

/* A JSON string with its quotes, for classic scripts: < > & and U+2028/9 as \u, nothing that could
 * end a script element. */
void tk_escape_json(struct tk_buf *out, const char *text, size_t len);

/* For one value in the query or fragment of an address: escapes all but letters, digits and -._~.
  */
void tk_escape_url(struct tk_buf *out, const char *text);

/* The length of the longest prefix of at most max bytes that does not split a character. */
size_t tk_utf8_clip_len(const char *text, size_t max);
/* The same for clauses that "; " separates: the length of those that are whole, or a part of the
 * first one. */
size_t tk_utf8_clip_clauses_len(const char *text, size_t max);

/* Text from outside in C source. */

/* A string literal with its quotes, in ASCII and without trigraphs. NULL: "". */
void tk_c_add_string(struct tk_buf *out, const char *text);
/* For the inside of a comment: printable ASCII that cannot end it. */
void tk_c_add_comment(struct tk_buf *out, const char *text);
/* For a part of an identifier: every other character becomes '_'. */
void tk_c_add_name(struct tk_buf *out, const char *text);

#endif
