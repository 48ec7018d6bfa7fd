/* A growing byte buffer that knows its own limit.
 *
 * Additions never fail at the call. Where `max` is set, reaching it is remembered, later additions
 * do nothing, and tk_buf_status() reports it at the end. `data` is always NUL-terminated when
 * len > 0 or after tk_buf_cstr(). */
#ifndef TK_BASE_BUF_H
#define TK_BASE_BUF_H
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

struct tk_error;

struct tk_buf {
	char *data;
	size_t len, cap;
	size_t max; /* 0: TK_BUF_MAX_DEFAULT, which counts as out of memory */
	int status; /* 0, or TK_EDATA where `max` was reached or a format is malformed */
};

#define TK_BUF_MAX_DEFAULT ((size_t)1 << 30)
#define TK_BUF_INIT \
	{ \
		0 \
	}

void tk_buf_add(struct tk_buf *b, const void *data, size_t len);
static inline void tk_buf_add_str(struct tk_buf *b, const char *s)
{
	tk_buf_add(b, s, strlen(s)); /* inline: the compiler knows a literal's length */
}
/* Reserves `more` bytes and a NUL at the end, for loops that write many small pieces. Returns where
 * to write them; NULL if there is no memory. tk_buf_commit sets the new length. */
char *tk_buf_reserve(struct tk_buf *b, size_t more);
void tk_buf_commit(struct tk_buf *b, size_t len);
static inline void tk_buf_add_char(struct tk_buf *b, char c)
{
	if (!b->status && b->len + 1 < b->cap && (!b->max || b->len < b->max)) {
		b->data[b->len++] = c;
		b->data[b->len] = '\0';
	} else {
		tk_buf_add(b, &c, 1);
	}
}
void tk_buf_add_printf(struct tk_buf *b, const char *fmt, ...)
        __attribute__((format(printf, 2, 3)));
void tk_buf_add_vprintf(struct tk_buf *b, const char *fmt, va_list ap);
void tk_buf_add_utf8(struct tk_buf *b, const char *s,
        size_t len);                 /* malformed UTF-8 becomes U+FFFD: the output is valid */
void tk_buf_clear(struct tk_buf *b); /* len = 0, keeps the memory and forgets a failure */
const char *tk_buf_cstr(
        const struct tk_buf *b); /* "" where empty or failed; lives until the next change */
char *tk_buf_detach(struct tk_buf *b,
        struct tk_error *err); /* caller frees; NULL if b had failed; b is empty afterwards */
int tk_buf_status(const struct tk_buf *b, struct tk_error *err);
void tk_buf_free(struct tk_buf *b);

#endif
