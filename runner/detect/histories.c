/* Plays histories night by night, machine by machine: see histories.h. */
#include "detect/histories.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "detect/detect.h"
#include "stats/fdr.h"
#include "stats/summary.h"
#include "stats/watch.h"

#define SERIES_MIN 8      /* fewer have no median worth the name */
#define RECENT 7          /* nights that tonight is held against, to see what a machine moved for a night or two */
#define LEVEL 15          /* nights on both sides of a step that a machine may have made */
#define NEAR 4            /* nights: how far a machine's step may be from a series' */
#define COMMON_ERRORS 3.0 /* standard errors from which the machine moved */
#define COMMON_PART 0.5   /* of a step; more of it, and it is the machine's */
#define ALIKE_SHARE 0.08  /* of the machine's series: stepped the same way in the same night */
#define ALIKE_MIN 5
#define ALIKE_EVIDENCE 4.0       /* that a series moved along */
#define ENVIRONMENT_EVIDENCE 5.0 /* of a step where the driver changed: expected, so that little is enough */
#define RETRACTED 7              /* nights: who is back by then was no change */
#define MEDIAN_ERROR 1.2533      /* standard error of a median in units of that of a mean */
#define MAD_TO_SD 1.4826

struct step {
	int64_t day;
	double change;
};

struct player {
	const struct tk_history *history;
	double *y, *net; /* logarithms of what has one; the same less what the machine moved for a night */
	int64_t *day;
	size_t *where; /* their positions in the history */
	size_t n, now; /* now: points known so far */
	bool tonight;
	struct tk_watch *watch;
	struct tk_suspicion suspicion;
	double q;
	struct step *steps; /* that were accepted, alarms or not */
	size_t step_count;
	struct tk_alarms *out;
};

static int out_of_memory(struct tk_error *err)
{
	return tk_fail(err, TK_ENOMEM, "out of memory while judging histories");
}

static int by_machine(const void *a, const void *b)
{
	const struct player *x = a, *y = b;
	int order = strcmp(x->history->machine, y->history->machine);

	return order ? order : (x->history > y->history) - (x->history < y->history);
}

static void player_free(struct player *p)
{
	free(p->y), free(p->net), free(p->day), free(p->where), free(p->steps);
	tk_watch_free(p->watch);
}

static int player_make(struct player *p, const struct tk_history *h, double min_effect, struct tk_watch_room *room,
        struct tk_alarms *out, struct tk_error *err)
{
	*p = (struct player){.history = h, .out = out};
	p->y = malloc((h->n + 1) * sizeof *p->y);
	p->net = malloc((h->n + 1) * sizeof *p->net);
	p->day = malloc((h->n + 1) * sizeof *p->day);
	p->where = malloc((h->n + 1) * sizeof *p->where);
	p->watch = tk_watch_new(min_effect, room);
	if (!p->y || !p->net || !p->day || !p->where || !p->watch)
		return out_of_memory(err);
	for (size_t i = 0; i < h->n; i++)
		if (isfinite(h->value[i]) && h->value[i] > 0) {
			p->y[p->n] = log(h->value[i]);
			p->day[p->n] = h->day[i];
			p->where[p->n++] = i;
		}
	return TK_OK;
}

static double level_of(const double *y, size_t from, size_t to)
{
	double work[LEVEL];

	if (to - from > LEVEL)
		from = to - LEVEL;
	memcpy(work, y + from, (to - from) * sizeof *work);
	return tk_median(work, to - from);
}

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

static double moved_tonight(const struct player *p)
{
	return p->now >= RECENT ? p->y[p->now] - level_of(p->y, p->now - RECENT, p->now) : 0;
}

/* Takes the points of the day, less what the machine moved for this night: never more than the series did. */
static void take_day(struct player *p, size_t n, int64_t day, double *work)
{
	size_t count = 0;
	double common;

	for (size_t i = 0; i < n; i++) {
		p[i].tonight = p[i].now < p[i].n && p[i].day[p[i].now] == day;
		if (p[i].tonight && p[i].now >= RECENT)
			work[count++] = moved_tonight(&p[i]);
	}
	common = common_part(work, count);
	for (size_t i = 0; i < n; i++)
		for (; p[i].now < p[i].n && p[i].day[p[i].now] == day; p[i].now++) {
			double moved = moved_tonight(&p[i]);
			double taken = moved * common > 0 ? copysign(fmin(fabs(moved), fabs(common)), common) : 0;

			p[i].net[p[i].now] = p[i].y[p[i].now] - taken;
		}
}

