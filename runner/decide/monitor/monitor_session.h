/* The monitor over the history: what was known after the last night is stored, so that a night
 * costs what its own points cost. Private to decide/. */
#ifndef TK_DECIDE_MONITOR_SESSION_H
#define TK_DECIDE_MONITOR_SESSION_H
#include "decide/history/analysis.h"

struct tk_monitor_session;

/* Monitors one night: its events go to c->monitor_events and to the cases. Nights of the machine
 * that were not monitored are added first. Free *out. */
int tk_monitor_session_run(struct tk_analysis *c, const struct tk_night_row *night,
        struct tk_monitor_session **out, struct tk_error *err);
int tk_monitor_session_save(struct tk_monitor_session *w, struct tk_store *s, struct tk_error *err);
void tk_monitor_session_free(struct tk_monitor_session *w);

/* Reads the stored events of the range, or of the one night that the set is about. */
int tk_analysis_load_monitor_events(struct tk_analysis *c, struct tk_error *err);

/* The monitors of devices between the nights of a replay: their state is long, and writing and
 * reading it for each night takes longer than the night. */

struct tk_monitor;

struct tk_kept_monitor {
	struct tk_monitor_state_row state; /* without its options and numbers */
	char options[80];
	struct tk_monitor *monitor; /* NULL: in use */
};

struct tk_kept_monitors {
	struct tk_kept_monitor *at;
	size_t count;
};

struct tk_kept_monitor *tk_kept_monitors_find(
        const struct tk_kept_monitors *k, int64_t device_id); /* NULL: none; k may be NULL */
/* Takes the monitor; on failure it stays the caller's. */
int tk_kept_monitors_put(struct tk_kept_monitors *k, const struct tk_monitor_state_row *state,
        struct tk_monitor *monitor, struct tk_error *err);
int tk_kept_monitors_store(
        const struct tk_kept_monitors *k, struct tk_store *s, struct tk_error *err);
void tk_kept_monitors_free(struct tk_kept_monitors *k);

/* Stores the state of a monitor; the numbers of *state are those of the monitor. */
int tk_monitor_store_state(struct tk_monitor *monitor, const struct tk_monitor_state_row *state,
        struct tk_store *s, struct tk_error *err);

#endif
