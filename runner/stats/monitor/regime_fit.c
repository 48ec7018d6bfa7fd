/* The states of a series' noise, by expectation maximisation: see regime_model.h. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "stats/monitor/regime_em.h"
#include "stats/monitor/regime_filter.h"
#include "stats/monitor/regime_lanes.h"
#include "stats/monitor/simd.h"
#include "stats/summary/quantile.h"

#define SPIKE_SCALE \
	0.1 /* of the Cauchy distribution; or SPIKE_SIGMAS times the noise, where that is more */
#define SPIKE_SIGMAS 3
#define SPIKE_ENTER 0.01 /* prior of a spike, worth PRIOR_NIGHTS nights */
#define SPIKE_STAY 0.25  /* and of a second night of it, worth PRIOR_SPIKES spikes */
#define PRIOR_NIGHTS 50.0
#define PRIOR_SPIKES 2.0
#define PRIOR_MOVES 0.5 /* of each other move */
#define STAY_MAX 0.85   /* a rare state of more than a week is a level */
#define LEAST_SD 0.15   /* of a state, in units of the series' own */
#define LEAST_NOISE 1e-4
#define PARTS 5 /* of a variance that may wander */
#define POINTS_PER_STATE 12
#define ROUNDS 15
#define LANES_MIN 3  /* fewer climb faster alone */
#define SETTLED 1e-3 /* of the log-likelihood: a round that adds less is the last */

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

/* A model on its way to the likeliest one near its first guess. */
struct climber {
	struct tk_regime_fit_job *job;
	struct tk_regime_model m;
	double at[QUANTILES], sigma, best; /* best: of the models so far, less their penalties */
	int round;
};

/* A round later: changed it nothing significant? */
static bool has_settled(struct climber *c, double loglik)
{
	const double gain = loglik - c->m.loglik;

	c->m.loglik = loglik;
	return c->round == ROUNDS || (c->round && fabs(gain) < SETTLED);
}

static void climb_step(struct climber *c, const struct tk_regime_counts *counts)
{
	maximise(&c->m, counts, (double)c->job->n, c->sigma);
	c->round++;
}

static void climb(struct climber *c, double *work)
{
	struct tk_regime_counts counts;

	while (!has_settled(c, tk_regime_smooth(&c->m, c->job->r, c->job->n, work))) {
		tk_regime_count(&c->m, c->job->n, work, &counts);
		climb_step(c, &counts);
	}
}

static void enter_lane(struct tk_regime_lanes *w, size_t lane, const struct climber *c)
{
	tk_regime_lanes_set_points(w, lane, c->job->r);
	tk_regime_lanes_set_model(w, lane, &c->m);
}

/* Lets climbers with as many points and states climb side by side. Those that have settled make
 * room for others; the last ones climb alone. */
static void climb_lanes(struct climber *c, size_t count, struct tk_regime_lanes *w, double *work)
{
	struct climber *in[TK_REGIME_LANES] = {0};
	const size_t states = c->m.count;
	size_t next = 0, busy = 0;

	for (size_t lane = 0; lane < TK_REGIME_LANES; lane++)
		enter_lane(w, lane, c);
	for (;;) {
		double loglik[TK_REGIME_LANES];
		struct tk_regime_counts counts[TK_REGIME_LANES];

		for (size_t lane = 0; lane < TK_REGIME_LANES && next < count; lane++)
			if (!in[lane]) {
				in[lane] = &c[next++];
				enter_lane(w, lane, in[lane]);
				busy++;
			}
		if (busy < LANES_MIN)
			break;
		tk_regime_lanes_smooth(w, states, loglik);
		for (size_t lane = 0; lane < TK_REGIME_LANES; lane++)
			if (in[lane] && has_settled(in[lane], loglik[lane])) {
				in[lane] = NULL;
				busy--;
			}
		tk_regime_lanes_count(w, states, counts);
		for (size_t lane = 0; lane < TK_REGIME_LANES; lane++)
			if (in[lane]) {
				climb_step(in[lane], &counts[lane]);
				tk_regime_lanes_set_model(w, lane, &in[lane]->m);
			}
	}
	for (size_t lane = 0; lane < TK_REGIME_LANES; lane++)
		if (in[lane])
			climb(in[lane], work);
}

