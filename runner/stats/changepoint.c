/* R-FPOP on logarithms, then a strict look at every step it found: see changepoint.h. */
#include "stats/changepoint.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "stats/calm.h"
#include "stats/compare.h"
#include "stats/noise.h"
#include "stats/refine.h"
#include "stats/scale.h"
#include "stats/weekday.h"

const struct tk_changepoint_options tk_changepoint_defaults = {
        .min_effect = 0.005,
        .penalty = 0.8,
        .outlier = 2.5,
        .z = 3.5,
        .confidence = 0.95,
};

#define LEAST_NOISE 1e-5 /* relative: no clock is better, and a constant series has no noise of its own */
#define MIN_POINTS 4
#define ROUNDS 3
#define CALM 1.5      /* values are pulled in to so many tau of the median around them before levels are compared */
#define CALM_STARTS 3 /* the same before starts are looked for */
#define START 0.8     /* standard errors between neighbouring means from which a segment may start */
#define LINE 0.95     /* a step leaves at most this part of the squares that a straight line leaves */
#define REMEMBERS 1.5 /* long-run noise over that of one point: white noise is below */

/* The cost of the best fit so far as a function of the level of the newest segment: a row of parabolas. */
struct piece {
	double lo;      /* it reaches to the next piece's lo */
	double a, b, c; /* a t^2 + b t + c */
	uint32_t start; /* where the newest segment starts */
};

struct pieces {
	struct piece *at;
	size_t count, cap;
};

struct fit {
	const double *y; /* logarithms in units of the noise, centred */
	size_t n;
	double lo, hi; /* range of y */
	double beta, outlier;
	struct pieces now, next;
	bool *may_start; /* may_start[t]: a segment may start at t */
	uint32_t *start; /* start[t]: where the last segment of the best fit of y[0 .. t] starts */
};

static bool push(struct pieces *p, struct piece piece)
{
	struct piece *last = p->count ? &p->at[p->count - 1] : NULL;

	if (last && last->start == piece.start && last->a == piece.a && last->b == piece.b && last->c == piece.c)
		return true;
	if (p->count == p->cap) {
		size_t cap = p->cap ? 2 * p->cap : 64;
		struct piece *at = realloc(p->at, cap * sizeof *at);

		if (!at)
			return false;
		p->at = at;
		p->cap = cap;
	}
	p->at[p->count++] = piece;
	return true;
}

static void swap(struct fit *f)
{
	struct pieces old = f->now;

	f->now = f->next;
	f->next = old;
	f->next.count = 0;
}

static double within(double t, double lo, double hi)
{
	return t < lo ? lo : t > hi ? hi : t;
}

static double upper_end(const struct fit *f, size_t i)
{
	return i + 1 < f->now.count ? f->now.at[i + 1].lo : f->hi;
}

static double cheapest(const struct fit *f, uint32_t *start)
{
	double best = INFINITY;

	for (size_t i = 0; i < f->now.count; i++) {
		const struct piece *p = &f->now.at[i];
		double t = p->a > 0 ? within(-p->b / (2 * p->a), p->lo, upper_end(f, i)) : p->lo;
		double cost = (p->a * t + p->b) * t + p->c;

		if (cost < best) {
			best = cost;
			*start = p->start;
		}
	}
	return best;
}

/* Where a piece costs more than a new segment would, the new segment is better. */
static bool offer_change(struct fit *f, double cost, uint32_t start)
{
	for (size_t i = 0; i < f->now.count; i++) {
		struct piece p = f->now.at[i], fresh = {p.lo, 0, 0, cost, start};
		double hi = upper_end(f, i), left = p.lo, right = hi;

		if (p.a > 0) {
			double d = p.b * p.b - 4 * p.a * (p.c - cost), root = d > 0 ? sqrt(d) : 0;

			left = d > 0 ? within((-p.b - root) / (2 * p.a), p.lo, hi) : hi;
			right = d > 0 ? within((-p.b + root) / (2 * p.a), p.lo, hi) : hi;
		} else if (p.c > cost) {
			left = hi;
		}
		if (left > p.lo && !push(&f->next, fresh))
			return false;
		p.lo = left;
		if (right > left && !push(&f->next, p))
			return false;
		fresh.lo = right;
		if (right < hi && right > left && !push(&f->next, fresh))
			return false;
	}
	swap(f);
	return true;
}

