/* The series of one machine, night after night: has the level of one changed, by what is known that
 * night?
 *
 * The one place that decides this. `changepoints --online` feeds it from a CSV, `nightly` and
 * `detect` from the history. Each series is watched by its own model (stats/watch.h), with the
 * false-discovery rate over the series of a night. What the machine moved for a night or two is
 * taken off first; a step where the environment changed, or that most of the machine's series made,
 * or many in the same way, is the machine's; who is back within a week has not changed, and the
 * step that was said is taken back.
 *
 * It needs the last TK_MONITOR_WINDOW_NIGHTS points of a series and keeps them, so that a night
 * goes on where the one before it ended. */
#ifndef TK_DETECT_ONLINE_H
#define TK_DETECT_ONLINE_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/ab.h"

struct tk_error;
struct tk_serializer;
struct tk_monitor;

struct tk_monitor_options {
	double min_effect, fdr;
	/* The driver, the card or the way of measuring is another one; NULL: where the numbers
	 * differ. */
	bool (*differ)(void *context, int64_t environment_a, int64_t environment_b);
	void *context;
};

struct tk_monitor_point {
	int64_t series; /* a small number of the caller's */
	double value;   /* what has no logarithm is passed over */
	int64_t at;     /* what the caller knows the point by; ascending in a series */
	int64_t day;
	int64_t environment;
};

struct tk_monitor_event {
	int64_t series;
	enum tk_monitor_event_kind kind;
	int64_t first, last_good; /* `at` of the first point at the new level, and of the one before
	                             it; of a retraction: those of the step that it takes back */
	double before, after;     /* levels, in the unit of the values */
	double log_lr, q;
};

struct tk_monitor_events {
	struct tk_monitor_event *at;
	size_t count, cap;
};

int tk_monitor_new(
        const struct tk_monitor_options *options, struct tk_monitor **out, struct tk_error *err);
void tk_monitor_free(struct tk_monitor *o);
/* All points of one night, those of a series one behind the other. What is decided is added to
 * *events. */
int tk_monitor_add_night(struct tk_monitor *o, const struct tk_monitor_point *points, size_t count,
        struct tk_monitor_events *events, struct tk_error *err);
/* The nights that were seen of a series, and the `at` and value of the newest one; 0: none. */
size_t tk_monitor_find_last_point(
        const struct tk_monitor *o, int64_t series, int64_t *at, double *value);
/* The level that it is at by all that is known, in the unit of the values; NAN: too early to say.
 */
double tk_monitor_level(const struct tk_monitor *o, int64_t series);
/* Writes or reads everything that is known. TK_EDATA: these are no such numbers; *o is to be thrown
 * away. */
int tk_monitor_serialize(struct tk_monitor *o, struct tk_serializer *io, struct tk_error *err);
void tk_monitor_events_free(struct tk_monitor_events *e);

#endif
