/* Watches the series of a machine, night by night: see online.h. */
#include "detect/monitor/monitor.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/serializer.h"
#include "stats/monitor/level_monitor.h"
#include "stats/summary/fdr.h"
#include "stats/summary/summary.h"

#define MEMORY TK_MONITOR_WINDOW_NIGHTS
#define SERIES_MIN 8 /* fewer have no median worth the name */
#define RECENT \
	7 /* nights that tonight is held against, to see what a machine moved for a night or two \
	   */
#define LEVEL 15          /* nights on both sides of a step that a machine may have made */
#define COMMON_ERRORS 3.0 /* standard errors from which the machine moved */
#define COMMON_PART 0.5   /* of a step; more of it, and it is the machine's */
#define ALIKE_SHARE 0.05  /* of the machine's series: stepped the same way in the same night */
#define ALIKE_MIN 5
#define ALIKE_EVIDENCE 5.0 /* that a series moved along */
#define ALIKE_PART 0.3     /* of the step, at least */
#define ENVIRONMENT_EVIDENCE \
	5.0         /* of a step where the driver changed: expected, so that little is enough */
#define RETRACTED 7 /* nights: who is back by then was no change */
#define MEDIAN_ERROR 1.2533 /* standard error of a median in units of that of a mean */
#define MAD_TO_SD 1.4826
#define STEPS 16              /* of a series that are remembered */
#define NIGHTS_MAX (1u << 24) /* of a history that is read back */
#define SERIES_MAX (1u << 24)

struct step {
	int64_t day;
	double change;
};

struct point {
	double y, net; /* logarithm; the same less what the machine moved for a night */
	int64_t at, day, environment;
};

struct watched {
	int64_t series;
	struct point *points; /* the newest MEMORY of them: number i at i modulo MEMORY */
	size_t n;             /* points that were seen */
	size_t room;          /* for so many points */
	struct tk_level_monitor *watch;
	struct step
	        steps[STEPS]; /* that were accepted, alarms or not: number i at i modulo STEPS */
	size_t step_count, alarms;
	int64_t alarm_first, alarm_good; /* of the last one that was said */
	/* tonight */
	bool tonight;
	struct tk_changepoint_candidate suspicion;
	double q;
};

struct tk_monitor {
	struct tk_monitor_options options;
	struct watched *at;
	size_t count, cap;
	size_t *of_series; /* 1 + index in `at`, by the caller's number */
	size_t series_cap;
	struct tk_level_monitor_workspace *room;
	double *y, *work; /* of the longest series; 2 * count */
	int64_t *day;
	size_t longest;
};

static int out_of_memory(struct tk_error *err)
{
	return tk_fail(err, TK_ENOMEM, "out of memory while judging histories");
}

int tk_monitor_new(
        const struct tk_monitor_options *options, struct tk_monitor **out, struct tk_error *err)
{
	struct tk_monitor *o = calloc(1, sizeof *o);

	if (o) {
		o->options = *options;
		o->room = tk_level_monitor_workspace_new();
	}
	if (!o || !o->room) {
		free(o);
		return out_of_memory(err);
	}
	*out = o;
	return TK_OK;
}

void tk_monitor_free(struct tk_monitor *o)
{
	if (!o)
		return;
	for (size_t i = 0; i < o->count; i++) {
		free(o->at[i].points);
		tk_level_monitor_free(o->at[i].watch);
	}
	free(o->at), free(o->of_series), free(o->y), free(o->work), free(o->day);
	tk_level_monitor_workspace_free(o->room);
	free(o);
}

void tk_monitor_events_free(struct tk_monitor_events *e)
{
	free(e->at);
	*e = (struct tk_monitor_events){0};
}

/* ---- points
 * ------------------------------------------------------------------------------------------------------
 */

static struct point *point_at(const struct watched *p, size_t i)
{
	return &p->points[i % MEMORY];
}

static size_t oldest(const struct watched *p)
{
	return p->n > MEMORY ? p->n - MEMORY : 0;
}

