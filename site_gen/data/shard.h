/* The data of the charts: classic scripts that call tracker.data.add(id, {...}).
 * docs/reference/site.md describes the fields. */
#ifndef TK_SITE_SHARD_H
#define TK_SITE_SHARD_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tk_buf;
struct tk_error;
struct tk_model;
struct tk_point;
struct tk_site;
struct tk_site_series;
struct tk_upstream_row;

/* Points as columns. Values are integers in steps of a power of ten, with four significant
 * digits, each the difference to the one before. `recent`: with five digits, and with quartiles,
 * minimum, number of samples and run. */
void tk_shard_add_points(struct tk_buf *out, const struct tk_model *m,
        const struct tk_site_series *s, const struct tk_point *points, size_t count, bool recent);
/* Name, unit, time at the ceiling and change points of a series. */
void tk_shard_add_about(
        struct tk_buf *out, const struct tk_model *m, const struct tk_site_series *s);
/* The samples of these points, sorted, at most 100 each; nothing where they were not kept. */
int tk_shard_add_samples(struct tk_buf *out, const struct tk_model *m,
        const struct tk_site_series *s, const struct tk_point *points, size_t count,
        struct tk_error *err);
/* A hot file begins with the ids of its series. Then it has one line for each night: the places
 * of the series that have a point, and one column for each quantity. Values are not differences
 * to the point before. */
void tk_shard_begin_hot(struct tk_buf *out, size_t shard);
void tk_shard_add_hot_id(struct tk_buf *out, const struct tk_site_series *s, size_t place);
void tk_shard_end_hot(struct tk_buf *out);
void tk_shard_add_hot_night(struct tk_buf *out, const struct tk_model *m, size_t shard,
        const struct tk_point *const *points, const size_t *places, size_t count);
void tk_shard_add_revisions(
        struct tk_buf *out, const struct tk_model *m, const struct tk_upstream_row *upstream);
void tk_shard_add_nights(struct tk_buf *out, const struct tk_model *m);
void tk_shard_add_environments(struct tk_buf *out, const struct tk_model *m);

/* Every series with its page and its files, for other programs. */
void tk_shard_add_manifest(struct tk_buf *out, const struct tk_site *site);

void tk_shard_add_number(struct tk_buf *out, double v); /* a JSON number, or null */

#endif
