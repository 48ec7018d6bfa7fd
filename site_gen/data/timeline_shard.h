/* The data file of a timeline. */
#ifndef TK_SITE_TIMELINE_SHARD_H
#define TK_SITE_TIMELINE_SHARD_H
#include <stddef.h>

struct tk_buf;
struct tk_timeline;

/* A call of tracker.data.add("timeline-INDEX", {...}). docs/reference/site.md describes the
 * fields. */
void tk_timeline_add_data(struct tk_buf *out, const struct tk_timeline *t, size_t index);

#endif