/* Adds the biweight loss of one value: a parabola near it, a constant far from it. */
static bool add_value(struct fit *f, double y)
{
	double k = f->outlier, cut[2] = {y - k, y + k};

	for (size_t i = 0; i < f->now.count; i++) {
		struct piece p = f->now.at[i];
		double hi = upper_end(f, i), lo = p.lo;

		for (int zone = 0; zone < 3 && lo < hi; zone++) {
			double end = zone < 2 && cut[zone] < hi ? cut[zone] : hi;
			struct piece part = {lo, p.a, p.b, p.c + k * k, p.start};

			if (end <= lo)
				continue;
			if (zone == 1)
				part = (struct piece){lo, p.a + 1, p.b - 2 * y, p.c + y * y, p.start};
			if (!push(&f->next, part))
				return false;
			lo = end;
		}
	}
	swap(f);
	return true;
}

static double contrast(const double *sum, size_t n, size_t t, size_t width)
{
	size_t lo = t > width ? t - width : 0, hi = t + width < n ? t + width : n;

	return fabs((sum[hi] - sum[t]) / (double)(hi - t) - (sum[t] - sum[lo]) / (double)(t - lo));
}

/* Where neighbouring means, of a few points or of many, differ, and more than one point earlier or later. work: n + 1
 * values. */
static void find_starts(struct fit *f, double *work)
{
	static const size_t widths[] = {2, 5, 12, 30};

	tk_calm(f->y, f->n, CALM_STARTS, work + 1);
	work[0] = 0;
	for (size_t i = 0; i < f->n; i++)
		work[i + 1] += work[i];
	memset(f->may_start, 0, f->n * sizeof *f->may_start);
	for (size_t w = 0; w < sizeof widths / sizeof *widths; w++) {
		double least = START * sqrt(2 / (double)widths[w]), before = 0,
		       here = contrast(work, f->n, 1, widths[w]);

		for (size_t t = 1; t < f->n; t++) {
			double next = t + 1 < f->n ? contrast(work, f->n, t + 1, widths[w]) : 0;

			f->may_start[t] |= here > least && here >= before && here >= next;
			before = here;
			here = next;
		}
	}
}

static bool run_fit(struct fit *f)
{
	double cost = 0;

	if (!push(&f->now, (struct piece){f->lo, 0, 0, 0, 0}))
		return false;
	for (size_t t = 0; t < f->n; t++) {
		if (t > 0 && f->may_start[t] && !offer_change(f, cost + f->beta, (uint32_t)t))
			return false;
		if (!add_value(f, f->y[t]))
			return false;
		cost = cheapest(f, &f->start[t]);
	}
	return true;
}

/* Segment starts in ascending order, the first is 0, into bounds; returns their number. */
static size_t trace_back(const struct fit *f, size_t *bounds)
{
	size_t count = 0;

	for (size_t end = f->n; end > 0; end = f->start[end - 1])
		bounds[count++] = f->start[end - 1];
	for (size_t i = 0; i < count / 2; i++) {
		size_t keep = bounds[i];

		bounds[i] = bounds[count - 1 - i];
		bounds[count - 1 - i] = keep;
	}
	return count;
}

/* Scales in place around the median; false where there is nothing to find. */
static bool normalise(double *y, size_t n, double tau, double *lo, double *hi, double *work)
{
	double median;

	memcpy(work, y, n * sizeof *y);
	median = tk_select(work, n, 0.5);
	*lo = *hi = 0;
	for (size_t i = 0; i < n; i++) {
		y[i] = (y[i] - median) / tau;
		*lo = y[i] < *lo ? y[i] : *lo;
		*hi = y[i] > *hi ? y[i] : *hi;
	}
	return *hi > *lo;
}

struct step {
	double shift, z, error;
};

static double step_error(double tau, size_t a, size_t b, size_t c)
{
	/* 0.955: efficiency of the Hodges-Lehmann estimate under normal noise */
	return tau * sqrt((1.0 / (double)(b - a) + 1.0 / (double)(c - b)) / 0.955);
}

/* The step between neighbouring segments [a, b) and [b, c) of logarithms. */
static int measure_step(const double *logs, size_t a, size_t b, size_t c, double tau, struct step *out)
{
	int rc = tk_hodges_lehmann(logs + a, b - a, logs + b, c - b, tau / 1000, &out->shift);

	out->error = step_error(tau, a, b, c);
	out->z = fabs(out->shift) / out->error;
	return rc;
}

/* The same at a glance, by sums of the calm logarithms. */
static struct step glance(const double *sum, const size_t *bound, double tau)
{
	size_t a = bound[-1], b = bound[0], c = bound[1];
	struct step s = {.shift = (sum[c] - sum[b]) / (double)(c - b) - (sum[b] - sum[a]) / (double)(b - a),
	        .error = step_error(tau, a, b, c)};