static bool has_points_for(size_t n, size_t normal)
{
	return normal == 1 || n >= POINTS_PER_STATE * normal;
}

/* Fits all numbers of states to series of n points. */
static int fit_alike(struct climber *c, size_t count, size_t n)
{
	double *work = tk_malloc(TK_REGIME_WORK_COUNT(n) * sizeof *work);
	struct tk_regime_lanes *w = count < LANES_MIN ? NULL : tk_regime_lanes_new(n);
	const bool enough = work && (w || count < LANES_MIN);

	for (size_t normal = 1;
	        enough && normal < TK_REGIME_STATES_MAX && has_points_for(n, normal); normal++) {
		for (size_t i = 0; i < count; i++) {
			guess(&c[i].m, c[i].at, normal, c[i].sigma);
			c[i].round = 0;
		}
		if (w)
			climb_lanes(c, count, w, work);
		for (size_t i = 0; i < count; i++) {
			if (!w)
				climb(&c[i], work);

			const double worth = c[i].m.loglik - tk_regime_penalty(&c[i].m, n);

			if (worth > c[i].best) {
				c[i].best = worth;
				c[i].job->model = c[i].m;
			}
		}
	}
	tk_regime_lanes_free(w);
	free(work);
	return enough ? TK_OK : TK_ENOMEM;
}

static int by_points(const void *a, const void *b)
{
	const struct climber *x = a, *y = b;

	return (x->job->n > y->job->n) - (x->job->n < y->job->n);
}

static int start_climber(struct climber *c, struct tk_regime_fit_job *job)
{
	double *values = tk_malloc((job->n + 1) * sizeof *values);

	*c = (struct climber){
	        .job = job, .sigma = fmax(job->sigma, LEAST_NOISE), .best = -INFINITY};
	memcpy(values, job->r, job->n * sizeof *values);
	tk_quantile_select_many(values, job->n, quantiles, QUANTILES, c->at);
	free(values);
	return TK_OK;
}

int tk_regime_fit_many(struct tk_regime_fit_job *jobs, size_t count)
{
	struct climber *c = tk_calloc(count + 1, sizeof *c);
	int status = c ? TK_OK : TK_ENOMEM;

	for (size_t i = 0; !status && i < count; i++)
		status = start_climber(&c[i], &jobs[i]);
	if (!status && count)
		qsort(c, count, sizeof *c, by_points);
	for (size_t i = 0, next; !status && i < count; i = next) {
		for (next = i + 1; next < count && c[next].job->n == c[i].job->n; next++)
			;
		status = fit_alike(&c[i], next - i, c[i].job->n);
	}
	free(c);
	return status;
}

static double loglik_with_jumps(const struct tk_regime_model *m, const double *r, size_t n)
{
	struct tk_filtered_state b = tk_regime_filter_init(m);
	struct tk_likelihood_product p = {0, 1};

	for (size_t i = 0; i < n; i++)
		tk_likelihood_multiply(&p, tk_regime_filter_update(m, &b, r[i], true).likelihood);
	return tk_likelihood_log(&p);
}

/* The likeliest wandering part under one normal state, of a coarse grid: memory, and part of the
 * variance. */
static struct tk_regime_model coarse(const double *r, size_t n, double sigma)
{
	static const double phis[TK_SIMD_WIDTH] = {0.6, 0.8, 0.9, 0.96},
	                    parts[PARTS] = {0.12, 0.3, 0.6, 0.85, 0.97};
	struct tk_regime_model m[PARTS * TK_SIMD_WIDTH];
	const double none[QUANTILES] = {0};
	double loglik[PARTS * TK_SIMD_WIDTH];
	size_t best = 0;

