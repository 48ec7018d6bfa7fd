/* Did the level change? See rules.h. */
#include <math.h>

#include "base/base.h"
#include "decide/rules/rules.h"
#include "stats/levels.h"
#include "stats/summary.h"

#define NOISE_POINTS_MIN 6     /* that a series needs to estimate its own noise */
#define DF_PER_POINT 0.4       /* efficiency of the median of successive differences */
#define MEDIAN_VARIANCE 1.5708 /* pi / 2: variance of a median in units of that of a mean */
#define EARLIER_MAX 3          /* points before the range that may be at the new level already */
#define SPIKE_FACTOR 1.25
#define SCRATCH 512 /* numbers that need no memory of their own */

void tk_level_find_baseline(const double *y, size_t range, size_t *base)
{
	struct tk_changepoint *found = NULL;
	double values[TK_LEVEL_POINTS_MAX];
	size_t from = range > TK_LEVEL_POINTS_MAX ? range - TK_LEVEL_POINTS_MAX : 0, count = 0;

	*base = from;
	if (range - from < NOISE_POINTS_MIN)
		return;
	for (size_t i = from; i < range; i++)
		values[i - from] = exp(y[i] - y[from]);
	tk_changepoint_find(values, NULL, range - from, TK_CHANGEPOINT_MIN_EFFECT, &found, &count);
	if (count)
		*base = from + found[count - 1].index;
	free(found);
}

double tk_level_estimate(const double *y, size_t n)
{
	double work[TK_LEVEL_POINTS_MAX];

	if (n > TK_LEVEL_POINTS_MAX) {
		y += n - TK_LEVEL_POINTS_MAX;
		n = TK_LEVEL_POINTS_MAX;
	}
	memcpy(work, y, n * sizeof *y);
	return tk_median(work, n);
}

/* Scratch memory for the noise of n points. */
static double *get_scratch(size_t n, double few[SCRATCH])
{
	return 2 * n < SCRATCH ? few : tk_malloc((2 * n + 1) * sizeof *few);
}

static void release_scratch(double *work, const double *few)
{
	if (work != few)
		free(work);
}

double tk_level_estimate_noise(const double *y, size_t n)
{
	double few[SCRATCH], sigma, *work;

	if (n < NOISE_POINTS_MIN)
		return 0;
	work = get_scratch(n, few);
	sigma = tk_noise_estimate_sigma(y, n, work);
	release_scratch(work, few);
	return sigma;
}

struct scale {
	double sigma, tau, marginal, df;
};

static void estimate_scale(const struct tk_level_test_input *in, struct scale *out)
{
	struct tk_noise noise = {0};
	double few[SCRATCH], df = 0, variance, grow;

	if (in->n >= NOISE_POINTS_MIN) {
		double *work = get_scratch(in->n, few);

		tk_noise_estimate(in->y, in->n, work, &noise);
		release_scratch(work, few);
		df = DF_PER_POINT * (double)(in->n - 1);
	}
	variance = (TK_NOISE_DEFAULT_DF * in->prior_sigma * in->prior_sigma +
	                   df * noise.sigma * noise.sigma) /
	           (TK_NOISE_DEFAULT_DF + df);
	grow = noise.sigma > 0 ? noise.tau / noise.sigma : 1;
	out->sigma = sqrt(variance);
	out->tau = out->sigma * grow;
	out->marginal = out->sigma / sqrt(1 - fmin(0.9, fmax(0, df > 8 ? noise.rho : 0)));
	out->df = TK_NOISE_DEFAULT_DF + df;
}

/* Standard error of the level of n points: at least that of their samples, at most that of one
 * night. */
static double level_error(const struct scale *s, const double *se, size_t n)
{
	double samples = 0, between = fmin(s->marginal * s->marginal,
	                            s->tau * s->tau / (double)n * (n > 2 ? MEDIAN_VARIANCE : 1));

	for (size_t i = 0; i < n; i++)
		samples += se[i] * se[i];
	samples /= (double)n * (double)n;
	return sqrt(fmax(between, samples));
}

static struct tk_level_change compare_levels(
        const struct tk_level_test_input *in, const struct scale *s, size_t base, size_t split)
{
	struct tk_level_change e = {.base = base, .split = split};

	if (split - base > in->window)
		e.base = split - in->window;
	e.before = tk_level_estimate(in->y + e.base, split - e.base);
	e.after = tk_level_estimate(in->y + split, in->n - split);
	e.se_before = level_error(s, in->se + e.base, split - e.base);
	e.se_after = level_error(s, in->se + split, in->n - split);
	e.se = hypot(e.se_before, e.se_after);
	e.t = e.se > 0 ? (e.after - e.before) / e.se : 0;
	return e;
}

