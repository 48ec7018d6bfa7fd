/* Change points in autocorrelated noise: seeded intervals (Kovacs et al. 2023) add the strongest
 * first, then the weakest are removed. */
#include "stats/changepoint/refine.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "stats/changepoint/ar1.h"
#include "stats/summary/noise.h"
#include "stats/summary/quantile.h"
#include "stats/summary/winsorize.h"

#define Z 4.5         /* of a change */
#define LEAST 3       /* points on both sides */
#define BLURRED 7     /* nights, of which winsorizing may make a level of spikes that differ */
#define RETURNS 0.5   /* of a step is left when the level returns */
#define SHORTEST 20.0 /* intervals, each half over the next; the next size is GROW times longer */
#define GROW 1.6
#define ROUNDS 3
#define SPIKE \
	3 /* values are pulled in to so many standard deviations of the median of the seven around \
	     them */

struct candidate {
	size_t at;
	double z;
};

struct refine {
	struct tk_ar1_model noise;
	struct tk_ar1_table table;
	const double *raw;
	double *y, *work; /* without spikes; n values of scratch */
	double reach;     /* further from its level, a value is a spike */
	size_t n;
	double min_effect;
	size_t *bounds, segments;
	struct candidate *found;
	size_t count, cap;
};

static int scan(struct refine *f, size_t from, size_t to)
{
	double z = 0;
	size_t at = to - from >= 2 * LEAST ? tk_ar1_scan_steps(&f->table, f->y + from, to - from,
	                                             LEAST, f->work, &z)
	                                   : 0;

	if (!at || fabs(z) < Z)
		return TK_OK;
	if (f->count == f->cap) {
		size_t cap = f->cap ? 2 * f->cap : 64;
		struct candidate *found = tk_realloc(f->found, cap * sizeof *found);

		f->found = found;
		f->cap = cap;
	}
	f->found[f->count++] = (struct candidate){from + at, fabs(z)};
	return TK_OK;
}

static int scan_segment(struct refine *f, size_t from, size_t to)
{
	int status = scan(f, from, to);

	for (double size = SHORTEST; size < (double)(to - from); size *= GROW)
		for (double at = (double)from; !status && at + size <= (double)to + 1;
		        at += size / 2)
			status = scan(
			        f, (size_t)at, at + size > (double)to ? to : (size_t)(at + size));
	return status;
}

static int strongest_first(const void *a, const void *b)
{
	const struct candidate *x = a, *y = b;

	if (x->z != y->z)
		return x->z > y->z ? -1 : 1;
	return (x->at > y->at) - (x->at < y->at);
}

/* The change at bounds[i], between its neighbours. */
static struct tk_ar1_step step_at(const struct refine *f, size_t i)
{
	struct tk_ar1_step step;
	size_t from = f->bounds[i - 1];

	tk_ar1_step(&f->noise, f->y + from, f->bounds[i + 1] - from, f->bounds[i] - from, &step);
	return step;
}

static bool stands(const struct refine *f, size_t i, double *z)
{
	struct tk_ar1_step step = step_at(f, i);

	*z = fabs(step.z);
	return *z >= Z && fabs(step.shift) >= f->min_effect;
}

static void drop(struct refine *f, size_t i)
{
	memmove(f->bounds + i, f->bounds + i + 1, (f->segments - i) * sizeof *f->bounds);
	f->segments--;
}

static bool insert(struct refine *f, size_t at)
{
	size_t i = 1;
	double z;

	while (f->bounds[i] < at)
		i++;
	if (at - f->bounds[i - 1] < LEAST || f->bounds[i] - at < LEAST)
		return false;
	memmove(f->bounds + i + 1, f->bounds + i, (f->segments - i + 1) * sizeof *f->bounds);
	f->bounds[i] = at;
	f->segments++;
	if (stands(f, i, &z))
		return true;
	drop(f, i);
	return false;
}

