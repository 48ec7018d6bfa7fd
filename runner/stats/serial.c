/* AR(1) under white noise: see serial.h. */
#include "stats/serial.h"

#include <math.h>
#include <stdlib.h>

#include "base/error.h"
#include "stats/scale.h"
#include "stats/summary.h"

#define PHI_MIN 0.6 /* what forgets faster is white noise for a level of some nights */
#define POINTS_MIN 60
#define TAIL_MAX 1.35 /* 98 % quantile of the innovations over their median, in units of a normal distribution's */
#define LEAST_WHITE 1e-4

static const size_t lags[] = {1, 2, 3, 4, 5, 6, 7, 10, 14, 21, 28};
#define LAGS (sizeof lags / sizeof *lags)

/* Least squares of g = white + wander * (1 - phi^lag), each relative to its own size; returns the misfit. */
static double fit_parts(const double *g, size_t n, double phi, double *white, double *wander)
{
	double a = 0, b = 0, c = 0, d = 0, e = 0, misfit = 0, det;

	for (size_t i = 0; i < n; i++) {
		double u = 1 - pow(phi, (double)lags[i]), w = 1 / (g[i] * g[i] * sqrt((double)lags[i]));

		a += w, b += w * u, c += w * u * u, d += w * g[i], e += w * u * g[i];
	}
	det = a * c - b * b;
	*wander = phi > 0 && det > 1e-9 * a * c ? fmax(0, (a * e - b * d) / det) : 0;
	*white = (d - b * *wander) / a;
	if (*white < 0) {
		*white = 0;
		*wander = e / c;
	}
	for (size_t i = 0; i < n; i++) {
		double miss = 1 - (*white + *wander * (1 - pow(phi, (double)lags[i]))) / g[i];

		misfit += miss * miss / sqrt((double)lags[i]);
	}
	return misfit;
}

int tk_serial_fit(const double *r, size_t n, struct tk_serial *out)
{
	static const double phis[] = {0, 0.3, 0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.93, 0.95, 0.97, 0.985};
	double g[LAGS], best = INFINITY, *work = malloc((n + 1) * sizeof *work);
	size_t known = 0;

	*out = (struct tk_serial){.white = LEAST_WHITE};
	if (!work)
		return TK_ENOMEM;
	for (; known < LAGS && lags[known] * 6 <= n; known++) {
		double scale = tk_lag_scale(r, n, lags[known], work);

		g[known] = fmax(scale * scale, LEAST_WHITE * LEAST_WHITE);
	}
	for (size_t i = 0; known && i < sizeof phis / sizeof *phis; i++) {
		double white, wander, misfit = fit_parts(g, known, phis[i], &white, &wander);

		if (misfit < best - 1e-12) {
			best = misfit;
			*out = (struct tk_serial){
			        wander > 0 ? phis[i] : 0, sqrt(wander), fmax(LEAST_WHITE, sqrt(white))};
		}
	}
	free(work);
	return TK_OK;
}

/* The filter: what is known of the wandering part before each point. */
struct filter {
	double phi, q, r, p;
};

static struct filter start(const struct tk_serial *m)
{
	double wander = m->wander * m->wander;

	return (struct filter){m->phi, wander * (1 - m->phi * m->phi), m->white * m->white, wander};
}

/* Gain of this point; *s: variance of its innovation. */
static double advance(struct filter *f, double *s)
{
	double gain;

	*s = f->p + f->r;
	gain = f->p / *s;
	f->p = f->phi * f->phi * f->p * (1 - gain) + f->q;
	return gain;
}

int tk_serial_holds(const struct tk_serial *m, const double *r, size_t n, bool *holds)
{
	struct filter f = start(m);
	double x = 0, median, *e;

	*holds = false;
	if (n < POINTS_MIN || m->phi < PHI_MIN)
		return TK_OK;
	e = malloc(n * sizeof *e);
	if (!e)
		return TK_ENOMEM;
	for (size_t i = 0; i < n; i++) {
		double s, gain = advance(&f, &s);

		e[i] = fabs(r[i] - x) / sqrt(s);
		x = f.phi * (x + gain * (r[i] - x));
	}
	tk_sort(e, n);
	median = tk_quantile_sorted(e, n, 0.5) / 0.6745;
	*holds = median > 0 && tk_quantile_sorted(e, n, 0.98) / 2.326 < TAIL_MAX * median;
	free(e);
	return TK_OK;
}

/* Sums of the two regressors, level and step, with each other and with y. */
struct sums {
	double a11, a12, a22, b1, b2;
};

static struct tk_serial_step solve(const struct sums *a)
{
	double det = a->a11 * a->a22 - a->a12 * a->a12;
	struct tk_serial_step out = {0, INFINITY, 0};

	if (det > 1e-12 * a->a11 * a->a22) {
		out.shift = (a->a11 * a->b2 - a->a12 * a->b1) / det;
		out.error = sqrt(a->a11 / det);
		out.z = out.shift / out.error;
	}
	return out;
}

void tk_serial_step(const struct tk_serial *m, const double *y, size_t n, size_t split, struct tk_serial_step *out)
{
	struct filter f = start(m);
	struct sums a = {0};
	double x = 0, level = 0, step = 0;

	for (size_t i = 0; i < n; i++) {
		double s, gain = advance(&f, &s), e = y[i] - y[0] - x, e1 = 1 - level, e2 = (i >= split) - step;

		a.a11 += e1 * e1 / s, a.a12 += e1 * e2 / s, a.a22 += e2 * e2 / s, a.b1 += e1 * e / s,
		        a.b2 += e2 * e / s;
		x = f.phi * (x + gain * e);
		level = f.phi * (level + gain * e1);
		step = f.phi * (step + gain * e2);
	}
	*out = solve(&a);
}

/* Backwards over the innovations. The filter has settled after a few points; from then on it answers a step with c + (1
 * - c) theta^lag, so that the sums of all splits come from running ones. */
size_t tk_serial_scan(const struct tk_serial *m, const double *y, size_t n, size_t least, double *work, double *z)
{
	struct filter f = start(m);
	struct sums a = {0};
	double x = 0, level = 0, s = 1, gain = 0, theta, c, plain = 0, fading = 0, plain1 = 0, fading1 = 0, power = 1;
	size_t best = 0;

	*z = 0;
	for (size_t i = 0; i < n; i++) {
		gain = advance(&f, &s);
		work[i] = y[i] - y[0] - x;
		work[n + i] = 1 - level;
		x = f.phi * (x + gain * work[i]);
		level = f.phi * (level + gain * work[n + i]);
		a.a11 += work[n + i] * work[n + i] / s;
		a.b1 += work[n + i] * work[i] / s;
	}
	theta = f.phi * (1 - gain);
	c = (1 - f.phi) / (1 - theta);
	for (size_t i = n; i-- > least;) {
		plain += work[i], fading = work[i] + theta * fading;
		plain1 += work[n + i], fading1 = work[n + i] + theta * fading1;
		power *= theta;
		if (n - i < least)
			continue;
		a.b2 = (c * plain + (1 - c) * fading) / s;
		a.a12 = (c * plain1 + (1 - c) * fading1) / s;
		a.a22 = (c * c * (double)(n - i) + 2 * c * (1 - c) * (1 - power) / (1 - theta) +
		                (1 - c) * (1 - c) * (1 - power * power) / (1 - theta * theta)) /
		        s;
		double here = solve(&a).z;

		if (fabs(here) > fabs(*z)) {
			*z = here;
			best = i;
		}
	}
	return best;
}
