/* Optimal partitioning (Jackson et al. 2005) into levels, pruned (Killick et al. 2012), over
 * candidates; into levels or lines in noise that remembers; and what is no change: states that are
 * visited, and seasons. See changepoint_internal.h. */
#include <math.h>

#include "base/base.h"
#include "stats/changepoint_internal.h"
#include "stats/summary.h"

#define LANES 8        /* maxima that need not wait for each other */
#define PRUNE_EVERY 32 /* candidates: to look for those to forget costs as much as to use them */

/* Distances of the means of `width` points on both sides, fewer at the ends; 0 at 0 and n. */
static void contrasts(const double *sum, size_t n, size_t width, double *out)
{
	double part = 1 / (double)width;
	size_t full = n > 2 * width ? n - width : 0; /* width .. full have all their points */

	out[0] = out[n] = 0;
	for (size_t t = 1; t < n; t++) {
		size_t lo = t > width ? t - width : 0, hi = t + width < n ? t + width : n;

		if (full && t == width)
			t = full;
		else
			out[t] = fabs((sum[hi] - sum[t]) / (double)(hi - t) -
			              (sum[t] - sum[lo]) / (double)(t - lo));
	}
	for (size_t t = width; full && t <= full; t++)
		out[t] = fabs(sum[t + width] - 2 * sum[t] + sum[t - width]) * part;
}

/* The starts of segments that are tried, and n after them, into w->start; returns their number. */
static size_t find_candidates(struct tk_partition_workspace *w, const double *sum, size_t n,
        double tau, double min_contrast)
{
	static const size_t widths[] = {2, 5, 12, 30, 75};
	const double *c = w->contrast;
	size_t count = 1;

	memset(w->may_start, 0, n * sizeof *w->may_start);
	for (size_t i = 0; i < sizeof widths / sizeof *widths; i++) {
		double bar = min_contrast * tau * sqrt(2 / (double)widths[i]);

		contrasts(sum, n, widths[i], w->contrast);
		for (size_t t = 1; t < n; t++)
			w->may_start[t] |= (c[t] > bar) & (c[t] >= c[t - 1]) & (c[t] >= c[t + 1]);
	}
	w->start[0] = 0;
	for (size_t t = 1; t < n; t++) {
		w->start[count] = t;
		count += w->may_start[t];
	}
	w->start[count] = n;
	return count;
}

/* What the squares are less by, with the best fit up to each open candidate and one segment from
 * there to `end`, into w->cost, less is better; returns the place of the best. */
static size_t best_of(struct tk_partition_workspace *w, size_t count, double end, double sum)
{
	double best[LANES];
	size_t i = 0;

	for (size_t k = 0; k < count; k++)
		w->cost[k] =
		        w->before[k] - (sum - w->sum[k]) * (sum - w->sum[k]) / (end - w->at[k]);
	for (size_t k = 0; k < LANES; k++)
		best[k] = w->cost[0];
	for (; i + LANES <= count; i += LANES)
		for (size_t k = 0; k < LANES; k++)
			best[k] = w->cost[i + k] < best[k] ? w->cost[i + k] : best[k];
	for (; i < count; i++)
		best[0] = w->cost[i] < best[0] ? w->cost[i] : best[0];
	for (size_t k = 1; k < LANES; k++)
		best[0] = best[k] < best[0] ? best[k] : best[0];
	for (i = 0; w->cost[i] > best[0]; i++)
		;
	return i;
}

/* Who is not better now by the penalty of a change never will be. */
static size_t forget(struct tk_partition_workspace *w, size_t count, double bar)
{
	size_t kept = 0;

	for (size_t k = 0; k < count; k++) {
		w->open[kept] = w->open[k];
		w->at[kept] = w->at[k];
		w->sum[kept] = w->sum[k];
		w->before[kept] = w->before[k];
		kept += w->cost[k] < bar;
	}
	return kept;
}

