/* One series, night after night: see watch.h. */
#include "stats/monitor/level_monitor.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/serializer.h"
#include "stats/monitor/regime_model.h"
#include "stats/summary/noise.h"
#include "stats/summary/summary.h"
#include "stats/summary/weekday.h"

#define FIRST TK_MONITOR_NIGHTS_MIN
#define MEMORY TK_MONITOR_WINDOW_NIGHTS
#define LEVEL_MAX 130  /* nights that a level is made of */
#define LEAST_BEFORE 3 /* nights at the old level */
#define LEAST_AFTER 3  /* and at the new one */
#define LONGEST 60
#define LONGEST_WANDER 25 /* what a level needs longer for, it may have wandered */
#define HOLD \
	20 /* the newest nights are not in the level that they are held against; a third of a \
	      short one */
#define REFIT 12 /* nights between two fits; REFIT_YOUNG below YOUNG nights */
#define YOUNG 60
#define REFIT_YOUNG 4
#define WANDER_MIN 24 /* nights that a wandering part can be learnt from */
#define CHANGE_PRICE 8.0
#define WANDER_LIKELY \
	4.0 /* most machines wander: the other model has to be likelier by so much \
	                   */
#define NEW_NOISE \
	3.0 /* of the last weeks: it has to be twenty times as likely as that of all nights */
#define PENDING 2.0 /* evidence from which a split is kept in mind; it fades */
#define FADES 0.93
#define LOCATE 6.0      /* evidence from which its night is looked for */
#define FIT_NIGHTS 18.0 /* a fit to so many nights is worth half the evidence */
#define LENGTH_PRICE \
	1.0 /* per factor of e: what noise does that its model does not know adds up over nights \
	     */
#define EXACT \
	8.0 /* evidence from which the uncertainty of the old level is weighed, not estimated */
#define UNCERTAIN \
	4.0 /* where it is known by less than so many times what the new nights tell of it */
#define EXCURSION 14
#define BACK 0.35     /* of the excursion may be missing */
#define SEARCHED 20.0 /* splits and levels that were tried, as independent tests */

struct tk_level_monitor {
	double least; /* shift, logarithm */
	struct tk_regime_model noise;
	bool known;            /* the noise is */
	size_t fitted, count;  /* when, to how many nights */
	double pattern[7];     /* of the week */
	size_t base, old_base; /* where the present level starts, and the one before it */
	double level, old_level, information;
	size_t informed; /* nights that `information` about the level comes from */
	size_t settled;  /* no split up to this one is tried any more */
	double last;     /* evidence of last night */
	size_t pending;  /* the split that was suspected, and how strongly */
	double strength;
	double levels[MEMORY]; /* of each night before base, at its number modulo MEMORY */
	size_t from, n; /* what is looked at tonight: room->y[0 .. n) are the nights from `from` on,
	                   without the pattern */
	struct tk_level_monitor_workspace *room;
};

struct tk_level_monitor_workspace {
	double y[MEMORY], r[MEMORY], sum[MEMORY], work[2 * MEMORY];
	int64_t day[MEMORY];
	struct tk_filtered_state belief[MEMORY];
};

struct tk_level_monitor_workspace *tk_level_monitor_workspace_new(void)
{
	return malloc(sizeof(struct tk_level_monitor_workspace));
}

void tk_level_monitor_workspace_free(struct tk_level_monitor_workspace *room)
{
	free(room);
}

struct tk_level_monitor *tk_level_monitor_new(
        double min_effect, struct tk_level_monitor_workspace *room)
{
	struct tk_level_monitor *w = calloc(1, sizeof *w);

	if (w) {
		w->least = log1p(min_effect);
		w->room = room;
	}
	return w;
}

void tk_level_monitor_free(struct tk_level_monitor *w)
{
	free(w);
}

double tk_level_monitor_p_value(double evidence)
{
	return fmin(1, SEARCHED * exp(-evidence));
}

static double level_at(const struct tk_level_monitor *w, size_t night)
{
	return w->levels[night % MEMORY];
}

