/* The data of the charts: classic scripts that call tracker.data.add(id, {...}), because a page
 * that is opened from the disk may not read JSON. docs/reference/site.md describes the fields. */
#ifndef TK_SITE_DATA_H
#define TK_SITE_DATA_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tk_buf;
struct tk_chart_data;
struct tk_error;
struct tk_model;
struct tk_point;
struct tk_site_series;
struct tk_timeline;
struct tk_upstream_row;

/* Points as columns. Values are integers in steps of a power of ten, with four significant
 * digits, each the difference to the one before. `recent`: with five digits, and with quartiles,
 * minimum, number of samples and run. */
void tk_data_add_points(struct tk_buf *out, const struct tk_model *m,
        const struct tk_site_series *s, const struct tk_point *points, size_t count, bool recent);
/* Name, unit, time at the ceiling and change points of a series. */
void tk_data_add_about(
        struct tk_buf *out, const struct tk_model *m, const struct tk_site_series *s);
/* The samples of these points, sorted, at most 100 each; nothing where they were not kept. */
int tk_data_add_samples(struct tk_buf *out, const struct tk_model *m,
        const struct tk_site_series *s, const struct tk_point *points, size_t count,
        struct tk_error *err);
void tk_data_add_revisions(
        struct tk_buf *out, const struct tk_model *m, const struct tk_upstream_row *upstream);
void tk_data_add_nights(struct tk_buf *out, const struct tk_model *m);
void tk_data_add_environments(struct tk_buf *out, const struct tk_model *m);
/* Every series with its page and its files, for other programs. */
void tk_data_add_manifest(struct tk_buf *out, const struct tk_chart_data *data);
/* A timeline, with the id "timeline-INDEX". */
void tk_data_add_timeline(struct tk_buf *out, const struct tk_timeline *t, size_t index);

/* Opens "tracker.data.add(id,{". */
void tk_data_begin(struct tk_buf *out, const char *id);
void tk_data_add_number(struct tk_buf *out, double v); /* a JSON number, or null */
void tk_data_add_text(struct tk_buf *out, const char *text, size_t max_bytes);

#endif
