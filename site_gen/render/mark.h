/* The marks of backends in drawn charts: hollow, so that marks that lie on each other stay visible.
 * series_style.js draws the same ones. */
#ifndef TK_SITE_MARK_H
#define TK_SITE_MARK_H
#include <stdbool.h>
#include <stddef.h>

struct tk_buf;

/* Begins a path of marks of one look; `faint`: measured earlier. End it with "\"/>". */
void tk_mark_begin(struct tk_buf *out, size_t look, bool faint);
void tk_mark_add(struct tk_buf *out, size_t look, int x, int y);
/* One mark of a legend. */
void tk_mark_draw_key(struct tk_buf *out, size_t look);

#endif
