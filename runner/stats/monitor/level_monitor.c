#include "stats/monitor/level_monitor.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/serializer.h"
#include "stats/monitor/regime_model.h"
#include "stats/monitor/young_level.h"
#include "stats/summary/noise.h"
#include "stats/summary/quantile.h"
#include "stats/summary/summary.h"
#include "stats/summary/weekday.h"

#define FIRST TK_MONITOR_NIGHTS_MIN
#define MEMORY TK_MONITOR_WINDOW_NIGHTS

/* Nights. */
#define LEVEL_MAX 130    /* that a level is estimated from */
#define LEAST_BEFORE 3   /* at the old level */
#define LEAST_AFTER 3    /* at the new level */
#define LONGEST 60       /* from a split to tonight */
#define LONGEST_DRIFT 25 /* the same where the series drifts: more may be drift */
/* The newest nights are not part of the level that they are compared with; at most a third. */
#define HOLD 20
#define REFIT 12 /* between two fits of the noise */
#define YOUNG 60 /* a shorter series is fitted every REFIT_YOUNG nights */
#define REFIT_YOUNG 4
#define DRIFT_NIGHTS_MIN 24 /* needed to learn a drift */
#define LEARN_NIGHTS_MIN 8  /* needed to learn noise */
#define EXCURSION 14        /* longest stay at another level that is no change */
#define FIT_NIGHTS 18.0     /* a fit to so many nights is worth half of its log-likelihood ratio */

/* Log-likelihood ratios. */
#define CHANGE_PENALTY 8.0
#define DRIFT_PRIOR 4.0 /* in favour of a drift: most machines have one */
#define NEW_NOISE 3.0   /* the last weeks replace the noise of all nights: 20 times as likely */
#define PENDING 2.0     /* a split is remembered; the memory decays */
#define PENDING_DECAY 0.93
#define YOUNG_HOLD 8.0     /* nights of a young series at a new level are not learnt as noise */
#define LOCATE 6.0         /* the exact night of the split is looked for */
#define LENGTH_PENALTY 1.0 /* per factor of e in length: model errors add up over nights */
#define EXACT 8.0 /* the uncertainty of the old level is computed instead of approximated */

/* The old level is uncertain below this ratio of its information to that of the new nights. */
#define UNCERTAIN 4.0
#define BACK 0.35     /* part of an excursion that may be missing on the way back */
#define SEARCHED 20.0 /* splits and levels that are tried, as independent tests */

struct tk_level_monitor {
	double min_shift; /* of a level, logarithm */
	struct tk_regime_model noise;
	bool known;           /* the noise is */
	size_t fitted, count; /* when, to how many nights */
	double pattern[7];    /* of the week */
	size_t level_start,
	        old_level_start; /* where the present level starts, and the one before it */
	double level, old_level, information;
	size_t informed;    /* nights that `information` about the level comes from */
	size_t settled;     /* no split up to this one is tried any more */
	double last_log_lr; /* of the night before */
	size_t pending;     /* the split that was suspected, and how strongly */
	double pending_log_lr;
	double levels[MEMORY]; /* of each night before level_start, at its number modulo MEMORY */
	size_t from,
	        n; /* what is looked at tonight: workspace->y[0 .. n) are the nights from `from` on,
	                   without the pattern */
	struct tk_level_monitor_workspace *workspace; /* of the update that runs */
};

struct tk_level_monitor_workspace {
	double y[MEMORY], r[MEMORY], work[2 * MEMORY];
	struct tk_likelihood_product so_far[MEMORY]; /* of y[.. i] about the present level */
	double loglik;                               /* of all of them */
	int64_t day[MEMORY];
	struct tk_filtered_state belief[MEMORY];
};

struct tk_level_monitor_workspace *tk_level_monitor_workspace_new(void)
{
	return malloc(sizeof(struct tk_level_monitor_workspace));
}

void tk_level_monitor_workspace_free(struct tk_level_monitor_workspace *workspace)
{
	free(workspace);
}

struct tk_level_monitor *tk_level_monitor_new(double min_effect)
{
	struct tk_level_monitor *w = calloc(1, sizeof *w);

