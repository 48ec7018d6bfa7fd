/* The weekly pattern of a series: see weekday.h. */
#include "stats/weekday.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "stats/scale.h"
#include "stats/summary.h"

#define WEEK 7
#define POINTS_MIN 42
#define PER_DAY_MIN 4
#define CHI_SQUARE 25
#define MEDIAN_ERROR 1.2533 /* standard error of a median in units of that of a mean */
#define MAD_TO_SD 1.4826

static size_t weekday(int64_t day)
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
	double sigma, chi = 0, sorted[WEEK], middle;

	for (size_t i = 0; i < n; i++)
		work[i] = fabs(r[i]);
	sigma = MAD_TO_SD * tk_select(work, n, 0.5);
	for (size_t d = 0; d < WEEK; d++) {
		size_t count = 0;

		for (size_t i = 0; i < n; i++)
			if (weekday(day[i]) == d)
				work[count++] = r[i];
		out[d] = count >= PER_DAY_MIN ? tk_select(work, count, 0.5) : 0;
		if (count >= PER_DAY_MIN && sigma > 0)
			chi += pow(out[d] / (MEDIAN_ERROR * sigma), 2) * (double)count;
	}
	memcpy(sorted, out, sizeof sorted);
	middle = tk_median(sorted, WEEK);
	for (size_t d = 0; d < WEEK; d++)
		out[d] -= middle;
	return chi;
}

int tk_weekday_remove(double *y, const int64_t *day, size_t n, bool *removed)
{
	double *r, pattern[WEEK];

	*removed = false;
	if (n < POINTS_MIN)
		return TK_OK;
	r = malloc(2 * n * sizeof *r);
	if (!r)
		return TK_ENOMEM;
	take_level_out(y, n, r);
	*removed = profile(r, day, n, r + n, pattern) > CHI_SQUARE;
	for (size_t i = 0; *removed && i < n; i++)
		y[i] -= pattern[weekday(day[i])];
	free(r);
	return TK_OK;
}
