/* A distribution-free interval of the median from order statistics (David and Nagaraja 2003,
 * section 7.1; Le Boudec 2010, theorem 2.1): [x_(j), x_(k)] covers the median with at least
 * `confidence` for every continuous distribution. */
#ifndef TK_STATS_INTERVAL_H
#define TK_STATS_INTERVAL_H
#include <stdbool.h>
#include <stddef.h>

/* Zero-based ranks of the interval's ends. false where n is too small to reach the confidence (n <
 * 6 at 0.95). */
bool tk_median_ranks(size_t n, double confidence, size_t *lo, size_t *hi);

/* As above on sorted values. Where n is too small, lo and hi are the extremes and false is
 * returned. */
bool tk_median_interval(const double *sorted, size_t n, double confidence, double *lo, double *hi);

#endif
