/* A/B runs: pairs of an old and a new build of one series, run right after each other. */
#ifndef TK_SITE_PAIRS_H
#define TK_SITE_PAIRS_H
#include <stddef.h>

struct tk_error;
struct tk_model;
struct tk_site_series;

/* new / old - 1 with its distribution-free 95 % interval; NAN: none */
struct tk_ab_result_compare_level {
	double change, lo, hi;
};
struct tk_ab_plot {
	double *differences;  /* log(new / old) of the medians, for pairs with two timings */
	size_t count, failed; /* pairs with two timings, others */
	struct tk_ab_result_compare_level median, fastest;
};

/* The pairs of two revisions. Free with tk_ab_plot_free() after success. */
int tk_ab_plot_load(const struct tk_model *m, const struct tk_site_series *s, const char *good_rev,
        const char *bad_rev, struct tk_ab_plot *out, struct tk_error *err);
void tk_ab_plot_free(struct tk_ab_plot *p);

#endif
