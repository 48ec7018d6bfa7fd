/* Reads a CSV file in blocks and cuts it into rows in place; writes fields. */
#include "base/csv.h"

#include <errno.h>

#define BLOCK ((size_t)1 << 18) /* bytes of one read */
#define BYTE_ORDER_MARK "\xef\xbb\xbf"

int tk_csv_open(struct tk_csv *c, const char *path, struct tk_error *err)
{
	tk_csv_attach(c, fopen(path, "re"), path);
	c->owns_file = true;
	return c->in ? TK_OK : tk_fail_errno(err, "%s", path);
}

void tk_csv_attach(struct tk_csv *c, FILE *in, const char *path)
{
	*c = (struct tk_csv){.in = in, .path = path, .line = 1};
}

void tk_csv_close(struct tk_csv *c)
{
	if (c->in && c->owns_file)
		fclose(c->in);
	free(c->fields);
	free(c->lengths);
	tk_buf_free(&c->text);
	*c = (struct tk_csv){0};
}

static int fail_row(const struct tk_csv *c, const char *what, struct tk_error *err)
{
	return tk_fail(err, TK_EDATA, "%s:%zu: %s", c->path, c->line, what);
}

/* ---- blocks ---------------------------------------------------------------------------------- */

/* Moves the unread text to the front and reads another block. */
static int read_block(struct tk_csv *c, struct tk_error *err)
{
	size_t left = c->text.len - c->at, got;
	char *room;

	if (c->at)
		memmove(c->text.data, c->text.data + c->at, left);
	c->text.len = left;
	c->at = 0;
	room = tk_buf_reserve(&c->text, BLOCK);
	if (!room)
		return tk_buf_status(&c->text, err);
	got = fread(room, 1, BLOCK, c->in);
	if (ferror(c->in)) {
		if (errno != EINTR)
			return tk_fail_errno(err, "%s", c->path);
		clearerr(c->in);
	}
	if (memchr(room, '\0', got))
		return tk_fail(err, TK_EDATA, "%s: not a text file", c->path);
	tk_buf_commit(&c->text, got);
	c->ended = feof(c->in);
	if (!c->started && !strncmp(c->text.data, BYTE_ORDER_MARK, strlen(BYTE_ORDER_MARK)))
		c->at = strlen(BYTE_ORDER_MARK);
	c->started = true;
	return TK_OK;
}

static char detect_separator(const char *line, size_t len)
{
	size_t commas = 0, semicolons = 0, tabs = 0;

	for (size_t i = 0; i < len; i++) {
		commas += line[i] == ',';
		semicolons += line[i] == ';';
		tabs += line[i] == '\t';
	}
	if (tabs > commas && tabs >= semicolons)
		return '\t';
	return semicolons > commas ? ';' : ',';
}

/* ---- rows ------------------------------------------------------------------------------------ */

/* Scans to the closing quote. False: it is not read yet. */
static bool skip_quoted(struct tk_csv *c, const char *from, const char *limit)
{
	const char *p = from + c->scanned, *quote;

	while ((quote = memchr(p, '"', (size_t)(limit - p)))) {
		if (quote + 1 == limit && !c->ended)
			break; /* whether it is a doubled one is not read yet */
		if (quote + 1 == limit || quote[1] != '"') {
			c->quoted = false;
			c->scanned = (size_t)(quote + 1 - from);
			return true;
		}
		p = quote + 2;
	}
	c->scanned = (size_t)((quote ? quote : limit) - from);
	return false;
}

/* The end of the row at `at`: its newline or the end of the file. NULL: not read yet, or the file
 * ends within quotes. Remembers what it scanned. */
static char *find_row_end(struct tk_csv *c)
{
	char *from = c->text.data + c->at, *limit = c->text.data + c->text.len;

	while (!c->quoted || skip_quoted(c, from, limit)) {
		char *p = from + c->scanned, *newline = memchr(p, '\n', (size_t)(limit - p)),
		     *end = newline ? newline : limit, *quote;

		if (!c->separator) {
			if (!newline && !c->ended)
				return NULL;
			if (end - from > (*from == '\r'))
				c->separator = detect_separator(from, (size_t)(end - from));
		}
		while ((quote = memchr(p, '"', (size_t)(end - p))) && quote != from &&
		        quote[-1] != c->separator)
			p = quote + 1;
		c->scanned = (size_t)((quote ? quote + 1 : end) - from);
		if (!quote)
			return newline ? newline : c->ended ? limit : NULL;
		c->quoted = c->has_quotes = true;
	}
	return NULL;
}

