/* Optimal partitioning of calm logarithms, then a strict look at every step it found: see
 * levels.h. */
#include <math.h>

#include "base/base.h"
#include "stats/changepoint_internal.h"
#include "stats/compare.h"
#include "stats/levels.h"
#include "stats/summary.h"

#define PENALTY 0.7      /* of a change, in units of 2 * tau^2 * ln(n) */
#define OUTLIER 2.5      /* residuals beyond so many tau cost no more */
#define Z_MIN 3.5        /* standard errors of a change */
#define CONFIDENCE 0.95  /* of the interval of its size */
#define LEAST_NOISE 1e-5 /* no clock is better, and constant series have no noise of their own */
#define ROBUST 0.8 /* of a change's penalty: its worth in the loss that spikes cannot drive up */
#define MIN_POINTS 4
#define ROUNDS 3
#define CALM 1.5  /* values are winsorized to so many tau before levels are compared */
#define START 2   /* standard errors between neighbouring means from which a segment may start */
#define LINE 0.95 /* a step leaves at most this part of the squares that a straight line leaves */
#define REMEMBERS 1.5         /* long-run noise over that of one point: white noise is below */
#define HIDDEN_POINTS_MIN 100 /* that tell several levels from noise that remembers */
#define HIDDEN_PRICE 3.5      /* of such a level, in units of ln(n): it has a start and a size */
#define HIDDEN_NOISE 1.1 /* of the noise that such levels were found by is left by them, at most */

struct step {
	double shift, z, error;
};

static double step_error(double tau, size_t a, size_t b, size_t c)
{
	/* 0.955: efficiency of the Hodges-Lehmann estimate under normal noise */
	return tau * sqrt((1.0 / (double)(b - a) + 1.0 / (double)(c - b)) / 0.955);
}

/* sorted: the logarithms, in ascending order within each segment. */
static void measure_steps(
        const double *sorted, const size_t *bounds, size_t segments, double tau, struct step *out)
{
	for (size_t i = 1; i < segments; i++) {
		size_t a = bounds[i - 1], b = bounds[i], c = bounds[i + 1];

		out[i].error = step_error(tau, a, b, c);
		out[i].shift =
		        tk_hodges_lehmann(sorted + a, b - a, sorted + b, c - b, out[i].error / 100);
		out[i].z = fabs(out[i].shift) / out[i].error;
	}
}

/* A step at a glance, by sums of the calm logarithms. */
static struct step glance(const double *sum, const size_t *bound, double tau)
{
	size_t a = bound[-1], b = bound[0], c = bound[1];
	struct step s = {
	        .shift = (sum[c] - sum[b]) / (double)(c - b) - (sum[b] - sum[a]) / (double)(b - a),
	        .error = step_error(tau, a, b, c)};

	s.z = fabs(s.shift) / s.error;
	return s;
}

/* Removes steps that are too small or not significant, weakest first. bounds[count] is n; steps[i]
 * is that at bounds[i]. */
static void prune(const double *sum, size_t *bounds, size_t *count, double min_effect, double tau,
        struct step *steps)
{
	size_t from = 1, to = *count; /* the steps that are not measured yet */

	for (;;) {
		size_t weakest = 0;

		for (size_t i = from; i < to; i++)
			steps[i] = glance(sum, &bounds[i], tau);
		for (size_t i = 1; i < *count; i++)
			if ((steps[i].z < Z_MIN || fabs(steps[i].shift) < log1p(min_effect)) &&
			        (!weakest || steps[i].z < steps[weakest].z))
				weakest = i;
		if (!weakest)
			return;
		memmove(steps + weakest, steps + weakest + 1,
		        (*count - weakest - 1) * sizeof *steps);
		tk_bounds_remove(bounds, count, weakest, 1);
		from = weakest > 1 ? weakest - 1 : 1;
		to = weakest < *count ? weakest + 1 : *count;
	}
}

struct scratch {
	double *logs, *y, *work, *sum; /* sum: of the calm logarithms before each point */
	int64_t *day;
	size_t *where, *bounds;
	struct step *steps;
	struct tk_partition_workspace partition;
};

