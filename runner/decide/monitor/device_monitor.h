/* The monitor of one device on one night: its stored state, brought up to the night. Private to
 * decide/monitor. */
#ifndef TK_DECIDE_DEVICE_MONITOR_H
#define TK_DECIDE_DEVICE_MONITOR_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "decide/history/analysis.h"

struct tk_monitor;

struct tk_event_list {
	struct tk_monitor_event_row *at;
	size_t count, capacity;
};
int tk_event_list_add(struct tk_event_list *list, const struct tk_monitor_event_row *event);

struct tk_device_monitor {
	struct tk_analysis *set;
	const struct tk_night_row *night;
	const char *options; /* what the stored state depends on */
	int64_t device_id;

	struct tk_monitor *monitor; /* NULL: the night is not the newest, its events are stored */
	bool is_monitored;          /* the night was, or is now */
	bool is_rebuilt;            /* events since from_s replace the stored ones */
	int64_t from_s;
	struct tk_event_list events;           /* to be stored */
	struct tk_monitored_night_row *nights; /* to be stored */
	size_t night_count;
};

/* Resumes from the stored state, or rebuilds it from at most TK_MONITOR_REBUILD_NIGHTS nights, and
 * adds the night. */
#define TK_MONITOR_REBUILD_NIGHTS 400
int tk_device_monitor_run(struct tk_device_monitor *d, struct tk_error *err);
/* Its state too, or keeps the monitor for the next night of a replay. */
int tk_device_monitor_save(struct tk_device_monitor *d, struct tk_store *s, struct tk_error *err);
void tk_device_monitor_free(struct tk_device_monitor *d);

/* The point is of the night that the session is about. */
bool tk_device_monitor_is_tonight(
        const struct tk_night_row *night, const struct tk_series_case *k, const struct tk_point *p);
/* rows: struct tk_monitored_night_row, by night. */
bool tk_monitored_nights_contain(const struct tk_rows *nights, int64_t night_id);

#endif
