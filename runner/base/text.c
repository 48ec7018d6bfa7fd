/* Buffers for text and bytes, UTF-8 and the characters that are dangerous to print, suggestions. */
#include "base/base.h"

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

void tk_buf_add_printf(struct tk_buf *b, const char *fmt, ...)
{
	char small[256];
	va_list ap, again;
	int n;

	va_start(ap, fmt);
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

/* ---- UTF-8 ----------------------------------------------------------------------------------- */

size_t tk_utf8_decode(const char *text, size_t left, uint32_t *code)
{
	static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
	const unsigned char *s = (const unsigned char *)text;
	size_t len = s[0] < 0x80             ? 1
	             : (s[0] & 0xe0) == 0xc0 ? 2
	             : (s[0] & 0xf0) == 0xe0 ? 3
	             : (s[0] & 0xf8) == 0xf0 ? 4
	                                     : 0;
	uint32_t c = len == 1 ? s[0] : s[0] & (0x7fu >> len);

	if (!len || len > left)
		return 0;
	for (size_t i = 1; i < len; i++) {
		if ((s[i] & 0xc0) != 0x80)
			return 0;
		c = c << 6 | (s[i] & 0x3f);
	}
	if (c < least[len] || c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff))
		return 0;
	if (code)
		*code = c;
	return len;
}

/* Marks of direction could disguise the text around them. */
static bool is_control(uint32_t c)
{
	return c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0x200e || c == 0x200f ||
	       (c >= 0x2028 && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069) || c == 0xfeff;
}

bool tk_utf8_is_valid(const char *s)
{
	size_t n;

	while (*s && (n = tk_utf8_decode(s, SIZE_MAX, NULL)))
		s += n;
	return !*s;
}

size_t tk_utf8_count(const char *s)
{
	size_t count = 0;

	for (; *s; s++)
		count += ((unsigned char)*s & 0xc0) != 0x80;
	return count;
}

size_t tk_text_next_char(const char *s, bool *unprintable)
{
	uint32_t code;
	size_t len = *s ? tk_utf8_decode(s, SIZE_MAX, &code) : 0;

	*unprintable = *s && (!len || is_control(code));
	return *s && !len ? 1 : len;
}

void tk_text_sanitize(char *text, const char *keep, char instead)
{
	bool unprintable;

	for (size_t n; (n = tk_text_next_char(text, &unprintable)); text += n)
		if (unprintable && !strchr(keep, *text))
			memset(text, instead, n);
}

void tk_text_write_sanitized(FILE *out, const char *text, const char *keep)
{
	AUTO_TEXT copy = tk_strdup(text);

	tk_text_sanitize(copy, keep, '?');
	fputs(copy, out);
}

void tk_text_copy_line(char *out, size_t size, const char *text)
{
	size_t n = 0, fits = 0; /* fits: where "..." can still be put */

	while (*text) {
		uint32_t code = 0;
		size_t len = tk_utf8_decode(text, SIZE_MAX, &code), piece_len = len;
		const char *piece = text;

		if (!len) {
			piece = "\xef\xbf\xbd";
			piece_len = 3;
			len = 1;
		} else if (is_control(code)) {
			piece = " ";
			piece_len = 1;
		}
		if (n + piece_len >= size) {
			memcpy(out + fits, "...", 4);
			return;
		}
		memcpy(out + n, piece, piece_len);
		n += piece_len;
		if (n + 4 <= size)
			fits = n;
		text += len;
	}
	out[n] = '\0';
}

const char *tk_text_format_excerpt(const char *text, char out[TK_TEXT_EXCERPT_SIZE])
{
	tk_text_copy_line(out, TK_TEXT_EXCERPT_SIZE, text);
	return out;
}

/* ---- suggestions ----------------------------------------------------------------------------- */

#define NAME_MAX_LENGTH 63

static size_t smaller(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* Three rows are enough: a transposition looks two rows back. Names longer than the rows are never
 * near. */
static size_t distance(const char *a, size_t n, const char *b, size_t m)
{
	size_t rows[3][NAME_MAX_LENGTH + 1];

	for (size_t j = 0; j <= m; j++)
		rows[0][j] = j;
	for (size_t i = 1; i <= n; i++) {
		size_t *now = rows[i % 3], *last = rows[(i - 1) % 3], *before = rows[(i + 1) % 3];

		now[0] = i;
		for (size_t j = 1; j <= m; j++) {
			now[j] = smaller(smaller(last[j], now[j - 1]) + 1,
			        last[j - 1] + (a[i - 1] != b[j - 1]));
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
				now[j] = smaller(now[j], before[j - 2] + 1);
		}
	}
	return rows[n % 3][m];
}

const char *tk_suggest_name(const char *name, const char *const *names)
{
	const char *best = NULL;
	size_t length = strlen(name), best_distance = (size_t)-1;

	if (length > NAME_MAX_LENGTH)
		return NULL;
	for (; *names; names++) {
		size_t m = strlen(*names), d;

		if (m > NAME_MAX_LENGTH)
			continue;
		d = distance(name, length, *names, m);
		if ((d <= 2 || d <= length / 3) && d < length && d < best_distance) {
			best = *names;
			best_distance = d;
		}
	}
	return best;
}

/* "A, B, C", with `last` before the last one. */
static void list_names(const char *const *names, const char *last, char *out, int size)
{
	int len = 0;

	out[0] = '\0';
	for (size_t i = 0; names[i] && len < size; i++)
		len += snprintf(out + len, (size_t)(size - len), "%s%s",
		        i == 0         ? ""
		        : names[i + 1] ? ", "
		                       : last,
		        names[i]);
}

const char *tk_suggest_hint(const char *name, const char *const *names, const char *otherwise,
        char out[TK_SUGGEST_HINT_SIZE])
{
	const char *near = tk_suggest_name(name, names);
	int len;

	if (near) {
		snprintf(out, TK_SUGGEST_HINT_SIZE, "; did you mean \"%s\"?", near);
	} else if (otherwise || !*names) {
		snprintf(out, TK_SUGGEST_HINT_SIZE, "%s", otherwise ? otherwise : "");
	} else {
		len = sprintf(out, "; expected one of ");
		list_names(names, ", ", out + len, TK_SUGGEST_HINT_SIZE - len);
	}
	return out;
}

const char *tk_suggest_list(const char *const *names, char out[TK_SUGGEST_HINT_SIZE])
{
	list_names(names, " or ", out, TK_SUGGEST_HINT_SIZE);
	return out;
}
