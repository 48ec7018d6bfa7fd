/* A hidden Markov chain over a wandering part, forward in time: see regime_model.h. */
#include <math.h>
#include <string.h>

#include "stats/regime_model.h"
#include "stats/summary.h"

#define LIKELIHOOD_MIN 1e-300

/* One step of the filter. */
struct step {
	double likelihood;
	double gain; /* of the wandering part, over the states */
	double pull,
	        weight; /* derivative of the log-likelihood by the level, and its information */
};

double tk_likelihood_log(const struct tk_likelihood_product *p)
{
	return p->sum + log(p->factors);
}

static void multiply(struct tk_likelihood_product *p, double likelihood)
{
	p->factors *= likelihood;
	if (p->factors < 1e-100 || p->factors > 1e100) {
		p->sum += log(fmax(p->factors, LIKELIHOOD_MIN));
		p->factors = 1;
	}
}

static struct tk_filtered_state start(const struct tk_regime_model *m)
{
	struct tk_filtered_state b = {.x = 0, .variance = m->drift_sd * m->drift_sd};

	memcpy(b.p, m->share, sizeof b.p);
	return b;
}

/* Updates the AR(1) drift with the point: the mixture over the states is approximated by one normal
 * distribution. */
static void follow(const struct tk_regime_model *m, struct tk_filtered_state *b, double x,
        double variance, const double *step, const double *gain, double miss, bool jumps)
{
	size_t spike = m->count - 1;
	double moved = 0, after = 0;

	for (size_t j = 0; j < spike; j++)
		moved += b->p[j] * step[j];
	for (size_t j = 0; j < spike; j++)
		after += b->p[j] *
		         ((1 - gain[j]) * variance + (step[j] - moved) * (step[j] - moved));
	after += b->p[spike] * (variance + moved * moved);
	if (jumps && b->p[spike] > 0.5)
		after += miss * miss / 2;
	b->x = x + moved;
	b->variance = after;
}

/* What is the same for every point where nothing drifts. */
struct densities {
	double precision[TK_REGIME_STATES_MAX], peak[TK_REGIME_STATES_MAX];
};

TK_REGIME_INLINE struct densities find_densities(
        const struct tk_regime_model *m, size_t count, double variance)
{
	struct densities d = {{0}};

	for (size_t j = 0; j + 1 < count; j++) {
		d.precision[j] = 1 / (m->sd[j] * m->sd[j] + variance);
		d.peak[j] = sqrt(d.precision[j]) / TK_REGIME_SQRT_2PI;
	}
	return d;
}

/* Moves *b over one point about the level. `count` is m->count: where it is a constant, what is
 * within becomes straight code. steady: nothing drifts, x and its variance are 0, and the densities
 * are *known. jumps: after a spike the AR(1) drift may have any value, so that it follows a step of
 * level. */
TK_REGIME_INLINE struct step update(const struct tk_regime_model *m, size_t count, bool steady,
        const struct densities *known, struct tk_filtered_state *b, double y, bool jumps)
{
	struct step o = {0};
	const size_t spike = count - 1;
	const double x = steady ? 0 : m->phi * b->x,
	             variance = steady ? 0
	                               : m->phi * m->phi * b->variance +
	                                         m->drift_sd * m->drift_sd * (1 - m->phi * m->phi);
	const struct densities d = steady ? *known : find_densities(m, count, variance);
	double next[TK_REGIME_STATES_MAX], miss[TK_REGIME_STATES_MAX] = {0},
	                                   step[TK_REGIME_STATES_MAX] = {0},
	                                   gain[TK_REGIME_STATES_MAX] = {0}, scale;

	for (size_t j = 0; j < count; j++) {
		next[j] = 0;
		for (size_t i = 0; i < count; i++)
			next[j] += b->p[i] * m->to[i][j];
		miss[j] = y - x - m->offset[j];
		next[j] *= j == spike
		                   ? M_1_PI * m->sd[j] / (m->sd[j] * m->sd[j] + miss[j] * miss[j])
		                   : exp(-0.5 * miss[j] * miss[j] * d.precision[j]) * d.peak[j];
		o.likelihood += next[j];
	}
	o.likelihood = o.likelihood > LIKELIHOOD_MIN ? o.likelihood : LIKELIHOOD_MIN;
	scale = 1 / o.likelihood;
	for (size_t j = 0; j < count; j++)
		b->p[j] = next[j] * scale;
	for (size_t j = 0; j < spike; j++) {
		const double w = b->p[j] * d.precision[j];

		gain[j] = variance * d.precision[j];
		step[j] = gain[j] * miss[j];
		o.weight += w;
		o.pull += w * miss[j];
		o.gain += b->p[j] * gain[j];
	}
	if (!steady && m->drift_sd > 0) {
		follow(m, b, x, variance, step, gain, y - x, jumps);
		b->drift_share = m->phi * b->drift_share + o.gain * (1 - m->phi * b->drift_share);
	}
	return o;
}

