/* Visits of a state: see recurrent_state.h. */
#include "stats/changepoint/recurrent_state.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

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
