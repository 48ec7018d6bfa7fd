/* A problem as a point of a sweep: what varies along it, and what is constant. For maps and
 * scaling charts. */
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
	char rest[200];  /* the other keys: equal for the problems of one map */
	char sweep[240]; /* equal for the problems of one line over x */
};

/* Titles of rows, columns and the x axis. */
struct tk_axes_names {
	const char *row, *column, *x;
};

/* The number of a key of "op:key=value,..."; 0: none. */
double tk_problem_text_number(const char *text, const char *key);
/* Orders the constant keys of maps and charts: forward before backward. */
int tk_axes_compare_rest(const char *a, const char *b);
bool tk_axes_from_problem(
        const struct tk_problem_row *p, struct tk_axes *out); /* false: this op has no sweeps */
const struct tk_axes_names *tk_axes_names(const char *op);    /* NULL: no sweeps */

#endif
