/* Piecewise straight lines: see trend.h. */
#include "stats/trend.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "stats/noise.h"

#define LEAST_NIGHTS 20
#define LEAST_LINE 8    /* nights */
#define PIECES 16       /* of equal length: what they do not explain, few lines do not */
#define PRICE 9.0       /* of a change, in units of variance * ln(n): slope, start, and where it is */
#define EXPLAINED 3.0   /* the levels leave so many times the squares */
#define SURE 6.0        /* standard errors of a slope */
#define MOST 0.7        /* of the nights */
#define MEMORY_MAX 0.95 /* autocorrelation that is believed */
#define CELLS 400       /* lines start at one of so many nights */
#define ROUNDS 4
#define SETTLED 0.02 /* relative change of the variance */
#define LEAST_VARIANCE 1e-12

struct trend {
	const double *y;
	size_t n;
	double *sum, *square, *moment; /* of y, y^2 and t y before each night; about the mean of y */
	double *cost, *left;           /* of the best lines up to each cell's end; what is left of the nights */
	size_t *from, *bounds, lines;
};

static bool trend_make(struct trend *f, const double *y, size_t n)
{
	double mean = 0, *room = malloc((n + 1) * (5 * sizeof *room + 2 * sizeof *f->from));

	if (!room)
		return false;
	*f = (struct trend){y, n, room, room + (n + 1), room + 2 * (n + 1), room + 3 * (n + 1), room + 4 * (n + 1),
	        (size_t *)(room + 5 * (n + 1)), (size_t *)(room + 5 * (n + 1)) + (n + 1), 0};
	for (size_t i = 0; i < n; i++)
		mean += y[i] / (double)n;
	f->sum[0] = f->square[0] = f->moment[0] = 0;
	for (size_t i = 0; i < n; i++) {
		double v = y[i] - mean;

		f->sum[i + 1] = f->sum[i] + v;
		f->square[i + 1] = f->square[i] + v * v;
		f->moment[i + 1] = f->moment[i] + v * ((double)i - (double)n / 2);
	}
	return true;
}

struct line {
	double mean, slope, squares; /* at its middle; what it leaves */
};

static struct line line_of(const struct trend *f, size_t from, size_t to)
{
	double m = (double)(to - from), middle = ((double)from + (double)to - 1 - (double)f->n) / 2,
	       sum = f->sum[to] - f->sum[from], across = f->moment[to] - f->moment[from] - middle * sum,
	       spread = m * (m * m - 1) / 12;
	struct line l = {sum / m, spread > 0 ? across / spread : 0, f->square[to] - f->square[from] - sum * sum / m};

	l.squares = fmax(0, l.squares - l.slope * across);
	return l;
}

/* What lines of equal length leave. */
static double squares_of_pieces(const struct trend *f)
{
	size_t pieces = f->n / LEAST_LINE < PIECES ? f->n / LEAST_LINE : PIECES;
	double squares = 0;

	for (size_t i = 0; i < pieces; i++)
		squares += line_of(f, i * f->n / pieces, (i + 1) * f->n / pieces).squares;
	return squares;
}

static double squares_of_levels(const struct trend *f, const size_t *bounds, size_t segments)
{
	double squares = 0;

	for (size_t g = 0; g < segments; g++) {
		double sum = f->sum[bounds[g + 1]] - f->sum[bounds[g]];

		squares += f->square[bounds[g + 1]] - f->square[bounds[g]] -
		           sum * sum / (double)(bounds[g + 1] - bounds[g]);
	}
	return squares;
}

/* The lines of least squares plus price, into f->bounds and f->lines. */
static void partition(struct trend *f, double price)
{
	size_t cells = f->n < CELLS ? f->n : CELLS, least = 1;

	while (least * f->n / cells < LEAST_LINE)
		least++;
	f->cost[0] = -price;
	for (size_t e = 1; e <= cells; e++) {
		f->cost[e] = INFINITY;
		for (size_t a = 0; a + least <= e; a++) {
			double cost = f->cost[a] + price;

			if (cost < f->cost[e])
				cost += line_of(f, a * f->n / cells, e * f->n / cells).squares;
			if (cost < f->cost[e]) {
				f->cost[e] = cost;
				f->from[e] = a;
			}
		}
	}
	f->lines = 0;
	for (size_t e = cells; e > 0; e = f->from[e])
		f->lines++;
	f->bounds[f->lines] = f->n;
	for (size_t e = cells, i = f->lines; i-- > 0; e = f->from[e])
		f->bounds[i] = f->from[e] * f->n / cells;
}

/* What the lines leave of each night, into f->left; the sum of its squares. */
static double take_lines_out(struct trend *f)
{
	double mean = 0, squares = 0;

	for (size_t i = 0; i < f->n; i++)
		mean += f->y[i] / (double)f->n;
	for (size_t g = 0; g < f->lines; g++) {
		size_t from = f->bounds[g], to = f->bounds[g + 1];
		struct line l = line_of(f, from, to);

		for (size_t i = from; i < to; i++)
			f->left[i] =
			        f->y[i] - mean - l.mean - l.slope * ((double)i - ((double)from + (double)to - 1) / 2);
	}
	for (size_t i = 0; i < f->n; i++)
		squares += f->left[i] * f->left[i];
	return squares;
}

/* The variance of a mean of what is left, times its nights: of AR(1). */
static double long_run(const struct trend *f, double squares)
{
	double product = 0, memory;

	for (size_t i = 1; i < f->n; i++)
		product += f->left[i] * f->left[i - 1];
	memory = squares > 0 ? fmin(MEMORY_MAX, fmax(0, product / squares)) : 0;
	return squares / (double)f->n * (1 + memory) / (1 - memory);
}

/* Nights on lines whose slope is beyond doubt. */
static size_t certain(const struct trend *f, double variance)
{
	size_t nights = 0;

	for (size_t g = 0; g < f->lines; g++) {
		size_t m = f->bounds[g + 1] - f->bounds[g];
		struct line l = line_of(f, f->bounds[g], f->bounds[g + 1]);

		if (fabs(l.slope) * pow((double)m, 1.5) / sqrt(12) > SURE * sqrt(variance))
			nights += m;
	}
	return nights;
}

static int fit(struct trend *f, double levels, double *tau, bool *better)
{
	struct tk_noise noise;
	int rc = tk_noise_of(f->y, f->n, &noise);
	double least = noise.sigma * noise.sigma + LEAST_VARIANCE, variance = least, squares = 0;

	for (int round = 0; !rc && round < ROUNDS; round++) {
		double before = variance;

		partition(f, PRICE * log((double)f->n) * variance);
		squares = take_lines_out(f);
		variance = fmax(least, long_run(f, squares));
		if (fabs(variance - before) < SETTLED * before)
			break;
	}
	*tau = sqrt(variance);
	*better = !rc && levels > EXPLAINED * squares && (double)certain(f, variance) > MOST * (double)f->n;
	return rc;
}

int tk_trend_fit(const double *y, size_t n, size_t *bounds, size_t *segments, double *tau)
{
	struct trend f;
	bool better = false;
	double levels, noise;
	int rc = TK_OK;

	if (n < LEAST_NIGHTS)
		return TK_OK;
	if (!trend_make(&f, y, n))
		return TK_ENOMEM;
	levels = squares_of_levels(&f, bounds, *segments);
	if (levels > EXPLAINED * squares_of_pieces(&f))
		rc = fit(&f, levels, &noise, &better);
	if (better) {
		memcpy(bounds, f.bounds, (f.lines + 1) * sizeof *bounds);
		*segments = f.lines;
		*tau = noise;
	}
	free(f.sum);
	return rc;
}
