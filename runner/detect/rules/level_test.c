/* Is the level another one? See judge.h. */
#include "detect/rules/level_test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "stats/changepoint/changepoint.h"
#include "stats/summary/noise.h"
#include "stats/summary/student.h"
#include "stats/summary/summary.h"

#define OWN_NOISE_MIN 6        /* points that a series needs for a noise of its own */
#define DF_PER_POINT 0.4       /* efficiency of the median of successive differences */
#define MEDIAN_VARIANCE 1.5708 /* pi / 2: variance of a median in units of that of a mean */
#define EARLIER_MAX 3          /* so many points before the range may be at the new level already */
#define SPIKE_FACTOR 1.25

int tk_level_find_baseline(const double *y, size_t range, size_t *base)
{
	struct tk_changepoint *found = NULL;
	double values[TK_LEVEL_POINTS_MAX];
	size_t from = range > TK_LEVEL_POINTS_MAX ? range - TK_LEVEL_POINTS_MAX : 0, count = 0;
	int rc;

	*base = from;
	if (range - from < OWN_NOISE_MIN)
		return TK_OK;
	for (size_t i = from; i < range; i++)
		values[i - from] = exp(y[i] - y[from]);
	rc = tk_changepoint_find(values, NULL, range - from, NULL, &found, &count);
	if (!rc && count)
		*base = from + found[count - 1].index;
	free(found);
	return rc;
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

double tk_level_estimate_noise(const double *y, size_t n)
{
	struct tk_noise noise;

	return n >= OWN_NOISE_MIN && !tk_noise_estimate(y, n, &noise) ? noise.sigma : 0;
}

struct scale {
	double sigma, tau, marginal, df;
};

static int estimate(const struct tk_level_test_input *in, struct scale *out)
{
	struct tk_noise own = {0};
	double df = 0, variance, grow;
	int rc = TK_OK;

	if (in->n >= OWN_NOISE_MIN) {
		rc = tk_noise_estimate(in->y, in->n, &own);
		df = DF_PER_POINT * (double)(in->n - 1);
	}
	variance = (TK_NOISE_DEFAULT_DF * in->prior_sigma * in->prior_sigma +
	                   df * own.sigma * own.sigma) /
	           (TK_NOISE_DEFAULT_DF + df);
	grow = own.sigma > 0 ? own.tau / own.sigma : 1;
	out->sigma = sqrt(variance);
	out->tau = out->sigma * grow;
	out->marginal = out->sigma / sqrt(1 - fmin(0.9, fmax(0, df > 8 ? own.rho : 0)));
	out->df = TK_NOISE_DEFAULT_DF + df;
	return rc;
}

/* Standard error of the level of n points: never better than their own samples allow, never worse
 * than one point. */
static double level_error(const struct scale *s, const double *se, size_t n)
{
	double samples = 0, between = fmin(s->marginal * s->marginal,
	                            s->tau * s->tau / (double)n * (n > 2 ? MEDIAN_VARIANCE : 1));

	for (size_t i = 0; i < n; i++)
		samples += se[i] * se[i];
	samples /= (double)n * (double)n;
	return sqrt(fmax(between, samples));
}

static struct tk_level_change weigh(
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

/* How badly two levels fit: absolute residuals, so that a spike weighs little. */
static double misfit(
        const struct tk_level_test_input *in, size_t base, const struct tk_level_change *e)
{
	double sum = 0;

	for (size_t i = base; i < in->n; i++)
		sum += fabs(in->y[i] - (i < e->split ? e->before : e->after));
	return sum;
}

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

/* The largest distance, in the direction of the change, of one earlier night from the seven around
 * it. */
static bool had_such_a_spike(
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

int tk_level_test_split(const struct tk_level_test_input *in, size_t base, size_t split,
        struct tk_level_change *out)
{
	struct scale s;
	int rc = estimate(in, &s);

	if (rc)
		return rc;
	*out = weigh(in, &s, base, split);
	out->p = tk_student_p(out->t, s.df);
	return TK_OK;
}

int tk_level_test_run(const struct tk_level_test_input *in, size_t base, struct tk_level_test *out)
{
	struct scale s;
	double least;
	int rc = estimate(in, &s);

	if (rc)
		return rc;
	*out = (struct tk_level_test){.sigma = s.sigma, .df = s.df};
	out->whole = out->best = weigh(in, &s, base, in->range);
	least = misfit(in, base, &out->best);
	for (size_t k = in->range + 1; k < in->n; k++) {
		struct tk_level_change e = weigh(in, &s, base, k);
		double cost = misfit(in, base, &e);

		if (cost < least) {
			out->best = e;
			least = cost;
		}
	}
	for (size_t back = 1; back <= EARLIER_MAX && in->range >= base + back + EARLIER_MAX;
	        back++) {
		struct tk_level_change e = weigh(in, &s, base, in->range - back);

		out->earlier |= fabs(e.t) > fabs(out->best.t) && is_earlier(in, &s, &e);
	}
	out->spike = in->n - out->best.split == 1 &&
	             had_such_a_spike(in, &s, out->best.after - out->best.before);
	out->whole.p = tk_student_p(out->whole.t, s.df);
	out->best.p = fmin(1, tk_student_p(out->best.t, s.df) * (double)(in->n - in->range));
	return TK_OK;
}
