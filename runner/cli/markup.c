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

void tk_csv_put_text(FILE *out, const char *s)
{
	struct tk_buf text = TK_BUF_INIT;

	tk_csv_add_text(&text, s);
	fputs(tk_buf_cstr(&text), out);
	tk_buf_free(&text);
}

void tk_csv_put_number(FILE *out, double x)
{
	if (isfinite(x))
		fprintf(out, ",%.10g",
		        x); /* more digits than measurements have; `tracker export` has every bit */
	else
		fputc(',', out);
}

const char *tk_text_to_plain(char *s)
{
	static const struct {
		const char *sign, *instead;
	} signs[] = {{"\u00a0", " "}, {"\u00b5", "u"}, {"\u00b1", "+-"}, {"\u00d7", "x"},
	        {"\u2013", "-"}, {"\u2212", "-"}};
	char *to = s;

	for (const char *p = s; MB_CUR_MAX == 1 && *p;) {
		size_t i = 0;

		while (i < sizeof signs / sizeof *signs &&
		        strncmp(p, signs[i].sign, strlen(signs[i].sign)) != 0)
			i++;
		if (i == sizeof signs / sizeof *signs) {
			*to++ = *p++;
			continue;
		}
		p += strlen(signs[i].sign);
		/* No NUL: after a sign of two bytes it would end the text. */
		const size_t len = strlen(signs[i].instead);

		memcpy(to, signs[i].instead, len);
		to += len;
	}
	if (MB_CUR_MAX == 1)
		*to = '\0';
	return s;
}
