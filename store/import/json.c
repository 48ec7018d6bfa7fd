/* What the JSON formats have in common: the document, its members with their types, lines, times,
 * repetitions.
 *
 * Other tools do not always write valid JSON: NaN and Infinity become null, and what is before the
 * first brace ("window.BENCHMARK_DATA =") and a semicolon after the last one are left out. */
#include "base/clock.h"
#include "base/text.h"
#include "base/try.h"
#include "store/import/import.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define DOCUMENT_MAX ((size_t)512 << 20)

/* ---- the document ---------------------------------------------------------------------------- */

static int read_text(const struct tk_import_file *f, struct tk_buf *out, struct tk_error *err)
{
	char block[65536];

	rewind(f->in);
	for (size_t n; (n = fread(block, 1, sizeof(block), f->in)) > 0;) {
		tk_buf_add(out, block, n);
		if (out->len > DOCUMENT_MAX)
			return tk_fail(err, TK_EDATA, "%s: has more than %zu MiB", f->path,
			        DOCUMENT_MAX >> 20);
	}
	return ferror(f->in) ? tk_fail_errno(err, "%s", f->path) : 0;
}

/* The length of a word that is no number of JSON at `at`; 0: none. */
static size_t not_a_number(const char *at)
{
	return !strncmp(at, "NaN", 3)         ? 3
	       : !strncmp(at, "Infinity", 8)  ? 8
	       : !strncmp(at, "-Infinity", 9) ? 9
	                                      : 0;
}

static void add_without_nan(struct tk_buf *out, const char *text)
{
	const char *from = text, *at = text;

	for (bool quoted = false; *at; at++) {
		size_t word = quoted ? 0 : not_a_number(at);

		if (*at == '"')
			quoted = !quoted;
		else if (quoted && *at == '\\' && at[1])
			at++;
		if (!word)
			continue;
		tk_buf_add(out, from, (size_t)(at - from));
		tk_buf_add_str(out, "null");
		from = at + word;
		at = from - 1;
	}
	tk_buf_add(out, from, (size_t)(at - from));
}

static int fail_json(
        const struct tk_import_file *f, size_t line, const json_error_t *why, struct tk_error *err)
{
	return tk_fail(err, TK_EDATA, "%s:%zu:%d: %s", f->path, line, why->column, why->text);
}

int tk_import_load(struct tk_import_file *f, struct tk_error *err)
{
	static const char assignment[] = "window.BENCHMARK_DATA";
	AUTO(tk_buf) text = {0};
	AUTO(tk_buf) plain = {0};
	json_error_t why;

	if (f->document)
		return 0;
	TRY(read_text(f, &text, err));
	const char *start = tk_buf_cstr(&text);

	if (!strncmp(start, TK_IMPORT_BYTE_ORDER_MARK, 3))
		start += 3;
	start += strspn(start, " \t\r\n");
	if (!strncmp(start, assignment, strlen(assignment)))
		start += strcspn(start, "{[");
	add_without_nan(&plain, start);
	while (plain.len && strchr("; \t\r\n", plain.data[plain.len - 1]))
		plain.len--;
	f->document = json_loadb(plain.data, plain.len, 0, &why);
	return f->document ? 0 : fail_json(f, (size_t)why.line, &why, err);
}

static int visit_child(const char *list, const char *key, size_t index, json_t *value,
        int (*visit)(void *, const struct tk_import_path *, json_t *, struct tk_error *), void *arg,
        struct tk_error *err)
{
	char text[160];
	const struct tk_import_path path = {.key = key, .text = text};

	if (key)
		snprintf(text, sizeof(text), "%s.%.100s", list, key);
	else
		snprintf(text, sizeof(text), "%s[%zu]", list, index);
	return visit(arg, &path, value, err);
}

int tk_import_each(const char *list, const json_t *values,
        int (*visit)(void *, const struct tk_import_path *, json_t *, struct tk_error *), void *arg,
        struct tk_error *err)
{
	const char *key;
	json_t *value;
	size_t i;

