/* Text of strangers (subjects, authors, build logs) made fit to print. */
#ifndef TK_UPSTREAM_TEXT_H
#define TK_UPSTREAM_TEXT_H
#include <stddef.h>

/* Copies foreign text as one line of valid UTF-8: control and bidirectional control characters become a space, bytes that are not UTF-8
 * become U+FFFD, text that does not fit ends in "...". */
void tk_text_clean(char *out, size_t size, const char *text);

#endif
