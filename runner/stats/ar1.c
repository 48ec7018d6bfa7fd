/* AR(1) noise under white noise, the estimate of a step of level in it, and a second search for
 * changes by it.
 *
 * In autocorrelated noise a mean over many points is worth little and a jump between two neighbours
 * is worth much. Generalised least squares, computed by a Kalman filter, weighs both (Willsky and
 * Jones 1976; the noise model of Romano et al. 2022). */
#include <math.h>

#include "base/base.h"
#include "stats/changepoint_internal.h"
#include "stats/summary.h"

#define PHI_MIN 0.6 /* faster decay is white noise for a level of several nights */
#define POINTS_MIN 60
#define TAIL_MAX 1.5 /* innovations' 98 % quantile over their median: times a normal one's */
#define LEAST_WHITE 1e-4
#define SPIKE 3 /* values are winsorized to so many standard deviations */

static const size_t lags[] = {1, 2, 3, 4, 5, 6, 7, 10, 14, 21, 28};
#define LAGS (sizeof lags / sizeof *lags)

struct ar1_model {
	double phi; /* autocorrelation of the wandering part from one point to the next; 0: there is
	               none */
	double drift_sd; /* standard deviation of the AR(1) part */
	double white;    /* standard deviation of the white part */
};

/* The filter's gains and its answers to a level and to a step, for all lengths. */
struct ar1_table {
	struct ar1_model model;
	double *gain, *share, *plain, *fading, *square; /* n + 1 of each: of the first points */
	double *power, *step;                           /* of the last ones */
	double s, theta, c; /* variance of an innovation, and the answer to a step, once the gain
	                       has settled */
	void *memory;
};

struct ar1_step {
	double shift, error, z;
};

/* Least squares of g = white + wander * (1 - phi^lag), each relative to its own size; returns the
 * misfit. */