static void take(struct tk_level_monitor *w, const double *y, const int64_t *day, size_t n)
{
	w->n = n < MEMORY ? n : MEMORY;
	w->from = n - w->n;
	for (size_t i = 0; i < w->n; i++)
		w->room->y[i] = y[w->from + i] - w->pattern[tk_weekday_from_day(day[w->from + i])];
}

/* What is left of `count` nights from `from` on about their levels, without the pattern. */
static void take_levels_out(
        struct tk_level_monitor *w, const double *y, const int64_t *day, size_t from, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		size_t night = from + i;

		w->room->day[i] = day[night];
		w->room->r[i] = y[night] - (night < w->base ? level_at(w, night) : w->level) -
		                w->pattern[tk_weekday_from_day(day[night])];
	}
}

static void learn_week(
        struct tk_level_monitor *w, const double *y, const int64_t *day, size_t from, size_t count)
{
	double last[7], mean = 0;

	memcpy(last, w->pattern, sizeof last);
	memset(w->pattern, 0, sizeof w->pattern);
	take_levels_out(w, y, day, from, count);
	tk_weekday_estimate(w->room->r, w->room->day, count, w->room->work, w->pattern);
	for (size_t d = 0; d < 7; d++)
		mean += (last[d] - w->pattern[d]) / 7;
	w->level += mean; /* so that it is that of the mean weekday before and after */
}

static size_t changes_since(const struct tk_level_monitor *w, size_t from)
{
	size_t changes = w->base > from;

	for (size_t i = from + 1; i < w->base; i++)
		changes += level_at(w, i) != level_at(w, i - 1);
	return changes;
}

/* Does the series wander? Then steps that were seen in it may have been that: the model with a
 * wandering part has to explain it without levels, the other one pays for each of its. */
static int learn_wander(struct tk_level_monitor *w, const double *y, size_t from, size_t count,
        double sigma, struct tk_regime_model *noise)
{
	struct tk_regime_model wanders;
	double middle, mine;
	int rc;

	for (size_t i = 0; i < count; i++)
		w->room->work[i] = w->room->r[i] =
		        y[from + i] - w->pattern[tk_weekday_from_day(w->room->day[i])];
	middle = tk_median(w->room->work, count);
	for (size_t i = 0; i < count; i++)
		w->room->r[i] -= middle;
	rc = tk_regime_fit_drift(w->room->r, count, sigma, &wanders);
	mine = noise->loglik - tk_regime_penalty(noise, count) - WANDER_LIKELY -
	       CHANGE_PRICE * (double)changes_since(w, from);
	if (!rc && wanders.loglik - tk_regime_penalty(&wanders, count) > mine)
		*noise = wanders;
	return rc;
}

static size_t held(size_t nights)
{
	return nights / 3 < HOLD ? nights / 3 : HOLD;
}

static int learn_noise(struct tk_level_monitor *w, const double *y, const int64_t *day, size_t from,
        size_t count, struct tk_regime_model *out)
{
	struct tk_noise noise;
	int rc;

	take_levels_out(w, y, day, from, count);
	rc = tk_noise_estimate(w->room->r, count, &noise);
	if (!rc)
		rc = tk_regime_fit(w->room->r, count, fmax(noise.sigma, noise.mad), out);
	if (!rc && count >= WANDER_MIN)
		rc = learn_wander(w, y, from, count, noise.sigma, out);
	return rc;
}

/* A machine that was calm may be busy now, or the other way: is the noise of `count` nights from
 * `from` on another one than that of all? */
static int learn_recent(
        struct tk_level_monitor *w, const double *y, const int64_t *day, size_t from, size_t count)
{
	struct tk_regime_model recent;
	int rc = learn_noise(w, y, day, from, count, &recent);
	const double *r = w->room->r;
	double gain;

