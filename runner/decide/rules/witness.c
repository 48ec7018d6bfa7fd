/* Witnesses for the code: see witness.h. */
#include "decide/rules/witness.h"

#include <math.h>

#define FLAT_SHARE 0.1
#define FLAT_MIN 2
#define FLAT_ERRORS 3.0    /* standard errors of a move that is none */
#define FLAT_LOG_LR 3.0    /* that a series stayed instead of moving along */
#define LEAST_ERROR 0.0005 /* quantised values may not differ at all */

double tk_move_error(double sd, size_t before, size_t nights)
{
	return fmax(LEAST_ERROR, sd * sqrt(1 / (double)nights + 1 / (double)before));
}

/* It stayed: it has not moved by itself, and one that moved by `change` would look otherwise. */
static bool is_flat(const struct tk_move *m, double change)
{
	return fabs(m->change) <= FLAT_ERRORS * m->error &&
	       change * (change - 2 * m->change) > 2 * FLAT_LOG_LR * m->error * m->error;
}

bool tk_moves_have_flat(const struct tk_move *moves, size_t n, double change)
{
	size_t flat = 0;

	for (size_t i = 0; i < n; i++)
		flat += is_flat(&moves[i], change);
	return flat >= FLAT_MIN && (double)flat >= FLAT_SHARE * (double)n;
}
