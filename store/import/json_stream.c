/* Reads a JSON file value by value: only the current value is in memory, so a file of any size can
 * be read.
 *
 * Other tools do not always write valid JSON: NaN and Infinity become null, and a line before the
 * first brace ("window.BENCHMARK_DATA =") and a semicolon after the last one are skipped. */
#include "base/json.h"
#include "base/memory.h"
#include "base/try.h"
#include "store/import/import.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define DEPTH_MAX 4
#define VALUE_MAX ((size_t)256 << 20)

struct stream {
	const struct tk_import_file *file;
	const char *const *patterns;
	int (*visit)(
	        void *arg, const struct tk_import_path *path, json_t *value, struct tk_error *err);
	void *arg;
	char block[65536];
	size_t at, len, line;
	int read_errno; /* 0: the file could be read so far */
	struct tk_import_path path;
	struct tk_buf keys[DEPTH_MAX], value, where;
};

/* ---- bytes ----------------------------------------------------------------------------------- */

static int refill(struct stream *s)
{
	errno = 0;
	s->len = fread(s->block, 1, sizeof(s->block), s->file->in);
	s->at = 0;
	if (ferror(s->file->in) && !s->read_errno)
		s->read_errno = errno ? errno : EIO;
	return s->len > 0;
}

static inline int next(struct stream *s)
{
	if (s->at == s->len && !refill(s))
		return EOF;
	int c = (unsigned char)s->block[s->at++];

	s->line += c == '\n';
	return c;
}

static inline int peek(struct stream *s)
{
	return s->at == s->len && !refill(s) ? EOF : (unsigned char)s->block[s->at];
}

static int peek_token(struct stream *s)
{
	int c;

	while ((c = peek(s)) == ' ' || c == '\t' || c == '\n' || c == '\r')
		next(s);
	return c;
}

/* "entries.Benchmark[3]" */
static const char *where(struct stream *s)
{
	tk_buf_clear(&s->where);
	for (size_t i = 0; i < s->path.depth; i++)
		if (s->path.key[i])
			tk_buf_add_printf(&s->where, "%s%.100s", i ? "." : "", s->path.key[i]);
		else
			tk_buf_add_printf(&s->where, "[%zu]", s->path.index[i]);
	return s->where.len ? tk_buf_cstr(&s->where) : "the document";
}

static int malformed(struct stream *s, const char *what, struct tk_error *err)
{
	if (ferror(s->file->in))
		return tk_fail_errno(err, "%s", s->file->path);
	return tk_fail(err, TK_EDATA, "%s:%zu: %s: %s", s->file->path, s->line, where(s), what);
}

/* The same for an unexpected next byte. */
static int unexpected(struct stream *s, const char *what, int c, struct tk_error *err)
{
	char text[96];

	if (c == EOF)
		return malformed(s, "ends too early", err);
	snprintf(text, sizeof(text),
	        c > ' ' && c < 0x7f ? "expected %s, found \"%c\""
	                            : "expected %s, found the byte 0x%02x",
	        what, c);
	return malformed(s, text, err);
}

/* ---- taking a value's text ------------------------------------------------------------------- */

struct taker {
	struct tk_buf *to; /* NULL: passed over */
	size_t depth;
};

static int take_string(struct stream *s, struct tk_buf *to, struct tk_error *err)
{
	/* By blocks: most of a file is strings and numbers. */
	for (bool escaped = false;;) {
		size_t from = s->at;

		if (s->at == s->len && !refill(s))
			return malformed(s, "ends inside a string", err);
		for (from = s->at; s->at < s->len; s->at++) {
			char c = s->block[s->at];

			if (escaped)
				escaped = false;
			else if (c == '\\')
				escaped = true;
			else if (c == '"')
				break;
			else if (c == '\n')
				s->line++;
		}
		bool closed = s->at < s->len;

		s->at += closed;
		if (to)
			tk_buf_add(to, s->block + from, s->at - from);
		if (to && to->len > VALUE_MAX)
			return malformed(s, "is too large", err);
		if (closed)
			return 0;
	}
}

/* NaN, Infinity and -Infinity are no numbers. */
static int take_word(struct stream *s, int first, struct tk_buf *to, struct tk_error *err)
{
	char word[16] = {(char)first};
	size_t n = 1;
	int c;

	while ((c = peek(s)) != EOF && ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')) &&
	        n < sizeof(word) - 1)
		word[n++] = (char)next(s);
	if (!strcmp(word, "NaN") || !strcmp(word, "Infinity")) {
		if (to && to->len && to->data[to->len - 1] == '-')
			to->len--;
		strcpy(word, "null");
	} else if (strcmp(word, "null") && strcmp(word, "true") && strcmp(word, "false")) {
		char text[64];

		snprintf(text, sizeof(text), "expected a value, found \"%s\"", word);
		return malformed(s, text, err);
	}
	if (to)
		tk_buf_add_str(to, word);
	return 0;
}

/* Characters of numbers and separators of values are copied in blocks. The letter of "1e5" follows
 * a digit. */
