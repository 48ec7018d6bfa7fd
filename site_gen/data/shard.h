/* The data of the charts: classic scripts that call KD.add(id, {...}). docs/reference/site.md describes the fields. */
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

/* Values are integers of four significant digits times a power of ten, each the difference to the one before. `recent`:
 * of five, with quartiles, smallest, number of samples and run. */
void tk_shard_add_points(struct tk_buf *out, const struct tk_model *m,
        const struct tk_site_series *s, const struct tk_point *points, size_t count, bool recent);
/* Name, unit, time at the roof and change points of a series. */
void tk_shard_add_about(
        struct tk_buf *out, const struct tk_model *m, const struct tk_site_series *s);
/* The samples of these points, sorted, at most 100 each; nothing where they were dropped. */
int tk_shard_add_samples(struct tk_buf *out, const struct tk_model *m,
        const struct tk_site_series *s, const struct tk_point *points, size_t count,
        struct tk_error *err);
/* A hot file begins with the ids of its series; a line of a night says of which of them, by their place, it has points:
 * one column each, and the numbers as in tk_shard_add_points(), but each by itself. */
void tk_shard_begin_hot(struct tk_buf *out, size_t shard);
void tk_shard_add_hot_id(struct tk_buf *out, const struct tk_site_series *s, size_t place);
void tk_shard_end_hot(struct tk_buf *out);
void tk_shard_add_hot_night(struct tk_buf *out, const struct tk_model *m, size_t shard,
        const struct tk_point *const *points, const size_t *places, size_t count);
void tk_shard_add_revisions(
        struct tk_buf *out, const struct tk_model *m, const struct tk_upstream_row *upstream);
void tk_shard_add_nights(struct tk_buf *out, const struct tk_model *m);
void tk_shard_add_environments(struct tk_buf *out, const struct tk_model *m);

/* Every series with its page and its files: for programs that read the site. */
void tk_shard_add_manifest(struct tk_buf *out, const struct tk_site *site);

void tk_shard_add_number(struct tk_buf *out, double v); /* a JSON number; null where it is none */

#endif
