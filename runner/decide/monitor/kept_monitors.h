/* The monitors of devices, kept in memory between the nights of a replay: the state of a monitor is
 * long, and writing and reading it for each night takes longer than the night. Private to
 * detect/. */
#ifndef TK_DECIDE_KEPT_MONITORS_H
#define TK_DECIDE_KEPT_MONITORS_H
#include <stddef.h>

#include "store/store.h"

struct tk_error;
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