static size_t trace_back(const struct tk_partition_workspace *w, size_t last, size_t *bounds)
{
	size_t segments = 0;

	for (size_t i = last; i > 0; i = w->from[i])
		segments++;
	bounds[segments] = w->start[last];
	for (size_t i = last, k = segments; i > 0; i = w->from[i])
		bounds[--k] = w->start[w->from[i]];
	return segments;
}

size_t tk_partition_fit(struct tk_partition_workspace *w, const double *sum, size_t n, double tau,
        double min_contrast, double penalty, size_t *bounds)
{
	size_t count = find_candidates(w, sum, n, tau, min_contrast), open = 1;

	w->open[0] = 0;
	w->at[0] = w->sum[0] = w->before[0] = 0;
	for (size_t i = 1; i <= count; i++) {
		size_t t = w->start[i], best = best_of(w, open, (double)t, sum[t]);
		double cost = w->cost[best] + penalty;

		w->from[i] = w->open[best];
		if (i % PRUNE_EVERY == 0)
			open = forget(w, open, cost);
		w->open[open] = i;
		w->at[open] = (double)t;
		w->sum[open] = sum[t];
		w->before[open++] = cost;
	}
	return trace_back(w, count, bounds);
}

/* ---- recurrent state ---- */

#define MOST 21   /* nights of a visit */
#define ALIKE 0.3 /* two sizes differ by so much of the larger one, at most */

static double level(const double *sum, const size_t *bounds, size_t g)
{
	return (sum[bounds[g + 1]] - sum[bounds[g]]) / (double)(bounds[g + 1] - bounds[g]);
}

static bool alike(double a, double b)
{
	return fabs(a - b) <= ALIKE * fmax(fabs(a), fabs(b));
}

/* How far segment g is off the level before and after it; 0: it is too long, or the level does not
 * come back. */
static double visit(const double *sum, const size_t *bounds, size_t segments, size_t g)
{
	double before, after, here = level(sum, bounds, g);

	if (bounds[g + 1] - bounds[g] > MOST || segments < 2)
		return 0;
	if (g == 0)
		return here - level(sum, bounds, 1);
	before = here - level(sum, bounds, g - 1);
	if (g + 1 == segments)
		return before;
	after = here - level(sum, bounds, g + 1);
	return before * after > 0 && alike(before, after) ? (before + after) / 2 : 0;
}

/* The size of the visits of a state: that of two similar visits of the same direction, not at the
 * ends. 0: there is none. */
static double state(const double *size, size_t segments)
{
	for (size_t g = 1; g + 1 < segments; g++)
		for (size_t h = g + 1; size[g] != 0 && h + 1 < segments; h++)
			if (size[g] * size[h] > 0 && alike(size[g], size[h]))
				return fabs(size[g] + size[h]) / 2;
	return 0;
}

void tk_recurrent_state_remove(const double *sum, size_t *bounds, size_t *segments, double *work)
{
	double size = 0;

	for (bool more = true; more;) {
		size_t shortest = 0;

		more = false;
		for (size_t g = 0; g < *segments; g++)
			work[g] = visit(sum, bounds, *segments, g);
		if (size == 0)
			size = state(work, *segments);
		for (size_t g = 0; size > 0 && g < *segments; g++)
			if (alike(fabs(work[g]), size) &&
			        (!more || bounds[g + 1] - bounds[g] <
			                          bounds[shortest + 1] - bounds[shortest])) {
				shortest = g;
				more = true;
			}
		if (more)
			tk_bounds_remove(bounds, segments, shortest ? shortest : 1,
			        shortest && shortest + 1 < *segments ? 2 : 1);
	}
}

/* ---- trend ---- */

/* Series without constant levels: they rise or fall most of the time, or drift. */

#define LEAST_NIGHTS 20
#define PIECES 16     /* of equal length: what they do not explain, few lines do not */
#define LEAST_PIECE 8 /* nights */
#define EXPLAINED 3.0 /* the levels leave so many times the squares */
#define SPIKE 6       /* values are winsorized to so many standard deviations */
#define PRICE 2.75    /* of each number fitted, in units of variance * ln(n); Schwarz's is 1 */
#define LEVEL 2       /* numbers: where it starts, its level; */
#define LINE 3        /* and its slope */
#define LEAST 4       /* nights of a segment */
#define CELLS 400     /* segments start at one of so many nights */
#define ROUNDS 5
#define CONVERGED 0.02 /* relative change of the variance */
#define LEAST_VARIANCE 1e-10
#define LONGEST 20 /* nights that a deviation counts for: a random walk never forgets */