static void take_back(struct refine *f)
{
	for (;;) {
		double least = INFINITY;
		size_t weakest = 0;

		for (size_t i = 1; i < f->segments; i++) {
			double z;

			if (!stands(f, i, &z) && z < least) {
				least = z;
				weakest = i;
			}
		}
		if (!weakest)
			return;
		drop(f, weakest);
	}
}

static void settle(struct refine *f)
{
	for (size_t i = 1; i < f->segments; i++) {
		double z;
		size_t from = f->bounds[i - 1], at = tk_ar1_scan_steps(&f->table, f->y + from,
		                                        f->bounds[i + 1] - from, 2, f->work, &z);

		if (at)
			f->bounds[i] = from + at;
	}
}

/* Whether LEAST nights of segment g are alike, as they were measured. */
static bool is_level(const struct refine *f, size_t g)
{
	size_t from = f->bounds[g], nights = f->bounds[g + 1] - from, near = 0;
	double level;

	if (nights > BLURRED)
		return true;
	memcpy(f->work, f->raw + from, nights * sizeof *f->work);
	level = tk_quantile_select(f->work, nights, 0.5);
	for (size_t i = from; i < from + nights; i++)
		near += fabs(f->raw[i] - level) <= f->reach;
	return near >= LEAST;
}

/* Winsorizing makes a level of spikes side by side: removes both changes at a short segment that is
 * none where the level returns after it, else the weaker one. */
static void take_spikes_back(struct refine *f)
{
	for (size_t g = 1; g + 1 < f->segments;) {
		struct tk_ar1_step begin, end;
		double larger;

		if (is_level(f, g)) {
			g++;
			continue;
		}
		begin = step_at(f, g), end = step_at(f, g + 1);
		larger = fmax(fabs(begin.shift), fabs(end.shift));
		drop(f, fabs(begin.z) < fabs(end.z) ? g : g + 1);
		if (fabs(begin.shift + end.shift) < RETURNS * larger)
			drop(f, g);
		take_back(f);
		g = 1;
	}
}

static int look_again(struct refine *f)
{
	int status = TK_OK;

	for (int round = 0; !status && round < ROUNDS; round++) {
		bool more = false;

		f->count = 0;
		for (size_t g = 0; !status && g < f->segments; g++)
			status = scan_segment(f, f->bounds[g], f->bounds[g + 1]);
		if (f->count)
			qsort(f->found, f->count, sizeof *f->found, strongest_first);
		for (size_t i = 0; !status && i < f->count; i++)
			more |= insert(f, f->found[i].at);
		take_back(f);
		settle(f);
		if (!more)
			break;
	}
	return status;
}

int tk_changepoint_refine(const double *y, double *r, size_t n, double min_effect, size_t *bounds,
        size_t *segments, bool *holds)
{
	struct refine f = {
	        .n = n, .min_effect = min_effect, .bounds = bounds, .segments = *segments};
	double sigma;
	int status;

	*holds = false;
	f.y = tk_malloc(2 * n * sizeof *f.y);
	f.work = f.y + n;
	status = tk_noise_estimate_sigma(r, n, f.work, &sigma);
	if (status) {
		free(f.y);
		return status;
	}
	sigma = fmax(sigma, tk_noise_mad(r, n, f.work));
	tk_winsorize(r, n, SPIKE * sigma, f.work);
	memcpy(r, f.work, n * sizeof *r);
	status = tk_ar1_fit(r, n, &f.noise);
	if (!status)
		status = tk_ar1_check_fit(&f.noise, r, n, holds);
	if (!status && *holds) {
		tk_winsorize(y, n, SPIKE * sigma, f.y);
		f.raw = y;
		f.reach = SPIKE * sigma;
		status = tk_ar1_table_init(&f.noise, n, &f.table) ? look_again(&f) : TK_ENOMEM;
		take_spikes_back(&f);
		*segments = f.segments;
	}
	tk_ar1_table_free(&f.table);
	free(f.found);
	free(f.y);
	return status;
}