static struct watched *find(const struct tk_monitor *o, int64_t series)
{
	size_t i = series >= 0 && (size_t)series < o->series_cap ? o->of_series[series] : 0;

	return i ? &o->at[i - 1] : NULL;
}

static bool number_series(struct tk_monitor *o, int64_t series)
{
	size_t cap = (size_t)series + (size_t)series / 2 + 64, *grown;

	if ((size_t)series >= o->series_cap) {
		grown = realloc(o->of_series, cap * sizeof *grown);
		if (!grown)
			return false;
		memset(grown + o->series_cap, 0, (cap - o->series_cap) * sizeof *grown);
		o->of_series = grown;
		o->series_cap = cap;
	}
	o->of_series[series] = o->count + 1;
	return true;
}

static struct watched *add(struct tk_monitor *o, int64_t series)
{
	if (o->count == o->cap) {
		size_t cap = o->cap ? 2 * o->cap : 64;
		struct watched *grown = realloc(o->at, cap * sizeof *grown);
		double *work = realloc(o->work, 2 * cap * sizeof *work);

		o->at = grown ? grown : o->at;
		o->work = work ? work : o->work;
		if (!grown || !work)
			return NULL;
		o->cap = cap;
	}
	if (series < 0 || series > SERIES_MAX || !number_series(o, series))
		return NULL;
	o->at[o->count] = (struct watched){
	        .series = series, .watch = tk_level_monitor_new(o->options.min_effect, o->room)};
	if (!o->at[o->count].watch) {
		o->of_series[series] = 0;
		return NULL;
	}
	return &o->at[o->count++];
}

/* Room for points up to number n - 1. */
static bool widen(struct tk_monitor *o, struct watched *p, size_t n)
{
	if (p->room < n && p->room < MEMORY) {
		size_t room = 2 * n + 16 < MEMORY ? 2 * n + 16 : MEMORY;
		struct point *grown = realloc(p->points, room * sizeof *grown);

		if (!grown)
			return false;
		p->points = grown;
		p->room = room;
	}
	if (n > o->longest) {
		size_t cap = 2 * n + 64;
		double *y = realloc(o->y, cap * sizeof *y);
		int64_t *day = realloc(o->day, cap * sizeof *day);

		o->y = y ? y : o->y;
		o->day = day ? day : o->day;
		if (!y || !day)
			return false;
		o->longest = cap;
	}
	return true;
}

/* The median of the last LEVEL of the points from .. to - 1. */
static double level_of(const struct watched *p, size_t from, size_t to)
{
	double work[LEVEL];

	if (to - from > LEVEL)
		from = to - LEVEL;
	for (size_t i = from; i < to; i++)
		work[i - from] = point_at(p, i)->y;
	return tk_median(work, to - from);
}

/* ---- what the machine moved
 * ----------------------------------------------------------------------------------------
 */

/* The median of what series moved, 0 where it is not beyond doubt; moved is overwritten. */
static double common_part(double *moved, size_t n)
{
	double median, error;

	if (n < SERIES_MIN)
		return 0;
	median = tk_median(moved, n);
	for (size_t i = 0; i < n; i++)
		moved[i] = fabs(moved[i] - median);
	error = MEDIAN_ERROR * MAD_TO_SD * tk_median(moved, n) / sqrt((double)n);
	return fabs(median) > COMMON_ERRORS * error ? median : 0;
}

static double moved_by(const struct watched *p, double y)
{
	return p->n >= RECENT ? y - level_of(p, p->n - RECENT, p->n) : 0;
}

static bool has_logarithm(const struct tk_monitor_point *q)
{
	return isfinite(q->value) && q->value > 0;
}

/* What the machine moved tonight, by the first point of each series. */
static int common_tonight(
        struct tk_monitor *o, const struct tk_monitor_point *points, size_t count, double *common)
{
	size_t moved = 0;

	for (size_t i = 0; i < o->count; i++)
		o->at[i].tonight = false;
	for (size_t i = 0; i < count; i++) {
		struct watched *p = find(o, points[i].series);

		if (!has_logarithm(&points[i]))
			continue;
		if (!p)
			p = add(o, points[i].series);
		if (!p)
			return TK_ENOMEM;
		if (!p->tonight && p->n >= RECENT)
			o->work[moved++] = moved_by(p, log(points[i].value));
		p->tonight = true;
	}
	*common = common_part(o->work, moved);
	return TK_OK;
}

