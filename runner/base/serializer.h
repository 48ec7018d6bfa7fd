/* The state of an object as a row of numbers. One function per object visits all its fields; the
 * same function writes the row or reads it back, so that the two cannot disagree. */
#ifndef TK_BASE_SERIALIZER_H
#define TK_BASE_SERIALIZER_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tk_serializer {
	double *at;
	size_t count, cap;
	size_t next;  /* index of the number to read */
	bool reading; /* false: the visited fields are appended */
	/* out of memory, or not a row of this object; the remaining fields keep their values */
	bool failed;
};

void tk_serialize_double(struct tk_serializer *n, double *field);
void tk_serialize_size(
        struct tk_serializer *n, size_t *field, size_t most);   /* reading fails above `most` */
void tk_serialize_int(struct tk_serializer *n, int64_t *field); /* -2^53 to 2^53 */
void tk_serialize_bool(struct tk_serializer *n, bool *field);
void tk_serializer_free(struct tk_serializer *n);

#endif