static const bool plain[256] = {[' '] = true,
        ['\t'] = true,
        ['\r'] = true,
        [','] = true,
        [':'] = true,
        ['+'] = true,
        ['-'] = true,
        ['.'] = true,
        ['e'] = true,
        ['E'] = true,
        ['0' ... '9'] = true};

static void take_plain(struct stream *s, struct tk_buf *to)
{
	size_t from = s->at;

	while (s->at < s->len && plain[(unsigned char)s->block[s->at]])
		s->at++;
	if (to && s->at > from)
		tk_buf_add(to, s->block + from, s->at - from);
}

static int take_char(struct stream *s, int c, struct taker *t, struct tk_error *err)
{
	if ((c >= 'a' && c <= 'z' && c != 'e') || (c >= 'A' && c <= 'Z' && c != 'E'))
		return take_word(s, c, t->to, err);
	if (t->to)
		tk_buf_add_char(t->to, (char)c);
	if (c == '"')
		return take_string(s, t->to, err);
	if (c == '{' || c == '[')
		t->depth++;
	else if ((c == '}' || c == ']') && t->depth)
		t->depth--;
	else if (!plain[(unsigned char)c])
		return unexpected(s, "a value", c, err);
	if (t->depth)
		take_plain(s, t->to);
	return t->to && t->to->len > VALUE_MAX ? malformed(s, "is too large", err) : 0;
}

/* One value of any kind: a scalar ends before the next delimiter. */
static int take(struct stream *s, struct tk_buf *to, struct tk_error *err)
{
	struct taker t = {to, 0};
	bool any = false;
	int c, status = 0;

	while (!status && (c = peek_token(s)) != EOF) {
		bool scalar = c != '{' && c != '[' && c != '"';

		if (!t.depth && (c == ',' || c == '}' || c == ']' || c == ':' || c == ';'))
			break;
		status = take_char(s, next(s), &t, err);
		any = true;
		if (!status && !t.depth && !scalar)
			return 0;
		if (!status && !t.depth && (c == '"' || c == '}' || c == ']'))
			return 0;
	}
	if (!status && t.depth)
		status = malformed(s, "ends too early", err);
	if (!status && !any)
		status = unexpected(s, "a value", peek(s), err);
	return status;
}

/* ---- walking --------------------------------------------------------------------------------- */

enum choice { SKIP, TAKE, DESCEND };

static bool component_matches(const char *pattern, size_t len, const char *key)
{
	return (len == 1 && *pattern == '*') ||
	       (key && strlen(key) == len && !strncmp(pattern, key, len));
}

/* How a pattern matches the path: as a prefix, completely, or not at all. */
static bool pattern_matches(const struct stream *s, const char *pattern, bool *below)
{
	size_t i = 0;

	for (; i < s->path.depth && *pattern; i++) {
		size_t len = strcspn(pattern, "/");

		if (!component_matches(pattern, len, s->path.key[i]))
			return false;
		pattern += len;
		if (*pattern == '/' && i + 1 == s->path.depth) {
			*below = true;
			return true;
		}
		pattern += *pattern == '/';
	}
	*below = false;
	return i == s->path.depth && !*pattern;
}

/* The first pattern that matches decides. */
static enum choice choose(const struct stream *s)
{
	for (size_t i = 0; s->patterns[i]; i++) {
		bool skip = s->patterns[i][0] == '!', below;

		if (pattern_matches(s, s->patterns[i] + skip, &below))
			return skip && !below ? SKIP : below ? DESCEND : TAKE;
	}
	return SKIP;
}

static int deliver(struct stream *s, struct tk_error *err)
{
	size_t line = s->line;
	json_error_t why;
	json_t *value;
	int status;

	tk_buf_clear(&s->value);
	status = take(s, &s->value, err);
	if (!status)
		status = tk_buf_status(&s->value, err);
	if (status)
		return status;
	value = json_loadb(s->value.data, s->value.len, JSON_DECODE_ANY, &why);
	if (!value && tk_json_is_out_of_memory(&why))
		return tk_fail(err, TK_ENOMEM, "out of memory");
	if (!value)
		return tk_fail(
		        err, TK_EDATA, "%s:%zu: %s: %s", s->file->path, line, where(s), why.text);
	s->path.line = line;
	s->path.text = where(s);
	status = s->visit(s->arg, &s->path, value, err);
	json_decref(value);
	return status;
}

static int walk(struct stream *s, struct tk_error *err);

static int walk_child(struct stream *s, struct tk_error *err)
{
	enum choice choice = choose(s);
	int c = peek_token(s);

	if (choice == DESCEND && (c == '{' || c == '['))
		return walk(s, err);
	return choice == TAKE ? deliver(s, err) : take(s, NULL, err);
}

