/* The monitor of one series, night by night: see levels.h. */
#include <math.h>

#include "base/base.h"
#include "stats/levels.h"
#include "stats/monitor_internal.h"
#include "stats/summary.h"

/* Nights. */
#define LEVEL_MAX 130    /* that a level is estimated from */
#define LEAST_BEFORE 3   /* at the old level */
#define LEAST_AFTER 3    /* at the new level */
#define LONGEST 60       /* from a split to tonight */
#define LONGEST_DRIFT 25 /* the same where the series drifts: more may be drift */
#define EXCURSION 14     /* longest stay at another level that is no change */
#define FIT_NIGHTS 18.0  /* a fit to so many nights is worth half of its log-likelihood ratio */

/* Log-likelihood ratios. */
#define PENDING_DECAY 0.93 /* of the memory of a split */
#define LOCATE 6.0         /* the exact night of the split is looked for */
#define LENGTH_PENALTY 1.0 /* per factor of e in length: model errors add up over nights */
#define STATE_PENALTY 2.0  /* per normal state beyond the first: a long stay looks like a step */
#define EXACT 8.0 /* the uncertainty of the old level is computed instead of approximated */

/* The old level is uncertain below this ratio of its information to that of the new nights. */
#define UNCERTAIN 4.0
#define BACK 0.35     /* part of an excursion that may be missing on the way back */
#define LEFT 2.5      /* standard errors of a level that is another one now */
#define NEWEST 7      /* nights, that tell it */
#define SEARCHED 20.0 /* splits and levels that are tried, as independent tests */

struct tk_level_monitor *tk_level_monitor_new(double min_effect)
{
	struct tk_level_monitor *w = tk_calloc(1, sizeof *w);

	w->min_shift = log1p(min_effect);
	return w;
}

double tk_level_monitor_p_value(double evidence)
{
	return fmin(1, SEARCHED * exp(-evidence));
}

static void take_window(struct tk_level_monitor *w, const double *y, const int64_t *day, size_t n)
{
	w->n = n < MEMORY ? n : MEMORY;
	w->from = n - w->n;
	for (size_t i = 0; i < w->n; i++)
		w->workspace->y[i] =
		        y[w->from + i] - w->pattern[tk_weekday_from_day(day[w->from + i])];
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
	size_t from = start_of(w), hold = tk_level_monitor_held_back(w->n - from);

	if (is_pending(w, from) && w->from + w->n - w->pending > hold)
		hold = w->from + w->n - w->pending;
	if (w->n - from - hold > LEVEL_MAX)
		from = w->n - hold - LEVEL_MAX;
	w->information_nights = w->n - from - hold;
	for (int step = 0; step < 2; step++) {
		struct tk_level_information known;

		tk_regime_newton_step(&w->noise, w->workspace->y + from, w->information_nights,
		        NULL, &w->level, &known);
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
	known = w->information * fmin(1, (double)(before < LEVEL_MAX ? before : LEVEL_MAX) /
	                                         (double)w->information_nights);
	/* The likelihood of a night is bounded by spikes, which the parabola ignores. Where the new
	 * nights say more about the level than the old ones, it is computed exactly. */
	if (gain > EXACT && known < UNCERTAIN * after.old_level)
		gain -= gain_of_constant_level(w, level, known, after.old_level);
	else
		gain *= 1 -
		        after.cross * after.cross / (after.new_level * (known + after.old_level));
	gain *= (double)w->count / ((double)w->count + FIT_NIGHTS);
	gain -= LENGTH_PENALTY * log((double)length / LEAST_AFTER);
	gain -= STATE_PENALTY * ((double)w->noise.count - 2); /* all but the spike and one */
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
		        nights - spans[i].length > w->closed_split)
			evaluate_split(w, w->n - spans[i].length, out);
	if (is_pending(w, from) && w->pending > w->closed_split &&
	        nights - w->pending >= LEAST_AFTER && nights - w->pending < longest)
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

struct tk_changepoint_candidate tk_level_monitor_find_young_step(
        struct tk_level_monitor *w, const struct tk_level_monitor_night *night)
{
	const size_t n = night->n, count = n - w->level_start;
	struct tk_changepoint_candidate s;

	if (n >= TK_YOUNG_NIGHTS_MAX)
		return (struct tk_changepoint_candidate){0};
	for (size_t i = 0; i < count; i++) {
		const size_t at = w->level_start + i;

		w->workspace->work[i] =
		        night->y[at] - w->pattern[tk_weekday_from_day(night->day[at])];
	}
	s = tk_young_step_find(w->workspace->work, count, w->min_shift, night->prior);
	if (!(s.log_lr > 0) || w->level_start + s.split <= w->closed_split)
		return (struct tk_changepoint_candidate){0};
	if (!w->known)
		w->level = s.before;
	s.split += w->level_start;
	s.before = w->level;
	return s;
}

/* A level that drifts away leaves the nights of its last step behind. */
static double find_newest_level(const struct tk_level_monitor *w)
{
	struct tk_level_information newest = {0};
	double level = w->level;

	for (int step = 0; step < 3; step++)
		tk_regime_newton_step(
		        &w->noise, w->workspace->y + w->n - NEWEST, NEWEST, NULL, &level, &newest);
	return fabs(level - w->level) > LEFT * sqrt(1 / newest.new_level + 1 / w->information)
	               ? level
	               : NAN;
}

static void update(const struct tk_level_monitor_night *night, struct tk_changepoint_candidate *out)
{
	struct tk_level_monitor *w = night->monitor;
	const struct tk_changepoint_candidate young =
	        w->young_n == night->n ? w->young : tk_level_monitor_find_young_step(w, night);

	*out = night->n < FIRST ? young : (struct tk_changepoint_candidate){0};
	out->newest = NAN;
	if (night->n < FIRST)
		return;
	take_window(w, night->y, night->day, night->n);
	find_level(w);
	scan(w, out);
	w->last_log_lr = out->log_lr;
	if (out->log_lr > LOCATE)
		locate(w, out);
	if (young.log_lr > out->log_lr) {
		*out = young;
		out->before = w->level;
	}
	out->newest = night->may_drift ? find_newest_level(w) : NAN;
}

void tk_level_monitor_update(const struct tk_level_monitor_night *night,
        struct tk_level_monitor_workspace *workspace, struct tk_changepoint_candidate *out)
{
	struct tk_level_monitor *w = night->monitor;

	if (tk_level_monitor_is_fit_due(w, night->n))
		tk_level_monitor_fit(night, workspace);
	w->workspace = workspace;
	update(night, out);
	w->workspace = NULL;
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
		w->closed_split = s->split;
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
		double level = io->reading ? 0 : tk_level_monitor_level_at(w, from);

		while (!io->reading && to < w->level_start &&
		        tk_level_monitor_level_at(w, to) == level)
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
	tk_serialize_size(io, &w->closed_split, n);
	tk_serialize_double(io, &w->last_log_lr);
	tk_serialize_size(io, &w->pending, n);
	tk_serialize_double(io, &w->pending_log_lr);
	visit_levels(w, n, io);
	return io->failed ? TK_EDATA : TK_OK;
}