	s.z = fabs(s.shift) / s.error;
	return s;
}

/* Takes back what is too small or not borne out, weakest first. bounds[count] is n; steps[i] is that at bounds[i]. */
static void prune(const double *sum, size_t *bounds, size_t *count, const struct tk_changepoint_options *o, double tau,
        struct step *steps)
{
	size_t from = 1, to = *count; /* the steps that are not measured yet */

	for (;;) {
		size_t weakest = 0;

		for (size_t i = from; i < to; i++)
			steps[i] = glance(sum, &bounds[i], tau);
		for (size_t i = 1; i < *count; i++)
			if ((steps[i].z < o->z || fabs(steps[i].shift) < log1p(o->min_effect)) &&
			        (!weakest || steps[i].z < steps[weakest].z))
				weakest = i;
		if (!weakest)
			return;
		memmove(bounds + weakest, bounds + weakest + 1, (*count - weakest) * sizeof *bounds);
		memmove(steps + weakest, steps + weakest + 1, (*count - weakest - 1) * sizeof *steps);
		--*count;
		from = weakest > 1 ? weakest - 1 : 1;
		to = weakest < *count ? weakest + 1 : *count;
	}
}

/* What two levels leave of the squares that a straight line leaves. */
static double squares_left(const double *sum, const size_t *bound)
{
	size_t a = bound[-1], b = bound[0], c = bound[1];
	double n = (double)(c - a), before = (sum[b] - sum[a]) / (double)(b - a),
	       after = (sum[c] - sum[b]) / (double)(c - b), mean = (sum[c] - sum[a]) / n, middle = (n - 1) / 2,
	       levels = 0, total = 0, slope = 0;

	for (size_t t = a; t < c; t++) {
		double y = sum[t + 1] - sum[t];

		levels += pow(y - (t < b ? before : after), 2);
		total += (y - mean) * (y - mean);
		slope += (y - mean) * ((double)(t - a) - middle);
	}
	/* a line takes slope^2 / Sxx off the squares about the mean; Sxx = n (n^2 - 1) / 12 */
	return levels / fmax(total - slope * slope * 12 / (n * (n * n - 1)), 1e-300);
}

/* A drift is no step: takes back what a line through both segments explains as well, worst first. */
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
		memmove(bounds + which, bounds + which + 1, (*count - which) * sizeof *bounds);
		--*count;
	}
}

static double median_of(const double *logs, size_t from, size_t to, double *work)
{
	memcpy(work, logs + from, (to - from) * sizeof *work);
	return exp(tk_select(work, to - from, 0.5));
}

static struct tk_changepoint describe(
        const double *logs, const size_t *bounds, const struct step *step, double z, const size_t *where, double *work)
{
	return (struct tk_changepoint){
	        .index = where[bounds[0]],
	        .before = median_of(logs, bounds[-1], bounds[0], work),
	        .after = median_of(logs, bounds[0], bounds[1], work),
	        .change = expm1(step->shift),
	        .lo = expm1(step->shift - z * step->error),
	        .hi = expm1(step->shift + z * step->error),
	        .p = tk_normal_p(step->z),
	};
}

struct scratch {
	double *logs, *y, *work, *sum; /* sum: of the calm logarithms before each point */
	size_t *where, *bounds;
	struct step *steps;
	struct fit fit;
};

static void scratch_free(struct scratch *s)
{
	free(s->logs), free(s->y), free(s->work), free(s->sum), free(s->where), free(s->bounds), free(s->steps);
	free(s->fit.may_start), free(s->fit.start), free(s->fit.now.at), free(s->fit.next.at);
}

static bool scratch_make(struct scratch *s, size_t n)
{
	s->logs = calloc(n, sizeof *s->logs);
	s->y = calloc(n, sizeof *s->y);
	s->work = calloc(n + 1, sizeof *s->work);
	s->sum = calloc(n + 1, sizeof *s->sum);
	s->where = calloc(n, sizeof *s->where);
	s->bounds = calloc(n + 1, sizeof *s->bounds);
	s->steps = calloc(n, sizeof *s->steps);
	s->fit.start = calloc(n, sizeof *s->fit.start);
	s->fit.may_start = calloc(n, sizeof *s->fit.may_start);
	return s->logs && s->y && s->work && s->sum && s->where && s->bounds && s->steps && s->fit.start &&
	       s->fit.may_start;
}

static void sum_up(struct scratch *s, size_t n, double tau)
{
	tk_calm(s->logs, n, CALM * tau, s->sum + 1);
	s->sum[0] = 0;
	for (size_t i = 0; i < n; i++)
		s->sum[i + 1] = s->sum[i] + (s->sum[i + 1] - s->logs[0]);
}

