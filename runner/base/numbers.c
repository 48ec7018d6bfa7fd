/* See numbers.h. */
#include "base/numbers.h"

#include <math.h>
#include <stdlib.h>

#define LARGEST 9007199254740992.0 /* 2^53: whole numbers up to here are exact */

void tk_number(struct tk_numbers *n, double *field)
{
	if (n->failed)
		return;
	if (n->reading) {
		n->failed = n->next == n->count;
		if (!n->failed)
			*field = n->at[n->next++];
		return;
	}
	if (n->count == n->cap) {
		size_t cap = n->cap ? 2 * n->cap : 256;
		double *grown = realloc(n->at, cap * sizeof *grown);

		n->failed = !grown;
		if (!grown)
			return;
		n->at = grown;
		n->cap = cap;
	}
	n->at[n->count++] = *field;
}

void tk_number_int(struct tk_numbers *n, int64_t *field)
{
	double x = (double)*field;

	tk_number(n, &x);
	n->failed |= !(fabs(x) <= LARGEST) || x != floor(x);
	if (!n->failed)
		*field = (int64_t)x;
}

void tk_number_size(struct tk_numbers *n, size_t *field, size_t most)
{
	int64_t x = (int64_t)*field;

	tk_number_int(n, &x);
	n->failed |= x < 0 || (uint64_t)x > most;
	if (!n->failed)
		*field = (size_t)x;
}

void tk_number_flag(struct tk_numbers *n, bool *field)
{
	size_t x = *field;

	tk_number_size(n, &x, 1);
	if (!n->failed)
		*field = x;
}

void tk_numbers_free(struct tk_numbers *n)
{
	free(n->at);
	*n = (struct tk_numbers){0};
}
