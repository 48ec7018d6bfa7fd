/* What a confirmation measured: pairs of an old and a new build of one series, one right after the
 * other. */
#ifndef TK_SITE_PAIRS_H
#define TK_SITE_PAIRS_H
#include <stddef.h>

struct tk_buf;
struct tk_error;
struct tk_model;
struct tk_site_series;

/* new / old - 1 and its distribution-free 95 % interval; NAN where there is none. */
struct tk_ab_result_compare_level {
	double change, lo, hi;
};
struct tk_ab_plot {
	double *differences; /* log(new / old) of the medians, one for each pair with two timings */
	size_t count, failed; /* pairs with two timings, others */
	struct tk_ab_result_compare_level median, fastest;
};

/* Those of these two revisions (tk_store_list_ab_pairs_between). tk_ab_plot_free after success. */
int tk_ab_plot_load(const struct tk_model *m, const struct tk_site_series *s, const char *good_rev,
        const char *bad_rev, struct tk_ab_plot *out, struct tk_error *err);
void tk_ab_plot_free(struct tk_ab_plot *p);
/* A dot for each pair, the interval under them, a line where nothing changed. Nothing where there
 * are no pairs. */
void tk_ab_plot_draw(struct tk_buf *out, const struct tk_ab_plot *p);

#endif
