/* What the series of a machine do together: shifts for a night or two, and steps. */
#include <math.h>

#include "base/base.h"
#include "decide/monitor/monitor_internal.h"
#include "decide/rules/witness.h"
#include "stats/summary.h"

#define RECENT_NIGHTS 7      /* that a night is compared with, to see a shift */
#define LEVEL_NIGHTS 15      /* on both sides of a step */
#define SHIFT_ERRORS 3.0     /* standard errors from which a shift is significant */
#define MACHINE_SHARE 0.5    /* of a step: more of it, and the step is the machine's */
#define SAME_STEP_SHARE 0.05 /* of the machine's series */
#define SAME_STEP_MIN 5      /* series */
#define RESTLESS_NIGHTS 100  /* with so many nights, or more, on which a family stepped, */
#define RESTLESS_STEPS 3     /* flat series do not clear the machine */
#define STIRRED_SHARE 0.2    /* of the series, that moved otherwise than the family */
#define STIRRED_ERRORS 4.0   /* standard errors of such a move */
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

/* The median of these shifts; 0 if it is not significant, or if flat series show that it is not the
 * machine's. Uses n numbers of work. */
static double significant_median(
        const struct tk_monitor *m, const struct tk_move *moves, size_t n, double *work)
{
	double median, error;

	if (n < SERIES_MIN)
		return 0;
	for (size_t i = 0; i < n; i++)
		work[i] = moves[i].change;
	median = tk_median(work, n);
	if (!m->restless && tk_moves_have_flat(moves, n, median))
		return 0;
	for (size_t i = 0; i < n; i++)
		work[i] = fabs(work[i] - median);
	error = MEDIAN_ERROR * MAD_TO_SD * tk_median(work, n) / sqrt((double)n);
	return fabs(median) > SHIFT_ERRORS * error ? median : 0;
}

/* The standard error of a level of the points from .. to - 1 and of one of `nights` nights more. */
static double error_of(const struct monitored_series *s, size_t from, size_t to, size_t nights)
{
	double work[2 * LEVEL_NIGHTS];

	if (to - from > LEVEL_NIGHTS)
		from = to - LEVEL_NIGHTS;
	for (size_t i = from; i < to; i++)
		work[i - from] = point_at(s, i)->y;
	return tk_move_error(tk_noise_mad(work, to - from, work + LEVEL_NIGHTS), to - from, nights);
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
	struct tk_move *out;
};

