/* The series of one machine, night after night: did the level of one change, by what is known that
 * night?
 *
 * The one place that decides this. `changepoints --online` feeds it from a CSV file, `nightly` and
 * `detect` from the history. Each series has its own model (stats/levels.h); the
 * false-discovery rate is controlled over the series of a night. A shift that the machine's series
 * share for a night or two is removed first. A step belongs to the machine where the environment
 * changed, or where most, or many, of its series made the same step. A series that is back within a
 * week has not changed: its step is retracted. Steps in one direction that are below the threshold
 * of reports add up to one event, a slow drift.
 *
 * It keeps the last TK_MONITOR_WINDOW_NIGHTS points of each series, so that a night continues where
 * the one before ended. */
#ifndef TK_DECIDE_MONITOR_H
#define TK_DECIDE_MONITOR_H
#include "core/vocabulary.h"

struct tk_serializer;
struct tk_monitor;

struct tk_monitor_options {
	double min_effect, fdr;
	/* Driver, card or method differ; NULL: where the numbers of the environments differ. */
	bool (*differ)(void *context, int64_t environment_a, int64_t environment_b);
	void *context;
};

#define TK_MONITOR_SERIES_MAX ((int64_t)1 << 24)

struct tk_monitor_point {
	int64_t series; /* id, 0 to TK_MONITOR_SERIES_MAX */
	double value;   /* points without a positive value are ignored */
	int64_t at;     /* the caller's name of the point; ascending in a series */
	int64_t day;
	int64_t environment;
	double threshold; /* of a change that is reported, relative; 0: every step is */
};

struct tk_monitor_event {
	int64_t series;
	enum tk_monitor_event_kind kind;
	int64_t first;        /* `at` of the first point at the new level */
	int64_t last_good;    /* and of the one before; a retraction has those of its step */
	double before, after; /* levels, in the unit of the values */
	double log_lr, q;
};

struct tk_monitor_events {
	struct tk_monitor_event *at;
	size_t count, capacity;
};

struct tk_monitor *tk_monitor_new(const struct tk_monitor_options *options);
void tk_monitor_free(struct tk_monitor *m);
/* All points of one night; those of a series follow each other. Events are appended to *events.
 * TK_EDATA: a series id is out of range. */
int tk_monitor_add_night(struct tk_monitor *m, const struct tk_monitor_point *points, size_t count,
        struct tk_monitor_events *events, struct tk_error *err);
/* Nights of a series so far, with `at` and value of the newest; 0: none. */
size_t tk_monitor_find_last_point(
        const struct tk_monitor *m, int64_t series, int64_t *at, double *value);
/* The current level by the model, in the unit of the values; NAN: too few nights. */
double tk_monitor_level(const struct tk_monitor *m, int64_t series);
/* Writes or reads the whole state. TK_EDATA: this is not a state; then free *m. */
int tk_monitor_serialize(struct tk_monitor *m, struct tk_serializer *io, struct tk_error *err);
void tk_monitor_events_free(struct tk_monitor_events *e);

#endif