	if (w)
		w->min_shift = log1p(min_effect);
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

static void take_window(struct tk_level_monitor *w, const double *y, const int64_t *day, size_t n)
{
	w->n = n < MEMORY ? n : MEMORY;
	w->from = n - w->n;
	for (size_t i = 0; i < w->n; i++)
		w->workspace->y[i] =
		        y[w->from + i] - w->pattern[tk_weekday_from_day(day[w->from + i])];
}

/* Residuals of `count` nights from `from` on about their levels, without the weekly pattern. */
static void take_levels_out(
        struct tk_level_monitor *w, const double *y, const int64_t *day, size_t from, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		size_t night = from + i;

		w->workspace->day[i] = day[night];
		w->workspace->r[i] = y[night] -
		                     (night < w->level_start ? level_at(w, night) : w->level) -
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
	tk_weekday_estimate(
	        w->workspace->r, w->workspace->day, count, w->workspace->work, w->pattern);
	for (size_t d = 0; d < 7; d++)
		mean += (last[d] - w->pattern[d]) / 7;
	w->level += mean; /* the level stays that of the mean weekday */
}

static size_t changes_since(const struct tk_level_monitor *w, size_t from)
{
	size_t changes = w->level_start > from;

	for (size_t i = from + 1; i < w->level_start; i++)
		changes += level_at(w, i) != level_at(w, i - 1);
	return changes;
}

/* Does the series drift? Then its earlier steps may have been drift: the model with a drift has to
 * explain the series without levels, the other one pays a penalty for each of its levels. */
static int learn_drift(struct tk_level_monitor *w, const double *y, size_t from, size_t count,
        double sigma, struct tk_regime_model *noise)
{
	struct tk_regime_model wanders;
	double middle, mine;
	int status;

	for (size_t i = 0; i < count; i++)
		w->workspace->work[i] = w->workspace->r[i] =
		        y[from + i] - w->pattern[tk_weekday_from_day(w->workspace->day[i])];
	middle = tk_median(w->workspace->work, count);
	for (size_t i = 0; i < count; i++)
		w->workspace->r[i] -= middle;
	status = tk_regime_fit_drift(w->workspace->r, count, sigma, &wanders);
	mine = noise->loglik - tk_regime_penalty(noise, count) - DRIFT_PRIOR -
	       CHANGE_PENALTY * (double)changes_since(w, from);
	if (!status && wanders.loglik - tk_regime_penalty(&wanders, count) > mine)
		*noise = wanders;
	return status;
}

static size_t held_back(size_t nights)
{
	return nights / 3 < HOLD ? nights / 3 : HOLD;
}

static int learn_noise(struct tk_level_monitor *w, const double *y, const int64_t *day, size_t from,
        size_t count, struct tk_regime_model *out)
{
	double sigma;
	int status;

	take_levels_out(w, y, day, from, count);
	status = tk_noise_estimate_sigma(w->workspace->r, count, w->workspace->work, &sigma);
	if (!status)
		status = tk_regime_fit(w->workspace->r, count,
		        fmax(sigma, tk_noise_mad(w->workspace->r, count, w->workspace->work)), out);
	if (!status && count >= DRIFT_NIGHTS_MIN)
		status = learn_drift(w, y, from, count, sigma, out);
	return status;
}

/* A quiet machine may be busy now, or the other way round: is the noise of the last `count` nights
 * different from that of all? */
static int learn_recent(
        struct tk_level_monitor *w, const double *y, const int64_t *day, size_t from, size_t count)
{
	struct tk_regime_model recent;
	int status = learn_noise(w, y, day, from, count, &recent);
	const double *r = w->workspace->r;
	double gain;

