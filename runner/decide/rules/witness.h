/* Witnesses: series that stayed where they were while others of their machine moved. They show that
 * it was the code of those others, not the machine. Private to decide/. */
#ifndef TK_DECIDE_WITNESS_H
#define TK_DECIDE_WITNESS_H
#include <stdbool.h>
#include <stddef.h>

/* What a series did on one night, or since: a shift, a logarithm, and its standard error. NAN: too
 * few nights around it. */
struct tk_move {
	double change, error;
};

/* Of a level of `nights` nights against one of `before`, at a standard deviation of one night. */
double tk_move_error(double sd, size_t before, size_t nights);
/* A tenth of them, at least two, stayed: they have not moved, and would look otherwise if they had
 * moved by `change`. */
bool tk_moves_have_flat(const struct tk_move *moves, size_t n, double change);

#endif
