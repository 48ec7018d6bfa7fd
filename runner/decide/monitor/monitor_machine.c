/* What the series of a machine do together: shifts for a night or two, and steps. */
#include <math.h>

#include "base/base.h"
#include "decide/monitor/monitor_internal.h"
#include "stats/summary.h"

#define RECENT_NIGHTS 7      /* that a night is compared with, to see a shift */
#define LEVEL_NIGHTS 15      /* on both sides of a step */
#define SHIFT_ERRORS 3.0     /* standard errors from which a shift is significant */
#define MACHINE_SHARE 0.5    /* of a step: more of it, and the step is the machine's */
#define SAME_STEP_SHARE 0.05 /* of the machine's series */
#define SAME_STEP_MIN 5      /* series */
#define SAME_STEP_LOG_LR 5.0 /* evidence that a series made the same step */
#define SAME_STEP_CHANGE 0.3 /* of the step, at least */
#define MEDIAN_ERROR 1.2533  /* standard error of a median in units of that of a mean */
#define MAD_TO_SD 1.4826
#define STEPS_PER_PART 64 /* at least: a thread is not worth it for fewer */

/* The median of the last LEVEL_NIGHTS of the points from .. to - 1. */
static double level_of(const struct monitored_series *s, size_t from, size_t to)
{
	double work[LEVEL_NIGHTS];

	if (to - from > LEVEL_NIGHTS)
		from = to - LEVEL_NIGHTS;
	for (size_t i = from; i < to; i++)
		work[i - from] = point_at(s, i)->y;
	return tk_median(work, to - from);
}

/* The median of these shifts; 0 if it is not significant. Overwrites them. */
static double significant_median(double *shifts, size_t n)
{
	double median, error;

	if (n < SERIES_MIN)
		return 0;
	median = tk_median(shifts, n);
	for (size_t i = 0; i < n; i++)
		shifts[i] = fabs(shifts[i] - median);
	error = MEDIAN_ERROR * MAD_TO_SD * tk_median(shifts, n) / sqrt((double)n);
	return fabs(median) > SHIFT_ERRORS * error ? median : 0;
}

static double shift_of(const struct monitored_series *s, double y)
{
	return s->n >= RECENT_NIGHTS ? y - level_of(s, s->n - RECENT_NIGHTS, s->n) : 0;
}

static bool is_positive(const struct tk_monitor_point *p)
{
	return isfinite(p->value) && p->value > 0;
}

/* The shifts of the series, computed by several threads. */
struct shifts {
	const struct tk_monitor *m;
	const struct tk_monitor_point **points; /* the first ones of series */
	double *out;
};

static void compute_shifts(void *arg, int64_t first, int64_t count)
{
	const struct shifts *f = arg;

	for (int64_t i = first; i < first + count; i++) {
		const struct tk_monitor_point *p = f->points[i];

		f->out[i] = shift_of(tk_monitor_find_series(f->m, p->series), log(p->value));
	}
}

/* Lists the first point of each series that can show a shift. Adds new series. */
static int list_first_points(struct tk_monitor *m, const struct tk_monitor_point *points,
        size_t count, struct shifts *out, size_t *found, struct tk_error *err)
{
	*found = 0;
	for (size_t i = 0; i < m->count; i++)
		m->series[i].tonight = false;
	for (size_t i = 0; i < count; i++) {
		struct monitored_series *s = tk_monitor_find_series(m, points[i].series);

		if (!is_positive(&points[i]))
			continue;
		if (!s)
			TRY(tk_monitor_add_series(m, points[i].series, &s, err));
		if (!s->tonight && s->n >= RECENT_NIGHTS)
			out->points[(*found)++] = &points[i];
		s->tonight = true;
	}
	return TK_OK;
}

/* The shift of the machine tonight, by the first point of each series. */
static int find_shift(struct tk_monitor *m, const struct tk_monitor_point *points, size_t count,
        double *shift, struct tk_error *err)
{
	struct shifts shifts = {.m = m, .points = tk_malloc((count + 1) * sizeof(*shifts.points))};
	size_t found;
	int status = list_first_points(m, points, count, &shifts, &found, err);

	shifts.out = m->work;
	tk_parallel_for((int64_t)found, STEPS_PER_PART, compute_shifts, &shifts);
	*shift = significant_median(m->work, found);
	free(shifts.points);
	return status;
}

int tk_monitor_take_points(struct tk_monitor *m, const struct tk_monitor_point *points,
        size_t count, struct tk_error *err)
{
	double shift;
	TRY(find_shift(m, points, count, &shift, err));

	for (size_t i = 0; i < count; i++) {
		const struct tk_monitor_point *p = &points[i];
		struct monitored_series *s = tk_monitor_find_series(m, p->series);

		if (!is_positive(p))
			continue;

		/* Never more than the series itself shifted. */
		const double y = log(p->value), moved = shift != 0 ? shift_of(s, y) : 0;
		const double removed =
		        moved * shift > 0 ? copysign(fmin(fabs(moved), fabs(shift)), shift) : 0;

		tk_monitor_reserve(m, s, s->n + 1);
		*point_at(s, s->n++) =
		        (struct point){y, y - removed, p->at, p->day, p->environment};
	}
	return TK_OK;
}