/* The part of a deviation that is left the night after. */
static const double memories[] = {0, 0.4, 0.7, 0.9, 0.95, 0.98, 1};

struct trend {
	double *y, *work; /* logarithms; scratch of 2 n + 1 */
	size_t n;
	double *z; /* innovation of each night */
	double *sum, *square,
	        *moment; /* of z, z^2 and t z before each night; about the mean of z */
	double *cost;    /* of the best segments up to each cell's end */
	size_t *from, *bounds, segments;
	double squares; /* left of z by the segments */
};

struct fit {
	double score, variance, memory; /* score: less is better */
};

static void trend_make(struct trend *f, const double *y, size_t n)
{
	double *room = tk_malloc((n + 1) * (8 * sizeof *room + 2 * sizeof *f->from));

	*f = (struct trend){.y = room, .n = n, .z = room + n + 1, .work = room + 2 * (n + 1)};
	f->sum = room + 4 * (n + 1), f->square = room + 5 * (n + 1), f->moment = room + 6 * (n + 1);
	f->cost = room + 7 * (n + 1), f->from = (size_t *)(room + 8 * (n + 1)),
	f->bounds = f->from + n + 1;
	memcpy(f->y, y, n * sizeof *y);
}

/* z of a memory, and its sums. */
static void remember(struct trend *f, double memory)
{
	double mean = 0;

	f->z[0] = f->y[0] * (1 - memory);
	for (size_t i = 1; i < f->n; i++)
		f->z[i] = f->y[i] - memory * f->y[i - 1];
	for (size_t i = 0; i < f->n; i++)
		mean += f->z[i] / (double)f->n;
	f->sum[0] = f->square[0] = f->moment[0] = 0;
	for (size_t i = 0; i < f->n; i++) {
		double v = f->z[i] - mean;

		f->sum[i + 1] = f->sum[i] + v;
		f->square[i + 1] = f->square[i] + v * v;
		f->moment[i + 1] = f->moment[i] + v * ((double)i - (double)f->n / 2);
	}
}

/* What a level, or a line, leaves of z[from .. to). */
static double squares_of(const struct trend *f, size_t from, size_t to, bool line)
{
	double m = (double)(to - from), middle = ((double)from + (double)to - 1 - (double)f->n) / 2,
	       sum = f->sum[to] - f->sum[from],
	       squares = f->square[to] - f->square[from] - sum * sum / m;

	if (line) {
		double across = f->moment[to] - f->moment[from] - middle * sum;

		squares -= across * across * 12 / (m * (m * m - 1));
	}
	return fmax(0, squares);
}

/* What lines of equal length leave. */
static double squares_of_pieces(const struct trend *f)
{
	size_t pieces = f->n / LEAST_PIECE < PIECES ? f->n / LEAST_PIECE : PIECES;
	double squares = 0;

	for (size_t i = 0; i < pieces; i++)
		squares += squares_of(f, i * f->n / pieces, (i + 1) * f->n / pieces, true);
	return squares;
}

static double squares_of_levels(const struct trend *f, const size_t *bounds, size_t segments)
{
	double squares = 0;

	for (size_t g = 0; g < segments; g++)
		squares += squares_of(f, bounds[g], bounds[g + 1], false);
	return squares;
}

/* The segments with the least squares plus penalty. The first night of each does not count: it has
 * no predecessor to depend on. */
