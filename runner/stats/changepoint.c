/* R-FPOP on logarithms, then a strict look at every step it found: see changepoint.h. */
#include "stats/changepoint.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "stats/compare.h"
#include "stats/noise.h"
#include "stats/refine.h"
#include "stats/scale.h"
#include "stats/summary.h"
#include "stats/weekday.h"

const struct tk_changepoint_options tk_changepoint_defaults = {
        .min_effect = 0.005,
        .penalty = 0.9,
        .outlier = 2.5,
        .z = 3.5,
        .confidence = 0.95,
};

#define LEAST_NOISE 1e-5 /* relative: no clock is better, and a constant series has no noise of its own */
#define MIN_POINTS 4
#define ROUNDS 3
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

static double upper_end(const struct fit *f, size_t i)
{
	return i + 1 < f->now.count ? f->now.at[i + 1].lo : f->hi;
}

static double cheapest(const struct fit *f, uint32_t *start)
{
	double best = INFINITY;

	for (size_t i = 0; i < f->now.count; i++) {
		const struct piece *p = &f->now.at[i];
		double t = p->a > 0 ? fmin(fmax(-p->b / (2 * p->a), p->lo), upper_end(f, i)) : p->lo;
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

			left = d > 0 ? fmin(fmax((-p.b - root) / (2 * p.a), p.lo), hi) : hi;
			right = d > 0 ? fmin(fmax((-p.b + root) / (2 * p.a), p.lo), hi) : hi;
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
			double end = zone < 2 ? fmin(cut[zone], hi) : hi;
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

static bool run_fit(struct fit *f)
{
	double cost = 0;

	if (!push(&f->now, (struct piece){f->lo, 0, 0, 0, 0}))
		return false;
	for (size_t t = 0; t < f->n; t++) {
		if (t > 0 && !offer_change(f, cost + f->beta, (uint32_t)t))
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
	median = tk_median(work, n);
	*lo = (work[0] - median) / tau;
	*hi = (work[n - 1] - median) / tau;
	for (size_t i = 0; i < n; i++)
		y[i] = (y[i] - median) / tau;
	return *hi > *lo;
}

struct step {
	double shift, z, error;
};

/* The step between neighbouring segments [a, b) and [b, c) of logarithms. */
static int measure_step(const double *logs, size_t a, size_t b, size_t c, double tau, struct step *out)
{
	int rc = tk_hodges_lehmann(logs + a, b - a, logs + b, c - b, tau / 1000, &out->shift);

	/* 0.955: efficiency of the Hodges-Lehmann estimate under normal noise */
	out->error = tau * sqrt((1.0 / (double)(b - a) + 1.0 / (double)(c - b)) / 0.955);
	out->z = fabs(out->shift) / out->error;
	return rc;
}

/* Takes back what is too small or not borne out, weakest first. bounds[count] is n. Leaves the steps in `steps`,
 * steps[i] at bounds[i]. */
static int prune(const double *logs, size_t *bounds, size_t *count, const struct tk_changepoint_options *o, double tau,
        struct step *steps)
{
	size_t from = 1, to = *count; /* the steps that are not measured yet */

	for (;;) {
		size_t weakest = 0;

		for (size_t i = from; i < to; i++) {
			int rc = measure_step(logs, bounds[i - 1], bounds[i], bounds[i + 1], tau, &steps[i]);

			if (rc)
				return rc;
		}
		for (size_t i = 1; i < *count; i++)
			if ((steps[i].z < o->z || fabs(steps[i].shift) < log1p(o->min_effect)) &&
			        (!weakest || steps[i].z < steps[weakest].z))
				weakest = i;
		if (!weakest)
			return TK_OK;
		memmove(bounds + weakest, bounds + weakest + 1, (*count - weakest) * sizeof *bounds);
		memmove(steps + weakest, steps + weakest + 1, (*count - weakest - 1) * sizeof *steps);
		--*count;
		from = weakest > 1 ? weakest - 1 : 1;
		to = weakest < *count ? weakest + 1 : *count;
	}
}

static double median_of(const double *logs, size_t from, size_t to, double *work)
{
	memcpy(work, logs + from, (to - from) * sizeof *work);
	return exp(tk_median(work, to - from));
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
	double *logs, *y, *work;
	size_t *where, *bounds;
	struct step *steps;
	struct fit fit;
};

static void scratch_free(struct scratch *s)
{
	free(s->logs), free(s->y), free(s->work), free(s->where), free(s->bounds), free(s->steps);
	free(s->fit.start), free(s->fit.now.at), free(s->fit.next.at);
}

static bool scratch_make(struct scratch *s, size_t n)
{
	s->logs = calloc(n, sizeof *s->logs);
	s->y = calloc(n, sizeof *s->y);
	s->work = calloc(n, sizeof *s->work);
	s->where = calloc(n, sizeof *s->where);
	s->bounds = calloc(n + 1, sizeof *s->bounds);
	s->steps = calloc(n, sizeof *s->steps);
	s->fit.start = calloc(n, sizeof *s->fit.start);
	return s->logs && s->y && s->work && s->where && s->bounds && s->steps && s->fit.start;
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
	if (!run_fit(&s->fit))
		return TK_ENOMEM;
	*segments = trace_back(&s->fit, s->bounds);
	s->bounds[*segments] = n;
	return prune(s->logs, s->bounds, segments, o, tau, s->steps);
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
