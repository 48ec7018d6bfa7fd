/* Writes documents. */
#include "site_gen/report/document.h"

#include "base/base.h"
#include "site_gen/render/escape.h"

static void add_html(struct tk_buf *out, const char *text)
{
	tk_escape_html(out, text, strlen(text));
}

/* Text from an upstream stays on its line: control characters and marks of direction become a
 * blank, so that the width stays. Those of `special` get a backslash. */
static void add_line(struct tk_buf *out, const char *text, const char *special)
{
	bool unprintable;
	for (size_t n; (n = tk_text_next_char(text, &unprintable)); text += n) {
		if (strchr(special, *text))
			tk_buf_add_char(out, '\\');
		if (unprintable)
			tk_buf_add_char(out, ' ');
		else
			tk_buf_add(out, text, n);
	}
}

static void add_markdown(struct tk_buf *out, const char *text)
{
	add_line(out, text, "\\`*_[]<>|#");
}

static void add_plain(struct tk_buf *out, const char *text)
{
	add_line(out, text, "");
}

static void add_text(struct tk_document *d, const char *text)
{
	static void (*const writers[])(struct tk_buf *, const char *) = {
	        [TK_DOCUMENT_TEXT] = add_plain,
	        [TK_DOCUMENT_MARKDOWN] = add_markdown,
	        [TK_DOCUMENT_HTML] = add_html};
	writers[d->format](d->out, text);
}

/* `before` and `after` by format. */
static void add_block(struct tk_document *d, const char *const before[TK_DOCUMENT_FORMAT_COUNT],
        const char *text, const char *const after[TK_DOCUMENT_FORMAT_COUNT])
{
	tk_buf_add_str(d->out, before[d->format]);
	add_text(d, text);
	tk_buf_add_str(d->out, after[d->format]);
}

static void add_underline(struct tk_document *d, const char *text, char c)
{
	for (size_t i = tk_utf8_count(text); d->format == TK_DOCUMENT_TEXT && i-- > 0;)
		tk_buf_add_char(d->out, c);
	tk_buf_add_str(d->out, d->format == TK_DOCUMENT_TEXT ? "\n\n" : "");
}

static const char style[] =
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
        "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">"
        "<style>body{font:15px/1.5 system-ui,sans-serif;color:#1b2128;background:#fff;"
        "max-width:1100px;margin:24px auto;padding:0 16px}"
        "table{border-collapse:collapse;margin:0 0 20px;font-variant-numeric:tabular-nums}"
        "th,td{text-align:left;padding:5px 14px 5px 0;border-bottom:1px solid #dbe1e8;"
        "vertical-align:top}.n{text-align:right}h2{font-size:1.15em;margin:24px 0 8px}"
        "</style><title>";

void tk_document_begin(struct tk_document *d, struct tk_buf *out, enum tk_document_format format,
        const char *title)
{
	*d = (struct tk_document){.out = out, .format = format};
	if (format == TK_DOCUMENT_HTML) {
		tk_buf_add_str(out, style);
		add_html(out, title);
		tk_buf_add_str(out, "</title></head><body>\n");
	}
	add_block(d, (const char *const[]){"", "# ", "<h1>"}, title,
	        (const char *const[]){"\n", "\n\n", "</h1>\n"});
	add_underline(d, title, '=');
}

void tk_document_end(struct tk_document *d)
{
	tk_buf_add_str(d->out, d->format == TK_DOCUMENT_HTML ? "</body></html>\n" : "");
	free(d->cells);
}

static void add_heading(struct tk_document *d, const char *text)
{
	add_block(d, (const char *const[]){"", "## ", "<h2>"}, text,
	        (const char *const[]){"\n", "\n\n", "</h2>\n"});
	add_underline(d, text, '-');
}

void tk_document_add_paragraph(struct tk_document *d, const char *text)
{
	add_block(d, (const char *const[]){"", "", "<p>"}, text,
	        (const char *const[]){"\n\n", "\n\n", "</p>\n"});
}

