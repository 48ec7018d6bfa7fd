/* Reports, and the documents in which they are written. */
#ifndef TK_SITE_REPORT_H
#define TK_SITE_REPORT_H
#include <stdbool.h>
#include <stddef.h>

#include "site_gen/model/model.h"

struct tk_buf;
struct tk_error;
struct tk_store;

/* A document of headings, paragraphs, lists and tables, written as text, Markdown or HTML. */

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

/* The report of a night or a period: headline, what changed, environment, statistics of kernels and
 * backends, best configurations, roofline. The same text is `tracker report` and api/summary.md. */
struct tk_report_options {
	const char *title;
	double tie;
	int64_t now_s;
	struct tk_site_period period;
	enum tk_document_format format;
	bool brief; /* only the headline, what changed, and open alerts */
};

/* "2 regressions, 1 failure. Worst: ...": one or a few sentences. */
void tk_report_add_headline(const struct tk_model *m, const struct tk_report_options *options,
        const struct tk_site_causes *causes, struct tk_buf *out);
int tk_report_add(const struct tk_model *m, const struct tk_report_options *options,
        struct tk_buf *out, struct tk_error *err);
/* Loads the history for it. */
int tk_report_write(struct tk_store *store, const struct tk_report_options *options,
        struct tk_buf *out, struct tk_error *err);

#endif