static void add_field(struct tk_csv *c, char *text, size_t length)
{
	if (c->count == c->cap) {
		c->cap = c->cap ? 2 * c->cap : 32;
		c->fields = tk_reallocarray(c->fields, c->cap, sizeof *c->fields);
		c->lengths = tk_reallocarray(c->lengths, c->cap, sizeof *c->lengths);
	}
	c->fields[c->count] = text;
	c->lengths[c->count++] = length;
}

/* Unquotes the field at `from` in place. Returns where the quoted text ended; *length: of the
 * unquoted one. */
static char *unquote(const struct tk_csv *c, char *from, const char *end, size_t *length)
{
	char *to = from, *p = from + 1;

	for (; p < end && (*p != '"' || p[1] == '"'); *to++ = *p++)
		p += *p == '"' || (*p == '\r' && p[1] == '\n');
	for (p += p < end; p < end && *p != c->separator;)
		*to++ = *p++;
	*length = (size_t)(to - from);
	return p;
}

static void cut_row(struct tk_csv *c, char *from, char *end)
{
	if (end > from && end[-1] == '\r')
		end--;
	*end = '\0';
	for (bool more = end > from; more;) {
		char *stop;
		size_t length;

		if (*from == '"') {
			stop = unquote(c, from, end, &length);
		} else {
			stop = memchr(from, c->separator, (size_t)(end - from));
			stop = stop ? stop : end;
			length = (size_t)(stop - from);
		}
		more = stop < end;
		from[length] = '\0';
		add_field(c, from, length);
		from = stop + 1;
	}
}

static size_t count_lines(const char *p, const char *end)
{
	size_t lines = 1;

	for (; (p = memchr(p, '\n', (size_t)(end - p))); p++)
		lines++;
	return lines;
}

/* Reads until the row at `at` is complete. *end: NULL at the end of the file. */
static int load_row(struct tk_csv *c, char **end, struct tk_error *err)
{
	c->scanned = 0;
	c->quoted = c->has_quotes = false;
	for (;;) {
		size_t size;

		*end = c->at < c->text.len ? find_row_end(c) : NULL;
		size = *end ? (size_t)(*end - c->text.data) - c->at : c->text.len - c->at;
		if (c->quoted && (c->ended || size > TK_CSV_ROW_MAX))
			return fail_row(c, "a quote is not closed", err);
		if (size > TK_CSV_ROW_MAX)
			return tk_fail(err, TK_EDATA, "%s:%zu: is longer than %zu MiB", c->path,
			        c->line, TK_CSV_ROW_MAX >> 20);
		if (*end || c->ended)
			return TK_OK;
		TRY(read_block(c, err));
	}
}

int tk_csv_read_row(struct tk_csv *c, bool *more, struct tk_error *err)
{
	c->count = 0;
	while (!c->count) {
		char *from, *end;
		c->line += c->lines;
		c->lines = 0;
		TRY(load_row(c, &end, err));
		*more = end != NULL;
		if (!end)
			return TK_OK;
		from = c->text.data + c->at;
		c->at += (size_t)(end - from) + (*end == '\n');
		c->lines = c->has_quotes ? count_lines(from, end) : 1;
		cut_row(c, from, end);
	}
	return c->count < c->min_count ? fail_row(c, "too few fields", err) : TK_OK;
}

/* ---- header ---------------------------------------------------------------------------------- */

size_t tk_csv_find_field(const struct tk_csv *c, const char *name)
{
	size_t i = 0;

	while (i < c->count && strcmp(c->fields[i], name) != 0)
		i++;
	return i;
}

int tk_csv_read_header(
        struct tk_csv *c, const char *const *names, size_t *columns, struct tk_error *err)
{
	bool more;
	TRY(tk_csv_read_row(c, &more, err));
	if (!more)
		return tk_fail(err, TK_EDATA, "%s: no header line", c->path);
	for (size_t n = 0; names[n]; n++) {
		columns[n] = tk_csv_find_field(c, names[n]);
		if (columns[n] == c->count)
			return tk_fail(err, TK_EDATA, "%s:%zu: there is no column %s", c->path,
			        c->line, names[n]);
		if (columns[n] >= c->min_count)
			c->min_count = columns[n] + 1;
	}
	return TK_OK;
}

void tk_csv_add_text(struct tk_buf *out, const char *s)
{
	bool unprintable;

	tk_buf_add_char(out, '"');
	if (*s && strchr("=+-@\t\r", *s))
		tk_buf_add_char(out, '\'');
	for (size_t n; (n = tk_text_next_char(s, &unprintable)); s += n) {
		if (*s == '"')
			tk_buf_add_char(out, '"');
		if (unprintable && !strchr("\n\t\r", *s))
			tk_buf_add_char(out, '?');
		else
			tk_buf_add(out, s, n);
	}
	tk_buf_add_char(out, '"');
}
