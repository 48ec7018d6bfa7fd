/* Optimal partitioning (Jackson et al. 2005), pruned (Killick et al. 2012), over candidates: see
 * partition.h. */
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "stats/changepoint_internal.h"

#define LANES 8 /* maxima that need not wait for each other */
#define PRUNE_EVERY \
	32 /* candidates: to look for those that can be forgotten costs as much as to use them */

/* Distances of the means of `width` points on both sides, fewer at the ends; 0 at 0 and n. */
static void contrasts(const double *sum, size_t n, size_t width, double *out)
{
	double part = 1 / (double)width;
	size_t full = n > 2 * width ? n - width : 0; /* width .. full have all their points */

	out[0] = out[n] = 0;
	for (size_t t = 1; t < n; t++) {
		size_t lo = t > width ? t - width : 0, hi = t + width < n ? t + width : n;

		if (full && t == width)
			t = full;
		else
			out[t] = fabs((sum[hi] - sum[t]) / (double)(hi - t) -
			              (sum[t] - sum[lo]) / (double)(t - lo));
	}
	for (size_t t = width; full && t <= full; t++)
		out[t] = fabs(sum[t + width] - 2 * sum[t] + sum[t - width]) * part;
}

/* The starts of segments that are tried, and n after them, into w->start; returns their number. */
static size_t find_candidates(struct tk_partition_workspace *w, const double *sum, size_t n,
        double tau, double min_contrast)
{
	static const size_t widths[] = {2, 5, 12, 30, 75};
	const double *c = w->contrast;
	size_t count = 1;

	memset(w->may_start, 0, n * sizeof *w->may_start);
	for (size_t i = 0; i < sizeof widths / sizeof *widths; i++) {
		double bar = min_contrast * tau * sqrt(2 / (double)widths[i]);

		contrasts(sum, n, widths[i], w->contrast);
		for (size_t t = 1; t < n; t++)
			w->may_start[t] |= (c[t] > bar) & (c[t] >= c[t - 1]) & (c[t] >= c[t + 1]);
	}
	w->start[0] = 0;
	for (size_t t = 1; t < n; t++) {
		w->start[count] = t;
		count += w->may_start[t];
	}
	w->start[count] = n;
	return count;
}

/* What the squares are less by, with the best fit up to each open candidate and one segment from
 * there to `end`, into w->cost, less is better; returns the place of the best. */
static size_t best_of(struct tk_partition_workspace *w, size_t count, double end, double sum)
{
	double best[LANES];
	size_t i = 0;

	for (size_t k = 0; k < count; k++)
		w->cost[k] =
		        w->before[k] - (sum - w->sum[k]) * (sum - w->sum[k]) / (end - w->at[k]);
	for (size_t k = 0; k < LANES; k++)
		best[k] = w->cost[0];
	for (; i + LANES <= count; i += LANES)
		for (size_t k = 0; k < LANES; k++)
			best[k] = w->cost[i + k] < best[k] ? w->cost[i + k] : best[k];
	for (; i < count; i++)
		best[0] = w->cost[i] < best[0] ? w->cost[i] : best[0];
	for (size_t k = 1; k < LANES; k++)
		best[0] = best[k] < best[0] ? best[k] : best[0];
	for (i = 0; w->cost[i] > best[0]; i++)
		;
	return i;
}

/* Who is not better now by the penalty of a change never will be. */
static size_t forget(struct tk_partition_workspace *w, size_t count, double bar)
{
	size_t kept = 0;

	for (size_t k = 0; k < count; k++) {
		w->open[kept] = w->open[k];
		w->at[kept] = w->at[k];
		w->sum[kept] = w->sum[k];
		w->before[kept] = w->before[k];
		kept += w->cost[k] < bar;
	}
	return kept;
}

static size_t trace_back(const struct tk_partition_workspace *w, size_t last, size_t *bounds)
{
	size_t segments = 0;

	for (size_t i = last; i > 0; i = w->from[i])
		segments++;
	bounds[segments] = w->start[last];
	for (size_t i = last, k = segments; i > 0; i = w->from[i])
		bounds[--k] = w->start[w->from[i]];
	return segments;
}

size_t tk_partition_fit(struct tk_partition_workspace *w, const double *sum, size_t n, double tau,
        double min_contrast, double penalty, size_t *bounds)
{
	size_t count = find_candidates(w, sum, n, tau, min_contrast), open = 1;

	w->open[0] = 0;
	w->at[0] = w->sum[0] = w->before[0] = 0;
	for (size_t i = 1; i <= count; i++) {
		size_t t = w->start[i], best = best_of(w, open, (double)t, sum[t]);
		double cost = w->cost[best] + penalty;

		w->from[i] = w->open[best];
		if (i % PRUNE_EVERY == 0)
			open = forget(w, open, cost);
		w->open[open] = i;
		w->at[open] = (double)t;
		w->sum[open] = sum[t];
		w->before[open++] = cost;
	}
	return trace_back(w, count, bounds);
}

/* ---- recurrent state ---- */

#define MOST 21   /* nights of a visit */
#define ALIKE 0.3 /* two sizes differ by so much of the larger one, at most */

static double level(const double *sum, const size_t *bounds, size_t g)
{
	return (sum[bounds[g + 1]] - sum[bounds[g]]) / (double)(bounds[g + 1] - bounds[g]);
}

static bool alike(double a, double b)
{
	return fabs(a - b) <= ALIKE * fmax(fabs(a), fabs(b));
}

/* How far segment g is off the level before and after it; 0: it is too long, or the level does not
 * come back. */
static double visit(const double *sum, const size_t *bounds, size_t segments, size_t g)
{
	double before, after, here = level(sum, bounds, g);

	if (bounds[g + 1] - bounds[g] > MOST || segments < 2)
		return 0;
	if (g == 0)
		return here - level(sum, bounds, 1);
	before = here - level(sum, bounds, g - 1);
	if (g + 1 == segments)
		return before;
	after = here - level(sum, bounds, g + 1);
	return before * after > 0 && alike(before, after) ? (before + after) / 2 : 0;
}

/* The size of the visits of a state: that of two similar visits of the same direction, not at the
 * ends. 0: there is none. */
static double state(const double *size, size_t segments)
{
	for (size_t g = 1; g + 1 < segments; g++)
		for (size_t h = g + 1; size[g] != 0 && h + 1 < segments; h++)
			if (size[g] * size[h] > 0 && alike(size[g], size[h]))
				return fabs(size[g] + size[h]) / 2;
	return 0;
}

static void drop(size_t *bounds, size_t *segments, size_t g)
{
	size_t first = g ? g : 1, gone = g && g + 1 < *segments ? 2 : 1;

	memmove(bounds + first, bounds + first + gone,
	        (*segments + 1 - first - gone) * sizeof *bounds);
	*segments -= gone;
}

void tk_recurrent_state_remove(const double *sum, size_t *bounds, size_t *segments, double *work)
{
	double size = 0;

	for (bool more = true; more;) {
		size_t shortest = 0;

		more = false;
		for (size_t g = 0; g < *segments; g++)
			work[g] = visit(sum, bounds, *segments, g);
		if (size == 0)
			size = state(work, *segments);
		for (size_t g = 0; size > 0 && g < *segments; g++)
			if (alike(fabs(work[g]), size) &&
			        (!more || bounds[g + 1] - bounds[g] <
			                          bounds[shortest + 1] - bounds[shortest])) {
				shortest = g;
				more = true;
			}
		if (more)
			drop(bounds, segments, shortest);
	}
}
