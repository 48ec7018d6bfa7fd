/* Lines of the charts over size. One line is one sweep: all its problems have one batch, or one
 * number of tokens (batch x length), so that nothing but the length differs along it; or one
 * length, so that nothing but the batch does. */
#ifndef TK_SITE_SWEEPS_H
#define TK_SITE_SWEEPS_H
#include <stdbool.h>
#include <stddef.h>

struct tk_axes;
struct tk_problem_row;
struct tk_error;

#define TK_SWEEP_SIZES_MIN 3 /* fewer sizes are no line */

struct tk_sweep {
	size_t *members; /* indices of the problems, by size */
	size_t count;
	/* what all have; 0: not constant, or not needed to tell sweeps apart */
	double batch, tokens;
	double length; /* > 0: all have it, and the line is over the batch */
};
struct tk_sweeps {
	struct tk_sweep *at; /* the longest first */
	size_t count;
};

/* axes[i] belongs to problem i; those without a sweep are left out. over_batch: lines over the
 * batch, too. Free with tk_sweeps_free, also after a failure. */
void tk_sweeps_find(const struct tk_axes *axes, size_t count, bool over_batch, size_t max,
        struct tk_sweeps *out);
/* Where a problem is on the line. */
double tk_sweep_place(const struct tk_sweep *sweep, const struct tk_axes *axes);
void tk_sweeps_free(struct tk_sweeps *sweeps);

/* "Forward, causal, head dimension 256, f16, 16 heads" from the keys of a problem ("causal=1 d=256
 * dir=fwd dtype=f16 h=16 hkv=16"). Returns `out`. */
#define TK_SWEEP_TITLE_SIZE 240
const char *tk_sweep_format_title(const char *keys, char out[TK_SWEEP_TITLE_SIZE]);

/* A problem as a point of a sweep: what varies along it, and what is constant. For maps and
 * scaling charts. */

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

/* Orders the constant keys of maps and charts: forward before backward. */
int tk_axes_compare_rest(const char *a, const char *b);
bool tk_axes_from_problem(
        const struct tk_problem_row *p, struct tk_axes *out); /* false: this op has no sweeps */
const struct tk_axes_names *tk_axes_names(const char *op);    /* NULL: no sweeps */

#endif
