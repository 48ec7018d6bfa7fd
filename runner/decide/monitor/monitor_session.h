/* The monitor over the history: what was known after the last night is stored, so that a night
 * costs what its own points cost. Private to decide/. */
#ifndef TK_DECIDE_MONITOR_SESSION_H
#define TK_DECIDE_MONITOR_SESSION_H
#include "decide/history/case_set.h"

struct tk_monitor_session;

/* Monitors one night: its events go to c->monitor_events and to the cases. Nights of the machine
 * that were not monitored are added first. Free *out. */
int tk_monitor_session_run(struct tk_case_set *c, const struct tk_night_row *night,
        struct tk_monitor_session **out, struct tk_error *err);
int tk_monitor_session_save(struct tk_monitor_session *w, struct tk_store *s, struct tk_error *err);
void tk_monitor_session_free(struct tk_monitor_session *w);

/* Reads the stored events of the range, or of the one night that the set is about. */
int tk_case_set_load_monitor_events(struct tk_case_set *c, struct tk_error *err);

#endif
