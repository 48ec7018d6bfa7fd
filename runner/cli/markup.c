/* See markup.h. */
#include "cli/markup.h"

#include <math.h>

#include "base/base.h"
#include "base/csv.h"
#include "core/vocabulary.h"

void tk_markdown_put_text(struct tk_buf *b, const char *s)
{
	bool unprintable;

	for (size_t n; (n = tk_text_next_char(s, &unprintable)); s += n)
		if (unprintable)
			tk_buf_add_char(b, ' ');
		else if (n > 1)
			tk_buf_add(b, s, n);
		else if (strchr("\\`*_[]|~$", *s))
			tk_buf_add_printf(b, "\\%c", *s);
		else if (strchr("<>&@#", *s) || (*s == ':' && s[1] == '/') ||
		         (*s == '.' && b->len && b->data[b->len - 1] == 'w'))
			tk_buf_add_printf(b, "&#%d;", *s);
		else
			tk_buf_add_char(b, *s);
}

void tk_github_put_escaped(FILE *out, const char *s, bool property)
{
	bool unprintable;

	for (size_t n; (n = tk_text_next_char(s, &unprintable)); s += n)
		if (*s == '%' || *s == '\r' || *s == '\n' || (property && (*s == ':' || *s == ',')))
			fprintf(out, "%%%02X", *s);
		else if (unprintable)
			fputc(' ', out);
		else
			fwrite(s, 1, n, out);
}

int tk_github_append(const char *variable,
        int (*write)(const void *report, FILE *out, struct tk_error *err), const void *report,
        struct tk_error *err)
{
	const char *path = getenv(variable);
	int status;
	FILE *f;

	if (!path || !*path)
		return TK_OK;
	f = fopen(path, "ae");
	if (!f)
		return tk_fail_errno(err, "$%s: %s", variable, path);
	status = write(report, f, err);
	if (fclose(f) && !status)
		status = tk_fail_errno(err, "$%s: %s", variable, path);
	return status;
}

json_t *tk_json_counts(const struct tk_vocabulary *words, const size_t *counts)
{
	json_t *o = json_object();

	for (int i = 0; i < words->count; i++)
		json_object_set_new(
		        o, tk_vocabulary_name(words, i), json_integer((json_int_t)counts[i]));
	return o;
}

int tk_json_write(json_t *json, size_t flags, FILE *out, struct tk_error *err)
{
	int status = TK_OK;

	if (json_dumpf(json, out, flags) || fputc('\n', out) == EOF)
		status = tk_fail_errno(err, "cannot write the JSON document");
	json_decref(json);
	return status;
}

int tk_markup_write(const struct tk_buf *b, FILE *out, struct tk_error *err)
{
	TRY(tk_buf_status(b, err));
	if (fwrite(b->data, 1, b->len, out) != b->len)
		return tk_fail_errno(err, "cannot write");
	return TK_OK;
}

void tk_print_line(FILE *out, const char *fmt, ...)
{
	va_list ap;
	char *text;

	va_start(ap, fmt);
	text = tk_vsprintf(fmt, ap);
	va_end(ap);
	tk_text_sanitize(text, "", '?');
	fputs(text, out);
	fputc('\n', out);
	free(text);
}