static void fit_segments(struct trend *f, double price, bool line)
{
	size_t cells = f->n < CELLS ? f->n : CELLS, least = 1;

	while (least * f->n / cells < LEAST)
		least++;
	f->cost[0] = -price;
	for (size_t e = 1; e <= cells; e++) {
		size_t to = e * f->n / cells;

		f->cost[e] = INFINITY;
		for (size_t a = 0; a + least <= e; a++) {
			double cost = f->cost[a] + price;

			if (cost < f->cost[e])
				cost += squares_of(f, a * f->n / cells + 1, to, line);
			if (cost < f->cost[e]) {
				f->cost[e] = cost;
				f->from[e] = a;
			}
		}
	}
	f->segments = 0;
	for (size_t e = cells; e > 0; e = f->from[e])
		f->segments++;
	f->bounds[f->segments] = f->n;
	for (size_t e = cells, i = f->segments; i-- > 0; e = f->from[e])
		f->bounds[i] = f->from[e] * f->n / cells;
	f->squares = f->cost[cells] - price * (double)(f->segments - 1);
}

/* Segments in units of the variance that they leave, which is sought from `variance` on. */
static struct fit fit(struct trend *f, double memory, bool line, double variance)
{
	double numbers = line ? LINE : LEVEL, price = PRICE * numbers * log((double)f->n),
	       n = (double)f->n;
	struct fit out = {.memory = memory, .variance = variance};

	for (int round = 0; round < ROUNDS; round++) {
		double before = out.variance;

		fit_segments(f, price * before, line);
		out.variance = fmax(
		        f->squares / fmax(1, n - numbers * (double)f->segments), LEAST_VARIANCE);
		if (fabs(out.variance - before) < CONVERGED * before)
			break;
	}
	out.score = n * log(fmax(f->squares / n, LEAST_VARIANCE)) + price * (double)f->segments;
	out.score += memory > 0 ? log(n) : 0;
	return out;
}

/* The best of all memories, with levels or with lines, into bounds and *segments. */
static void choose_best(struct trend *f, size_t *bounds, size_t *segments, struct fit *best)
{
	*best = (struct fit){.score = INFINITY};
	for (size_t i = 0; i < 2 * (sizeof memories / sizeof *memories); i++) {
		double memory = memories[i / 2], sigma, tau;
		struct fit now;

		remember(f, memory);
		tk_noise_estimate_scale(f->z + 1, f->n - 1, f->work, &sigma, &tau);
		now = fit(f, memory, i % 2, fmax(sigma * sigma, LEAST_VARIANCE));
		if (now.score < best->score) {
			*best = now;
			*segments = f->segments;
			memcpy(bounds, f->bounds, (f->segments + 1) * sizeof *bounds);
		}
	}
}

static void fit_all(struct trend *f, const double *y, size_t *bounds, size_t *segments, double *tau)
{
	struct fit best;
	double sigma, noise;

	tk_noise_estimate_scale(y, f->n, f->work, &sigma, &noise);
	tk_winsorize(y, f->n, SPIKE * sigma, f->y);
	choose_best(f, bounds, segments, &best);
	*tau = sqrt(best.variance) / fmax(1 - best.memory, 1.0 / LONGEST);
}

void tk_trend_fit(const double *y, size_t n, size_t *bounds, size_t *segments, double *tau)
{
	struct trend f;

	if (n < LEAST_NIGHTS)
		return;
	trend_make(&f, y, n);
	remember(&f, 0);
	if (squares_of_levels(&f, bounds, *segments) > EXPLAINED * squares_of_pieces(&f))
		fit_all(&f, y, bounds, segments, tau);
	free(f.y);
}

/* ---- season ---- */

#define PERIOD_MIN 2
#define PERIOD_MAX 100
#define TIMES 5        /* the pattern is seen, at least */
#define CLOSE 0.5      /* correlation of differences a period apart */
#define SURE 5.0       /* standard errors of that */
#define AS_GOOD 0.85   /* of the best correlation: the shortest period, others are its multiples */
#define LEFT 0.5       /* of the squares about the mean of the period around each night, at most */
#define SEASON_SPIKE 3 /* differences are winsorized to this many standard deviations */

static double clamp(double v, double reach)
{
	return fmax(-reach, fmin(reach, v));
}

