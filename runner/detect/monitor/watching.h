/* The series of the history, watched night after night (online.h): what was known after the last one is kept, so that a
 * night costs what its own points cost. Private to detect/. */
#ifndef TK_DETECT_WATCHING_H
#define TK_DETECT_WATCHING_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "detect/history/case.h"

struct tk_watching;

/* What the night says of the levels of its series, into c->alarms and the cases. Nights of the machine that were not
 * watched are made up for first, REBUILD_NIGHTS of them at most. */
int tk_watching_night(
        struct tk_cases *c, const struct tk_night_row *night, struct tk_watching **out, struct tk_error *err);
int tk_watching_put(const struct tk_watching *w, struct tk_store *s, struct tk_error *err);
void tk_watching_free(struct tk_watching *w);
/* What the nights of the range of a diff, or the one night that it is about, have said. */
int tk_watching_read(struct tk_cases *c, struct tk_error *err);

#endif
