/* What a long command says while it works: one live line on a terminal, a plain line every few
 * seconds elsewhere, nothing with --quiet.
 *
 * Goes to stderr and steps aside for lines of the log. */
#ifndef TK_PROGRESS_H
#define TK_PROGRESS_H
#include "nightly/nightly.h"

struct tk_globals;
struct tk_progress;

struct tk_progress *tk_progress_new(
        const struct tk_globals *g); /* NULL: out of memory, or --quiet: then nothing is said */
const struct tk_night_observer *tk_progress_observer(
        struct tk_progress *p);               /* NULL for NULL; lives as long as p */
void tk_progress_free(struct tk_progress *p); /* wipes the live line */

#endif