	json_array_foreach ((json_t *)values, i, value)
		TRY(visit_child(list, NULL, i, value, visit, arg, err));
	json_object_foreach ((json_t *)values, key, value)
		TRY(visit_child(list, key, 0, value, visit, arg, err));
	return 0;
}

json_t *tk_import_get_header(const struct tk_import_file *f, const char *results)
{
	json_t *header = json_is_object(f->document) ? json_copy(f->document) : json_object();

	json_object_del(header, results);
	return header;
}

/* ---- errors ---------------------------------------------------------------------------------- */

int tk_import_fail(const struct tk_import_file *f, const struct tk_import_path *path,
        struct tk_error *err, const char *fmt, ...)
{
	char what[512], line[32] = "";
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(what, sizeof(what), fmt, ap);
	va_end(ap);
	if (path->line)
		snprintf(line, sizeof(line), ":%zu", path->line);
	/* At the top of the file a path does not begin with a dot. */
	return tk_fail(err, TK_EDATA, "%s%s: %s%s", f->path, line, path->text,
	        what + (!*path->text && *what == '.'));
}

const char *tk_import_describe_value(const json_t *value, char *out)
{
	static const char *const words[] = {[JSON_OBJECT] = "an object",
	        [JSON_ARRAY] = "a list",
	        [JSON_TRUE] = "true",
	        [JSON_FALSE] = "false",
	        [JSON_NULL] = "null"};
	char text[TK_IMPORT_DESCRIPTION_SIZE - 2];

	if (json_is_string(value)) {
		tk_text_copy_line(text, sizeof(text), json_string_value(value));
		snprintf(out, TK_IMPORT_DESCRIPTION_SIZE, "\"%s\"", text);
	} else if (json_is_integer(value)) {
		snprintf(out, TK_IMPORT_DESCRIPTION_SIZE, "%lld",
		        (long long)json_integer_value(value));
	} else if (json_is_real(value)) {
		snprintf(out, TK_IMPORT_DESCRIPTION_SIZE, "%.12g", json_real_value(value));
	} else {
		snprintf(out, TK_IMPORT_DESCRIPTION_SIZE, "%s",
		        !value                                            ? "nothing"
		        : json_is_array(value) && !json_array_size(value) ? "an empty list"
		        : json_is_object(value) && !json_object_size(value)
		                ? "an empty object"
		                : words[json_typeof(value)]);
	}
	return out;
}

int tk_import_fail_expected(const struct tk_import_file *f, const struct tk_import_path *path,
        struct tk_error *err, const char *what, const json_t *value, const char *fmt, ...)
{
	char field[256], found[TK_IMPORT_DESCRIPTION_SIZE];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(field, sizeof(field), fmt, ap);
	va_end(ap);
	return tk_import_fail(f, path, err, "%s: expected %s, found %s", field, what,
	        tk_import_describe_value(value, found));
}

/* ---- members --------------------------------------------------------------------------------- */

int tk_import_get_number(const struct tk_import_file *f, const struct tk_import_path *path,
        const json_t *object, const char *key, double *out, struct tk_error *err)
{
	const json_t *value = json_object_get(object, key);

	if (value && !json_is_null(value) && !json_is_number(value))
		return tk_import_fail_expected(f, path, err, "a number", value, ".%s", key);
	*out = json_is_number(value) ? json_number_value(value) : NAN;
	return 0;
}

int tk_import_get_text(const struct tk_import_file *f, const struct tk_import_path *path,
        const json_t *object, const char *key, const char **out, struct tk_error *err)
{
	const json_t *value = json_object_get(object, key);

	if (value && !json_is_null(value) && !json_is_string(value))
		return tk_import_fail_expected(f, path, err, "a string", value, ".%s", key);
	*out = json_string_value(value);
	return 0;
}

