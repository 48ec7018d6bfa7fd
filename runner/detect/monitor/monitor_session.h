/* The series of the history, watched night after night (online.h): what was known after the last
 * one is kept, so that a night costs what its own points cost. Private to detect/. */
#ifndef TK_DETECT_WATCHING_H
#define TK_DETECT_WATCHING_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "detect/history/series_case.h"

struct tk_monitor_session;

/* What the night says of the levels of its series, into c->alarms and the cases. Nights of the
 * machine that were not watched are made up for first, REBUILD_NIGHTS of them at most. */
int tk_monitor_session_run(struct tk_case_set *c, const struct tk_night_row *night,
        struct tk_monitor_session **out, struct tk_error *err);
int tk_monitor_session_save(
        const struct tk_monitor_session *w, struct tk_store *s, struct tk_error *err);
void tk_monitor_session_free(struct tk_monitor_session *w);
/* What the nights of the range of a diff, or the one night that it is about, have said. */
int tk_case_set_load_alarms(struct tk_case_set *c, struct tk_error *err);

#endif
