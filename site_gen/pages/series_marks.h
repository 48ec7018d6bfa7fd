/* Marks on the trend of a series. */
#ifndef TK_SITE_SERIES_MARKS_H
#define TK_SITE_SERIES_MARKS_H
#include <jansson.h>

struct tk_error;
struct tk_site;
struct tk_site_series;
struct tk_value;

/* [{"time", "word", "isVerdict", "isWorse"}]: the newest verdict if it is a change that is no
 * change point yet, and the nights of the loaded points that failed or were skipped. json_decref
 * it. */
int tk_series_marks_load(
        struct tk_site *site, const struct tk_site_series *s, json_t **out, struct tk_error *err);
/* marks (JSON), pending (the change of the verdict: at most one). */
void tk_series_marks_set(struct tk_site *site, struct tk_value *page,
        const struct tk_site_series *s, const json_t *marks);

#endif
