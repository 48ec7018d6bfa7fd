/* The noise between nights that a series probably has, from the other series of its device.
 *
 * Series with a history give the best estimate. On the second night, when none has one, it is the
 * spread of the changes of those whose machine code is unchanged. */
#include <math.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "decide/history/case_set.h"
#include "stats/summary.h"

#define WITH_HISTORY_MIN 5
#define YOUNG_MIN 5
#define LEAST_PRIOR 0.0005

static int by_device(const void *a, const void *b)
{
	const struct tk_series_case *x = *(struct tk_series_case *const *)a,
	                            *y = *(struct tk_series_case *const *)b;

	return (x->device->id > y->device->id) - (x->device->id < y->device->id);
}

double tk_prior_noise_estimate(double *noises, size_t count)
{
	return count >= WITH_HISTORY_MIN ? fmax(LEAST_PRIOR, tk_median(noises, count)) : 0;
}

/* The noise of each series by itself, estimated by several threads. */
struct noises {
	struct tk_series_case *const *k;
	double *noise; /* 0: too few points */
};

static void estimate_part(void *arg, int64_t first, int64_t count)
{
	const struct noises *e = arg;

	for (int64_t i = first; i < first + count; i++)
		e->noise[i] = e->k[i]->range >= TK_PRIOR_POINTS_MIN
		                      ? tk_level_estimate_noise(e->k[i]->y, e->k[i]->range)
		                      : 0;
}

static double noise_from_history(struct tk_series_case *const *k, size_t n, double *work)
{
	struct noises e = {k, work};
	size_t count = 0;

	tk_parallel_for((int64_t)n, TK_CASES_PER_PART, estimate_part, &e);
	for (size_t i = 0; i < n; i++)
		if (work[i] > 0)
			work[count++] = work[i];
	return tk_prior_noise_estimate(work, count);
}

static double noise_from_spread(struct tk_series_case *const *k, size_t n, double *work)
{
	size_t count = 0;
	double median;

	for (size_t i = 0; i < n; i++)
		if (k[i]->range && k[i]->unchanged)
			work[count++] = k[i]->adjusted_y[k[i]->count - 1] -
			                k[i]->adjusted_y[k[i]->range - 1];
	if (count < YOUNG_MIN)
		return 0;
	median = tk_median(work, count);
	for (size_t i = 0; i < count; i++)
		work[i] = fabs(work[i] - median);
	return 1.4826 * tk_median(work, count) / M_SQRT2;
}

void tk_case_set_estimate_priors(struct tk_case_set *c, double *prior)
{
	struct tk_series_case **k = tk_calloc(c->count + 1, sizeof *k);
	double *work = tk_calloc(c->count + 1, sizeof *work);

	for (size_t i = 0; i < c->count; i++)
		k[i] = &c->at[i];
	if (c->count)
		qsort(k, c->count, sizeof *k, by_device);
	for (size_t i = 0, next; i < c->count; i = next) {
		double sigma;

		for (next = i; next < c->count && by_device(&k[i], &k[next]) == 0; next++)
			;
		sigma = noise_from_history(k + i, next - i, work);
		if (!(sigma > 0))
			sigma = fmax(TK_NOISE_DEFAULT, noise_from_spread(k + i, next - i, work));
		for (size_t j = i; j < next; j++)
			prior[k[j] - c->at] = sigma;
	}
	free(k);
	free(work);
}
