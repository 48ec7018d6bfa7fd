/* Many tests at once: Benjamini and Hochberg (1995). */
#ifndef TK_STATS_FDR_H
#define TK_STATS_FDR_H
#include <stddef.h>

/* q[i]: the smallest false-discovery rate at which test i is a discovery. A NaN p is not a test:
 * its q is NaN and it does not count. 0 or TK_ENOMEM. */
int tk_fdr_adjust(const double *p, size_t n, double *q);

#endif
