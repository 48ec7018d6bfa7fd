/* Text from outside in C source. */
#ifndef TK_SITE_C_TEXT_H
#define TK_SITE_C_TEXT_H

struct tk_buf;

/* A string literal with its quotes, in ASCII and without trigraphs. NULL: "". */
void tk_c_add_string(struct tk_buf *out, const char *text);
/* For the inside of a comment: printable ASCII that cannot end it. */
void tk_c_add_comment(struct tk_buf *out, const char *text);
/* For a part of an identifier: every other character becomes '_'. */
void tk_c_add_name(struct tk_buf *out, const char *text);

#endif