	if (status)
		return status;
	take_levels_out(w, y, day, from, count);
	gain = tk_regime_loglik(&recent, r, count, 0, NULL, NULL, NULL) -
	       tk_regime_penalty(&recent, count) -
	       tk_regime_loglik(&w->noise, r, count, 0, NULL, NULL, NULL);
	if (gain > NEW_NOISE) {
		w->noise = recent;
		w->count = count * 3 / 4; /* chosen among others: worth less than a planned fit */
	}
	return TK_OK;
}

/* Where a level is estimated before the noise is known: the nights since it started. */
static void guess_level(struct tk_level_monitor *w, const double *y, size_t end)
{
	size_t count = end - w->level_start;

	memcpy(w->workspace->work, y + w->level_start, count * sizeof *y);
	w->level = tk_median(w->workspace->work, count);
}

/* The newest `young_hold` nights of a young series are at a new level. */
static int learn(struct tk_level_monitor *w, const double *y, const int64_t *day, size_t n,
        size_t young_hold)
{
	static const size_t recent[] = {60, 30}; /* two months, one */
	size_t from = n > MEMORY ? n - MEMORY : 0,
	       hold = n < 2 * FIRST                  ? 0
	              : w->last_log_lr > PENDING * 2 ? held_back(n)
	                                             : 5,
	       count;
	int status;

	if (young_hold > hold && n >= young_hold + LEARN_NIGHTS_MIN)
		hold = young_hold;
	count = n - from - hold;
	if (!w->known)
		guess_level(w, y, n - hold);
	w->count = count;
	learn_week(w, y, day, from, count);
	status = learn_noise(w, y, day, from, count, &w->noise);
	for (size_t i = 0; !status && i < sizeof recent / sizeof *recent; i++)
		if (2 * recent[i] <= count)
			status = learn_recent(w, y, day, from + count - recent[i], recent[i]);
	w->known = !status;
	w->fitted = n;
	return status;
}

static size_t start_of(const struct tk_level_monitor *w)
{
	return w->level_start > w->from ? w->level_start - w->from : 0;
}

static bool is_pending(const struct tk_level_monitor *w, size_t start)
{
	return w->pending_log_lr > PENDING && w->pending > w->from + start + LEAST_BEFORE;
}

static void find_level(struct tk_level_monitor *w)
{
	size_t from = start_of(w), hold = held_back(w->n - from);

	if (is_pending(w, from) && w->from + w->n - w->pending > hold)
		hold = w->from + w->n - w->pending;
	if (w->n - from - hold > LEVEL_MAX)
		from = w->n - hold - LEVEL_MAX;
	w->informed = w->n - from - hold;
	for (int step = 0; step < 2; step++) {
		struct tk_level_information known;

		tk_regime_newton_step(
		        &w->noise, w->workspace->y + from, w->informed, NULL, &w->level, &known);
		w->information = known.new_level;
	}
}

/* Candidate levels of y[split ..]: its quantiles, as the median or a tail of each state. */
static size_t first_guesses(const struct tk_level_monitor *w, size_t split, double *out)
{
	static const double parts[] = {0.5, 0.2, 0.8};
	const struct tk_regime_model *m = &w->noise;
	size_t length = w->n - split, near = m->drift_sd > 0 && length > 3 ? 3 : length, count = 0;
	double values[MEMORY], at[3], x = m->phi * w->workspace->belief[split - 1].x;
	const size_t quantiles = near > 3 ? 3 : 1;

	memcpy(values, w->workspace->y + split, near * sizeof *values);
	tk_quantile_select_many(values, near, parts, quantiles, at);
	for (size_t q = 0; q < quantiles; q++)
		for (size_t k = 0; k + 1 < m->count; k++) {
			double level = at[q] - m->offset[k] - x;
			bool is_new = fabs(level - w->level) >= w->min_shift / 2;

			for (size_t i = 0; i < count; i++)
				is_new &= fabs(out[i] - level) >= 0.3 * m->sd[k];
			if (is_new)
				out[count++] = level;
		}
	return count;
}

/* The log-likelihood gain of another level that was there all along: the new one, or one
 * between. */
static double gain_of_constant_level(
        const struct tk_level_monitor *w, double level, double known, double after)
{
	size_t from = start_of(w);
	double between = (known * w->level + after * level) / (known + after),
	       at[2] = {level, between}, best = 0;

	for (size_t i = 0; i < 2; i++) {
		struct tk_level_information unused;

		best = fmax(best, tk_regime_newton_step(&w->noise, w->workspace->y + from,
		                          w->n - from, NULL, &at[i], &unused) -
		                          w->workspace->loglik);
	}
	return best;
}

static double loglik_before(const struct tk_level_monitor *w, size_t split)
{
	return tk_likelihood_log(&w->workspace->so_far[split - 1]);
}

/* The log-likelihood ratio of another level from y[split] on. */
static void evaluate_split(
        struct tk_level_monitor *w, size_t split, struct tk_changepoint_candidate *out)
{
	size_t length = w->n - split, before = split - start_of(w), count;
	double guesses[3 * TK_REGIME_STATES_MAX], best = -INFINITY, level = w->level, known, gain;
	struct tk_level_information after = {0};
	const struct tk_filtered_state *from = &w->workspace->belief[split - 1];

