/* The begin of a timeline as SVG, for pages without JavaScript. */
#ifndef TK_SITE_TIMELINE_SVG_H
#define TK_SITE_TIMELINE_SVG_H
#include <stdint.h>

struct tk_buf;
struct tk_timeline;

/* As many spans as a page can have. Returns the time that it ends at, ns; 0: nothing to draw. */
int64_t tk_timeline_draw(struct tk_buf *out, const struct tk_timeline *t);

#endif
