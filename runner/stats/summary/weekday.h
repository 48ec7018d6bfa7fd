/* A weekly pattern: weekends are quieter machines. Taken out only where it is beyond doubt. */
#ifndef TK_STATS_WEEKDAY_H
#define TK_STATS_WEEKDAY_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* y: logarithms, day: number of the day of each. Takes the pattern out of y where the medians of
 * the weekdays, each about the mean of the week around it, differ (chi-square over 25 with six
 * degrees of freedom, p = 0.0003) and six weeks are known. 0 or TK_ENOMEM. */
/* The pattern alone; all 0 and false where there is none beyond doubt. work: 2 * n values. */
size_t tk_weekday_from_day(int64_t day); /* 0 to 6 */
bool tk_weekday_estimate(
        const double *y, const int64_t *day, size_t n, double *work, double pattern[7]);
int tk_weekday_remove(double *y, const int64_t *day, size_t n, bool *removed);

#endif
