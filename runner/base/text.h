/* Untrusted text (commit subjects, authors, file names, build logs, messages of tools): is it
 * UTF-8, and which of its characters must not reach a terminal, a table or a log? */
#ifndef TK_BASE_TEXT_H
#define TK_BASE_TEXT_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Bytes of the well-formed UTF-8 sequence at s (RFC 3629: no overlong forms, no surrogates, at most
 * U+10FFFF), of which `left` bytes may be read (SIZE_MAX: a NUL ends them); 0: the bytes are not
 * well-formed. `code`: its character; may be NULL. */
size_t tk_utf8_decode(const char *s, size_t left, uint32_t *code);

/* Whether the whole string is well-formed. */
bool tk_utf8_is_valid(const char *s);

/* Characters of a well-formed string; of one without wide or combining ones, its columns. */
size_t tk_utf8_count(const char *s);

/* The length in bytes of the character at s: 1 where it is not UTF-8, 0 at the end. *unprintable: a
 * C0 or C1 control character, DEL, a mark of direction, line or paragraph, or not UTF-8 (an 8-bit
 * terminal takes the byte 0x9b for an escape). */
size_t tk_text_next_char(const char *s, bool *unprintable);

/* Replaces each byte of an unprintable character by `instead`, in place. Characters of `keep` stay:
 * "\n\t", "". */
void tk_text_sanitize(char *text, const char *keep, char instead);
/* Writes text with unprintable bytes as '?'. */
void tk_text_write_sanitized(FILE *out, const char *text, const char *keep);

/* Copies as one line of valid UTF-8: unprintable characters become spaces, invalid bytes become
 * U+FFFD, text that does not fit ends in "...". */
void tk_text_copy_line(char *out, size_t size, const char *text);

/* The beginning of a text as a message quotes it: one printable line. Returns out. */
#define TK_TEXT_EXCERPT_SIZE 64
const char *tk_text_format_excerpt(const char *text, char out[TK_TEXT_EXCERPT_SIZE]);

#endif