	count = first_guesses(w, split, guesses);
	for (size_t i = 0; i < count; i++) {
		struct tk_level_information information;
		double loglik = tk_regime_newton_step(&w->noise, w->workspace->y + split, length,
		        from, &guesses[i], &information);

		if (loglik > best) {
			best = loglik;
			level = guesses[i];
			after = information;
		}
	}
	if (!count || fabs(level - w->level) <= w->min_shift)
		return;
	gain = tk_regime_loglik(
	               &w->noise, w->workspace->y + split, length, level, from, NULL, NULL) -
	       (w->workspace->loglik - loglik_before(w, split));
	known = w->information *
	        fmin(1, (double)(before < LEVEL_MAX ? before : LEVEL_MAX) / (double)w->informed);
	/* The likelihood of a night is bounded by spikes, which the parabola ignores. Where the new
	 * nights say more about the level than the old ones, it is computed exactly. */
	if (gain > EXACT && known < UNCERTAIN * after.old_level)
		gain -= gain_of_constant_level(w, level, known, after.old_level);
	else
		gain *= 1 -
		        after.cross * after.cross / (after.new_level * (known + after.old_level));
	gain *= (double)w->count / ((double)w->count + FIT_NIGHTS);
	gain -= LENGTH_PENALTY * log((double)length / LEAST_AFTER);
	if (gain > out->log_lr)
		*out = (struct tk_changepoint_candidate){w->from + split, w->level, level, gain};
}

/* One more night adds little to a long span: long spans are tried every second or fourth night. */
static void scan(struct tk_level_monitor *w, struct tk_changepoint_candidate *out)
{
	static const struct {
		size_t length, every;
	} spans[] = {{3, 1}, {4, 1}, {5, 1}, {6, 1}, {8, 1}, {10, 2}, {12, 2}, {15, 2}, {19, 2},
	        {24, 4}, {30, 4}, {37, 4}, {45, 4}, {55, 4}};
	size_t from = start_of(w), nights = w->from + w->n,
	       longest = w->noise.drift_sd > 0 ? LONGEST_DRIFT : LONGEST;

	w->workspace->loglik = tk_regime_loglik(&w->noise, w->workspace->y + from, w->n - from,
	        w->level, NULL, w->workspace->belief + from, w->workspace->so_far + from);
	for (size_t i = 0;
	        i < sizeof spans / sizeof *spans && from + spans[i].length + LEAST_BEFORE <= w->n;
	        i++)
		if (spans[i].length <= longest && nights % spans[i].every == 0 &&
		        nights - spans[i].length > w->settled)
			evaluate_split(w, w->n - spans[i].length, out);
	if (is_pending(w, from) && w->pending > w->settled && nights - w->pending >= LEAST_AFTER &&
	        nights - w->pending < longest)
		evaluate_split(w, w->pending - w->from, out);
	w->pending_log_lr *= PENDING_DECAY;
	if (out->log_lr > w->pending_log_lr) {
		w->pending_log_lr = out->log_lr;
		w->pending = out->split;
	}
}

/* The exact night near the split of the best span. */
static void locate(const struct tk_level_monitor *w, struct tk_changepoint_candidate *out)
{
	size_t at = out->split - w->from, start = start_of(w),
	       lo = at > start + 8 ? at - 8 : start + 1, hi = at + 9 < w->n ? at + 9 : w->n;
	double best = -INFINITY;

	for (size_t s = lo; s < hi; s++) {
		double loglik = loglik_before(w, s) +
		                tk_regime_loglik(&w->noise, w->workspace->y + s, w->n - s,
		                        out->after, &w->workspace->belief[s - 1], NULL, NULL);

		if (loglik > best) {
			best = loglik;
			out->split = w->from + s;
		}
	}
}

/* The step of a young series, without a model of its noise. */
static struct tk_changepoint_candidate find_young_step(struct tk_level_monitor *w, const double *y,
        const int64_t *day, size_t n, const struct tk_noise_prior *prior)
{
	size_t count = n - w->level_start;
	struct tk_young_step s;

	if (n >= TK_YOUNG_NIGHTS_MAX)
		return (struct tk_changepoint_candidate){0};
	for (size_t i = 0; i < count; i++)
		w->workspace->work[i] = y[w->level_start + i] -
		                        w->pattern[tk_weekday_from_day(day[w->level_start + i])];
	s = tk_young_step_find(w->workspace->work, count, w->min_shift, prior);
	if (!(s.log_lr > 0) || w->level_start + s.split <= w->settled)
		return (struct tk_changepoint_candidate){0};
	if (!w->known)
		w->level = s.before;
	return (struct tk_changepoint_candidate){
	        w->level_start + s.split, w->level, s.after, s.log_lr};
}

static int update(struct tk_level_monitor *w, const double *y, const int64_t *day, size_t n,
        const struct tk_noise_prior *prior, struct tk_changepoint_candidate *out)
{
	const struct tk_changepoint_candidate young = find_young_step(w, y, day, n, prior);

	*out = n < FIRST ? young : (struct tk_changepoint_candidate){0};
	if (n < FIRST)
		return TK_OK;
	if (!w->known || n - w->fitted >= (n < YOUNG ? REFIT_YOUNG : REFIT)) {
		int status = learn(w, y, day, n, young.log_lr > YOUNG_HOLD ? n - young.split : 0);

		if (status)
			return status;
	}
	take_window(w, y, day, n);
	find_level(w);
	scan(w, out);
	w->last_log_lr = out->log_lr;
	if (out->log_lr > LOCATE)
		locate(w, out);
	if (young.log_lr > out->log_lr) {
		*out = young;
		out->before = w->level;
	}
	return TK_OK;
}

int tk_level_monitor_update(struct tk_level_monitor *w,
        struct tk_level_monitor_workspace *workspace, const double *y, const int64_t *day, size_t n,
        const struct tk_noise_prior *prior, struct tk_changepoint_candidate *out)
{
	int status;

	w->workspace = workspace;
	status = update(w, y, day, n, prior, out);
	w->workspace = NULL;
	return status;
}

static void keep_level(struct tk_level_monitor *w, size_t from, size_t to, double level)
{
	for (size_t i = from; i < to; i++)
		w->levels[i % MEMORY] = level;
}

bool tk_level_monitor_accept(
        struct tk_level_monitor *w, const struct tk_changepoint_candidate *s, size_t *nights)
{
	bool back = w->level_start && s->split - w->level_start <= EXCURSION &&
	            fabs(s->after - w->old_level) < BACK * fabs(w->level - w->old_level);

