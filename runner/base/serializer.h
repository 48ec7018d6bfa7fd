/* What an object knows, as a row of numbers: one function of it visits every field in turn, and so
 * both writes the row and reads it back. */
#ifndef TK_BASE_SERIALIZER_H
#define TK_BASE_SERIALIZER_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tk_serializer {
	double *at;
	size_t count, cap;
	size_t next;  /* to be read */
	bool reading; /* else what is visited is appended */
	bool failed;  /* out of memory, or the row is not what was written; fields keep their values
	                 from then on */
};

void tk_serialize_double(struct tk_serializer *n, double *field);
void tk_serialize_size(struct tk_serializer *n, size_t *field,
        size_t most); /* read: a whole number up to `most` */
void tk_serialize_int(struct tk_serializer *n, int64_t *field); /* up to 2^53 either way */
void tk_serialize_bool(struct tk_serializer *n, bool *field);
void tk_serializer_free(struct tk_serializer *n);

#endif