void tk_import_copy_unknown(json_t **to, const json_t *from, const char *const *known)
{
	const char *key;
	json_t *value;

	json_object_foreach ((json_t *)from, key, value) {
		size_t i = 0;

		while (known[i] && strcmp(known[i], key))
			i++;
		if (known[i] || json_is_null(value))
			continue;
		if (!*to)
			*to = json_object();
		json_object_set(*to, key, value);
	}
}

void tk_import_set_attribute(json_t *attributes, const char *list, const char *name, json_t *value)
{
	json_t *object = json_object_get(attributes, list);

	if (!value)
		return;
	if (!object) {
		object = json_object();
		json_object_set_new(attributes, list, object);
	}
	json_object_set_new(object, name, value);
}

/* "2022-06-18 10:52:55.123456+0200" -> what tk_time_parse() reads. */
bool tk_import_parse_time(const char *text, int64_t *t_s)
{
	char plain[64];
	size_t n = 0;

	for (; *text && n < sizeof(plain) - 2; text++) {
		if (*text == '.' || *text == ',') {
			while (text[1] >= '0' && text[1] <= '9')
				text++;
			continue;
		}
		plain[n++] = *text == ' ' ? 'T' : *text;
		/* +hhmm */
		if (n > 19 && (plain[n - 3] == '+' || plain[n - 3] == '-') && text[1] >= '0' &&
		        text[1] <= '9')
			plain[n++] = ':';
	}
	plain[n] = '\0';
	return tk_time_parse(plain, t_s, NULL) == 0;
}

static int number_order(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static double quantile(const double *sorted, size_t n, double q)
{
	double at = q * (double)(n - 1);
	size_t i = (size_t)at;

	return i + 1 < n ? sorted[i] + (at - (double)i) * (sorted[i + 1] - sorted[i])
	                 : sorted[n - 1];
}

void tk_import_summarize(struct tk_import_point *p, double *values, size_t count)
{
	if (!count)
		return;
	qsort(values, count, sizeof(*values), number_order);
	p->value = quantile(values, count, 0.5);
	p->n = (int64_t)count;
	if (count < 2)
		return;
	p->min = values[0];
	p->q25 = quantile(values, count, 0.25);
	p->q75 = quantile(values, count, 0.75);
	p->p95 = quantile(values, count, 0.95);
}

/* ---- lines ----------------------------------------------------------------------------------- */

static int end_line(struct tk_import_lines *l, struct tk_error *err)
{
	if (tk_buf_status(&l->line, NULL))
		return tk_fail(err, TK_EDATA, "%s:%zu: is longer than %zu MiB", l->file->path,
		        l->number, TK_IMPORT_LINE_MAX >> 20);
	if (l->number == 1 && l->line.len >= 3 &&
	        !memcmp(l->line.data, TK_IMPORT_BYTE_ORDER_MARK, 3))
		memmove(l->line.data, l->line.data + 3, (l->line.len -= 3) + 1);
	if (l->line.len && l->line.data[l->line.len - 1] == '\r')
		l->line.data[--l->line.len] = '\0';
	if (l->line.len && strlen(l->line.data) != l->line.len)
		return tk_fail(err, TK_EDATA, "%s:%zu: has a zero byte", l->file->path, l->number);
	return 0;
}

int tk_import_read_line(struct tk_import_lines *l, json_t **value, bool *more, struct tk_error *err)
{
	FILE *in = l->file->in;
	json_error_t why;
	int c = EOF;

	*value = NULL;
	tk_buf_clear(&l->line);
	l->line.max = TK_IMPORT_LINE_MAX;
	l->number++;
	while (!l->line.status && (c = getc_unlocked(in)) != EOF && c != '\n')
		tk_buf_add_char(&l->line, (char)c);
	if (ferror(in))
		return tk_fail_errno(err, "%s", l->file->path);
	*more = c != EOF || l->line.len;
	if (!*more)
		return 0;
	TRY(end_line(l, err));
	if (!l->line.len)
		return 0;
	*value = json_loadb(l->line.data, l->line.len, JSON_REJECT_DUPLICATES, &why);
	return *value ? 0 : fail_json(l->file, l->number, &why, err);
}
