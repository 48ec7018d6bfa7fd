/* See base.h. */
#include "base/base.h"

#include <math.h>

#define LARGEST 9007199254740992.0 /* 2^53: whole numbers up to here are exact */

void tk_serialize_double(struct tk_serializer *n, double *field)
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
		n->cap = n->cap ? 2 * n->cap : 256;
		n->at = tk_reallocarray(n->at, n->cap, sizeof *n->at);
	}
	n->at[n->count++] = *field;
}

void tk_serialize_int(struct tk_serializer *n, int64_t *field)
{
	double x = (double)*field;

	n->failed |= !n->reading && (*field > (int64_t)LARGEST || *field < -(int64_t)LARGEST);
	tk_serialize_double(n, &x);
	n->failed |= !(fabs(x) <= LARGEST) || x != floor(x);
	if (!n->failed)
		*field = (int64_t)x;
}

void tk_serialize_size(struct tk_serializer *n, size_t *field, size_t most)
{
	int64_t x = (int64_t)*field;

	tk_serialize_int(n, &x);
	n->failed |= x < 0 || (uint64_t)x > most;
	if (!n->failed)
		*field = (size_t)x;
}

void tk_serialize_bool(struct tk_serializer *n, bool *field)
{
	size_t x = *field;

	tk_serialize_size(n, &x, 1);
	if (!n->failed)
		*field = x;
}

void tk_serializer_free(struct tk_serializer *n)
{
	free(n->at);
	*n = (struct tk_serializer){0};
}
