/* Noise that remembers: a wandering part, AR(1), under white noise. What such noise does to the estimate of a step of
 * level.
 *
 * On a series whose neighbours are alike, a mean over many points is worth little and a jump between two of them is
 * worth much; generalised least squares, by a Kalman filter, weighs both (Willsky and Jones 1976; the noise of Romano
 * et al. 2022). */
#ifndef TK_STATS_SERIAL_H
#define TK_STATS_SERIAL_H
#include <stdbool.h>
#include <stddef.h>

struct tk_serial {
	double phi;    /* autocorrelation of the wandering part from one point to the next; 0: there is none */
	double wander; /* its standard deviation */
	double white;  /* that of the rest */
};

/* The filter's gains and its answers to a level and to a step, for all lengths. */
struct tk_serial_table {
	struct tk_serial model;
	double *gain, *share, *plain, *fading, *square; /* n + 1 of each: of the first points */
	double *power, *step;                           /* of the last ones */
	double s, theta, c; /* variance of an innovation, and the answer to a step, once the gain has settled */
	void *memory;
};

struct tk_serial_step {
	double shift, error, z;
};

/* From robust scales of the differences at lags 1 to 28 (a variogram). r: residuals about the levels, in the order of
 * time. 0 or TK_ENOMEM. */
int tk_serial_fit(const double *r, size_t n, struct tk_serial *out);
/* Whether the model is worth using: the series remembers, and its innovations have the tails of a normal distribution
 * (two clock states do not). 0 or TK_ENOMEM. */
int tk_serial_holds(const struct tk_serial *m, const double *r, size_t n, bool *holds);
/* The step at y[split] of y[0 .. n); 0 < split < n. */
void tk_serial_step(const struct tk_serial *m, const double *y, size_t n, size_t split, struct tk_serial_step *out);
/* What the model says of up to n points whatever their values; false: out of memory. */
bool tk_serial_prepare(const struct tk_serial *m, size_t n, struct tk_serial_table *t);
void tk_serial_done(struct tk_serial_table *t);
/* The split of y[0 .. n) with the largest |z|, at least `least` points on both sides; 0 where there is none. work: n
 * values. */
size_t tk_serial_scan(
        const struct tk_serial_table *t, const double *y, size_t n, size_t least, double *work, double *z);

#endif
