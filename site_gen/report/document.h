/* A document of headings, paragraphs and tables, written as text, Markdown or HTML. */
#ifndef TK_SITE_DOCUMENT_H
#define TK_SITE_DOCUMENT_H
#include <stddef.h>

#include "site_gen/report/report.h"

#define TK_DOCUMENT_COLUMNS 10
struct tk_document {
	struct tk_buf *out;
	enum tk_document_format format;
	const char *title; /* of the open table */
	char **cells;
	size_t columns, cell_count, room;
	unsigned numeric; /* columns of numbers, by bit: aligned to the right */
};

void tk_document_begin(struct tk_document *d, struct tk_buf *out, enum tk_document_format format,
        const char *title);
void tk_document_end(struct tk_document *d);
void tk_document_add_paragraph(struct tk_document *d, const char *text);
/* A table below its title: its heads, then its cells row by row, then the end. The head of a
 * column of numbers ends in "#". */
void tk_document_begin_table(
        struct tk_document *d, const char *title, const char *const *heads, size_t columns);
void tk_document_add_cell(struct tk_document *d, const char *text);
void tk_document_end_table(struct tk_document *d);

#endif