	if (rc)
		return rc;
	take_levels_out(w, y, day, from, count);
	gain = tk_regime_loglik(&recent, r, count, 0, NULL, NULL, NULL) -
	       tk_regime_penalty(&recent, count) -
	       tk_regime_loglik(&w->noise, r, count, 0, NULL, NULL, NULL);
	if (gain > NEW_NOISE) {
		w->noise = recent;
		w->count = count * 3 / 4; /* it was chosen: worth less than a fit that was not */
	}
	return TK_OK;
}

static int learn(struct tk_level_monitor *w, const double *y, const int64_t *day, size_t n)
{
	static const size_t recent[] = {
	        60, 30}; /* two months, one: what a noise with states is learnt from at least */
	size_t from = n > MEMORY ? n - MEMORY : 0,
	       hold = n < 2 * FIRST           ? 0
	              : w->last > PENDING * 2 ? held(n)
	                                      : 5,
	       count = n - from - hold;
	int rc;

	if (!w->known) {
		memcpy(w->room->work, y + from, (n - from) * sizeof *y);
		w->level = tk_median(w->room->work, n - from);
	}
	w->count = count;
	learn_week(w, y, day, from, count);
	rc = learn_noise(w, y, day, from, count, &w->noise);
	for (size_t i = 0; !rc && i < sizeof recent / sizeof *recent; i++)
		if (2 * recent[i] <= count)
			rc = learn_recent(w, y, day, from + count - recent[i], recent[i]);
	w->known = !rc;
	w->fitted = n;
	return rc;
}

static size_t start_of(const struct tk_level_monitor *w)
{
	return w->base > w->from ? w->base - w->from : 0;
}

static bool is_pending(const struct tk_level_monitor *w, size_t start)
{
	return w->strength > PENDING && w->pending > w->from + start + LEAST_BEFORE;
}

static void find_level(struct tk_level_monitor *w)
{
	size_t from = start_of(w), hold = held(w->n - from);

	if (is_pending(w, from) && w->from + w->n - w->pending > hold)
		hold = w->from + w->n - w->pending;
	if (w->n - from - hold > LEVEL_MAX)
		from = w->n - hold - LEVEL_MAX;
	w->informed = w->n - from - hold;
	for (int step = 0; step < 2; step++) {
		struct tk_level_information known;

		tk_regime_newton_step(
		        &w->noise, w->room->y + from, w->informed, NULL, &w->level, &known);
		w->information = known.own;
	}
}

/* Levels that y[split ..] may be at: what its quantiles would be in each state. */
static size_t first_guesses(const struct tk_level_monitor *w, size_t split, double *out)
{
	static const double at[] = {0.5, 0.2, 0.8};
	const struct tk_regime_model *m = &w->noise;
	size_t length = w->n - split, near = m->wander > 0 && length > 3 ? 3 : length, count = 0;
	double sorted[MEMORY], x = m->phi * w->room->belief[split - 1].x;

	memcpy(sorted, w->room->y + split, near * sizeof *sorted);
	tk_sort_values(sorted, near);
	for (size_t q = 0; q < (near > 3 ? 3 : 1); q++)
		for (size_t k = 0; k + 1 < m->count; k++) {
			double level = tk_quantile_sorted(sorted, near, at[q]) - m->offset[k] - x;
			bool is_new = fabs(level - w->level) >= w->least / 2;

			for (size_t i = 0; i < count; i++)
				is_new &= fabs(out[i] - level) >= 0.3 * m->sd[k];
			if (is_new)
				out[count++] = level;
		}
	return count;
}

/* How much likelier than the old level another one would be that was there all along: the new one,
 * or one between. */
static double all_along(const struct tk_level_monitor *w, double level, double known, double after)
{
	size_t from = start_of(w);
	double between = (known * w->level + after * level) / (known + after),
	       at[2] = {level, between}, best = 0;

	for (size_t i = 0; i < 2; i++) {
		struct tk_level_information unused;

		best = fmax(best, tk_regime_newton_step(&w->noise, w->room->y + from, w->n - from,
		                          NULL, &at[i], &unused) -
		                          w->room->sum[w->n - 1]);
	}
	return best;
}