/* Takes the points of the night, less what the machine moved for it: never more than the series
 * did. */
static int take_night(struct tk_monitor *o, const struct tk_monitor_point *points, size_t count)
{
	double common;
	int status = common_tonight(o, points, count, &common);

	for (size_t i = 0; !status && i < count; i++) {
		const struct tk_monitor_point *q = &points[i];
		struct watched *p = find(o, q->series);
		double y, moved, taken;

		if (!has_logarithm(q))
			continue;
		y = log(q->value);
		moved = moved_by(p, y);
		taken = moved * common > 0 ? copysign(fmin(fabs(moved), fabs(common)), common) : 0;
		if (!widen(o, p, p->n + 1))
			return TK_ENOMEM;
		*point_at(p, p->n++) = (struct point){y, y - taken, q->at, q->day, q->environment};
	}
	return status;
}

static size_t position(const struct watched *p, int64_t day)
{
	size_t lo = oldest(p), hi = p->n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (point_at(p, mid)->day < day)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/* The machine's step on a day, by its other series. */
static double machine_step(struct tk_monitor *o, const struct watched *except, int64_t day)
{
	size_t count = 0;

	for (size_t i = 0; i < o->count; i++) {
		const struct watched *p = &o->at[i];
		size_t at = position(p, day), end = at + LEVEL < p->n ? at + LEVEL : p->n,
		       from = oldest(p);

		if (p != except && at >= from + SERIES_MIN && at < end)
			o->work[count++] = level_of(p, at, end) - level_of(p, from, at);
	}
	return common_part(o->work, count);
}

static bool stepped_alike(const struct watched *p, int64_t day, double change)
{
	const struct tk_changepoint_candidate *s = &p->suspicion;
	bool alike = p->tonight && s->evidence > ALIKE_EVIDENCE &&
	             (s->after - s->before) / change > ALIKE_PART &&
	             point_at(p, s->split)->day == day;

	for (size_t i = p->step_count > STEPS ? p->step_count - STEPS : 0;
	        !alike && i < p->step_count; i++) {
		const struct step *step = &p->steps[i % STEPS];

		alike = step->day == day && step->change / change > ALIKE_PART;
	}
	return alike;
}

/* The suspicion of *p is a step of its machine: most of the others moved as much, or many the same
 * way. */
static bool is_machines(struct tk_monitor *o, const struct watched *p)
{
	int64_t day = point_at(p, p->suspicion.split)->day;
	double change = p->suspicion.after - p->suspicion.before;
	size_t alike = 0;

	for (size_t i = 0; i < o->count; i++)
		alike += &o->at[i] != p && stepped_alike(&o->at[i], day, change);
	if ((double)alike >= fmax(ALIKE_MIN, ALIKE_SHARE * (double)o->count))
		return true;
	/* A series may be a night late to see it; more nights around it would take steps that have
	 * nothing to do with it. */
	return machine_step(o, p, day) / change > COMMON_PART ||
	       machine_step(o, p, day - 1) / change > COMMON_PART;
}

static bool environment_changed(const struct tk_monitor *o, const struct watched *p)
{
	size_t split = p->suspicion.split, from = split > 1 ? split - 1 : 1;
	bool changed = false;

	for (size_t i = from; i < p->n && i <= split + 1; i++) {
		int64_t a = point_at(p, i - 1)->environment, b = point_at(p, i)->environment;

		changed |= a != b &&
		           (!o->options.differ || o->options.differ(o->options.context, a, b));
	}
	return changed;
}

/* ---- a night
 * --------------------------------------------------------------------------------------------------------
 */

static int say(
        struct tk_monitor_events *events, const struct watched *p, enum tk_monitor_event_kind kind)
{
	const struct tk_changepoint_candidate *s = &p->suspicion;
	struct tk_monitor_event e = {.series = p->series,
	        .kind = kind,
	        .first = point_at(p, s->split)->at,
	        .last_good = point_at(p, s->split - 1)->at,
	        .before = exp(s->before),
	        .after = exp(s->after),
	        .log_lr = s->evidence,
	        .q = p->q};

	if (kind == TK_MONITOR_RETRACTED) {
		e.first = p->alarm_first;
		e.last_good = p->alarm_good;
	}
	if (events->count == events->cap) {
		size_t cap = events->cap ? 2 * events->cap : 16;
		struct tk_monitor_event *grown = realloc(events->at, cap * sizeof *grown);

		if (!grown)
			return TK_ENOMEM;
		events->at = grown;
		events->cap = cap;
	}
	events->at[events->count++] = e;
	return TK_OK;
}

static int raise_alarm(
        struct watched *p, bool is_level, size_t nights, struct tk_monitor_events *events)
{
	if (!is_level && nights <= RETRACTED && p->alarms)
		return say(events, p, TK_MONITOR_RETRACTED);
	p->alarms++;
	p->alarm_first = point_at(p, p->suspicion.split)->at;
	p->alarm_good = point_at(p, p->suspicion.split - 1)->at;
	return say(events, p, TK_MONITOR_STEP);
}

static int decide(struct tk_monitor *o, struct watched *p, struct tk_monitor_events *events)
{
	const struct tk_changepoint_candidate *s = &p->suspicion;
	bool expected =
	             p->tonight && s->evidence > ENVIRONMENT_EVIDENCE && environment_changed(o, p),
	     quiet, is_level;
	size_t nights;

	if (!p->tonight ||
	        (!expected && (s->evidence < TK_MONITOR_LOG_LR_MIN || !(p->q <= o->options.fdr))))
		return TK_OK;
	quiet = expected || is_machines(o, p);
	p->steps[p->step_count++ % STEPS] =
	        (struct step){point_at(p, s->split)->day, s->after - s->before};
	is_level = tk_level_monitor_accept(p->watch, s, &nights);
	return quiet ? say(events, p, TK_MONITOR_MACHINE_STEP)
	             : raise_alarm(p, is_level, nights, events);
}

static int suspect(struct tk_monitor *o, struct watched *p)
{
	for (size_t i = oldest(p); i < p->n; i++) {
		o->y[i] = point_at(p, i)->net;
		o->day[i] = point_at(p, i)->day;
	}
	return tk_level_monitor_update(p->watch, o->y, o->day, p->n, &p->suspicion);
}

int tk_monitor_add_night(struct tk_monitor *o, const struct tk_monitor_point *points, size_t count,
        struct tk_monitor_events *events, struct tk_error *err)
{
	int status = take_night(o, points, count);
	size_t n = o->count;

	for (size_t i = 0; !status && i < n; i++) {
		o->work[i] = NAN;
		if (!o->at[i].tonight)
			continue;
		status = suspect(o, &o->at[i]);
		o->work[i] = tk_level_monitor_p_value(o->at[i].suspicion.evidence);
	}
	if (!status && n)
		status = tk_fdr_adjust(o->work, n, o->work + n);
	for (size_t i = 0; !status && i < n; i++)
		o->at[i].q = o->work[n + i];
	for (size_t i = 0; !status && i < n; i++)
		status = decide(o, &o->at[i], events);
	return status ? out_of_memory(err) : TK_OK;
}

size_t tk_monitor_find_last_point(
        const struct tk_monitor *o, int64_t series, int64_t *at, double *value)
{
	const struct watched *p = find(o, series);

	if (!p || !p->n)
		return 0;
	*at = point_at(p, p->n - 1)->at;
	*value = exp(point_at(p, p->n - 1)->y);
	return p->n;
}

double tk_monitor_level(const struct tk_monitor *o, int64_t series)
{
	const struct watched *p = find(o, series);

	return p && p->n >= TK_MONITOR_NIGHTS_MIN ? exp(tk_level_monitor_level(p->watch)) : NAN;
}

/* ---- what is known, as numbers
 * --------------------------------------------------------------------------------------- */

static int64_t *field(struct watched *p, size_t i, size_t offset)
{
	return (int64_t *)(void *)((char *)point_at(p, i) + offset);
}

/* Most nights are a day after the one before, in the same environment: as differences, each with
 * how often it comes. */
static void visit_column(struct watched *p, size_t offset, struct tk_serializer *io)
{
	int64_t last = 0;

	for (size_t i = oldest(p), count; i < p->n && !io->failed; i += count) {
		int64_t by = io->reading ? 0 : *field(p, i, offset) - last;

		for (count = 1; !io->reading && i + count < p->n; count++)
			if (*field(p, i + count, offset) - *field(p, i + count - 1, offset) != by)
				break;
		tk_serialize_int(io, &by);
		tk_serialize_size(io, &count, p->n - i);
		io->failed |= !count;
		for (size_t k = 0; !io->failed && k < count; k++)
			*field(p, i + k, offset) = last += by;
	}
}

static void visit_points(struct watched *p, struct tk_serializer *io)
{
	size_t moved = 0, end = p->n;

	for (size_t i = oldest(p); i < p->n; i++)
		tk_serialize_double(io, &point_at(p, i)->y);
	for (size_t i = oldest(p); i < p->n; i++) {
		moved += point_at(p, i)->net != point_at(p, i)->y;
		if (io->reading)
			point_at(p, i)->net = point_at(p, i)->y;
	}
	tk_serialize_size(io, &moved, MEMORY);
	for (size_t i = oldest(p); moved && i < end && !io->failed; i++, moved--) {
		while (!io->reading && point_at(p, i)->net == point_at(p, i)->y)
			i++;
		tk_serialize_size(io, &i, p->n - 1);
		io->failed |= i < oldest(p);
		if (!io->failed)
			tk_serialize_double(io, &point_at(p, i)->net);
	}
	visit_column(p, offsetof(struct point, at), io);
	visit_column(p, offsetof(struct point, day), io);
	visit_column(p, offsetof(struct point, environment), io);
}

static int visit_watched(struct tk_monitor *o, struct watched *p, struct tk_serializer *io)
{
	tk_serialize_size(io, &p->n, NIGHTS_MAX);
	if (!io->failed && io->reading && !widen(o, p, p->n))
		return TK_ENOMEM;
	if (io->reading && !io->failed && p->points)
		memset(p->points, 0, p->room * sizeof *p->points);
	visit_points(p, io);
	tk_serialize_size(io, &p->step_count, NIGHTS_MAX);
	for (size_t i = p->step_count > STEPS ? p->step_count - STEPS : 0;
	        i < p->step_count && !io->failed; i++) {
		tk_serialize_int(io, &p->steps[i % STEPS].day);
		tk_serialize_double(io, &p->steps[i % STEPS].change);
	}
	tk_serialize_size(io, &p->alarms, NIGHTS_MAX);
	tk_serialize_int(io, &p->alarm_first);
	tk_serialize_int(io, &p->alarm_good);
	return io->failed ? TK_EDATA : tk_level_monitor_serialize(p->watch, p->n, io);
}

int tk_monitor_serialize(struct tk_monitor *o, struct tk_serializer *io, struct tk_error *err)
{
	size_t count = o->count;
	int status = TK_OK;

	tk_serialize_size(io, &count, SERIES_MAX);
	for (size_t i = 0; !status && !io->failed && i < count; i++) {
		int64_t series = io->reading ? 0 : o->at[i].series;
		struct watched *p;

		tk_serialize_int(io, &series);
		if (io->failed || (io->reading && find(o, series)))
			break;
		p = io->reading ? add(o, series) : &o->at[i];
		status = p ? visit_watched(o, p, io) : TK_ENOMEM;
		if (!status && i + 1 == count && (!io->reading || io->next == io->count))
			return TK_OK;
	}
	if (!status && !count && !io->failed)
		return TK_OK;
	return status == TK_ENOMEM
	               ? out_of_memory(err)
	               : tk_fail(err, TK_EDATA, "what the last night knew cannot be read");
}