static struct step update_with_jumps(
        const struct tk_regime_model *m, struct tk_filtered_state *b, double y)
{
	return update(m, m->count, false, NULL, b, y, true);
}

static bool is_steady(const struct tk_regime_model *m, const struct tk_filtered_state *b)
{
	return !(m->drift_sd > 0) && b->x == 0 && b->variance == 0;
}

/* The result of work(m, count, is_steady, ...), with constants for the second and the third. */
#define SPECIALISE(work, m, steady, ...) \
	switch ((m)->count) { \
	case 2: \
		return steady ? work(m, 2, true, __VA_ARGS__) : work(m, 2, false, __VA_ARGS__); \
	case 3: \
		return steady ? work(m, 3, true, __VA_ARGS__) : work(m, 3, false, __VA_ARGS__); \
	case TK_REGIME_STATES_MAX: \
		return steady ? work(m, TK_REGIME_STATES_MAX, true, __VA_ARGS__) \
		              : work(m, TK_REGIME_STATES_MAX, false, __VA_ARGS__); \
	default: \
		return work(m, (m)->count, false, __VA_ARGS__); \
	}

TK_REGIME_INLINE double find_loglik(const struct tk_regime_model *m, size_t count, bool steady,
        const double *y, size_t n, double level, struct tk_filtered_state b,
        struct tk_filtered_state *each, struct tk_likelihood_product *so_far)
{
	const struct densities d = find_densities(m, count, 0);
	struct tk_likelihood_product p = {0, 1};

	for (size_t i = 0; i < n; i++) {
		const struct step o = update(m, count, steady, &d, &b, y[i] - level, false);

		multiply(&p, o.likelihood);
		if (each)
			each[i] = b;
		if (so_far)
			so_far[i] = p;
	}
	return tk_likelihood_log(&p);
}

double tk_regime_loglik(const struct tk_regime_model *m, const double *y, size_t n, double level,
        const struct tk_filtered_state *from, struct tk_filtered_state *each,
        struct tk_likelihood_product *so_far)
{
	const struct tk_filtered_state b = from ? *from : start(m);
	const bool steady = is_steady(m, &b);

	SPECIALISE(find_loglik, m, steady, y, n, level, b, each, so_far)
}

TK_REGIME_INLINE double newton_step(const struct tk_regime_model *m, size_t count, bool steady,
        const double *y, size_t n, struct tk_filtered_state b, double *level,
        struct tk_level_information *information)
{
	const struct densities d = find_densities(m, count, 0);
	struct tk_likelihood_product p = {0, 1};
	struct tk_level_information known = {0};
	double pull = 0, follows = 0; /* what the wandering part takes of a change of level */

	for (size_t i = 0; i < n; i++) {
		const double seen = 1 - m->phi * follows, old = 1 - m->phi * b.drift_share;
		const struct step o = update(m, count, steady, &d, &b, y[i] - *level, false);

		known.new_level += seen * seen * o.weight;
		known.old_level += old * old * o.weight;
		known.cross += seen * old * o.weight;
		pull += seen * o.pull;
		follows = m->phi * follows + o.gain * seen;
		multiply(&p, o.likelihood);
	}
	*information = known;
	if (!(known.new_level > 0))
		return tk_likelihood_log(&p);
	*level += pull / known.new_level;
	return tk_likelihood_log(&p) + 0.5 * pull * pull / known.new_level;
}

double tk_regime_newton_step(const struct tk_regime_model *m, const double *y, size_t n,
        const struct tk_filtered_state *from, double *level,
        struct tk_level_information *information)
{
	const struct tk_filtered_state b = from ? *from : start(m);
	const bool steady = is_steady(m, &b);

	SPECIALISE(newton_step, m, steady, y, n, b, level, information)
}

/* ---- regime fit ---- */

#define SPIKE_SCALE 0.1 /* of the Cauchy distribution; SPIKE_SIGMAS of the noise, if more */
#define SPIKE_SIGMAS 3
#define SPIKE_ENTER 0.01 /* prior of a spike, worth PRIOR_NIGHTS nights */
#define SPIKE_STAY 0.25  /* and of a second night of it, worth PRIOR_SPIKES spikes */
#define PRIOR_NIGHTS 50.0
#define PRIOR_SPIKES 2.0
#define PRIOR_MOVES 0.5 /* of each other move */
#define STAY_MAX 0.85   /* a rare state of more than a week is a level */
#define LEAST_SD 0.15   /* of a state, in units of the series' own */
#define LEAST_NOISE 1e-4
#define DRIFT_PHIS 4
#define POINTS_PER_STATE 12
#define ROUNDS 15
#define CONVERGED 1e-3 /* of the log-likelihood: a round that adds less is the last */

