/* Histories as plain arrays, wherever they came from: all change points, or what each night would
 * have said.
 *
 * All change points are tk_changepoint_find', each night is tk_monitor_add_night's (online.h): as
 * after a night. */
#ifndef TK_DETECT_HISTORIES_H
#define TK_DETECT_HISTORIES_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tk_changepoint;
struct tk_detect_options;
struct tk_error;

struct tk_series_history {
	const char *id;
	const char *machine; /* "": all of these are one machine */
	size_t n;
	const double *value; /* in the order of time; what has no logarithm is passed over */
	const int64_t *day;  /* number of the day of each, ascending */
	const char *const *environment; /* word for the driver of each; NULL: unknown */
};

struct tk_alarm {
	size_t night, index; /* positions: when it was said, the first point at the new level */
	size_t retracted;    /* the night that took it back; 0: it stands */
	double before, after;
};

struct tk_alarms {
	struct tk_alarm *at;
	size_t count;
};

/* What a night would have said that knew everything up to it, for all nights and series: out[i] of
 * series i, freed with tk_alarms_free. */
int tk_series_history_replay(const struct tk_series_history *series, size_t count,
        const struct tk_detect_options *options, struct tk_alarms *out, struct tk_error *err);
void tk_alarms_free(struct tk_alarms *alarms, size_t count);

#endif