/* The biweight loss of logarithms about a level, in units of tau^2. */
static double loss(const double *logs, size_t from, size_t to, double level, double tau)
{
	double sum = 0, most = OUTLIER * OUTLIER * tau * tau;

	for (size_t i = from; i < to; i++) {
		double d = (logs[i] - level) * (logs[i] - level);

		sum += d < most ? d : most;
	}
	return sum / (tau * tau);
}

static double level_of(const double *logs, size_t from, size_t to, double *work)
{
	memcpy(work, logs + from, (to - from) * sizeof *work);
	return tk_quantile_select(work, to - from, 0.5);
}

/* Outliers are not alike: what segments k .. k + count have less of the biweight loss than one
 * level would have. */
static double robust_gain(struct scratch *s, size_t k, size_t count, double tau)
{
	double apart = 0, together = INFINITY;
	size_t from = s->bounds[k], to = s->bounds[k + count];

	for (size_t g = k; g < k + count; g++) {
		double level = level_of(s->logs, s->bounds[g], s->bounds[g + 1], s->work);

		apart += loss(s->logs, s->bounds[g], s->bounds[g + 1], level, tau);
		together = fmin(together, loss(s->logs, from, to, level, tau));
	}
	together =
	        fmin(together, loss(s->logs, from, to, level_of(s->logs, from, to, s->work), tau));
	return together - apart;
}

/* Outliers are not alike, a level is: takes back the steps, and the short segments, that are not
 * worth their penalty in the biweight loss, the worst first. Until it ends, steps[i] has what is
 * lacking of 2 segments and of 3 from i on. */
static void take_outliers_back(struct scratch *s, size_t *count, double penalty, double tau)
{
	size_t from = 0, to = *count; /* range to evaluate again */

	for (;;) {
		double worst = 0;
		size_t at = 0, gone = 0;

		for (size_t i = from; i + 2 <= to; i++) {
			s->steps[i].shift = penalty - robust_gain(s, i, 2, tau);
			s->steps[i].z =
			        i + 3 <= *count ? 2 * penalty - robust_gain(s, i, 3, tau) : 0;
		}
		for (size_t i = 0; i + 2 <= *count; i++) {
			bool both = s->steps[i].z > s->steps[i].shift;
			double lacks = both ? s->steps[i].z : s->steps[i].shift;

			if (lacks > worst) {
				worst = lacks;
				at = i + 1;
				gone = both ? 2 : 1;
			}
		}
		if (!gone)
			return;
		memmove(s->steps + at, s->steps + at + gone,
		        (*count - at - gone) * sizeof *s->steps);
		tk_bounds_remove(s->bounds, count, at, gone);
		from = at > 3 ? at - 3 : 0;
		to = at + 1 < *count ? at + 1 : *count;
	}
}

/* What two levels leave of the squares that a straight line leaves. */
static double squares_left(const double *sum, const size_t *bound)
{
	size_t a = bound[-1], b = bound[0], c = bound[1];
	double n = (double)(c - a), before = (sum[b] - sum[a]) / (double)(b - a),
	       after = (sum[c] - sum[b]) / (double)(c - b), mean = (sum[c] - sum[a]) / n,
	       middle = (n - 1) / 2, levels = 0, total = 0, slope = 0;

	for (size_t t = a; t < c; t++) {
		double y = sum[t + 1] - sum[t];

		levels += pow(y - (t < b ? before : after), 2);
		total += (y - mean) * (y - mean);
		slope += (y - mean) * ((double)(t - a) - middle);
	}
	/* a line takes slope^2 / Sxx off the squares about the mean; Sxx = n (n^2 - 1) / 12 */
	return levels / fmax(total - slope * slope * 12 / (n * (n * n - 1)), 1e-300);
}

/* A drift is not a step: removes steps that a line through both segments explains as well, worst
 * first. */