/* The first kept point since a day. */
static size_t find_day(const struct monitored_series *s, int64_t day)
{
	size_t lo = first_kept_point(s), hi = s->n;

	while (lo < hi) {
		const size_t mid = lo + (hi - lo) / 2;

		if (point_at(s, mid)->day < day)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

static double step_on(const struct monitored_series *s, int64_t day)
{
	const size_t at = find_day(s, day), from = first_kept_point(s),
	             end = at + LEVEL_NIGHTS < s->n ? at + LEVEL_NIGHTS : s->n;

	return at >= from + SERIES_MIN && at < end ? level_of(s, at, end) - level_of(s, from, at)
	                                           : NAN;
}

/* How much the series of a machine stepped on some days. */
struct days {
	const struct tk_monitor *m;
	int64_t *at; /* sorted, each once */
	size_t count;
	double *change; /* [day * m->count + series]: logarithms; NAN: too few nights around it */
};

static int by_day(const void *a, const void *b)
{
	const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

static void compute_days(void *arg, int64_t first, int64_t count)
{
	const struct days *d = arg;
	const size_t series = d->m->count;

	for (int64_t i = first; i < first + count; i++)
		d->change[i] =
		        step_on(&d->m->series[(size_t)i % series], d->at[(size_t)i / series]);
}

/* The significant step of the machine on a day, by its other series. */
static double machine_step(
        const struct days *d, const struct monitored_series *except, int64_t day, double *work)
{
	const int64_t *at = bsearch(&day, d->at, d->count, sizeof day, by_day);
	const double *change = d->change + (size_t)(at - d->at) * d->m->count;
	size_t count = 0;

	for (size_t i = 0; i < d->m->count; i++)
		if (&d->m->series[i] != except && !isnan(change[i]))
			work[count++] = change[i];
	return significant_median(work, count);
}

static int64_t day_of_candidate(const struct monitored_series *s)
{
	return point_at(s, s->candidate.split)->day;
}

static bool made_same_step(const struct monitored_series *s, int64_t day, double change)
{
	const struct tk_changepoint_candidate *c = &s->candidate;

	if (s->tonight && c->log_lr > SAME_STEP_LOG_LR &&
	        (c->after - c->before) / change > SAME_STEP_CHANGE && day_of_candidate(s) == day)
		return true;
	for (size_t i = first_kept_step(s); i < s->step_count; i++) {
		const struct step *step = &s->steps[i % REMEMBERED_STEPS];

		if (step->day == day && step->change / change > SAME_STEP_CHANGE)
			return true;
	}
	return false;
}

/* Most of the other series shifted as much as the candidate of this one, or many made the same
 * step. */
static bool is_machine_step(const struct days *d, const struct monitored_series *s, double *work)
{
	const struct tk_monitor *m = d->m;
	const int64_t day = day_of_candidate(s);
	const double change = s->candidate.after - s->candidate.before;
	size_t same = 0;

	for (size_t i = 0; i < m->count; i++)
		same += &m->series[i] != s && made_same_step(&m->series[i], day, change);
	if ((double)same >= fmax(SAME_STEP_MIN, SAME_STEP_SHARE * (double)m->count))
		return true;
	/* A series may see the step a night late. More nights around it would count steps that have
	 * nothing to do with it. */
	return machine_step(d, s, day, work) / change > MACHINE_SHARE ||
	       machine_step(d, s, day - 1, work) / change > MACHINE_SHARE;
}

struct attribution {
	const struct days *days;
	struct monitored_series *const *asked;
};

static void attribute_part(void *arg, int64_t first, int64_t count)
{
	const struct attribution *a = arg;
	double *work = tk_malloc((a->days->m->count + 1) * sizeof *work);

	for (int64_t i = first; i < first + count; i++)
		a->asked[i]->is_machines = is_machine_step(a->days, a->asked[i], work);
	free(work);
}

/* The days of these candidates and the days before. */
static size_t list_days(struct monitored_series *const *asked, size_t count, int64_t *out)
{
	size_t days = 0;

	for (size_t i = 0; i < count; i++) {
		out[2 * i] = day_of_candidate(asked[i]);
		out[2 * i + 1] = out[2 * i] - 1;
	}
	tk_sort(out, 2 * count, sizeof *out, by_day);
	for (size_t i = 0; i < 2 * count; i++)
		if (!days || out[i] != out[days - 1])
			out[days++] = out[i];
	return days;
}

void tk_monitor_find_machine_steps(
        const struct tk_monitor *m, struct monitored_series *const *asked, size_t count)
{
	struct days days = {.m = m, .at = tk_malloc((2 * count + 1) * sizeof *days.at)};
	struct attribution a = {.days = &days, .asked = asked};

	days.count = list_days(asked, count, days.at);
	days.change = tk_malloc((days.count * m->count + 1) * sizeof *days.change);
	tk_parallel_for((int64_t)(days.count * m->count), STEPS_PER_PART, compute_days, &days);
	tk_parallel_for((int64_t)count, 1, attribute_part, &a);
	free(days.change);
	free(days.at);
}
