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

/* 0; TK_EDATA where a sample is empty or a value is not finite. The inputs are not changed. */
int tk_shift_estimate(const double *a, size_t na, const double *b, size_t nb, double confidence,
        struct tk_shift *out);

/* Only the shift, of sorted finite values, about to within `tolerance`; na and nb > 0. */
double tk_hodges_lehmann(const double *a, size_t na, const double *b, size_t nb, double tolerance);

/* Two-sided p of a standard normal deviate, and the deviate that a two-sided p belongs to. */
double tk_normal_p(double z);
double tk_normal_z(double p);

/* ---- paired ---- */

/* Paired measurements, an old and a new build right after each other in random order: do they
 * differ, and by how much?
 *
 * Only differences within pairs are used. Because the order within each pair is random, the
 * distribution of the differences is symmetric about the true difference whatever the machine does
 * meanwhile, and symmetry is all that Wilcoxon's signed ranks need: neither normality nor equal
 * noise, and up to a quarter of the pairs may be spoiled. */

struct tk_paired_shift {
	size_t n;
	double shift, lo,
	        hi;   /* Hodges-Lehmann: median of the means of any two differences; its exact
	                 distribution-free   interval (Hollander, Wolfe, Chicken 2014, 3.3) */
	bool reached; /* false: too few pairs for the confidence; lo and hi are the extremes */
};

/* d: differences, n >= 1, finite. 0 or TK_EDATA. */
int tk_paired_estimate(const double *d, size_t n, double confidence, struct tk_paired_shift *out);

enum tk_paired_decision {
	TK_PAIRED_INCONCLUSIVE, /* take more */
	TK_PAIRED_SAME,         /* less than `least` in either direction */
	TK_PAIRED_HIGHER,
	TK_PAIRED_LOWER
};

/* The stopping rule, called after every pair: a sequential test with interim analyses after 12, 16,
 * 20, 24, 32, 40, 48, 64 ... 256 pairs. The result depends on the pairs alone, so that an
 * interrupted test decides alike when it continues.
 *
 * HIGHER and LOWER: the interval is beyond `least`; or it excludes 0, the shift is beyond `least`,
 * and there is little more to learn: the interval is narrower than a quarter of `least` to either
 * side, or this analysis is the last. For equal builds all analyses together give a false one in at
 * most TK_PAIRED_ALPHA of the cases. SAME: the interval of 99 % of one analysis is within `least`:
 * a false SAME for builds that differ by more is rare, and costs an alarm, not a night. paired.c
 * has the reasons. `least` 0: on which side of 0; never SAME. *out (may be NULL): the 95 % interval
 * of all pairs. 0 or TK_EDATA. */
#define TK_PAIRED_ALPHA 0.001
#define TK_PAIRED_COUNT_MAX 256
int tk_paired_decide(const double *d, size_t n, double least, enum tk_paired_decision *decision,
        struct tk_paired_shift *out);
/* How many pairs the analysis after n pairs waits for; the last one's after it. */
size_t tk_paired_next_analysis(size_t n);

/* For a decision that cannot wait for more pairs: one analysis of all of them, with the interval of
 * that confidence. HIGHER and LOWER: it excludes 0, and the shift is beyond `least`: false for
 * equal builds in at most 1 - confidence of the cases. SAME: it is within `least`. Too few pairs
 * have no such interval and are inconclusive: fewer than TK_PAIRED_LAST_COUNT_MIN at 95 %, than 8
 * at 99 %. *out: the 95 % interval. 0 or TK_EDATA. */
#define TK_PAIRED_LAST_COUNT_MIN 6
int tk_paired_decide_last(const double *d, size_t n, double least, double confidence,
        enum tk_paired_decision *decision, struct tk_paired_shift *out);

/* ---- fdr ---- */

/* Many tests at once: Benjamini and Hochberg (1995). */

/* q[i]: the smallest false-discovery rate at which test i is a discovery. A NaN p is not a test:
 * its q is NaN and it does not count. */
void tk_fdr_adjust(const double *p, size_t n, double *q);

#endif