/* ---- tables ---- */

void tk_document_add_cell(struct tk_document *d, const char *text)
{
	if (d->cell_count == d->room) {
		d->room = 2 * d->room + 64;
		d->cells = tk_reallocarray(d->cells, d->room, sizeof *d->cells);
	}
	d->cells[d->cell_count++] = tk_strdup(text);
}

void tk_document_begin_table(
        struct tk_document *d, const char *title, const char *const *heads, size_t columns)
{
	d->title = title;
	d->columns = columns;
	d->numeric = 0;
	for (size_t i = 0; i < columns; i++) {
		size_t len = strcspn(heads[i], "#");
		AUTO_TEXT head = tk_strndup(heads[i], len);
		d->numeric |= (unsigned)(heads[i][len] == '#') << i;
		tk_document_add_cell(d, head);
	}
}

static bool is_numeric(const struct tk_document *d, size_t column)
{
	return d->numeric >> column & 1;
}

static void write_html_row(struct tk_document *d, size_t row)
{
	const char *tag = row ? "td" : "th";
	tk_buf_add_str(d->out, "<tr>");
	for (size_t c = 0; c < d->columns; c++) {
		tk_buf_add_printf(d->out, "<%s%s>", tag, is_numeric(d, c) ? " class=\"n\"" : "");
		add_html(d->out, d->cells[row * d->columns + c]);
		tk_buf_add_printf(d->out, "</%s>", tag);
	}
	tk_buf_add_str(d->out, "</tr>\n");
}

static void write_markdown_row(struct tk_document *d, size_t row)
{
	for (size_t c = 0; c < d->columns; c++) {
		tk_buf_add_str(d->out, "| ");
		add_markdown(d->out, d->cells[row * d->columns + c]);
		tk_buf_add_char(d->out, ' ');
	}
	tk_buf_add_str(d->out, "|\n");
	for (size_t c = 0; !row && c < d->columns; c++)
		tk_buf_add_str(d->out, is_numeric(d, c) ? "| ---: " : "| --- ");
	tk_buf_add_str(d->out, row ? "" : "|\n");
}

static void write_text_row(struct tk_document *d, size_t row, const size_t *widths)
{
	for (size_t c = 0; c < d->columns; c++) {
		const char *text = d->cells[row * d->columns + c];
		size_t pad = widths[c] - tk_utf8_count(text);
		bool last = c + 1 == d->columns;
		for (size_t i = 0; is_numeric(d, c) && i < pad; i++)
			tk_buf_add_char(d->out, ' ');
		add_plain(d->out, text);
		for (size_t i = 0; !is_numeric(d, c) && !last && i < pad; i++)
			tk_buf_add_char(d->out, ' ');
		tk_buf_add_str(d->out, last ? "\n" : "  ");
	}
}

void tk_document_end_table(struct tk_document *d)
{
	size_t widths[TK_DOCUMENT_COLUMNS] = {0}, rows = d->cell_count / d->columns;
	for (size_t i = 0; i < rows * d->columns; i++) {
		size_t width = tk_utf8_count(d->cells[i]), c = i % d->columns;
		widths[c] = width > widths[c] ? width : widths[c];
	}
	add_heading(d, d->title);
	tk_buf_add_str(d->out, d->format == TK_DOCUMENT_HTML ? "<table>\n" : "");
	for (size_t row = 0; row < rows; row++) {
		if (d->format == TK_DOCUMENT_HTML)
			write_html_row(d, row);
		else if (d->format == TK_DOCUMENT_MARKDOWN)
			write_markdown_row(d, row);
		else
			write_text_row(d, row, widths);
	}
	tk_buf_add_str(d->out, d->format == TK_DOCUMENT_HTML ? "</table>\n" : "\n");
	for (size_t i = 0; i < d->cell_count; i++)
		free(d->cells[i]);
	d->cell_count = 0;
}
