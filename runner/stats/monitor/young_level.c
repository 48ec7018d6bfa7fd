/* Two levels against one, without a model of the noise: see young_level.h. */
#include "stats/monitor/young_level.h"

#include <math.h>
#include <stdbool.h>

#include "stats/summary/summary.h"

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
	struct tk_young_step step;
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

static bool is_nearer_to_new(const double *y, size_t n, const struct tk_young_step *s)
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

struct tk_young_step tk_young_step_find(
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
