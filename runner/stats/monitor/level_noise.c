/* Learns the noise of a series: its weekly pattern, then the noise of all its nights, then whether
 * that of the last weeks is different. */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/try.h"
#include "stats/monitor/level_monitor_internal.h"
#include "stats/summary/noise.h"
#include "stats/summary/summary.h"
#include "stats/summary/weekday.h"

/* Nights. */
#define REFIT 12 /* between two fits of the noise */
#define YOUNG 60 /* a shorter series is fitted every REFIT_YOUNG nights */
#define REFIT_YOUNG 4
#define DRIFT_NIGHTS_MIN 24 /* needed to learn a drift */
#define LEARN_NIGHTS_MIN 8  /* needed to learn noise */

/* Log-likelihood ratios. */
#define CHANGE_PENALTY 8.0
#define DRIFT_PRIOR 4.0 /* in favour of a drift: most machines have one */
#define NEW_NOISE 3.0   /* the last weeks replace the noise of all nights: 20 times as likely */
#define YOUNG_HOLD 8.0  /* nights of a young series at a new level are not learnt as noise */

static const size_t recent_nights[] = {60, 30}; /* two months, one */
#define RECENT (sizeof recent_nights / sizeof *recent_nights)

/* The noise of nights [from, from + count). */
struct noise_fit {
	size_t from, count;
	double r[MEMORY]; /* residuals about the levels, without the weekly pattern */
	double sigma;     /* by differences of neighbours */
	struct tk_regime_model noise;
};

bool tk_level_monitor_is_fit_due(const struct tk_level_monitor *w, size_t n)
{
	return n >= FIRST && (!w->known || n - w->fitted >= (n < YOUNG ? REFIT_YOUNG : REFIT));
}

static double without_pattern(
        const struct tk_level_monitor *w, const struct tk_level_monitor_night *night, size_t i)
{
	return night->y[i] - w->pattern[tk_weekday_from_day(night->day[i])];
}

static void take_levels_out(
        const struct tk_level_monitor_night *night, size_t from, size_t count, double *r)
{
	const struct tk_level_monitor *w = night->monitor;

	for (size_t i = 0; i < count; i++) {
		const size_t at = from + i;

		r[i] = night->y[at] -
		       (at < w->level_start ? tk_level_monitor_level_at(w, at) : w->level) -
		       w->pattern[tk_weekday_from_day(night->day[at])];
	}
}

static void learn_week(const struct tk_level_monitor_night *night, size_t from, size_t count,
        struct tk_level_monitor_workspace *workspace)
{
	struct tk_level_monitor *w = night->monitor;
	double last[7], mean = 0;

	memcpy(last, w->pattern, sizeof last);
	memset(w->pattern, 0, sizeof w->pattern);
	take_levels_out(night, from, count, workspace->r);
	tk_weekday_estimate(workspace->r, night->day + from, count, workspace->work, w->pattern);
	for (size_t d = 0; d < 7; d++)
		mean += (last[d] - w->pattern[d]) / 7;
	w->level += mean; /* the level stays that of the mean weekday */
}

/* Where a level is estimated before the noise is known: the nights since it started. */
static void guess_level(const struct tk_level_monitor_night *night, size_t end, double *work)
{
	struct tk_level_monitor *w = night->monitor;
	const size_t count = end - w->level_start;

	memcpy(work, night->y + w->level_start, count * sizeof *work);
	w->level = tk_median(work, count);
}

/* The newest nights that are not learnt. The newest `young_hold` nights of a young series are at a
 * new level. */
static size_t nights_left_out(const struct tk_level_monitor *w, size_t n, size_t young_hold)
{
	const size_t hold = n < 2 * FIRST                  ? 0
	                    : w->last_log_lr > PENDING * 2 ? tk_level_monitor_held_back(n)
	                                                   : 5;

	return young_hold > hold && n >= young_hold + LEARN_NIGHTS_MIN ? young_hold : hold;
}

static int start_fit(const struct tk_level_monitor_night *night, size_t from, size_t count,
        double *work, struct noise_fit *f)
{
	f->from = from;
	f->count = count;
	take_levels_out(night, from, count, f->r);
	return tk_noise_estimate_sigma(f->r, count, work, &f->sigma);
}

