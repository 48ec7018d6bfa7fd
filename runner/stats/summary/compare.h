/* Two independent samples: is one shifted against the other, and by how much? Rank statistics, so
 * that one spike cannot decide. */
#ifndef TK_STATS_COMPARE_H
#define TK_STATS_COMPARE_H
#include <stdbool.h>
#include <stddef.h>

struct tk_shift {
	double shift, lo, hi; /* Hodges-Lehmann: median of all b - a, and its distribution-free
	                         interval (Moses; Hollander, Wolfe, Chicken 2014, 4.3) */
	double u, p;          /* Mann-Whitney: pairs with b > a (ties count half), two-sided p */
	bool exact;           /* p is from the exact distribution: no ties, at most 50 values */
	bool reached; /* false: too few values for `confidence`; lo and hi are the extremes of the
	                 differences */
};

/* 0; TK_EDATA where a sample is empty or a value is not finite; TK_ENOMEM. The inputs are not
 * changed. */
int tk_shift_estimate(const double *a, size_t na, const double *b, size_t nb, double confidence,
        struct tk_shift *out);

/* Only the shift, of sorted finite values, about to within `tolerance`; na and nb > 0. */
double tk_hodges_lehmann(const double *a, size_t na, const double *b, size_t nb, double tolerance);

/* Two-sided p of a standard normal deviate, and the deviate that a two-sided p belongs to. */
double tk_normal_p(double z);
double tk_normal_z(double p);

#endif