/* How badly two levels fit. Absolute residuals give a spike little weight. */
static double misfit(
        const struct tk_level_test_input *in, size_t base, const struct tk_level_change *e)
{
	double sum = 0;

	for (size_t i = base; i < in->n; i++)
		sum += fabs(in->y[i] - (i < e->split ? e->before : e->after));
	return sum;
}

/* The points between a split before the range and the range are at the new level already. */
static bool is_earlier(const struct tk_level_test_input *in, const struct scale *s,
        const struct tk_level_change *e)
{
	double change = e->after - e->before;

	for (size_t i = e->split; i <= in->range; i++) {
		double y = i < in->range ? in->y[i]
		                         : tk_level_estimate(in->y + in->range, in->n - in->range);
		double moved = copysign(1, change) * (y - e->before);

		if (moved < fabs(change) / 2 || moved < 2 * s->sigma)
			return false;
	}
	return fabs(e->t) > TK_NOISE_STANDARD_ERRORS;
}

/* An earlier night was as far, in the direction of the change, from the seven nights around it. */
static bool had_similar_spike(
        const struct tk_level_test_input *in, const struct scale *s, double change)
{
	double largest = 0;

	for (size_t i = 0; i < in->range; i++) {
		size_t from = i < 3 ? 0 : i - 3, to = i + 4 > in->range ? in->range : i + 4;

		if (to - from >= 5)
			largest = fmax(largest,
			        copysign(1, change) *
			                (in->y[i] - tk_level_estimate(in->y + from, to - from)));
	}
	return largest > 4 * s->sigma && fabs(change) <= SPIKE_FACTOR * largest;
}

void tk_level_test_split(const struct tk_level_test_input *in, size_t base, size_t split,
        struct tk_level_change *out)
{
	struct scale s;

	estimate_scale(in, &s);
	*out = compare_levels(in, &s, base, split);
	out->p = tk_student_p(out->t, s.df);
}

/* The split in the range where two levels fit best. */
static struct tk_level_change find_best_split(
        const struct tk_level_test_input *in, const struct scale *s, size_t base)
{
	struct tk_level_change best = compare_levels(in, s, base, in->range);
	double least = misfit(in, base, &best);

	for (size_t k = in->range + 1; k < in->n; k++) {
		const struct tk_level_change e = compare_levels(in, s, base, k);
		const double cost = misfit(in, base, &e);

		if (cost < least) {
			best = e;
			least = cost;
		}
	}
	return best;
}

/* A median over the range hides that its newest nights are slow again: a series that became faster
 * and then slower is judged by where it is now. */
static bool find_worse_again(const struct tk_level_test_input *in, const struct scale *s,
        size_t base, const struct tk_level_change *best, struct tk_level_change *out)
{
	double largest = TK_NOISE_STANDARD_ERRORS;
	bool found = false;

	if (in->worse * best->t > TK_NOISE_STANDARD_ERRORS)
		return false;
	for (size_t k = best->split + 1; k < in->n; k++) {
		const struct tk_level_change left = compare_levels(in, s, best->split, k);

		if (in->worse * left.t > largest) {
			largest = in->worse * left.t;
			*out = compare_levels(in, s, base, k);
			found = true;
		}
	}
	return found;
}

void tk_level_test_run(const struct tk_level_test_input *in, size_t base, struct tk_level_test *out)
{
	struct tk_level_change now;
	struct scale s;

	estimate_scale(in, &s);
	*out = (struct tk_level_test){.sigma = s.sigma,
	        .df = s.df,
	        .whole = compare_levels(in, &s, base, in->range),
	        .best = find_best_split(in, &s, base)};
	out->worse_again = find_worse_again(in, &s, base, &out->best, &now);
	if (out->worse_again)
		out->whole = out->best = now;
	for (size_t back = 1; back <= EARLIER_MAX && in->range > base + back; back++) {
		const struct tk_level_change e = compare_levels(in, &s, base, in->range - back);

		out->earlier |= fabs(e.t) > fabs(out->best.t) && is_earlier(in, &s, &e);
	}
	out->spike = in->n - out->best.split == 1 &&
	             had_similar_spike(in, &s, out->best.after - out->best.before);
	out->whole.p = tk_student_p(out->whole.t, s.df);
	out->best.p = fmin(1, tk_student_p(out->best.t, s.df) * (double)(in->n - in->range));
}
