/* Statistical tests of all cases: each series by itself, then the false-discovery rate of each
 * machine. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "base/try.h"
#include "decide/history/case_set.h"
#include "stats/compare.h"

static void test_case(const struct tk_case_set *c, struct tk_series_case *k, double prior)
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
	struct tk_case_set *c;
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
static void adjust_machine(struct tk_case_set *c, int64_t machine_id, double *p, double *q)
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

static void control_fdr(struct tk_case_set *c)
{
	const struct tk_rows *machines = &c->catalog.machines.rows;
	double *work = tk_calloc(2 * c->count + 1, sizeof *work);

	for (size_t m = 0; m < machines->count; m++)
		adjust_machine(c, TK_ROWS_AT(machines, struct tk_machine_row, m)->id, work,
		        work + c->count);
	free(work);
}

static void use_uncorrected_p(struct tk_case_set *c)
{
	for (size_t i = 0; i < c->count; i++)
		c->at[i].q = c->at[i].range ? c->at[i].adjusted.best.p : NAN;
}

int tk_case_set_evaluate(struct tk_case_set *c, struct tk_error *err)
{
	TRY(tk_case_set_remove_common_mode(c, err));

	double *prior = tk_calloc(c->count + 1, sizeof *prior);
	struct tests t = {.c = c, .prior = prior};

	tk_case_set_estimate_priors(c, prior);
	tk_parallel_for((int64_t)c->count, TK_CASES_PER_PART, test_part, &t);
	free(prior);
	if (c->options.uncorrected)
		use_uncorrected_p(c);
	else
		control_fdr(c);
	return TK_OK;
}
