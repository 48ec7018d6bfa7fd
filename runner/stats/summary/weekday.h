/* A weekly pattern, for instance quieter machines at weekends. Removed only where it is beyond
 * doubt. */
#ifndef TK_STATS_WEEKDAY_H
#define TK_STATS_WEEKDAY_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

size_t tk_weekday_from_day(int64_t day); /* 0 to 6 */
/* y: logarithms, day: the number of the day of each. The pattern of the seven weekdays: false and
 * all 0 unless the medians of the weekdays, each about the mean of its week, differ beyond doubt
 * (chi-square over 25 with six degrees of freedom, p = 0.0003) over at least six weeks. work: 2 * n
 * values. */
bool tk_weekday_estimate(
        const double *y, const int64_t *day, size_t n, double *work, double pattern[7]);
/* Subtracts that pattern from y. 0 or TK_ENOMEM. */
int tk_weekday_remove(double *y, const int64_t *day, size_t n, bool *removed);

#endif