static double fit_parts(const double *g, size_t n, double phi, double *white, double *wander)
{
	double a = 0, b = 0, c = 0, d = 0, e = 0, misfit = 0, det;

	for (size_t i = 0; i < n; i++) {
		double u = 1 - pow(phi, (double)lags[i]),
		       w = 1 / (g[i] * g[i] * sqrt((double)lags[i]));

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

/* From robust scales of the differences at lags 1 to 28 (a variogram). r: residuals about the
 * levels, in the order of time. */
static void ar1_fit(const double *r, size_t n, struct ar1_model *out)
{
	static const double phis[] = {
	        0, 0.3, 0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.93, 0.95, 0.97, 0.985};
	double g[LAGS], best = INFINITY, *work = tk_malloc((n + 1) * sizeof *work);
	size_t known = 0;

	*out = (struct ar1_model){.white = LEAST_WHITE};
	for (; known < LAGS && lags[known] * 6 <= n; known++) {
		double scale = tk_noise_lag_scale(r, n, lags[known], work);

		g[known] = fmax(scale * scale, LEAST_WHITE * LEAST_WHITE);
	}
	for (size_t i = 0; known && i < sizeof phis / sizeof *phis; i++) {
		double white, wander, misfit = fit_parts(g, known, phis[i], &white, &wander);

		if (misfit < best - 1e-12) {
			best = misfit;
			*out = (struct ar1_model){wander > 0 ? phis[i] : 0, sqrt(wander),
			        fmax(LEAST_WHITE, sqrt(white))};
		}
	}
	free(work);
}

/* The Kalman filter: the predicted drift (the AR(1) part) before each point. */
struct filter {
	double phi, q, r, p;
};

static struct filter start(const struct ar1_model *m)
{
	double wander = m->drift_sd * m->drift_sd;

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

/* Whether the model is worth using: the series remembers, and its innovations have the tails of a
 * normal distribution (two clock states do not). */
static bool ar1_check_fit(const struct ar1_model *m, const double *r, size_t n)
{
	struct filter f = start(m);
	static const double parts[] = {0.5, 0.98};
	double x = 0, median, at[2], *e;

	if (n < POINTS_MIN || m->phi < PHI_MIN)
		return false;
	e = tk_malloc(n * sizeof *e);
	for (size_t i = 0; i < n; i++) {
		double s, gain = advance(&f, &s);

		e[i] = fabs(r[i] - x) / sqrt(s);
		x = f.phi * (x + gain * (r[i] - x));
	}
	tk_quantile_select_many(e, n, parts, 2, at);
	median = at[0] / 0.6745;
	const bool holds = median > 0 && at[1] / 2.326 < TAIL_MAX * median;
	free(e);
	return holds;
}

double tk_changepoint_score(const double *r, size_t n)
{
	double *calm = tk_malloc(2 * n * sizeof *calm), *work = calm + n, x = 0, score;
	const double sigma = fmax(tk_noise_estimate_sigma(r, n, work), tk_noise_mad(r, n, work));
	struct ar1_model m;

	tk_winsorize(r, n, SPIKE * sigma, calm);
	ar1_fit(calm, n, &m);
	free(calm);

	struct filter f = start(&m);

	score = log((double)n) * (m.phi > 0 ? 3 : 1);
	for (size_t i = 0; i < n; i++) {
		double s, gain = advance(&f, &s), most = SPIKE * sqrt(s),
		          miss = fmax(-most, fmin(most, r[i] - x));

		score += log(s) + miss * miss / s;
		x = f.phi * (x + gain * miss);
	}
	return score;
}

/* Sums of the two regressors, level and step, with each other and with y. */
struct sums {
	double a11, a12, a22, b1, b2;
};

static struct ar1_step solve(const struct sums *a)
{
	double det = a->a11 * a->a22 - a->a12 * a->a12;
	struct ar1_step out = {0, INFINITY, 0};

	if (det > 1e-12 * a->a11 * a->a22) {
		out.shift = (a->a11 * a->b2 - a->a12 * a->b1) / det;
		out.error = sqrt(a->a11 / det);
		out.z = out.shift / out.error;
	}
	return out;
}

/* The step at y[split] of y[0 .. n); 0 < split < n. */
static void ar1_step(
        const struct ar1_model *m, const double *y, size_t n, size_t split, struct ar1_step *out)
{
	struct filter f = start(m);
	struct sums a = {0};
	double x = 0, level = 0, step = 0;

	for (size_t i = 0; i < n; i++) {
		double s, gain = advance(&f, &s), e = y[i] - y[0] - x, e1 = 1 - level,
		          e2 = (i >= split) - step;

		a.a11 += e1 * e1 / s, a.a12 += e1 * e2 / s, a.a22 += e2 * e2 / s,
		        a.b1 += e1 * e / s, a.b2 += e2 * e / s;
		x = f.phi * (x + gain * e);
		level = f.phi * (level + gain * e1);
		step = f.phi * (step + gain * e2);
	}
	*out = solve(&a);
}

/* Computes what does not depend on the values, for up to n points. From where on the gain does not
 * change any more, the filter answers a step with c + (1 - c) theta^lag. */
static void ar1_table_init(const struct ar1_model *m, size_t n, struct ar1_table *t)
{
	struct filter f = start(m);
	double level = 0, *at = tk_malloc(7 * (n + 1) * sizeof *at), s = 1, power = 1, c;

	*t = (struct ar1_table){.model = *m, .memory = at};
	t->gain = at, t->power = at + (n + 1), t->step = t->power + (n + 1),
	t->plain = t->step + (n + 1);
	t->fading = t->plain + (n + 1), t->square = t->fading + (n + 1),
	t->share = t->square + (n + 1);
	t->plain[0] = t->square[0] = 0;
	for (size_t i = 0; i < n; i++) {
		double seen;

		t->gain[i] = advance(&f, &s);
		seen = 1 - level;
		t->fading[i] = seen;
		t->share[i] = seen / s;
		t->plain[i + 1] = t->plain[i] + seen;
		t->square[i + 1] = t->square[i] + seen * seen / s;
		level = f.phi * (level + t->gain[i] * seen);
	}
	t->s = s;
	t->theta = f.phi * (1 - t->gain[n - 1]);
	t->c = c = (1 - f.phi) / (1 - t->theta);
	t->fading[n] = (1 - level) / (1 - t->theta);
	for (size_t i = n; i-- > 0;)
		t->fading[i] += t->theta * t->fading[i + 1];
	for (size_t i = 0; i <= n; i++, power *= t->theta) {
		t->power[i] = power;
		t->step[i] = c * c * (double)i + 2 * c * (1 - c) * (1 - power) / (1 - t->theta) +
		             (1 - c) * (1 - c) * (1 - power * power) / (1 - t->theta * t->theta);
	}
}

/* The split of y[0 .. n) with the largest |z|, at least `least` points on both sides; 0 if there is
 * none. Only the innovations are the series' own: the sums of all splits are running ones,
 * backwards. */
static size_t ar1_scan_steps(const struct ar1_table *t, const double *y, size_t n, size_t least,
        double *innovation, double *z)
{
	double phi = t->model.phi, c = t->c, x = 0, level = 0, plain = 0, fading = 0, top = 0,
	       bottom = 1, sign = 1, scale = 1 / (t->square[n] * t->s);
	size_t best = 0;

	for (size_t i = 0; i < n; i++) {
		double e = y[i] - y[0] - x;

		innovation[i] = e;
		level += t->share[i] * e;
		x = phi * (x + t->gain[i] * e);
	}
	level /= t->square[n];
	for (size_t i = n; i-- > least;) {
		size_t length = n - i;
		double a12 = c * (t->plain[n] - t->plain[i]) +
		             (1 - c) * (t->fading[i] - t->power[length] * t->fading[n]),
		       over, rest = t->step[length] - a12 * a12 * scale;

		plain += innovation[i];
		fading = innovation[i] + t->theta * fading;
		over = c * plain + (1 - c) * fading - a12 * level;
		if (length >= least && over * over * bottom > top * rest &&
		        rest > 1e-12 * t->step[length]) {
			top = over * over;
			bottom = rest;
			sign = over;
			best = i;
		}
	}
	*z = best ? copysign(sqrt(top / (bottom * t->s)), sign) : 0;
	return best;
}

/* ---- refine ---- */

#define Z 4.0         /* of a change */
#define LEAST 3       /* points on both sides */
#define BLURRED 7     /* nights, of which winsorizing may make a level of spikes that differ */
#define RETURNS 0.5   /* of a step is left when the level returns */
#define SHORTEST 20.0 /* intervals, each half over the next; the next size is GROW times longer */
#define GROW 1.6
#define ROUNDS 3

struct candidate {
	size_t at;
	double z;
};

struct refine {
	struct ar1_model noise;
	struct ar1_table table;
	const double *raw;
	double *y, *work; /* without spikes; n values of scratch */
	double reach;     /* further from its level, a value is a spike */
	size_t n;
	double min_effect;
	size_t *bounds, segments;
	struct candidate *found;
	size_t count, cap;
};

static void scan(struct refine *f, size_t from, size_t to)
{
	double z = 0;
	size_t at = to - from >= 2 * LEAST
	                    ? ar1_scan_steps(&f->table, f->y + from, to - from, LEAST, f->work, &z)
	                    : 0;

	if (!at || fabs(z) < Z)
		return;
	if (f->count == f->cap) {
		f->cap = f->cap ? 2 * f->cap : 64;
		f->found = tk_realloc(f->found, f->cap * sizeof *f->found);
	}
	f->found[f->count++] = (struct candidate){from + at, fabs(z)};
}

static void scan_segment(struct refine *f, size_t from, size_t to)
{
	scan(f, from, to);
	for (double size = SHORTEST; size < (double)(to - from); size *= GROW)
		for (double at = (double)from; at + size <= (double)to + 1; at += size / 2)
			scan(f, (size_t)at, at + size > (double)to ? to : (size_t)(at + size));
}

static int strongest_first(const void *a, const void *b)
{
	const struct candidate *x = a, *y = b;

	if (x->z != y->z)
		return x->z > y->z ? -1 : 1;
	return (x->at > y->at) - (x->at < y->at);
}

/* The change at bounds[i], between its neighbours. */
static struct ar1_step step_at(const struct refine *f, size_t i)
{
	struct ar1_step step;
	size_t from = f->bounds[i - 1];

	ar1_step(&f->noise, f->y + from, f->bounds[i + 1] - from, f->bounds[i] - from, &step);
	return step;
}

static bool stands(const struct refine *f, size_t i, double *z)
{
	struct ar1_step step = step_at(f, i);

	*z = fabs(step.z);
	return *z >= Z && fabs(step.shift) >= f->min_effect;
}

static void drop(struct refine *f, size_t i)
{
	tk_bounds_remove(f->bounds, &f->segments, i, 1);
}

static bool insert(struct refine *f, size_t at)
{
	size_t i = 1;
	double z;

	while (f->bounds[i] < at)
		i++;
	if (at - f->bounds[i - 1] < LEAST || f->bounds[i] - at < LEAST)
		return false;
	memmove(f->bounds + i + 1, f->bounds + i, (f->segments - i + 1) * sizeof *f->bounds);
	f->bounds[i] = at;
	f->segments++;
	if (stands(f, i, &z))
		return true;
	drop(f, i);
	return false;
}

static void take_back(struct refine *f)
{
	for (;;) {
		double least = INFINITY;
		size_t weakest = 0;

		for (size_t i = 1; i < f->segments; i++) {
			double z;

			if (!stands(f, i, &z) && z < least) {
				least = z;
				weakest = i;
			}
		}
		if (!weakest)
			return;
		drop(f, weakest);
	}
}

static void remove_weak_steps(struct refine *f)
{
	for (size_t i = 1; i < f->segments; i++) {
		double z;
		size_t from = f->bounds[i - 1], at = ar1_scan_steps(&f->table, f->y + from,
		                                        f->bounds[i + 1] - from, 2, f->work, &z);

		if (at)
			f->bounds[i] = from + at;
	}
}

/* Whether LEAST nights of segment g are alike, as they were measured. */
static bool is_level(const struct refine *f, size_t g)
{
	size_t from = f->bounds[g], nights = f->bounds[g + 1] - from, near = 0;
	double level;

	if (nights > BLURRED)
		return true;
	memcpy(f->work, f->raw + from, nights * sizeof *f->work);
	level = tk_quantile_select(f->work, nights, 0.5);
	for (size_t i = from; i < from + nights; i++)
		near += fabs(f->raw[i] - level) <= f->reach;
	return near >= LEAST;
}

/* Winsorizing makes a level of spikes side by side: removes both changes at a short segment that is
 * none where the level returns after it, else the weaker one. */
static void take_spikes_back(struct refine *f)
{
	for (size_t g = 1; g + 1 < f->segments;) {
		struct ar1_step begin, end;
		double larger;

		if (is_level(f, g)) {
			g++;
			continue;
		}
		begin = step_at(f, g), end = step_at(f, g + 1);
		larger = fmax(fabs(begin.shift), fabs(end.shift));
		drop(f, fabs(begin.z) < fabs(end.z) ? g : g + 1);
		if (fabs(begin.shift + end.shift) < RETURNS * larger)
			drop(f, g);
		take_back(f);
		g = 1;
	}
}

static void rescan(struct refine *f)
{
	for (int round = 0; round < ROUNDS; round++) {
		bool more = false;

		f->count = 0;
		for (size_t g = 0; g < f->segments; g++)
			scan_segment(f, f->bounds[g], f->bounds[g + 1]);
		tk_sort(f->found, f->count, sizeof *f->found, strongest_first);
		for (size_t i = 0; i < f->count; i++)
			more |= insert(f, f->found[i].at);
		take_back(f);
		remove_weak_steps(f);
		if (!more)
			break;
	}
}

void tk_changepoint_refine(const double *y, double *r, size_t n, double min_effect, size_t *bounds,
        size_t *segments, bool *holds)
{
	struct refine f = {
	        .n = n, .min_effect = min_effect, .bounds = bounds, .segments = *segments};
	double sigma;

	f.y = tk_malloc(2 * n * sizeof *f.y);
	f.work = f.y + n;
	sigma = fmax(tk_noise_estimate_sigma(r, n, f.work), tk_noise_mad(r, n, f.work));
	tk_winsorize(r, n, SPIKE * sigma, f.work);
	memcpy(r, f.work, n * sizeof *r);
	ar1_fit(r, n, &f.noise);
	*holds = ar1_check_fit(&f.noise, r, n);
	if (*holds) {
		tk_winsorize(y, n, SPIKE * sigma, f.y);
		f.raw = y;
		f.reach = SPIKE * sigma;
		ar1_table_init(&f.noise, n, &f.table);
		rescan(&f);
		take_spikes_back(&f);
		*segments = f.segments;
	}
	free(f.table.memory);
	free(f.found);
	free(f.y);
}
