/* Learns the noise of a series: its weekly pattern, then the noise of all its nights, then whether
 * that of the last weeks is different. */
#include <math.h>
#include <string.h>

#include "stats/monitor_internal.h"
#include "stats/summary.h"

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

static void start_fit(const struct tk_level_monitor_night *night, size_t from, size_t count,
        double *work, struct noise_fit *f)
{
	f->from = from;
	f->count = count;
	take_levels_out(night, from, count, f->r);
	f->sigma = tk_noise_estimate_sigma(f->r, count, work);
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

void tk_level_monitor_fit(
        const struct tk_level_monitor_night *night, struct tk_level_monitor_workspace *workspace)
{
	struct tk_level_monitor *w = night->monitor;
	struct noise_fit f;
	const size_t from = prepare(night, workspace), count = w->count;
	start_fit(night, from, count, workspace->work, &f);

	fit_noise(night, &f, workspace);
	w->noise = f.noise;
	for (size_t i = 0; i < RECENT; i++) {
		if (2 * recent_nights[i] > count)
			continue;
		start_fit(night, from + count - recent_nights[i], recent_nights[i], workspace->work,
		        &f);
		fit_noise(night, &f, workspace);
		learn_recent(w, &f);
	}
	w->known = true;
	w->fitted = night->n;
}

/* ---- young level ---- */

#define LEAST_VARIANCE 1e-8 /* of one night */
#define RHO_MAX 0.95
#define NEARER_NIGHTS 8 /* at the new level, each of them nearer to it than to the old one */
#define CONSIDERED 5.0  /* log-likelihood ratio from which a drift is considered */
#define DRIFT_ODDS 7.0  /* against a drift: more series have white noise; logarithm */
#define PRIOR_SERIES_MIN 5
#define PRIOR_DF_MAX 40.0

struct segment {
	double mean, squares, lag; /* sums of squared residuals, of products of neighbours */
};

static struct segment summarize(const double *y, size_t n)
{
	struct segment s = {0};

	for (size_t i = 0; i < n; i++)
		s.mean += y[i] / (double)n;
	for (size_t i = 0; i < n; i++) {
		const double r = y[i] - s.mean;

		s.squares += r * r;
		if (i)
			s.lag += r * (y[i - 1] - s.mean);
	}
	return s;
}

static double shrink(double squares, double df, const struct tk_noise_prior *prior)
{
	const double variance = (squares + prior->df * prior->variance) / (df + prior->df);

	return fmax(variance, LEAST_VARIANCE);
}

struct split {
	struct tk_changepoint_candidate step;
	double squares; /* about both levels */
};

/* A t-test of both levels; the error of a level grows with the autocorrelation. */
static struct split evaluate(
        const double *y, size_t split, size_t n, const struct tk_noise_prior *prior)
{
	const struct segment before = summarize(y, split), after = summarize(y + split, n - split);
	const double squares = before.squares + after.squares, df = (double)n - 2,
	             rho = squares > 0 ? (before.lag + after.lag) / squares : 0,
	             r = fmin(fmax(rho, 0), RHO_MAX), d = after.mean - before.mean,
	             variance = shrink(squares, df, prior) * (1 + r) / (1 - r),
	             error2 = variance * (1 / (double)split + 1 / (double)(n - split)),
	             all = df + prior->df;
	/* As the model's: the errors of the assumptions add up over nights. */
	const double length = log((double)(n - split) / 3);

	return (struct split){{split, before.mean, after.mean,
	                              0.5 * all * log1p(d * d / (error2 * all)) - length},
	        squares};
}

static bool is_nearer_to_new(const double *y, size_t n, const struct tk_changepoint_candidate *s)
{
	const double middle = (s->before + s->after) / 2;
	bool nearer = true;

	for (size_t i = s->split; i < n && i < s->split + NEARER_NIGHTS; i++)
		nearer &= (y[i] - middle) * (s->after - s->before) > 0;
	return nearer;
}

/* Log-likelihood, with the variance integrated out, of one level with an AR(1) drift that has
 * `part` of the variance. The Kalman filter runs over the data and over a constant, for the level
 * of generalised least squares. */
static double drift_loglik(
        const double *y, size_t n, double phi, double part, const struct tk_noise_prior *prior)
{
	double x = 0, one = 0, v = part, log_det = 0, yy = 0, y1 = 0, one2 = 0;
	const double df = (double)n - 1;

	for (size_t i = 0; i < n; i++) {
		const double f = v + 1 - part, gain = v / f, miss = y[i] - y[0] - x,
		             miss1 = 1 - one;

		log_det += log(f);
		yy += miss * miss / f;
		y1 += miss * miss1 / f;
		one2 += miss1 * miss1 / f;
		x = phi * (x + gain * miss);
		one = phi * (one + gain * miss1);
		v = phi * phi * v * (1 - gain) + part * (1 - phi * phi);
	}
	return -0.5 * ((df + prior->df) * log(shrink(yy - y1 * y1 / one2, df, prior)) + log_det +
	                      log(one2 / (double)n));
}

static double likeliest_drift(const double *y, size_t n, const struct tk_noise_prior *prior)
{
	static const double phis[] = {0.7, 0.85, 0.95}, parts[] = {0.3, 0.6, 0.9};
	double best = -INFINITY;

	for (size_t a = 0; a < sizeof phis / sizeof *phis; a++)
		for (size_t c = 0; c < sizeof parts / sizeof *parts; c++)
			best = fmax(best, drift_loglik(y, n, phis[a], parts[c], prior));
	return best;
}

struct tk_changepoint_candidate tk_young_step_find(
        const double *y, size_t n, double min_shift, const struct tk_noise_prior *prior)
{
	const double df = (double)n - 2;
	struct split best = {0};

	for (size_t split = TK_YOUNG_BEFORE_MIN; split + TK_YOUNG_AFTER_MIN <= n; split++) {
		const struct split s = evaluate(y, split, n, prior);

		if (s.step.log_lr > best.step.log_lr &&
		        fabs(s.step.after - s.step.before) > min_shift &&
		        is_nearer_to_new(y, n, &s.step))
			best = s;
	}
	if (best.step.log_lr > CONSIDERED) {
		const double levels =
		        -0.5 * (df + prior->df) * log(shrink(best.squares, df, prior));

		best.step.log_lr =
		        fmin(best.step.log_lr, levels - likeliest_drift(y, n, prior) + DRIFT_ODDS);
	}
	return best.step;
}

/* ---- the prior ---- */

/* A step is one large difference, and the largest one is left out. Its share of the squares and the
 * degrees of freedom are those of normal noise, simulated for 6 to 31 nights. */
double tk_noise_log_variance(const double *y, size_t n, double *df)
{
	const double count = (double)n - 1, largest_share = 1.56 * log(count) + 0.08;
	double sum = 0, largest = 0;

	for (size_t i = 1; i < n; i++) {
		const double d = (y[i] - y[i - 1]) * (y[i] - y[i - 1]);

		sum += d;
		largest = fmax(largest, d);
	}
	*df = 0.65 * count;
	return log(fmax((sum - largest) / (2 * (count - largest_share)), LEAST_VARIANCE));
}

static double trigamma(double x)
{
	double sum = 0;

	for (; x < 6; x++)
		sum += 1 / (x * x);
	return sum + 1 / x + 1 / (2 * x * x) + 1 / (6 * x * x * x);
}

static double inverse_trigamma(double y)
{
	double x = 0.5 + 1 / y;

	for (int i = 0; i < 30; i++)
		x *= pow(trigamma(x) / y, 0.7);
	return x;
}

struct tk_noise_prior tk_noise_prior_estimate(double *log_variance, const double *df, size_t count)
{
	double chance = 0, middle, spread, excess; /* chance: variance if all had the same noise */

	if (count < PRIOR_SERIES_MIN)
		return (struct tk_noise_prior){0};
	for (size_t i = 0; i < count; i++)
		chance += trigamma(df[i] / 2) / (double)count;
	middle = tk_median(log_variance, count);
	for (size_t i = 0; i < count; i++)
		log_variance[i] = fabs(log_variance[i] - middle);
	spread = 1.4826 * tk_median(log_variance, count);
	excess = spread * spread - chance;
	return (struct tk_noise_prior){.variance = exp(middle),
	        .df = excess > 0 ? fmin(PRIOR_DF_MAX, 2 * inverse_trigamma(excess)) : PRIOR_DF_MAX};
}
