/* The parts of the pages of trends. */
#ifndef TK_SITE_TRENDS_H
#define TK_SITE_TRENDS_H
#include "site_gen/charts/chart.h"
#include "site_gen/data/totals.h"
#include "site_gen/pages/page.h"

#define TK_TREND_CAUSES_MAX 8

/* causes: what moved the index of a kernel on a device most, newest first: number, when, effect,
 * tone, count (of series), cause, and what tk_page_set_revision sets. Returns the marks of the
 * charts, at most TK_TREND_CAUSES_MAX. */
int tk_trend_set_causes(struct tk_site *site, struct tk_value *o, const struct tk_trend *trend,
        struct tk_chart_mark *marks, size_t *mark_count, struct tk_error *err);

#endif