/* The evidence of another level from y[split] on. */
static void weigh(struct tk_level_monitor *w, size_t split, struct tk_changepoint_candidate *out)
{
	size_t length = w->n - split, before = split - start_of(w), count;
	double guesses[3 * TK_REGIME_STATES_MAX], best = -INFINITY, level = w->level, known, gain;
	struct tk_level_information after = {0};
	const struct tk_filtered_state *from = &w->room->belief[split - 1];

	count = first_guesses(w, split, guesses);
	for (size_t i = 0; i < count; i++) {
		struct tk_level_information information;
		double loglik = tk_regime_newton_step(
		        &w->noise, w->room->y + split, length, from, &guesses[i], &information);

		if (loglik > best) {
			best = loglik;
			level = guesses[i];
			after = information;
		}
	}
	if (!count || fabs(level - w->level) <= w->least)
		return;
	gain = tk_regime_loglik(&w->noise, w->room->y + split, length, level, from, NULL, NULL) -
	       (w->room->sum[w->n - 1] - w->room->sum[split - 1]);
	known = w->information *
	        fmin(1, (double)(before < LEVEL_MAX ? before : LEVEL_MAX) / (double)w->informed);
	/* What a night can say is bounded by spikes, and the parabola does not know that. Where the
	 * new nights tell more of the level than the old ones, it is weighed as it is. */
	if (gain > EXACT && known < UNCERTAIN * after.past)
		gain -= all_along(w, level, known, after.past);
	else
		gain *= 1 - after.shared * after.shared / (after.own * (known + after.past));
	gain *= (double)w->count / ((double)w->count + FIT_NIGHTS);
	gain -= LENGTH_PRICE * log((double)length / LEAST_AFTER);
	if (gain > out->evidence)
		*out = (struct tk_changepoint_candidate){w->from + split, w->level, level, gain};
}

/* The longer ago, the less a night adds: long spans are looked at every second or fourth night. */
static void scan(struct tk_level_monitor *w, struct tk_changepoint_candidate *out)
{
	static const struct {
		size_t length, every;
	} spans[] = {{3, 1}, {4, 1}, {5, 1}, {6, 1}, {8, 1}, {10, 2}, {12, 2}, {15, 2}, {19, 2},
	        {24, 4}, {30, 4}, {37, 4}, {45, 4}, {55, 4}};
	size_t from = start_of(w), nights = w->from + w->n,
	       longest = w->noise.wander > 0 ? LONGEST_WANDER : LONGEST;

	tk_regime_loglik(&w->noise, w->room->y + from, w->n - from, w->level, NULL,
	        w->room->belief + from, w->room->sum + from);
	for (size_t i = 0;
	        i < sizeof spans / sizeof *spans && from + spans[i].length + LEAST_BEFORE <= w->n;
	        i++)
		if (spans[i].length <= longest && nights % spans[i].every == 0 &&
		        nights - spans[i].length > w->settled)
			weigh(w, w->n - spans[i].length, out);
	if (is_pending(w, from) && w->pending > w->settled && nights - w->pending >= LEAST_AFTER &&
	        nights - w->pending < longest)
		weigh(w, w->pending - w->from, out);
	w->strength *= FADES;
	if (out->evidence > w->strength) {
		w->strength = out->evidence;
		w->pending = out->split;
	}
}

/* Where exactly, near the split of the span that said so. */
static void locate(const struct tk_level_monitor *w, struct tk_changepoint_candidate *out)
{
	size_t at = out->split - w->from, start = start_of(w),
	       lo = at > start + 8 ? at - 8 : start + 1, hi = at + 9 < w->n ? at + 9 : w->n;
	double best = -INFINITY;

	for (size_t s = lo; s < hi; s++) {
		double loglik = w->room->sum[s - 1] + tk_regime_loglik(&w->noise, w->room->y + s,
		                                              w->n - s, out->after,
		                                              &w->room->belief[s - 1], NULL, NULL);

		if (loglik > best) {
			best = loglik;
			out->split = w->from + s;
		}
	}
}

