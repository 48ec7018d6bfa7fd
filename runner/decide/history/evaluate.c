/* Statistical tests of all cases: each series by itself, then the false-discovery rate of each
 * machine. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "base/try.h"
#include "decide/history/analysis.h"
#include "stats/compare.h"
#include "stats/summary.h"

/* ---- prior noise ---- */

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

void tk_analysis_estimate_priors(struct tk_analysis *c, double *prior)
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

/* ---- evaluate ---- */

static void test_case(const struct tk_analysis *c, struct tk_series_case *k, double prior)
{
	const bool by_window = c->options.baseline == TK_BASELINE_WINDOW;
	struct tk_level_test_input in = {.y = k->adjusted_y,
	        .se = k->se,
	        .n = k->count,
	        .range = k->range,
	        .window = c->options.window ? c->options.window : 1,
	        .prior_sigma = prior,
	        .worse = k->series->better == TK_BETTER_HIGHER ? -1 : 1};

	tk_level_test_run(&in, k->base, &k->adjusted);
	/* Against another baseline, when the level changed does not matter. */
	k->adjusted.earlier &= by_window;
	k->raw = k->adjusted;
	if (memcmp(k->adjusted_y, k->y, k->count * sizeof *k->y) == 0)
		return;
	in.y = k->y;
	tk_level_test_run(&in, k->base, &k->raw);
	k->raw.earlier &= by_window;
}

/* The tests of all cases, by several threads. */
struct tests {
	struct tk_analysis *c;
	const double *prior;
};

static void test_part(void *arg, int64_t first, int64_t count)
{
	const struct tests *t = arg;

	for (int64_t i = first; i < first + count; i++)
		if (t->c->at[i].range)
			test_case(t->c, &t->c->at[i], t->prior[i]);
}

/* q over the series of one machine; p and q are work space of c->count numbers. */
static void adjust_machine(struct tk_analysis *c, int64_t machine_id, double *p, double *q)
{
	for (size_t i = 0; i < c->count; i++) {
		const struct tk_series_case *k = &c->at[i];

		p[i] = k->machine->id == machine_id && k->range ? k->adjusted.best.p : NAN;
	}
	tk_fdr_adjust(p, c->count, q);
	for (size_t i = 0; i < c->count; i++)
		if (!isnan(q[i]))
			c->at[i].q = q[i];
}

static void control_fdr(struct tk_analysis *c)
{
	const struct tk_rows *machines = &c->catalog.machines.rows;
	double *work = tk_calloc(2 * c->count + 1, sizeof *work);

	for (size_t m = 0; m < machines->count; m++)
		adjust_machine(c, TK_ROWS_AT(machines, struct tk_machine_row, m)->id, work,
		        work + c->count);
	free(work);
}

static void use_uncorrected_p(struct tk_analysis *c)
{
	for (size_t i = 0; i < c->count; i++)
		c->at[i].q = c->at[i].range ? c->at[i].adjusted.best.p : NAN;
}

int tk_analysis_evaluate(struct tk_analysis *c, struct tk_error *err)
{
	TRY(tk_analysis_remove_common_mode(c, err));

	double *prior = tk_calloc(c->count + 1, sizeof *prior);
	struct tests t = {.c = c, .prior = prior};

	tk_analysis_estimate_priors(c, prior);
	tk_parallel_for((int64_t)c->count, TK_CASES_PER_PART, test_part, &t);
	free(prior);
	if (c->options.uncorrected)
		use_uncorrected_p(c);
	else
		control_fdr(c);
	return TK_OK;
}