static int read_key(struct stream *s, size_t depth, struct tk_error *err)
{
	struct tk_buf *key = &s->keys[depth];
	json_error_t why;
	json_t *text;

	if (peek_token(s) != '"')
		return unexpected(s, "a name in quotes", peek(s), err);
	tk_buf_clear(key);
	tk_buf_add_char(key, (char)next(s));
	TRY(take_string(s, key, err));
	TRY(tk_buf_status(key, err));
	text = json_loadb(key->data, key->len, JSON_DECODE_ANY, &why);
	if (!text && tk_json_is_out_of_memory(&why))
		return tk_fail(err, TK_ENOMEM, "out of memory");
	if (!text)
		return malformed(s, "a name is not well-formed", err);
	tk_buf_clear(key);
	tk_buf_add(key, json_string_value(text), strlen(json_string_value(text)));
	tk_buf_add_char(key, '\0');
	json_decref(text);
	if (peek_token(s) != ':')
		return unexpected(s, "\":\"", peek(s), err);
	next(s);
	return tk_buf_status(key, err);
}

/* An object or array that is gone into. */
static int walk(struct stream *s, struct tk_error *err)
{
	size_t depth = s->path.depth;
	bool object = next(s) == '{';
	int close = object ? '}' : ']', status = 0, c;

	if (depth == DEPTH_MAX)
		return malformed(s, "is too deep", err);
	if (peek_token(s) == close) {
		next(s);
		return 0;
	}
	for (size_t i = 0; !status; i++) {
		if (object)
			status = read_key(s, depth, err);
		if (status)
			break;
		s->path.key[depth] = object ? s->keys[depth].data : NULL;
		s->path.index[depth] = i;
		s->path.depth = depth + 1;
		status = walk_child(s, err);
		s->path.depth = depth;
		if (status)
			break;
		c = peek_token(s);
		if (c == close || c == ',')
			next(s);
		if (c == close)
			return 0;
		if (c != ',')
			status =
			        unexpected(s, object ? "\",\" or \"}\"" : "\",\" or \"]\"", c, err);
	}
	return status;
}

static int skip_byte_order_mark(struct stream *s, struct tk_error *err)
{
	static const char mark[] = TK_IMPORT_BYTE_ORDER_MARK;

	for (size_t i = 0; mark[i] && (i || peek(s) == (unsigned char)mark[0]); i++) {
		if (peek(s) != (unsigned char)mark[i])
			return unexpected(s, "an object or a list", peek(s), err);
		next(s);
	}
	return 0;
}

static int walk_document(struct stream *s, struct tk_error *err)
{
	static const char assignment[] = "window.BENCHMARK_DATA";
	int c, status = skip_byte_order_mark(s, err);

	if (status)
		return status;
	c = peek_token(s);
	for (const char *p = assignment; c == 'w' && *p; p++) {
		if (peek(s) != *p)
			return unexpected(s, assignment, peek(s), err);
		next(s);
	}
	if (c == 'w' && peek_token(s) == '=')
		next(s);
	c = peek_token(s);
	if (c != '{' && c != '[')
		return unexpected(s, "an object or a list", c, err);
	status = walk(s, err);
	if (!status && peek_token(s) == ';')
		next(s);
	if (!status && peek_token(s) != EOF)
		status = malformed(s, "something follows the end", err);
	return status;
}

int tk_import_read_json(const struct tk_import_file *f, const char *const *patterns,
        int (*visit)(
                void *arg, const struct tk_import_path *path, json_t *value, struct tk_error *err),
        void *arg, struct tk_error *err)
{
	struct stream *s = tk_calloc(1, sizeof(*s));
	int status;

	if (!s)
		return tk_fail(err, TK_ENOMEM, "out of memory");
	*s = (struct stream){
	        .file = f, .patterns = patterns, .visit = visit, .arg = arg, .line = 1};
	rewind(f->in);
	status = walk_document(s, err);
	if (s->read_errno) { /* what is wrong with the document is that its end is missing */
		errno = s->read_errno;
		status = tk_fail_errno(err, "%s", f->path);
	}
	for (size_t i = 0; i < DEPTH_MAX; i++)
		tk_buf_free(&s->keys[i]);
	tk_buf_free(&s->value);
	tk_buf_free(&s->where);
	free(s);
	return status;
}

static int add_member(
        void *arg, const struct tk_import_path *path, json_t *value, struct tk_error *err)
{
	json_t *header = arg;

	if (path->key[0] && json_object_set(header, path->key[0], value))
		return tk_fail(err, TK_ENOMEM, "out of memory");
	return 0;
}

int tk_import_read_header(
        const struct tk_import_file *f, const char *results, json_t *header, struct tk_error *err)
{
	char skip[64];
	const char *const patterns[] = {skip, "*", NULL};

	snprintf(skip, sizeof(skip), "!%s", results);
	return tk_import_read_json(f, patterns, add_member, header, err);
}

int tk_import_fail(const struct tk_import_file *f, const struct tk_import_path *path,
        struct tk_error *err, const char *fmt, ...)
{
	char what[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(what, sizeof(what), fmt, ap);
	va_end(ap);
	/* At the top of the file a path does not begin with a dot. */
	return tk_fail(err, TK_EDATA, "%s:%zu: %s%s", f->path, path->line, path->text,
	        what + (!*path->text && *what == '.'));
}
