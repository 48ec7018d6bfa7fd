/* Text of others (subjects, authors, file names, build logs, messages of tools): whether it is
 * UTF-8, and what of it may not reach a terminal, a table or a log. */
#ifndef TK_BASE_TEXT_H
#define TK_BASE_TEXT_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Bytes of the well-formed UTF-8 sequence at s (RFC 3629: no overlong forms, no surrogates, at most
 * U+10FFFF), of which `left` bytes may be read (SIZE_MAX where a NUL ends them); 0 where there is
 * none. `code`: its character; may be NULL.
 */
size_t tk_utf8_decode(const char *s, size_t left, uint32_t *code);

/* Bytes of the character at s, 1 where it is no UTF-8, 0 at the end. *unprintable: it may not be
 * printed, because it is a control character of C0 or C1, DEL, a mark of direction, line or
 * paragraph, or no UTF-8 (an 8-bit terminal takes 0x9b for an escape). */
size_t tk_text_next_char(const char *s, bool *unprintable);

/* What may not be printed becomes `instead`, byte by byte, but for the characters of `keep`
 * ("\n\t", ""). In place. */
void tk_text_sanitize(char *text, const char *keep, char instead);
/* The same on the way out, with '?' instead. */
void tk_text_write_sanitized(FILE *out, const char *text, const char *keep);

/* Copies as one line of valid UTF-8: what may not be printed becomes a space, bytes that are not
 * UTF-8 become U+FFFD, text that does not fit ends in "...". */
void tk_text_copy_line(char *out, size_t size, const char *text);

/* The beginning of a text as a message quotes it: one printable line. Returns out. */
#define TK_TEXT_EXCERPT_SIZE 64
const char *tk_text_format_excerpt(const char *text, char out[TK_TEXT_EXCERPT_SIZE]);

#endif