static size_t position(const struct player *p, int64_t day)
{
	size_t lo = 0, hi = p->now;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (p->day[mid] < day)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/* The machine's step on a day, by its other series. */
static double machine_step(const struct player *p, size_t n, const struct player *except, int64_t day, double *work)
{
	size_t count = 0;

	for (size_t i = 0; i < n; i++) {
		size_t at = position(&p[i], day), end = at + LEVEL < p[i].now ? at + LEVEL : p[i].now;

		if (&p[i] != except && at >= SERIES_MIN && at < end)
			work[count++] = level_of(p[i].y, at, end) - level_of(p[i].y, at > LEVEL ? at - LEVEL : 0, at);
	}
	return common_part(work, count);
}

static bool stepped_alike(const struct player *p, int64_t day, double change)
{
	const struct tk_suspicion *s = &p->suspicion;
	bool alike = p->tonight && s->evidence > ALIKE_EVIDENCE && (s->after - s->before) * change > 0 &&
	             llabs(p->day[s->split] - day) <= 1;

	for (size_t i = p->step_count; !alike && i-- > 0;)
		alike = llabs(p->steps[i].day - day) <= 1 && p->steps[i].change * change > 0;
	return alike;
}

/* The suspicion of *p is a step of its machine: most of the others moved as much, or many the same way. */
static bool is_machines(const struct player *all, size_t n, const struct player *p, double *work)
{
	int64_t day = p->day[p->suspicion.split];
	double change = p->suspicion.after - p->suspicion.before;
	size_t alike = 0;

	for (size_t i = 0; i < n; i++)
		alike += &all[i] != p && stepped_alike(&all[i], day, change);
	if ((double)alike >= fmax(ALIKE_MIN, ALIKE_SHARE * (double)n))
		return true;
	for (int64_t near = -NEAR; near <= 1; near++)
		if (machine_step(all, n, p, day + near, work) / change > COMMON_PART)
			return true;
	return false;
}

static bool environment_changed(const struct player *p)
{
	const char *const *words = p->history->environment;
	size_t split = p->suspicion.split, from = split > 1 ? split - 1 : 1;
	bool changed = false;

	for (size_t i = from; words && i < p->now && i <= split + 1; i++)
		changed |= strcmp(words[p->where[i - 1]], words[p->where[i]]) != 0;
	return changed;
}

static int remember(struct player *p)
{
	const struct tk_suspicion *s = &p->suspicion;
	struct step *steps = realloc(p->steps, (p->step_count + 1) * sizeof *steps);

	if (!steps)
		return TK_ENOMEM;
	p->steps = steps;
	steps[p->step_count++] = (struct step){p->day[s->split], s->after - s->before};
	return TK_OK;
}

static int raise_alarm(struct player *p, bool is_level, size_t nights)
{
	const struct tk_suspicion *s = &p->suspicion;
	struct tk_alarms *out = p->out;
	struct tk_alarm *at;

	if (!is_level && nights <= RETRACTED && out->count) {
		out->at[out->count - 1].retracted = p->where[p->now - 1];
		return TK_OK;
	}
	at = realloc(out->at, (out->count + 1) * sizeof *at);
	if (!at)
		return TK_ENOMEM;
	out->at = at;
	at[out->count++] =
	        (struct tk_alarm){p->where[p->now - 1], p->where[s->split], 0, exp(s->before), exp(s->after)};
	return TK_OK;
}

static int decide(struct player *all, size_t n, struct player *p, double fdr, double *work)
{
	bool expected = p->tonight && p->suspicion.evidence > ENVIRONMENT_EVIDENCE && environment_changed(p), quiet,
	     is_level;
	size_t nights;
	int rc;

	if (!p->tonight || (!expected && (p->suspicion.evidence < TK_WATCH_EVIDENCE || !(p->q <= fdr))))
		return TK_OK;
	quiet = expected || is_machines(all, n, p, work);
	rc = remember(p);
	is_level = tk_watch_accept(p->watch, &p->suspicion, &nights);
	return rc || quiet ? rc : raise_alarm(p, is_level, nights);
}

/* One night of one machine. work: 2 * n values. */
static int play_night(struct player *p, size_t n, int64_t day, double fdr, double *work, struct tk_error *err)
{
	int rc = TK_OK;

	take_day(p, n, day, work);
	for (size_t i = 0; !rc && i < n; i++) {
		work[i] = NAN;
		if (!p[i].tonight)
			continue;
		rc = tk_watch_night(p[i].watch, p[i].net, p[i].day, p[i].now, &p[i].suspicion);
		work[i] = tk_watch_p(p[i].suspicion.evidence);
	}
	if (!rc)
		rc = tk_fdr_q(work, n, work + n);
	for (size_t i = 0; i < n; i++)
		p[i].q = work[n + i];
	for (size_t i = 0; !rc && i < n; i++)
		rc = decide(p, n, &p[i], fdr, work);
	return rc ? out_of_memory(err) : TK_OK;
}

static int play_machine(struct player *p, size_t n, double fdr, double *work, struct tk_error *err)
{
	int rc = TK_OK;

	for (;;) {
		int64_t day = INT64_MAX;
		bool more = false;

		for (size_t i = 0; i < n; i++)
			if (p[i].now < p[i].n) {
				more = true;
				day = p[i].day[p[i].now] < day ? p[i].day[p[i].now] : day;
			}
		if (rc || !more)
			return rc;
		rc = play_night(p, n, day, fdr, work, err);
	}
}

int tk_histories_online(const struct tk_history *series, size_t count, const struct tk_detect_options *options,
        struct tk_alarms *out, struct tk_error *err)
{
	struct player *p = calloc(count + 1, sizeof *p);
	double *work = malloc((2 * count + 1) * sizeof *work);
	struct tk_watch_room *room = tk_watch_room_new();
	int rc = p && work && room ? TK_OK : out_of_memory(err);

	memset(out, 0, count * sizeof *out);
	for (size_t i = 0; !rc && i < count; i++)
		rc = player_make(&p[i], &series[i], options->min_effect, room, &out[i], err);
	if (!rc)
		qsort(p, count, sizeof *p, by_machine);
	for (size_t i = 0, next; !rc && i < count; i = next) {
		for (next = i; next < count && strcmp(p[next].history->machine, p[i].history->machine) == 0; next++)
			;
		rc = play_machine(p + i, next - i, options->fdr, work, err);
	}
	for (size_t i = 0; p && i < count; i++)
		player_free(&p[i]);
	free(p);
	free(work);
	tk_watch_room_free(room);
	return rc;
}

void tk_alarms_free(struct tk_alarms *alarms, size_t count)
{
	for (size_t i = 0; alarms && i < count; i++)
		free(alarms[i].at);
}
