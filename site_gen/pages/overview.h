/* The parts of the overview, one file each. */
#ifndef TK_SITE_OVERVIEW_H
#define TK_SITE_OVERVIEW_H
#include "site_gen/model/causes.h"
#include "site_gen/pages/page.h"

/* headline (its first sentence), headline_rest, summary (Markdown of headline and changes). */
int tk_overview_set_headline(struct tk_site *site, struct tk_value *page,
        const struct tk_site_causes *causes, struct tk_error *err);
/* machines: one line each. */
int tk_overview_set_machines(struct tk_site *site, struct tk_value *page, struct tk_error *err);
/* tiles: at most six, GPUs first. */
int tk_overview_set_tiles(struct tk_site *site, struct tk_value *page, struct tk_error *err);
/* causes: what changed, most urgent first. */
void tk_overview_set_causes(
        struct tk_site *site, struct tk_value *page, const struct tk_site_causes *causes);
/* open: groups of open alerts, oldest first. */
int tk_overview_set_alerts(struct tk_site *site, struct tk_value *page, struct tk_error *err);
/* boards: the backends at the key problems, a table for each device. */
int tk_overview_set_standings(struct tk_site *site, struct tk_value *page, struct tk_error *err);
/* attention: series whose verdict is neither better nor worse, but not quiet. */
int tk_overview_set_attention(struct tk_site *site, struct tk_value *page, struct tk_error *err);

#endif
