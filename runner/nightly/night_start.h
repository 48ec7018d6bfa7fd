/* How a night starts: as a new row of the history, or as the newest one that was stopped.
 * Private to nightly/. */
#ifndef TK_NIGHT_START_H
#define TK_NIGHT_START_H
#include "nightly/night.h"

/* Sets the ids, times, seed and request of *n; with --resume also *options, which n->options
 * points to. TK_ENOTFOUND: no night can be resumed; TK_EUSAGE: an option differs from the
 * stopped night's. */
int tk_night_start(struct tk_night *n, struct tk_night_options *options, struct tk_error *err);

#endif