static void take_drifts_back(const double *sum, size_t *bounds, size_t *count)
{
	for (;;) {
		double worst = LINE;
		size_t which = 0;

		for (size_t i = 1; i < *count; i++) {
			double left = squares_left(sum, &bounds[i]);

			if (left > worst) {
				worst = left;
				which = i;
			}
		}
		if (!which)
			return;
		tk_bounds_remove(bounds, count, which, 1);
	}
}

static double median_of(const double *sorted, size_t from, size_t to)
{
	return exp(tk_quantile_sorted(sorted + from, to - from, 0.5));
}

static struct tk_changepoint describe(const double *sorted, const size_t *bounds,
        const struct step *step, double z, const size_t *where)
{
	return (struct tk_changepoint){
	        .index = where[bounds[0]],
	        .before = median_of(sorted, bounds[-1], bounds[0]),
	        .after = median_of(sorted, bounds[0], bounds[1]),
	        .change = expm1(step->shift),
	        .lo = expm1(step->shift - z * step->error),
	        .hi = expm1(step->shift + z * step->error),
	        .p = tk_normal_p(step->z),
	};
}

/* All of it in one block: *memory is to be freed. */
static void scratch_make(struct scratch *s, size_t n, void **memory)
{
	double *values = *memory =
	        tk_malloc((n + 1) * (10 * sizeof *values + 5 * sizeof(size_t) + sizeof(int64_t) +
	                                    sizeof *s->steps + sizeof *s->partition.may_start));
	size_t *numbers, m = n + 1;

	s->logs = values, s->y = s->logs + m, s->sum = s->y + m,
	s->work = s->sum + m; /* work: 2 * m */
	s->partition.contrast = s->work + 2 * m, s->partition.at = s->partition.contrast + m;
	s->partition.sum = s->partition.at + m, s->partition.before = s->partition.sum + m;
	s->partition.cost = s->partition.before + m;
	s->steps = (struct step *)(s->partition.cost + m);
	s->day = (int64_t *)(s->steps + m);
	s->where = numbers = (size_t *)(s->day + m), s->bounds = numbers + m,
	s->partition.start = numbers + 2 * m;
	s->partition.from = numbers + 3 * m, s->partition.open = numbers + 4 * m;
	s->partition.may_start = (bool *)(numbers + 5 * m);
}

static void sum_up(struct scratch *s, size_t n, double tau)
{
	tk_winsorize(s->logs, n, CALM * tau, s->sum + 1);
	s->sum[0] = 0;
	for (size_t i = 0; i < n; i++)
		s->sum[i + 1] = s->sum[i] + (s->sum[i + 1] - s->logs[0]);
}

/* One fit of s->logs[0 .. n) in units of tau, into bounds and steps. */
static void fit_levels(struct scratch *s, size_t n, double min_effect, double tau, size_t *segments)
{
	double penalty = PENALTY * 2 * log((double)n);

	sum_up(s, n, tau);
	*segments = tk_partition_fit(
	        &s->partition, s->sum, n, tau, START, penalty * tau * tau, s->bounds);
	take_outliers_back(s, segments, ROBUST * penalty, tau);
	prune(s->sum, s->bounds, segments, min_effect, tau, s->steps);
}

/* ---- locate ---- */

#define REACH 4  /* nights: a value is pulled in to the median of the three before and after */
#define NEAR 30  /* nights on each side make its level */
#define PULLED 2 /* tau: less is noise */

static double cost(double distance, double most)
{
	return fmin(distance * distance, most * most);
}

static bool pulled_in(const double *y, const double *sum, size_t from, size_t to, double tau)
{
	for (size_t t = from; t < to; t++)
		if (fabs(y[t] - y[0] - (sum[t + 1] - sum[t])) > PULLED * tau)
			return true;
	return false;
}

