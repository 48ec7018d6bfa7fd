/* State of the monitor. Private to monitor.c and monitor_machine.c. */
#ifndef TK_DECIDE_MONITOR_INTERNAL_H
#define TK_DECIDE_MONITOR_INTERNAL_H
#include "decide/monitor/monitor.h"
#include "stats/levels.h"

#define WINDOW TK_MONITOR_WINDOW_NIGHTS
#define SERIES_MIN 8        /* fewer series have no meaningful median */
#define REMEMBERED_STEPS 16 /* of a series */

struct step {
	int64_t day;
	double change; /* logarithm */
};

/* Steps in one direction that were not reported, and the level before the first of them. */
struct drift {
	int64_t first, last_good; /* as those of an event */
	double before, direction; /* logarithms; direction 0: there are none */
	double log_lr, q;         /* the sum, the largest */
};

struct point {
	double y;        /* logarithm */
	double adjusted; /* without the shift of the machine on that night */
	int64_t at, day, environment;
};

struct monitored_series {
	int64_t id;
	struct point *points; /* the newest WINDOW of them: point i at i modulo WINDOW */
	size_t n;             /* points so far */
	size_t capacity;      /* of points */
	struct tk_level_monitor *model;
	struct step steps[REMEMBERED_STEPS]; /* accepted: step i at i modulo their number */
	size_t step_count, alarm_count;
	int64_t alarm_first, alarm_last_good; /* of the newest alarm */
	struct drift drift;

	/* Of its newest points, as of `noise_n` points. */
	double log_variance, noise_df;
	size_t noise_n;

	/* This night only. */
	bool tonight;     /* it has a point */
	double threshold; /* logarithm; of a change that is reported */
	struct tk_changepoint_candidate candidate;
	double q;
	bool is_expected; /* the environment changed where the candidate steps */
	bool is_machines; /* the candidate is accepted, and is a step of the machine */
};

struct tk_monitor {
	struct tk_monitor_options options;
	struct monitored_series *series;
	size_t count, capacity;
	size_t *index; /* 1 + index in `series`, by id; 0: none */
	size_t index_size;
	double *work;   /* 2 * capacity */
	bool restless;  /* of this night: families of its series stepped often lately */
	size_t longest; /* points of a series, at most */
};

static inline struct point *point_at(const struct monitored_series *s, size_t i)
{
	return &s->points[i % WINDOW];
}

static inline size_t first_kept_point(const struct monitored_series *s)
{
	return s->n > WINDOW ? s->n - WINDOW : 0;
}

static inline size_t first_kept_step(const struct monitored_series *s)
{
	return s->step_count > REMEMBERED_STEPS ? s->step_count - REMEMBERED_STEPS : 0;
}

struct monitored_series *tk_monitor_find_series(const struct tk_monitor *m, int64_t id);
/* *out stays as it is on failure. TK_EDATA: the id is out of range. */
int tk_monitor_add_series(
        struct tk_monitor *m, int64_t id, struct monitored_series **out, struct tk_error *err);
/* Room for n points of the series. */
void tk_monitor_reserve(struct tk_monitor *m, struct monitored_series *s, size_t n);

/* monitor_machine.c: takes the points of a night, without the shift that the machine's series
 * share. */
int tk_monitor_take_points(struct tk_monitor *m, const struct tk_monitor_point *points,
        size_t count, struct tk_error *err);
/* Sets is_machines of series with a candidate: it is a step of the machine where most of the other
 * series shifted as much, or where many made the same step, or the environment changed, and flat
 * series do not show that it was the code. */
void tk_monitor_find_machine_steps(
        const struct tk_monitor *m, struct monitored_series *const *asked, size_t count);

#endif
