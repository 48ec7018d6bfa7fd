/* Lines of the charts over size. One line is one sweep: all its problems have one batch, or one
 * number of tokens (batch x length), so that nothing but the length differs along it; or one
 * length, so that nothing but the batch does. */
#ifndef TK_SITE_SWEEPS_H
#define TK_SITE_SWEEPS_H
#include <stdbool.h>
#include <stddef.h>

#include "site_gen/model/axes.h"

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

#endif