/* The step at b, one of first .. last; between `before` and `after` nights of its levels. */
static size_t place(const double *y, size_t first, size_t b, size_t last, size_t before,
        size_t after, double reach)
{
	double near[NEAR], old = level_of(y, b - before, b, near),
	                   new = level_of(y, b, b + after, near),
	                   most = fmax(reach, fabs(new - old) / 2), lost = 0, least = 0;
	size_t at = first;

	for (size_t t = first; t < last; t++) {
		lost += cost(y[t] - old, most) - cost(y[t] - new, most);
		if (lost <= least) {
			least = lost;
			at = t + 1;
		}
	}
	return at;
}

/* The exact night of a step that spikes have blurred.
 *
 * y: values with their spikes; sum: prefix sums of (the same winsorized, less y[0]), from which the
 * bounds were computed. A spike between two levels makes the seven nights around
 * a good one mostly bad, and so winsorizing pulls the good one to the bad level. Next to winsorized
 * nights, the step is shifted by a few nights to where the nights fit the level of their side best.
 * A night counts for a level if it is within half a step, or OUTLIER tau, of it; a night that is
 * further from both counts for neither, and a step comes after it. */
static void locate(const double *y, const double *sum, double tau, size_t *bounds, size_t segments)
{
	for (size_t i = 1; i < segments; i++) {
		size_t b = bounds[i], before = b - bounds[i - 1], after = bounds[i + 1] - b,
		       first = b - (before > REACH ? REACH : before - 1),
		       last = b + (after > REACH ? REACH : after - 1);

		if (pulled_in(y, sum, first, last, tau))
			bounds[i] = place(y, first, b, last, before < NEAR ? before : NEAR,
			        after < NEAR ? after : NEAR, OUTLIER * tau);
	}
}

/* ---- all steps ---- */

/* Residuals of s->logs about the levels, into s->y. */
static void take_levels_out(struct scratch *s, size_t segments)
{
	for (size_t g = 0; g < segments; g++) {
		double level = level_of(s->logs, s->bounds[g], s->bounds[g + 1], s->work);

		for (size_t i = s->bounds[g]; i < s->bounds[g + 1]; i++)
			s->y[i] = s->logs[i] - level;
	}
}

/* Long-run noise that levels were found by, and what they leave: of one night, and long-run. */
struct noise {
	double used, one, left;
};

static void estimate_left(struct scratch *s, size_t n, size_t segments, struct noise *noise)
{
	take_levels_out(s, segments);
	tk_noise_estimate_scale(s->y, n, s->work, &noise->one, &noise->left);
}

/* The steps of s->logs[0 .. n), the segments sorted into s->y. Removes a step whose whole interval
 * is below the minimum effect, weakest first: in a drifting series, the slope may change while the
 * level hardly does. */
static void measure(struct scratch *s, size_t n, double min_effect, double tau, size_t *segments)
{
	double z, least;

	if (*segments < 2)
		return;
	z = tk_normal_z(1 - CONFIDENCE);
	least = log1p(min_effect);
	while (*segments > 1) {
		size_t weakest = 0;

		memcpy(s->y, s->logs, n * sizeof *s->y);
		for (size_t g = 0; g < *segments; g++)
			tk_sort_values(s->y + s->bounds[g], s->bounds[g + 1] - s->bounds[g]);
		measure_steps(s->y, s->bounds, *segments, tau, s->steps);
		for (size_t i = 1; i < *segments; i++)
			if (fabs(s->steps[i].shift) + z * s->steps[i].error < least &&
			        (!weakest || s->steps[i].z < s->steps[weakest].z))
				weakest = i;
		if (!weakest)
			return;
		tk_bounds_remove(s->bounds, segments, weakest, 1);
	}
}

/* Several steps look like noise that remembers, and hide in it. So levels are also sought by the
 * noise of one night, and taken where none recurs and what they leave is no more noise than that,
 * and likelier by more than their price. */
static void find_hidden_levels(
        struct scratch *s, size_t n, double min_effect, struct noise *noise, size_t *segments)
{
	const double price = HIDDEN_PRICE * log((double)n);
	const size_t count = *segments;
	struct noise other = {
	        .used = fmax(tk_noise_estimate_sigma(s->logs, n, s->work), LEAST_NOISE)};