	for (size_t i = 0; i < PARTS * TK_SIMD_WIDTH; i++) {
		const double phi = phis[i % TK_SIMD_WIDTH], part = parts[i / TK_SIMD_WIDTH],
		             variance = sigma * sigma / (1 - phi * part);

		guess(&m[i], none, 1, fmax(LEAST_NOISE, sqrt(variance * (1 - part))));
		m[i].sd[1] = fmax(SPIKE_SCALE, SPIKE_SIGMAS * sqrt(variance));
		m[i].phi = phi;
		m[i].drift_sd = sqrt(variance * part);
	}
	tk_regime_drift_logliks(m, PARTS, r, n, loglik);
	for (size_t i = 1; i < PARTS * TK_SIMD_WIDTH; i++)
		if (loglik[i] > loglik[best])
			best = i;
	m[best].loglik = loglik[best];
	return m[best];
}

/* Residuals of r without the smoothed AR(1) drift (Rauch, Tung and Striebel 1965). */
static void take_wander_out(const struct tk_regime_model *m, const double *r, size_t n,
        struct tk_filtered_state *each, double *left)
{
	struct tk_filtered_state b = tk_regime_filter_init(m);
	double x = 0, fresh = m->drift_sd * m->drift_sd * (1 - m->phi * m->phi);

	for (size_t i = 0; i < n; i++) {
		tk_regime_filter_update(m, &b, r[i], true);
		each[i] = b;
	}
	for (size_t i = n; i-- > 0;) {
		double ahead = m->phi * m->phi * each[i].variance + fresh;

		x = i + 1 == n ? b.x
		               : each[i].x + each[i].variance * m->phi / ahead *
		                                     (x - m->phi * each[i].x);
		left[i] = r[i] - x;
	}
}

/* One job with a drift: the drift that was found, and what is left without it. */
struct drift_fit {
	struct tk_regime_model found;
	struct tk_filtered_state *each;
	double *left;
};

static int start_drift(
        struct drift_fit *f, const struct tk_regime_fit_job *job, struct tk_regime_fit_job *rest)
{
	const size_t n = job->n;

	f->each = tk_malloc(n * (sizeof *f->each + sizeof *f->left) + 1);
	f->left = (double *)(void *)(f->each + n);
	f->found = coarse(job->r, n, fmax(job->sigma, LEAST_NOISE));
	take_wander_out(&f->found, job->r, n, f->each, f->left);
	*rest = (struct tk_regime_fit_job){.r = f->left, .n = n, .sigma = f->found.sd[0]};
	return TK_OK;
}

/* The states of what is left, over the drift. The smoothed part has some of the rest in it. */
static struct tk_regime_model combine(const struct tk_regime_model *found,
        const struct tk_regime_model *states, const struct tk_regime_fit_job *job)
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
		t.loglik = loglik_with_jumps(&t, job->r, job->n);
		if (t.loglik - tk_regime_penalty(&t, job->n) >
		        best.loglik - tk_regime_penalty(&best, job->n))
			best = t;
	}
	return best;
}

int tk_regime_fit_drift_many(struct tk_regime_fit_job *jobs, size_t count)
{
	struct drift_fit *f = tk_calloc(count + 1, sizeof *f);
	struct tk_regime_fit_job *rest = tk_calloc(count + 1, sizeof *rest);
	int status = f && rest ? TK_OK : TK_ENOMEM;

	for (size_t i = 0; !status && i < count; i++)
		status = start_drift(&f[i], &jobs[i], &rest[i]);
	if (!status)
		status = tk_regime_fit_many(rest, count);
	for (size_t i = 0; !status && i < count; i++)
		jobs[i].model = combine(&f[i].found, &rest[i].model, &jobs[i]);
	for (size_t i = 0; f && i < count; i++)
		free(f[i].each);
	free(rest);
	free(f);
	return status;
}
