/* What other pages show of a tuning. */
#ifndef TK_SITE_TUNING_PAGE_H
#define TK_SITE_TUNING_PAGE_H
#include "site_gen/pages/page.h"

struct tk_site_tuning;

void tk_tuning_path(const struct tk_site_tuning *t, char path[TK_PAGE_PATH_SIZE]);
/* default, winner (the configuration to use, "" for none), default_time, winner_time, gain,
 * gain_range ("" without A/B runs), gain_tone, pairs ("" for none), evaluations, candidate_count,
 * verdict, verdict_meaning, verdict_tone, state, and when; flags is_default (the winner is the
 * default) and is_stale. */
void tk_tuning_set_summary(struct tk_value *o, const struct tk_site_tuning *t);
/* One page per result, with its candidates. */
int tk_page_write_tuning(
        struct tk_site *site, const struct tk_site_tuning *t, struct tk_error *err);
/* The parameters of `s` must have been found. Flags: map, there are two parameters or more, so that
 * row_name, column_name, map_columns and map_rows are the heat map of the first two; others, there
 * are more than two. List: parameters, the best time for each value. */
struct tk_tuning_space;
void tk_tuning_set_landscape(
        struct tk_site *site, struct tk_value *page, const struct tk_tuning_space *s);

#endif
