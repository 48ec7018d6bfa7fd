/* A document of headings, paragraphs, lists and tables, written as text, Markdown or HTML. */
#ifndef TK_SITE_DOCUMENT_H
#define TK_SITE_DOCUMENT_H
#include <stdbool.h>
#include <stddef.h>

struct tk_buf;

enum tk_document_format {
	TK_DOCUMENT_TEXT,
	TK_DOCUMENT_MARKDOWN,
	TK_DOCUMENT_HTML,
	TK_DOCUMENT_FORMAT_COUNT
};

#define TK_DOCUMENT_COLUMNS 10
struct tk_document {
	struct tk_buf *out;
	enum tk_document_format format;
	const char *title; /* of the open table */
	char **cells;
	size_t columns, cell_count, room;
	unsigned numeric; /* columns of numbers, by bit: aligned to the right */
};

/* HTML is a whole file that needs no other one. */
void tk_document_begin(struct tk_document *d, struct tk_buf *out, enum tk_document_format format,
        const char *title);
void tk_document_end(struct tk_document *d);
void tk_document_add_paragraph(struct tk_document *d, const char *text);
/* A table below its title: its heads, then its cells row by row, then the end. Nothing is written
 * without rows. */
void tk_document_begin_table(struct tk_document *d, const char *title, const char *const *heads,
        size_t columns, unsigned numeric);
void tk_document_add_cell(struct tk_document *d, const char *format, ...)
        __attribute__((format(printf, 2, 3)));
/* max_bytes: more is cut; 0: nothing is. */
void tk_document_add_text(struct tk_document *d, const char *text, size_t max_bytes);
void tk_document_end_table(struct tk_document *d);

#endif
