/* AR(1) noise under white noise, and the estimate of a step of level in it.
 *
 * In autocorrelated noise a mean over many points is worth little and a jump between two neighbours
 * is worth much. Generalised least squares, computed by a Kalman filter, weighs both (Willsky and
 * Jones 1976; the noise model of Romano et al. 2022). */
#ifndef TK_STATS_AR1_H
#define TK_STATS_AR1_H
#include <stdbool.h>
#include <stddef.h>

struct tk_ar1_model {
	double phi; /* autocorrelation of the wandering part from one point to the next; 0: there is
	               none */
	double drift_sd; /* standard deviation of the AR(1) part */
	double white;    /* standard deviation of the white part */
};

/* The filter's gains and its answers to a level and to a step, for all lengths. */
struct tk_ar1_table {
	struct tk_ar1_model model;
	double *gain, *share, *plain, *fading, *square; /* n + 1 of each: of the first points */
	double *power, *step;                           /* of the last ones */
	double s, theta, c; /* variance of an innovation, and the answer to a step, once the gain
	                       has settled */
	void *memory;
};

struct tk_ar1_step {
	double shift, error, z;
};

/* From robust scales of the differences at lags 1 to 28 (a variogram). r: residuals about the
 * levels, in the order of time. 0 or TK_ENOMEM. */
int tk_ar1_fit(const double *r, size_t n, struct tk_ar1_model *out);
/* Whether the model is worth using: the series remembers, and its innovations have the tails of a
 * normal distribution (two clock states do not). 0 or TK_ENOMEM. */
int tk_ar1_check_fit(const struct tk_ar1_model *m, const double *r, size_t n, bool *holds);
/* The step at y[split] of y[0 .. n); 0 < split < n. */
void tk_ar1_step(const struct tk_ar1_model *m, const double *y, size_t n, size_t split,
        struct tk_ar1_step *out);
/* Computes what does not depend on the values, for up to n points; false: out of memory. */
bool tk_ar1_table_init(const struct tk_ar1_model *m, size_t n, struct tk_ar1_table *t);
void tk_ar1_table_free(struct tk_ar1_table *t);
/* The split of y[0 .. n) with the largest |z|, at least `least` points on both sides; 0 if there is
 * none. work: n values. */
size_t tk_ar1_scan_steps(const struct tk_ar1_table *t, const double *y, size_t n, size_t least,
        double *work, double *z);

#endif