static void compute_shifts(void *arg, int64_t first, int64_t count)
{
	const struct shifts *f = arg;

	for (int64_t i = first; i < first + count; i++) {
		const struct tk_monitor_point *p = f->points[i];

		const struct monitored_series *s = tk_monitor_find_series(f->m, p->series);

		f->out[i] = (struct tk_move){
		        shift_of(s, log(p->value)), error_of(s, first_kept_point(s), s->n, 1)};
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
		s->threshold = log1p(points[i].threshold);
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

	shifts.out = tk_malloc((found + 1) * sizeof *shifts.out);
	tk_parallel_for((int64_t)found, STEPS_PER_PART, compute_shifts, &shifts);
	*shift = significant_median(m, shifts.out, found, m->work);
	free(shifts.out);
	free(shifts.points);
	return status;
}

static int by_day(const void *a, const void *b)
{
	const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

static bool is_family(const struct tk_monitor *m, size_t series)
{
	return (double)series >= fmax(SAME_STEP_MIN, SAME_STEP_SHARE * (double)m->count);
}

/* Families of this machine's series stepped on several of the nights before: it is known to do what
 * looks like a change of code. */
static bool is_restless(const struct tk_monitor *m, int64_t day)
{
	int64_t *at = tk_malloc((m->count * REMEMBERED_STEPS + 1) * sizeof *at);
	size_t count = 0, families = 0;

	for (size_t i = 0; i < m->count; i++)
		for (size_t k = first_kept_step(&m->series[i]); k < m->series[i].step_count; k++) {
			const int64_t then = m->series[i].steps[k % REMEMBERED_STEPS].day;

			if (then > day - RESTLESS_NIGHTS)
				at[count++] = then;
		}
	tk_sort(at, count, sizeof *at, by_day);
	for (size_t i = 0, next; i < count; i = next) {
		for (next = i; next < count && at[next] == at[i]; next++)
			;
		families += is_family(m, next - i);
	}
	free(at);
	return families >= RESTLESS_STEPS;
}

int tk_monitor_take_points(struct tk_monitor *m, const struct tk_monitor_point *points,
        size_t count, struct tk_error *err)
{
	double shift;

	m->restless = count && is_restless(m, points[0].day);
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
	const size_t from = first_kept_point(s);

	return from + TK_FIND_FIRST(s->n - from, i, point_at(s, from + i)->day < day);
}

static struct tk_move step_on(const struct monitored_series *s, int64_t day)
{
	const size_t at = find_day(s, day), from = first_kept_point(s),
	             end = at + LEVEL_NIGHTS < s->n ? at + LEVEL_NIGHTS : s->n;

	if (at < from + SERIES_MIN || at >= end)
		return (struct tk_move){NAN, NAN};
	return (struct tk_move){
	        level_of(s, at, end) - level_of(s, from, at), error_of(s, from, at, end - at)};
}

/* How much the series of a machine stepped on some days. */
struct days {
	const struct tk_monitor *m;
	int64_t *at; /* sorted, each once */
	size_t count;
	struct tk_move *moves; /* [day * m->count + series] */
};

static void compute_days(void *arg, int64_t first, int64_t count)
{
	const struct days *d = arg;
	const size_t series = d->m->count;

	for (int64_t i = first; i < first + count; i++)
		d->moves[i] = step_on(&d->m->series[(size_t)i % series], d->at[(size_t)i / series]);
}

/* Memory of a thread for what all other series did on a day. */
struct others {
	struct tk_move *moves;
	size_t count;
	double *work;
};

static void list_others(const struct days *d, const struct monitored_series *except, int64_t day,
        struct others *out)
{
	const int64_t *at = bsearch(&day, d->at, d->count, sizeof day, by_day);
	const struct tk_move *moves = d->moves + (size_t)(at - d->at) * d->m->count;

	out->count = 0;
	for (size_t i = 0; i < d->m->count; i++)
		if (&d->m->series[i] != except && !isnan(moves[i].change))
			out->moves[out->count++] = moves[i];
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

/* Other series that made the same step. */
static size_t count_family(const struct tk_monitor *m, const struct monitored_series *s)
{
	const int64_t day = day_of_candidate(s);
	const double change = s->candidate.after - s->candidate.before;
	size_t same = 0;

	for (size_t i = 0; i < m->count; i++)
		same += &m->series[i] != s && made_same_step(&m->series[i], day, change);
	return same;
}

/* Many more of the others moved than those that made the same step. */
static bool are_stirred(const struct others *others, size_t same)
{
	size_t moved = 0;

	for (size_t i = 0; i < others->count; i++)
		moved += fabs(others->moves[i].change) > STIRRED_ERRORS * others->moves[i].error;
	return moved > same &&
	       (double)(moved - same) >= fmax(SAME_STEP_MIN, STIRRED_SHARE * (double)others->count);
}

/* Most of the other series shifted as much as the candidate of this one, or many made the same step
 * and the others did not stay where they were. Where the environment changed, the others must show
 * that it did not matter. */
static bool is_machine_step(
        const struct days *d, const struct monitored_series *s, struct others *others)
{
	const struct tk_monitor *m = d->m;
	const int64_t day = day_of_candidate(s);
	const double change = s->candidate.after - s->candidate.before;
	const size_t same = count_family(m, s);

	list_others(d, s, day, others);
	if (s->is_expected || is_family(m, same))
		return m->restless || are_stirred(others, same) ||
		       !tk_moves_have_flat(others->moves, others->count, change);
	/* A series may see the step a night late. More nights around it would count steps that have
	 * nothing to do with it. */
	const double shift = significant_median(m, others->moves, others->count, others->work);

	list_others(d, s, day - 1, others);
	return shift / change > MACHINE_SHARE ||
	       significant_median(m, others->moves, others->count, others->work) / change >
	               MACHINE_SHARE;
}

struct attribution {
	const struct days *days;
	struct monitored_series *const *asked;
};

static void attribute_part(void *arg, int64_t first, int64_t count)
{
	const struct attribution *a = arg;
	const size_t series = a->days->m->count + 1;
	struct others others = {.moves = tk_malloc(series * sizeof *others.moves),
	        .work = tk_malloc(series * sizeof *others.work)};

	for (int64_t i = first; i < first + count; i++)
		a->asked[i]->is_machines = is_machine_step(a->days, a->asked[i], &others);
	free(others.moves);
	free(others.work);
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
	days.moves = tk_malloc((days.count * m->count + 1) * sizeof *days.moves);
	tk_parallel_for((int64_t)(days.count * m->count), STEPS_PER_PART, compute_days, &days);
	tk_parallel_for((int64_t)count, 1, attribute_part, &a);
	free(days.moves);
	free(days.at);
}