int tk_level_monitor_update(struct tk_level_monitor *w, const double *y, const int64_t *day,
        size_t n, struct tk_changepoint_candidate *out)
{
	*out = (struct tk_changepoint_candidate){0};
	if (n < FIRST)
		return TK_OK;
	if (!w->known || n - w->fitted >= (n < YOUNG ? REFIT_YOUNG : REFIT)) {
		int rc = learn(w, y, day, n);

		if (rc)
			return rc;
	}
	take(w, y, day, n);
	find_level(w);
	scan(w, out);
	w->last = out->evidence;
	if (out->evidence > LOCATE)
		locate(w, out);
	return TK_OK;
}

static void keep_level(struct tk_level_monitor *w, size_t from, size_t to, double level)
{
	for (size_t i = from; i < to; i++)
		w->levels[i % MEMORY] = level;
}

bool tk_level_monitor_accept(
        struct tk_level_monitor *w, const struct tk_changepoint_candidate *s, size_t *nights)
{
	bool back = w->base && s->split - w->base <= EXCURSION &&
	            fabs(s->after - w->old_level) < BACK * fabs(w->level - w->old_level);

	*nights = s->split - w->base;
	w->last = w->strength = 0;
	if (back) {
		keep_level(w, w->old_base, s->split, w->old_level);
		w->base = w->old_base;
		w->level = w->old_level;
		w->settled = s->split;
		w->fitted = 0;
		return false;
	}
	keep_level(w, w->base, s->split, w->level);
	w->old_base = w->base;
	w->old_level = w->level;
	w->base = s->split;
	w->level = s->after;
	return true;
}

double tk_level_monitor_level(const struct tk_level_monitor *w)
{
	return w->level;
}

/* ---- what is known, as numbers
 * ---------------------------------------------------------------------------------- */

static void visit_noise(struct tk_regime_model *m, struct tk_serializer *io)
{
	tk_serialize_size(io, &m->count, TK_REGIME_STATES_MAX);
	for (size_t i = 0; i < TK_REGIME_STATES_MAX; i++) {
		tk_serialize_double(io, &m->offset[i]);
		tk_serialize_double(io, &m->sd[i]);
		tk_serialize_double(io, &m->share[i]);
		for (size_t k = 0; k < TK_REGIME_STATES_MAX; k++)
			tk_serialize_double(io, &m->to[i][k]);
	}
	tk_serialize_double(io, &m->phi);
	tk_serialize_double(io, &m->wander);
	tk_serialize_double(io, &m->loglik);
}

/* The levels of the nights that are still looked at: most are those of the night before. */
static void visit_levels(struct tk_level_monitor *w, size_t n, struct tk_serializer *io)
{
	size_t from = n > MEMORY ? n - MEMORY : 0;

	while (from < w->base && !io->failed) {
		size_t to = from + 1;
		double level = io->reading ? 0 : level_at(w, from);

		while (!io->reading && to < w->base && level_at(w, to) == level)
			to++;
		tk_serialize_size(io, &to, w->base);
		tk_serialize_double(io, &level);
		io->failed |= to <= from;
		if (io->reading && !io->failed)
			keep_level(w, from, to, level);
		from = to;
	}
}

int tk_level_monitor_serialize(struct tk_level_monitor *w, size_t n, struct tk_serializer *io)
{
	visit_noise(&w->noise, io);
	tk_serialize_bool(io, &w->known);
	tk_serialize_size(io, &w->fitted, n);
	tk_serialize_size(io, &w->count, MEMORY);
	for (size_t i = 0; i < 7; i++)
		tk_serialize_double(io, &w->pattern[i]);
	tk_serialize_size(io, &w->base, n);
	tk_serialize_size(io, &w->old_base, n);
	tk_serialize_double(io, &w->level);
	tk_serialize_double(io, &w->old_level);
	tk_serialize_size(io, &w->settled, n);
	tk_serialize_double(io, &w->last);
	tk_serialize_size(io, &w->pending, n);
	tk_serialize_double(io, &w->strength);
	visit_levels(w, n, io);
	return io->failed ? TK_EDATA : TK_OK;
}