/* Where the states are looked for first: quantiles, and which of them for each number of states. */
static const double quantiles[] = {0.25, 0.3, 0.5, 0.65, 0.9, 0.93};
#define QUANTILES (sizeof quantiles / sizeof *quantiles)
static const size_t guesses[TK_REGIME_STATES_MAX - 1][TK_REGIME_STATES_MAX - 1] = {
        {2}, {1, 4}, {0, 3, 5}};

double tk_regime_penalty(const struct tk_regime_model *m, size_t n)
{
	return 0.5 * log((double)n) *
	       (double)(m->count * (m->count - 1) + (m->drift_sd > 0 ? 2 : 0));
}

static double prior(size_t from, size_t to, size_t spike)
{
	if (from == spike)
		return PRIOR_SPIKES * (to == spike ? SPIKE_STAY : (1 - SPIKE_STAY) / (double)spike);
	return to == spike ? SPIKE_ENTER * PRIOR_NIGHTS / (double)spike : PRIOR_MOVES;
}

static void set_moves(struct tk_regime_model *m, const struct tk_regime_counts *c, size_t from)
{
	double row = 0, rest, stay;

	for (size_t k = 0; k < m->count; k++)
		row += m->to[from][k] = c->to[from][k] + prior(from, k, m->count - 1);
	stay = m->to[from][from] / row;
	rest = 1 - stay;
	for (size_t k = 0; k < m->count; k++)
		m->to[from][k] /= row;
	if (stay <= STAY_MAX || m->share[from] > 0.5)
		return;
	for (size_t k = 0; k < m->count; k++)
		m->to[from][k] *= (1 - STAY_MAX) / rest;
	m->to[from][from] = STAY_MAX;
}

static void maximise(
        struct tk_regime_model *m, const struct tk_regime_counts *c, double n, double sigma)
{
	size_t spike = m->count - 1;
	double least = fmax(LEAST_NOISE, LEAST_SD * sigma);

	for (size_t k = 0; k < m->count; k++) {
		double mean, variance;

		m->share[k] = (c->state[k] + (k == spike ? SPIKE_ENTER * PRIOR_NIGHTS : 1)) /
		              (n + SPIKE_ENTER * PRIOR_NIGHTS + (double)spike);
		set_moves(m, c, k);
		if (k == spike || c->state[k] <= 0.5)
			continue;
		mean = c->sum[k] / c->state[k];
		variance = fmax(0, c->square[k] - mean * c->sum[k]);
		m->offset[k] = mean;
		/* half a point's worth of the series' own variance, so that no state closes in on
		 * ties */
		m->sd[k] = sqrt(
		        fmax(least * least, (variance + sigma * sigma / 2) / (c->state[k] + 2)));
	}
}

/* at: the values of the quantiles. */
static void guess(
        struct tk_regime_model *m, const double at[QUANTILES], size_t normal, double sigma)
{
	*m = (struct tk_regime_model){.count = normal + 1};
	for (size_t k = 0; k < normal; k++) {
		m->offset[k] = at[guesses[normal - 1][k]];
		m->sd[k] = sigma / (double)normal;
		m->share[k] = (1 - SPIKE_ENTER) / (double)normal;
	}
	m->sd[normal] = fmax(SPIKE_SCALE, SPIKE_SIGMAS * sigma);
	m->share[normal] = SPIKE_ENTER;
	for (size_t j = 0; j <= normal; j++) {
		for (size_t k = 0; k < normal; k++)
			m->to[k][j] = m->share[j];
		m->to[normal][j] = j == normal ? SPIKE_STAY : (1 - SPIKE_STAY) / (double)normal;
	}
}

/* The likeliest model near *m. */
static void climb(struct tk_regime_model *m, double sigma, struct tk_regime_points *w)
{
	struct tk_regime_counts counts;

	for (int round = 0;; round++) {
		const double before = m->loglik;

		m->loglik = tk_regime_smooth(m, w);
		if (round == ROUNDS || (round && fabs(m->loglik - before) < CONVERGED))
			return;
		tk_regime_count(m, w, &counts);
		maximise(m, &counts, (double)w->n, sigma);
	}
}

struct tk_regime_model tk_regime_fit(const double *r, size_t n, double sigma)
{
	struct tk_regime_model m, found = {0};
	double best = -INFINITY, at[QUANTILES];
	struct tk_regime_points w = {.n = n};