/* One fit of s->logs[0 .. n) in units of tau, into bounds and steps. */
static int fit_levels(struct scratch *s, size_t n, const struct tk_changepoint_options *o, double tau, size_t *segments)
{
	memcpy(s->y, s->logs, n * sizeof *s->y);
	s->fit.now.count = s->fit.next.count = 0;
	s->fit.y = s->y;
	s->fit.n = n;
	s->fit.outlier = o->outlier;
	s->fit.beta = o->penalty * 2 * log((double)n);
	*segments = 1;
	s->bounds[0] = 0;
	s->bounds[1] = n;
	if (!normalise(s->y, n, tau, &s->fit.lo, &s->fit.hi, s->work))
		return TK_OK;
	find_starts(&s->fit, s->work);
	if (!run_fit(&s->fit))
		return TK_ENOMEM;
	*segments = trace_back(&s->fit, s->bounds);
	s->bounds[*segments] = n;
	sum_up(s, n, tau);
	prune(s->sum, s->bounds, segments, o, tau, s->steps);
	return TK_OK;
}

/* What is left of s->logs without the levels, into s->y. */
static void take_levels_out(struct scratch *s, size_t segments)
{
	for (size_t g = 0; g < segments; g++) {
		size_t from = s->bounds[g], count = s->bounds[g + 1] - from;
		double level;

		memcpy(s->work, s->logs + from, count * sizeof *s->work);
		level = tk_select(s->work, count, 0.5);
		for (size_t i = from; i < from + count; i++)
			s->y[i] = s->logs[i] - level;
	}
}

/* Segments of s->logs[0 .. n). Steps that were found are no noise: without them the noise is estimated anew, until that
 * changes nothing. */
static int segment(struct scratch *s, size_t n, const struct tk_changepoint_options *o, size_t *segments)
{
	struct tk_noise noise;
	double tau = INFINITY;
	int rc = tk_noise_of(s->logs, n, &noise);

	*segments = 1;
	for (int round = 0; !rc && round < ROUNDS; round++) {
		double next = fmax(noise.tau, LEAST_NOISE);

		if (next >= 0.98 * tau)
			break;
		tau = next;
		rc = fit_levels(s, n, o, tau, segments);
		take_levels_out(s, *segments);
		if (rc || *segments < 2)
			break;
		rc = tk_noise_of(s->y, n, &noise);
	}
	if (!rc && noise.tau > REMEMBERS * noise.sigma)
		rc = tk_refine(s->logs, s->y, n, log1p(o->min_effect), s->bounds, segments);
	if (!rc && *segments > 1)
		take_drifts_back(s->sum, s->bounds, segments);
	for (size_t i = 1; !rc && i < *segments; i++)
		rc = measure_step(s->logs, s->bounds[i - 1], s->bounds[i], s->bounds[i + 1], tau, &s->steps[i]);
	return rc;
}

int tk_changepoints(const double *x, const int64_t *day, size_t n, const struct tk_changepoint_options *options,
        struct tk_changepoint **out, size_t *count)
{
	const struct tk_changepoint_options *o = options ? options : &tk_changepoint_defaults;
	struct scratch s = {0};
	size_t kept = 0, segments = 1;
	int64_t *days = NULL;
	bool weekly;
	int rc = TK_ENOMEM;

	*out = NULL;
	*count = 0;
	if (n < MIN_POINTS)
		return TK_OK;
	days = malloc(n * sizeof *days);
	if (!days || !scratch_make(&s, n))
		goto out;
	for (size_t i = 0; i < n; i++)
		if (isfinite(x[i]) && x[i] > 0) {
			s.logs[kept] = log(x[i]);
			days[kept] = day ? day[i] : 0;
			s.where[kept++] = i;
		}
	rc = day ? tk_weekday_remove(s.logs, days, kept, &weekly) : TK_OK;
	if (!rc)
		rc = kept < MIN_POINTS ? TK_OK : segment(&s, kept, o, &segments);
	if (rc || segments < 2)
		goto out;
	*out = calloc(segments - 1, sizeof **out);
	if (!*out) {
		rc = TK_ENOMEM;
		goto out;
	}
	for (size_t i = 1; i < segments; i++)
		(*out)[i - 1] =
		        describe(s.logs, &s.bounds[i], &s.steps[i], tk_normal_z(1 - o->confidence), s.where, s.work);
	*count = segments - 1;
out:
	free(days);
	scratch_free(&s);
	return rc;
}
