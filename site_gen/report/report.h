/* The report of a night or a period: headline, what changed, environment, statistics of kernels and
 * backends, best configurations, roofline. The same text is `tracker report` and api/summary.md. */
#ifndef TK_SITE_REPORT_H
#define TK_SITE_REPORT_H
#include "site_gen/model/causes.h"
#include "site_gen/report/document.h"

struct tk_buf;
struct tk_error;
struct tk_model;
struct tk_store;

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
