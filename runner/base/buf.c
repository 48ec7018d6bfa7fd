/* One growing buffer for text and bytes, so that callers need not compute sizes. */
#include "base/buf.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"

static size_t max_len(const struct tk_buf *b)
{
	return b->max ? b->max : TK_BUF_MAX_DEFAULT;
}

/* Makes room for `more` bytes and a NUL; false where that failed, now or before. */
static bool grow(struct tk_buf *b, size_t more)
{
	size_t max = max_len(b), cap = b->cap ? b->cap : 64;

	if (b->status)
		return false;
	if (more > max || b->len > max - more) {
		if (!b->max)
			tk_check_memory(NULL);
		b->status = TK_EDATA;
		return false;
	}
	while (cap <= b->len + more)
		cap *= 2;
	b->data = tk_realloc(b->data, cap);
	b->cap = cap;
	return true;
}

/* As grow(), without a call in the usual case: texts are added piece by piece. */
static inline bool reserve(struct tk_buf *b, size_t more)
{
	bool has_room = !b->status && more < b->cap - b->len && more <= max_len(b) - b->len;
	return has_room || grow(b, more);
}

void tk_buf_add(struct tk_buf *b, const void *data, size_t len)
{
	if (!reserve(b, len))
		return;
	if (len)
		memcpy(b->data + b->len, data, len);
	b->len += len;
	b->data[b->len] = '\0';
}

char *tk_buf_reserve(struct tk_buf *b, size_t more)
{
	return reserve(b, more) ? b->data + b->len : NULL;
}

void tk_buf_commit(struct tk_buf *b, size_t len)
{
	b->len += len;
	b->data[b->len] = '\0';
}

void tk_buf_add_vprintf(struct tk_buf *b, const char *fmt, va_list ap)
{
	char small[256];
	va_list again;
	int n;

	va_copy(again, ap);
	n = vsnprintf(small, sizeof small, fmt, ap);
	if (n < 0)
		b->status = b->status ? b->status : TK_EDATA;
	else if ((size_t)n < sizeof small)
		tk_buf_add(b, small, (size_t)n);
	else if (reserve(b, (size_t)n)) {
		vsnprintf(b->data + b->len, (size_t)n + 1, fmt, again);
		b->len += (size_t)n;
	}
	va_end(again);
}

void tk_buf_add_printf(struct tk_buf *b, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	tk_buf_add_vprintf(b, fmt, ap);
	va_end(ap);
}

void tk_buf_add_utf8(struct tk_buf *b, const char *s, size_t len)
{
	size_t start = 0, i = 0;

	while (i < len) {
		size_t n = tk_utf8_decode(s + i, len - i, NULL);

		if (n) {
			i += n;
			continue;
		}
		tk_buf_add(b, s + start, i - start);
		tk_buf_add_str(b, "\xef\xbf\xbd");
		start = ++i;
	}
	tk_buf_add(b, s + start, len - start);
}

void tk_buf_clear(struct tk_buf *b)
{
	b->len = 0;
	b->status = 0;
	if (b->data)
		b->data[0] = '\0';
}

const char *tk_buf_cstr(const struct tk_buf *b)
{
	return b->data && !b->status ? b->data : "";
}

int tk_buf_status(const struct tk_buf *b, struct tk_error *err)
{
	if (b->status)
		return tk_fail(err, b->status, "more than %zu bytes", b->max);
	return TK_OK;
}

char *tk_buf_detach(struct tk_buf *b, struct tk_error *err)
{
	char *data;

	if (!b->status)
		reserve(b, 0);
	if (tk_buf_status(b, err)) {
		tk_buf_free(b);
		return NULL;
	}
	data = b->data;
	data[b->len] = '\0';
	b->data = NULL;
	b->len = b->cap = 0;
	return data;
}

void tk_buf_free(struct tk_buf *b)
{
	if (!b)
		return;
	free(b->data);
	b->data = NULL;
	b->len = b->cap = 0;
	b->status = 0;
}
