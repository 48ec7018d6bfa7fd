/* Progress of a long command: one live line on a terminal, a plain line every few seconds
 * elsewhere, nothing with --quiet. Goes to stderr; the live line is wiped for lines of the log. */
#ifndef TK_PROGRESS_H
#define TK_PROGRESS_H
#include "nightly/nightly.h"

struct tk_globals;
struct tk_progress;

struct tk_progress *tk_progress_new(const struct tk_globals *g); /* NULL with --quiet */
const struct tk_night_observer *tk_progress_observer(
        struct tk_progress *p);               /* NULL for NULL; valid until tk_progress_free */
void tk_progress_free(struct tk_progress *p); /* wipes the live line */

#endif