	sigma = fmax(sigma, LEAST_NOISE);
	memcpy(w.r, r, n * sizeof *r);
	tk_quantile_select_many(w.r, n, quantiles, QUANTILES, at);
	memcpy(w.r, r, n * sizeof *r);
	for (size_t normal = 1; normal < TK_REGIME_STATES_MAX; normal++) {
		if (normal > 1 && n < POINTS_PER_STATE * normal)
			break;
		guess(&m, at, normal, sigma);
		climb(&m, sigma, &w);

		const double worth = m.loglik - tk_regime_penalty(&m, n);

		if (worth > best) {
			best = worth;
			found = m;
		}
	}
	return found;
}

static double loglik_with_jumps(const struct tk_regime_model *m, const double *r, size_t n)
{
	struct tk_filtered_state b = start(m);
	struct tk_likelihood_product p = {0, 1};

	for (size_t i = 0; i < n; i++)
		multiply(&p, update_with_jumps(m, &b, r[i]).likelihood);
	return tk_likelihood_log(&p);
}

/* The likeliest wandering part under one normal state, of a coarse grid: memory, and part of the
 * variance. */
static struct tk_regime_model coarse(const double *r, size_t n, double sigma)
{
	static const double phis[DRIFT_PHIS] = {0.6, 0.8, 0.9, 0.96},
	                    parts[] = {0.12, 0.3, 0.6, 0.85, 0.97};
	struct tk_regime_model m[TK_REGIME_DRIFTS];
	const double none[QUANTILES] = {0};
	double loglik[TK_REGIME_DRIFTS];
	size_t best = 0;

	for (size_t i = 0; i < TK_REGIME_DRIFTS; i++) {
		const double phi = phis[i % DRIFT_PHIS], part = parts[i / DRIFT_PHIS],
		             variance = sigma * sigma / (1 - phi * part);

		guess(&m[i], none, 1, fmax(LEAST_NOISE, sqrt(variance * (1 - part))));
		m[i].sd[1] = fmax(SPIKE_SCALE, SPIKE_SIGMAS * sqrt(variance));
		m[i].phi = phi;
		m[i].drift_sd = sqrt(variance * part);
	}
	tk_regime_drift_logliks(m, r, n, loglik);
	for (size_t i = 1; i < TK_REGIME_DRIFTS; i++)
		if (loglik[i] > loglik[best])
			best = i;
	m[best].loglik = loglik[best];
	return m[best];
}

/* Residuals of r without the smoothed AR(1) drift (Rauch, Tung and Striebel 1965). */
static void take_wander_out(
        const struct tk_regime_model *m, const double *r, size_t n, double *left)
{
	struct tk_filtered_state each[TK_REGIME_POINTS_MAX];
	struct tk_filtered_state b = start(m);
	double x = 0, innovation = m->drift_sd * m->drift_sd * (1 - m->phi * m->phi);

	for (size_t i = 0; i < n; i++) {
		update_with_jumps(m, &b, r[i]);
		each[i] = b;
	}
	for (size_t i = n; i-- > 0;) {
		double ahead = m->phi * m->phi * each[i].variance + innovation;

		x = i + 1 == n ? b.x
		               : each[i].x + each[i].variance * m->phi / ahead *
		                                     (x - m->phi * each[i].x);
		left[i] = r[i] - x;
	}
}

/* The states of what is left, over the drift. The smoothed part has some of the rest in it. */
static struct tk_regime_model combine(const struct tk_regime_model *found,
        const struct tk_regime_model *states, const double *r, size_t n)
{
	static const double scales[] = {0.85, 1, 1.2};
	struct tk_regime_model best = *found;

	for (size_t i = 0; i < sizeof scales / sizeof *scales; i++) {
		struct tk_regime_model t = *states;

		t.phi = found->phi;
		t.drift_sd = found->drift_sd;
		for (size_t k = 0; k + 1 < t.count; k++)
			t.sd[k] *= scales[i];
		t.sd[t.count - 1] = found->sd[1];
		t.loglik = loglik_with_jumps(&t, r, n);
		if (t.loglik - tk_regime_penalty(&t, n) > best.loglik - tk_regime_penalty(&best, n))
			best = t;
	}
	return best;
}

struct tk_regime_model tk_regime_fit_drift(const double *r, size_t n, double sigma)
{
	const struct tk_regime_model found = coarse(r, n, fmax(sigma, LEAST_NOISE));
	double left[TK_REGIME_POINTS_MAX];

	take_wander_out(&found, r, n, left);

	const struct tk_regime_model states = tk_regime_fit(left, n, found.sd[0]);

	return combine(&found, &states, r, n);
}
