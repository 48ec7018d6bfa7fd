/* See wire.h. */
#include "worker/wire.h"
#include "base/base.h"
#include <errno.h>
#include <unistd.h>

/* Brackets outside of strings: jansson would accept a depth of 2048, and nothing here is deeper
 * than 5. */
static bool too_deep(const char *line, size_t len)
{
	size_t depth = 0;
	bool quoted = false;
	for (size_t i = 0; i < len; i++) {
		if (quoted) {
			if (line[i] == '\\')
				i++;
			else if (line[i] == '"')
				quoted = false;
			continue;
		}
		if (line[i] == '"')
			quoted = true;
		else if ((line[i] == '{' || line[i] == '[') && ++depth > TK_WIRE_DEPTH_MAX)
			return true;
		else if ((line[i] == '}' || line[i] == ']') && depth > 0)
			depth--;
	}
	return false;
}

int tk_wire_parse(const char *line, size_t len, json_t **out, struct tk_error *err)
{
	json_error_t why;
	if (len > TK_WIRE_LINE_MAX)
		return tk_fail(err, TK_EDATA, "a line of %zu bytes, expected at most %zu", len,
		        TK_WIRE_LINE_MAX);
	if (too_deep(line, len))
		return tk_fail(
		        err, TK_EDATA, "JSON nested deeper than %d levels", TK_WIRE_DEPTH_MAX);
	json_t *root = json_loadb(line, len, JSON_REJECT_DUPLICATES, &why);
	if (!root) {
		tk_wire_sanitize(why.text);
		return tk_fail(err, TK_EDATA, "invalid JSON: %s (column %d)", why.text, why.column);
	}
	if (!json_is_object(root)) {
		json_decref(root);
		return tk_fail(err, TK_EDATA, "expected a JSON object");
	}
	*out = root;
	return TK_OK;
}

int tk_wire_next_line(
        struct tk_wire_reader *r, enum tk_wire_read *what, json_t **out, struct tk_error *err)
{
	char *end = r->buf.len > r->scanned
	                    ? memchr(r->buf.data + r->scanned, '\n', r->buf.len - r->scanned)
	                    : NULL;
	*what = TK_WIRE_READ_MORE;
	r->scanned = r->buf.len;
	if (!end && r->buf.len > TK_WIRE_LINE_MAX)
		return tk_fail(err, TK_EDATA, "a line of more than %zu bytes", TK_WIRE_LINE_MAX);
	if (!end)
		return TK_OK;
	size_t len = (size_t)(end - r->buf.data);
	TRY(tk_wire_parse(r->buf.data, len, out, err));
	memmove(r->buf.data, end + 1, r->buf.len - len - 1);
	r->buf.len -= len + 1;
	r->scanned = 0;
	*what = TK_WIRE_READ_LINE;
	return TK_OK;
}

int tk_wire_read_more(struct tk_wire_reader *r, enum tk_wire_read *what, struct tk_error *err)
{
	char chunk[65536];
	ssize_t n;
	do
		n = read(r->fd, chunk, sizeof chunk);
	while (n < 0 && errno == EINTR);
	*what = n == 0 ? TK_WIRE_READ_END : TK_WIRE_READ_MORE;
	if (n < 0)
		return tk_fail_errno(err, "reading from the wire");
	tk_buf_add(&r->buf, chunk, (size_t)n);
	return tk_buf_status(&r->buf, err);
}

void tk_wire_reader_free(struct tk_wire_reader *r)
{
	tk_buf_free(&r->buf);
	r->scanned = 0;
}

int tk_wire_write(int fd, const json_t *object, struct tk_error *err)
{
	AUTO_TEXT text = json_dumps(object, JSON_COMPACT | JSON_REAL_PRECISION(17));
	if (!text)
		return tk_fail(err, TK_EINTERNAL, "cannot encode an answer as JSON");
	size_t len = strlen(text), done = 0;
	text[len++] = '\n'; /* in the place of the NUL */
	while (done < len) {
		ssize_t n = write(fd, text + done, len - done);
		if (n < 0 && errno != EINTR)
			return tk_fail_errno(err, "writing to the wire");
		done += n > 0 ? (size_t)n : 0;
	}
	return TK_OK;
}

void tk_wire_sanitize(char *text)
{
	bool unprintable;
	for (size_t n; (n = tk_text_next_char(text, &unprintable)); text += n)
		if (unprintable)
			memset(text, (unsigned char)*text < 0x80 || n > 1 ? ' ' : '?', n);
}

json_t *tk_wire_json_string(const char *text, size_t max)
{
	AUTO_TEXT copy = tk_strndup(text ? text : "", max);
	tk_wire_sanitize(copy);
	return json_string(copy);
}
