/* How much faster or slower the code became: the geometric mean of the changes of several
 * series. */
#ifndef TK_DECIDE_DIFF_MEAN_H
#define TK_DECIDE_DIFF_MEAN_H
#include <stdbool.h>
#include <stddef.h>

#include "core/diff_row.h"

struct tk_diff_mean {
	double change;   /* positive is worse; NAN: no row counts */
	size_t rows;     /* that count */
	size_t nightly;  /* of them, rows known by nightly timings alone */
	size_t unstable; /* of these, rows whose timings are unstable */
	double sum;      /* of logarithms */
};

/* Rows that the environment changed or that cannot be compared do not count. Equal code and changes
 * from before the range count as no change; A/B runs count by what they measured. Start with
 * {.change = NAN}. */
void tk_diff_mean_add(struct tk_diff_mean *m, const struct tk_diff_row *r);
/* Most of its timings are unstable, which makes the mean unreliable. */
bool tk_diff_mean_is_unstable(const struct tk_diff_mean *m);

#define TK_DIFF_MEAN_TEXT_SIZE 128
/* "+1.2 %", with a caveat if it is unreliable; "-" if no row counts. */
const char *tk_diff_mean_format(const struct tk_diff_mean *m, char out[TK_DIFF_MEAN_TEXT_SIZE]);

#endif
