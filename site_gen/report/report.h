/* The report of a night or a period: headline, what changed, environment, statistics of kernels and
 * backends, best configurations, roofline. The same text is `tracker report` and api/summary.md. */
#ifndef TK_SITE_REPORT_H
#define TK_SITE_REPORT_H
#include <stdbool.h>

struct tk_buf;
struct tk_error;
struct tk_site;
struct tk_site_options;
struct tk_store;

enum tk_document_format {
	TK_DOCUMENT_TEXT,
	TK_DOCUMENT_MARKDOWN,
	TK_DOCUMENT_HTML, /* a whole file that needs no other one */
	TK_DOCUMENT_FORMAT_COUNT
};

/* Brief: only the headline, what changed, and open alerts. */
int tk_report_add(struct tk_site *site, enum tk_document_format format, bool is_brief,
        struct tk_buf *out, struct tk_error *err);
/* Loads the history for it. Needs templates_dir, tie, now_s and the period of the options. */
int tk_report_write(struct tk_store *store, const struct tk_site_options *options,
        enum tk_document_format format, struct tk_buf *out, struct tk_error *err);

#endif
