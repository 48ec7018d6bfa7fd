/* The weekly pattern of a series: see weekday.h. */
#include "stats/summary/weekday.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "stats/summary/quantile.h"
#include "stats/summary/summary.h"

#define WEEK 7
#define POINTS_MIN 42
#define PER_DAY_MIN 4
#define CHI_SQUARE 25
#define MEDIAN_ERROR 1.2533 /* standard error of a median in units of that of a mean */
#define MAD_TO_SD 1.4826

size_t tk_weekday_from_day(int64_t day)
{
	return (size_t)(((day % WEEK) + WEEK) % WEEK);
}

/* Each value about the mean of the seven around it, in which every weekday is once. */
static void take_level_out(const double *y, size_t n, double *r)
{
	double sum = 0;

	for (size_t i = 0; i < WEEK; i++)
		sum += y[i];
	for (size_t i = 0, from = 0; i < n; i++) {
		if (i > WEEK / 2 && from + WEEK < n) {
			sum += y[from + WEEK] - y[from];
			from++;
		}
		r[i] = y[i] - sum / WEEK;
	}
}

/* Medians of the weekdays, about the middle one of them; returns their chi-square. */
static double profile(const double *r, const int64_t *day, size_t n, double *work, double out[WEEK])
{
	size_t count[WEEK] = {0}, end[WEEK], first = 0;
	double sigma, chi = 0, sorted[WEEK], middle;

	for (size_t i = 0; i < n; i++) {
		work[i] = fabs(r[i]);
		count[tk_weekday_from_day(day[i])]++;
	}
	sigma = MAD_TO_SD * tk_quantile_select(work, n, 0.5);
	for (size_t d = 0; d < WEEK; d++) {
		end[d] = first;
		first += count[d];
	}
	for (size_t i = 0; i < n; i++)
		work[end[tk_weekday_from_day(day[i])]++] = r[i];
	for (size_t d = 0; d < WEEK; d++) {
		out[d] = count[d] >= PER_DAY_MIN
		                 ? tk_quantile_select(work + end[d] - count[d], count[d], 0.5)
		                 : 0;
		if (count[d] >= PER_DAY_MIN && sigma > 0)
			chi += pow(out[d] / (MEDIAN_ERROR * sigma), 2) * (double)count[d];
	}
	memcpy(sorted, out, sizeof sorted);
	middle = tk_median(sorted, WEEK);
	for (size_t d = 0; d < WEEK; d++)
		out[d] -= middle;
	return chi;
}

bool tk_weekday_estimate(
        const double *y, const int64_t *day, size_t n, double *work, double pattern[WEEK])
{
	bool is_there = false;

	if (n >= POINTS_MIN) {
		take_level_out(y, n, work);
		is_there = profile(work, day, n, work + n, pattern) > CHI_SQUARE;
	}
	if (!is_there)
		memset(pattern, 0, WEEK * sizeof *pattern);
	return is_there;
}

int tk_weekday_remove(double *y, const int64_t *day, size_t n, bool *removed)
{
	double *work = tk_malloc((2 * n + 1) * sizeof *work), pattern[WEEK];

	if (!work)
		return TK_ENOMEM;
	*removed = tk_weekday_estimate(y, day, n, work, pattern);
	for (size_t i = 0; *removed && i < n; i++)
		y[i] -= pattern[tk_weekday_from_day(day[i])];
	free(work);
	return TK_OK;
}
