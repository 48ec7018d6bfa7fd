/* Candidate change points, and the piecewise constant fit of least cost. Private to stats/. */
#ifndef TK_STATS_PARTITION_H
#define TK_STATS_PARTITION_H
#include <stdbool.h>
#include <stddef.h>

/* Scratch for n points: n + 1 of each. */
struct tk_partition_workspace {
	bool *may_start;
	size_t *start, *from, *open; /* candidates, where the segment before each starts, those that
	                                are still in it */
	double *contrast, *at, *sum, *before, *cost;
};

/* sum: n + 1 prefix sums, the first is 0. Least squares with a `penalty` for each change, and
 * changes only where the means of neighbouring points, of a few or of many, differ by
 * `min_contrast` standard errors at noise tau, and by more than one point earlier or later. bounds
 * gets the starts of the segments in ascending order, 0 first, and n after them; returns the number
 * of segments. */
size_t tk_partition_fit(struct tk_partition_workspace *w, const double *sum, size_t n, double tau,
        double min_contrast, double penalty, size_t *bounds);

#endif