/* The weekly pattern. Returns the first night that is learnt. */
static size_t prepare(
        const struct tk_level_monitor_night *night, struct tk_level_monitor_workspace *workspace)
{
	struct tk_level_monitor *w = night->monitor;
	const size_t n = night->n, from = n > MEMORY ? n - MEMORY : 0;
	size_t hold;

	w->workspace = workspace;
	w->young = tk_level_monitor_find_young_step(w, night);
	w->young_n = n;
	w->workspace = NULL;
	hold = nights_left_out(w, n, w->young.log_lr > YOUNG_HOLD ? n - w->young.split : 0);
	if (!w->known)
		guess_level(night, n - hold, workspace->work);
	w->count = n - from - hold;
	learn_week(night, from, w->count, workspace);
	return from;
}

static size_t changes_since(const struct tk_level_monitor *w, size_t from)
{
	size_t changes = w->level_start > from;

	for (size_t i = from + 1; i < w->level_start; i++)
		changes += tk_level_monitor_level_at(w, i) != tk_level_monitor_level_at(w, i - 1);
	return changes;
}

/* The nights about the median of all, with their levels. */
static void take_median_out(const struct tk_level_monitor_night *night, const struct noise_fit *f,
        double *out, double *work)
{
	double middle;

	for (size_t i = 0; i < f->count; i++)
		work[i] = out[i] = without_pattern(night->monitor, night, f->from + i);
	middle = tk_median(work, f->count);
	for (size_t i = 0; i < f->count; i++)
		out[i] -= middle;
}

/* Does the series drift? Then its earlier steps may have been drift: the model with a drift has to
 * explain the series without levels, the other one pays a penalty for each of its levels. */
static void fit_noise(const struct tk_level_monitor_night *night, struct noise_fit *f,
        struct tk_level_monitor_workspace *workspace)
{
	const double mad = tk_noise_mad(f->r, f->count, workspace->work);

	f->noise = tk_regime_fit(f->r, f->count, fmax(f->sigma, mad));
	if (f->count < DRIFT_NIGHTS_MIN)
		return;
	take_median_out(night, f, workspace->r, workspace->work);

	const struct tk_regime_model drift = tk_regime_fit_drift(workspace->r, f->count, f->sigma);
	const double without = f->noise.loglik - tk_regime_penalty(&f->noise, f->count) -
	                       DRIFT_PRIOR -
	                       CHANGE_PENALTY * (double)changes_since(night->monitor, f->from);

	if (drift.loglik - tk_regime_penalty(&drift, f->count) > without)
		f->noise = drift;
}

/* A quiet machine may be busy now, or the other way round: is the noise of the last nights
 * different from that of all? */
static void learn_recent(struct tk_level_monitor *w, const struct noise_fit *f)
{
	const double gain = tk_regime_loglik(&f->noise, f->r, f->count, 0, NULL, NULL, NULL) -
	                    tk_regime_penalty(&f->noise, f->count) -
	                    tk_regime_loglik(&w->noise, f->r, f->count, 0, NULL, NULL, NULL);

	if (gain > NEW_NOISE) {
		w->noise = f->noise;
		/* Chosen among others: worth less than a planned fit. */
		w->count = f->count * 3 / 4;
	}
}

int tk_level_monitor_fit(
        const struct tk_level_monitor_night *night, struct tk_level_monitor_workspace *workspace)
{
	struct tk_level_monitor *w = night->monitor;
	struct noise_fit f;
	const size_t from = prepare(night, workspace), count = w->count;
	TRY(start_fit(night, from, count, workspace->work, &f));

	fit_noise(night, &f, workspace);
	w->noise = f.noise;
	for (size_t i = 0; i < RECENT; i++) {
		if (2 * recent_nights[i] > count)
			continue;
		TRY(start_fit(night, from + count - recent_nights[i], recent_nights[i],
		        workspace->work, &f));
		fit_noise(night, &f, workspace);
		learn_recent(w, &f);
	}
	w->known = true;
	w->fitted = night->n;
	return TK_OK;
}