	*nights = s->split - w->level_start;
	w->last_log_lr = w->pending_log_lr = 0;
	if (back) {
		keep_level(w, w->old_level_start, s->split, w->old_level);
		w->level_start = w->old_level_start;
		w->level = w->old_level;
		w->settled = s->split;
		w->fitted = 0;
		return false;
	}
	keep_level(w, w->level_start, s->split, w->level);
	w->old_level_start = w->level_start;
	w->old_level = w->level;
	w->level_start = s->split;
	w->level = s->after;
	return true;
}

double tk_level_monitor_level(const struct tk_level_monitor *w)
{
	return w->level;
}

/* ---- state of the monitor ---- */

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
	tk_serialize_double(io, &m->drift_sd);
	tk_serialize_double(io, &m->loglik);
}

/* The levels of the nights in the window, run-length encoded. */
static void visit_levels(struct tk_level_monitor *w, size_t n, struct tk_serializer *io)
{
	size_t from = n > MEMORY ? n - MEMORY : 0;

	while (from < w->level_start && !io->failed) {
		size_t to = from + 1;
		double level = io->reading ? 0 : level_at(w, from);

		while (!io->reading && to < w->level_start && level_at(w, to) == level)
			to++;
		tk_serialize_size(io, &to, w->level_start);
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
	tk_serialize_size(io, &w->level_start, n);
	tk_serialize_size(io, &w->old_level_start, n);
	tk_serialize_double(io, &w->level);
	tk_serialize_double(io, &w->old_level);
	tk_serialize_size(io, &w->settled, n);
	tk_serialize_double(io, &w->last_log_lr);
	tk_serialize_size(io, &w->pending, n);
	tk_serialize_double(io, &w->pending_log_lr);
	visit_levels(w, n, io);
	return io->failed ? TK_EDATA : TK_OK;
}