/* Winsorized differences from night to night, about their mean, into d[0 .. n - 1); returns their
 * variance. */
static double moves(const double *y, size_t n, double *work, double *d)
{
	double reach = SEASON_SPIKE * M_SQRT2 * tk_noise_lag_scale(y, n, 1, work), mean = 0,
	       squares = 0;

	for (size_t i = 1; i < n; i++) {
		d[i - 1] = clamp(y[i] - y[i - 1], reach);
		mean += d[i - 1] / (double)(n - 1);
	}
	for (size_t i = 0; i + 1 < n; i++) {
		d[i] -= mean;
		squares += d[i] * d[i];
	}
	return squares / (double)(n - 1);
}

static double product(const double *d, size_t n, size_t lag)
{
	double sum[8] = {0};
	size_t i = lag;

	for (; i + 8 <= n; i += 8)
		for (size_t k = 0; k < 8; k++)
			sum[k] += d[i + k] * d[i + k - lag];
	for (; i < n; i++)
		sum[0] += d[i] * d[i - lag];
	return ((sum[0] + sum[1]) + (sum[2] + sum[3]) + ((sum[4] + sum[5]) + (sum[6] + sum[7]))) /
	       (double)(n - lag);
}

/* The shortest period that is about as good as any, and is better than its neighbours; 0: none. r:
 * room for the correlations. */
static size_t period_of(const double *d, size_t n, double variance, double *r)
{
	size_t most = n / TIMES < PERIOD_MAX ? n / TIMES : PERIOD_MAX;
	double best = 0;

	if (!(variance > 0))
		return 0;
	for (size_t p = PERIOD_MIN - 1; p <= most + 1; p++) {
		r[p] = product(d, n, p) / variance;
		if (p >= PERIOD_MIN && p <= most && r[p] > best)
			best = r[p];
	}
	for (size_t p = PERIOD_MIN; p <= most; p++)
		if (r[p] >= fmax(fmax(CLOSE, AS_GOOD * best), SURE / sqrt((double)(n - p))) &&
		        r[p] > r[p - 1] && r[p] > r[p + 1])
			return p;
	return 0;
}

/* Medians of the nights of each phase about the mean of the period around them, into out, about
 * their mean; returns the part of the squares that is left without them. */
static double pattern_of(const double *y, size_t n, size_t period, double *work, double *out)
{
	double mean = 0, *sum = work, *same = work + n + 1, with = 0, without = 0;

	sum[0] = 0;
	for (size_t i = 0; i < n; i++)
		sum[i + 1] = sum[i] + (y[i] - y[0]);
	for (size_t phase = 0; phase < period; phase++) {
		size_t count = 0, half = period / 2;

		for (size_t i = phase; i < n; i += period)
			if (i >= half && i + half < n) {
				/* of an even period both ends count half */
				double around =
				        sum[i + half + 1] - sum[i - half] -
				        (period % 2 ? 0
				                    : (y[i - half] + y[i + half] - 2 * y[0]) / 2);

				same[count++] = y[i] - y[0] - around / (double)period;
			}
		out[phase] = tk_quantile_select(same, count, 0.5);
		for (size_t i = 0; i < count; i++) {
			with += same[i] * same[i];
			without += (same[i] - out[phase]) * (same[i] - out[phase]);
		}
		mean += out[phase] / (double)period;
	}
	for (size_t phase = 0; phase < period; phase++)
		out[phase] -= mean;
	return with > 0 ? without / with : 1;
}

void tk_season_remove(double *y, size_t n)
{
	double pattern[PERIOD_MAX + 2];

	if (n < TIMES * PERIOD_MIN + 2)
		return;

	double *work = tk_malloc((3 * n + 2) * sizeof *work), *d = work + 2 * n + 2;
	const size_t period = period_of(d, n - 1, moves(y, n, work, d), pattern);

	if (period && pattern_of(y, n, period, work, pattern) <= LEFT)
		for (size_t i = 0; i < n; i++)
			y[i] -= pattern[i % period];
	free(work);
}
