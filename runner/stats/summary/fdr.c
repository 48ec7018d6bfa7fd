/* Benjamini-Hochberg q-values: see fdr.h. */
#include "stats/summary/fdr.h"

#include <math.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/memory.h"

struct ranked {
	double p;
	size_t at;
};

static int descending(const void *a, const void *b)
{
	double x = ((const struct ranked *)a)->p, y = ((const struct ranked *)b)->p;

	return (x < y) - (x > y);
}

int tk_fdr_adjust(const double *p, size_t n, double *q)
{
	struct ranked *r;
	size_t tests = 0;
	double least = 1;

	if (n == 0)
		return TK_OK;
	r = tk_malloc(n * sizeof *r);
	for (size_t i = 0; i < n; i++) {
		q[i] = NAN;
		if (!isnan(p[i]))
			r[tests++] = (struct ranked){p[i], i};
	}
	if (tests)
		qsort(r, tests, sizeof *r, descending);
	for (size_t i = 0; i < tests; i++) {
		least = fmin(least, r[i].p * (double)tests / (double)(tests - i));
		q[r[i].at] = least;
	}
	free(r);
	return TK_OK;
}
