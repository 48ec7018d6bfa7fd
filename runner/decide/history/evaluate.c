/* Statistical tests of all cases: each series by itself, then the false-discovery rate of each
 * machine. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "decide/history/case_set.h"
#include "stats/compare.h"

static int test_case(const struct tk_case_set *c, struct tk_series_case *k, double prior)
{
	const bool by_window = c->options.baseline == TK_BASELINE_WINDOW;
	struct tk_level_test_input in = {.y = k->adjusted_y,
	        .se = k->se,
	        .n = k->count,
	        .range = k->range,
	        .window = c->options.window ? c->options.window : 1,
	        .prior_sigma = prior,
	        .worse = k->series->better == TK_BETTER_HIGHER ? -1 : 1};
	int status = tk_level_test_run(&in, k->base, &k->adjusted);

	if (status)
		return status;
	/* Against another baseline, when the level changed does not matter. */
	k->adjusted.earlier &= by_window;
	k->raw = k->adjusted;
	if (memcmp(k->adjusted_y, k->y, k->count * sizeof *k->y) == 0)
		return TK_OK;
	in.y = k->y;
	status = tk_level_test_run(&in, k->base, &k->raw);
	k->raw.earlier &= by_window;
	return status;
}

/* The tests of all cases, by several threads. */
struct tests {
	struct tk_case_set *c;
	const double *prior;
	_Atomic int status;
};

static void test_part(void *arg, int64_t first, int64_t count)
{
	struct tests *t = arg;
	int status = TK_OK;

	for (int64_t i = first; !status && i < first + count; i++)
		if (t->c->at[i].range)
			status = test_case(t->c, &t->c->at[i], t->prior[i]);
	if (status)
		t->status = status;
}

static int test_cases(struct tk_case_set *c, const double *prior, struct tk_error *err)
{
	struct tests t = {.c = c, .prior = prior};

	tk_parallel_for((int64_t)c->count, TK_CASES_PER_PART, test_part, &t);
	return t.status ? tk_fail(err, t.status, "out of memory while analysing series") : TK_OK;
}

/* q over the series of one machine; p and q are work space of c->count numbers. */
static int adjust_machine(struct tk_case_set *c, int64_t machine_id, double *p, double *q)
{
	int status;

	for (size_t i = 0; i < c->count; i++) {
		const struct tk_series_case *k = &c->at[i];

		p[i] = k->machine->id == machine_id && k->range ? k->adjusted.best.p : NAN;
	}
	status = tk_fdr_adjust(p, c->count, q);
	for (size_t i = 0; !status && i < c->count; i++)
		if (!isnan(q[i]))
			c->at[i].q = q[i];
	return status;
}

static int control_fdr(struct tk_case_set *c, struct tk_error *err)
{
	const struct tk_rows *machines = &c->catalog.machines.rows;
	double *work = tk_calloc(2 * c->count + 1, sizeof *work);
	int status = work ? TK_OK : TK_ENOMEM;

	for (size_t m = 0; !status && m < machines->count; m++)
		status = adjust_machine(c, TK_ROWS_AT(machines, struct tk_machine_row, m)->id, work,
		        work + c->count);
	free(work);
	return status ? tk_fail(err, TK_ENOMEM,
	                        "out of memory while controlling the false-discovery rate")
	              : TK_OK;
}

static void use_uncorrected_p(struct tk_case_set *c)
{
	for (size_t i = 0; i < c->count; i++)
		c->at[i].q = c->at[i].range ? c->at[i].adjusted.best.p : NAN;
}

int tk_case_set_evaluate(struct tk_case_set *c, struct tk_error *err)
{
	double *prior = tk_calloc(c->count + 1, sizeof *prior);
	int status = prior ? tk_case_set_remove_common_mode(c, err)
	                   : tk_fail(err, TK_ENOMEM, "out of memory while analysing series");

	if (!status)
		status = tk_case_set_estimate_priors(c, prior, err);
	if (!status)
		status = test_cases(c, prior, err);
	if (!status && c->options.uncorrected)
		use_uncorrected_p(c);
	else if (!status)
		status = control_fdr(c, err);
	free(prior);
	return status;
}
