/* The monitor on histories as plain arrays, wherever they came from: what each night would have
 * reported. */
#ifndef TK_DECIDE_SERIES_HISTORY_H
#define TK_DECIDE_SERIES_HISTORY_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tk_detect_options;
struct tk_error;

struct tk_series_history {
	const char *id;
	const char *machine; /* "": all of them are on one machine */
	size_t n;
	const double *value;            /* oldest first; values that are not positive are ignored */
	const int64_t *day;             /* of each value, ascending */
	const char *const *environment; /* of each value, for example its driver; NULL: unknown */
};

struct tk_alarm {
	size_t night;     /* position of the night that reported it */
	size_t index;     /* of the first point at the new level */
	size_t retracted; /* of the night that retracted it; 0: none */
	double before, after;
};

struct tk_alarms {
	struct tk_alarm *at;
	size_t count;
};

/* The alarms of all nights, each with what was known that night: out[i] of series i. Free with
 * tk_alarms_free. */
int tk_series_history_replay(const struct tk_series_history *series, size_t count,
        const struct tk_detect_options *options, struct tk_alarms *out, struct tk_error *err);
void tk_alarms_free(struct tk_alarms *alarms, size_t count);

#endif
