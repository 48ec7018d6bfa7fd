/* A problem as a point of a sweep: what is varied along it, and what stays. For maps and scaling
 * charts. */
#ifndef TK_SITE_AXES_H
#define TK_SITE_AXES_H
#include <stdbool.h>

struct tk_problem_row;

/* attention, nsa: sequence length (row) x batch (column), x is the length.
 * gemm: n x k (row) x m (column), x is m: of squares, and of each n x k. */
struct tk_axes {
	double x;
	double row_order, column_order;
	char row[48], column[24];
	char rest[200];  /* what else makes the problem: equal for the problems of one map */
	char sweep[240]; /* equal for the problems of one line over x */
};

/* What rows, columns and x are called. */
struct tk_axes_names {
	const char *row, *column, *x;
};

bool tk_axes_from_problem(const struct tk_problem_row *p,
        struct tk_axes *out);                              /* false: nothing of this op is swept */
const struct tk_axes_names *tk_axes_names(const char *op); /* NULL: nothing */

#endif