	if (n < HIDDEN_POINTS_MIN || noise->used <= REMEMBERS * other.used)
		return;

	size_t *kept = tk_malloc((count + 1) * sizeof *kept);

	memcpy(kept, s->bounds, (count + 1) * sizeof *kept);
	take_levels_out(s, count);
	const double score = tk_changepoint_score(s->y, n) + price * (double)count;

	for (int round = 0; round < ROUNDS; round++) {
		other.used = fmax(other.used, other.left);
		fit_levels(s, n, min_effect, other.used, segments);
		estimate_left(s, n, *segments, &other);
	}
	tk_recurrent_state_remove(s->sum, s->bounds, segments, s->work);
	estimate_left(s, n, *segments, &other);
	if (*segments > count && other.left <= HIDDEN_NOISE * other.used &&
	        tk_changepoint_score(s->y, n) + price * (double)*segments < score) {
		*noise = other;
	} else {
		memcpy(s->bounds, kept, (count + 1) * sizeof *kept);
		*segments = count;
		sum_up(s, n, noise->used);
	}
	free(kept);
}

/* Segments of s->logs[0 .. n). Steps are not noise: the noise is estimated again without the steps
 * found, until the steps no longer change. Steps found with the model of autocorrelated noise are
 * not tested against trends. */
static size_t segment(struct scratch *s, size_t n, double min_effect)
{
	struct noise noise = {.used = INFINITY};
	bool remembers = false;
	size_t segments = 1;

	tk_noise_estimate_scale(s->logs, n, s->work, &noise.one, &noise.left);
	for (int round = 0; round < ROUNDS; round++) {
		if (fmax(noise.left, LEAST_NOISE) >= 0.98 * noise.used)
			break;
		noise.used = fmax(noise.left, LEAST_NOISE);
		fit_levels(s, n, min_effect, noise.used, &segments);
		if (segments < 2)
			break;
		estimate_left(s, n, segments, &noise);
	}
	find_hidden_levels(s, n, min_effect, &noise, &segments);
	if (noise.left > REMEMBERS * noise.one) {
		take_levels_out(s, segments);
		tk_changepoint_refine(
		        s->logs, s->y, n, log1p(min_effect), s->bounds, &segments, &remembers);
	}
	if (segments > 1)
		take_drifts_back(s->sum, s->bounds, &segments);
	tk_recurrent_state_remove(s->sum, s->bounds, &segments, s->work);
	locate(s->logs, s->sum, noise.used, s->bounds, segments);
	if (!(remembers && segments > 1))
		tk_trend_fit(s->logs, n, s->bounds, &segments, &noise.used);
	measure(s, n, min_effect, noise.used, &segments);
	return segments;
}

void tk_changepoint_find(const double *x, const int64_t *day, size_t n, double min_effect,
        struct tk_changepoint **out, size_t *count)
{
	struct scratch s = {0};
	size_t kept = 0, segments = 1;
	double pattern[7];
	void *memory = NULL;

	*out = NULL;
	*count = 0;
	if (n < MIN_POINTS)
		return;
	scratch_make(&s, n, &memory);
	for (size_t i = 0; i < n; i++)
		if (isfinite(x[i]) && x[i] > 0) {
			s.logs[kept] = log(x[i]);
			s.day[kept] = day ? day[i] : 0;
			s.where[kept++] = i;
		}
	if (day)
		tk_weekday_estimate(s.logs, s.day, kept, s.work, pattern);
	for (size_t i = 0; day && i < kept; i++)
		s.logs[i] -= pattern[tk_weekday_from_day(s.day[i])];
	tk_season_remove(s.logs, kept);
	if (kept >= MIN_POINTS)
		segments = segment(&s, kept, min_effect);
	if (segments > 1)
		*out = tk_calloc(segments - 1, sizeof **out);
	for (size_t i = 1; i < segments; i++)
		(*out)[i - 1] = describe(
		        s.y, &s.bounds[i], &s.steps[i], tk_normal_z(1 - CONFIDENCE), s.where);
	*count = segments - 1;
	free(memory);
}
