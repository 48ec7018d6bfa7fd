/* See space_search.h. */
#include "decide/rules/space_search.h"

#include <math.h>

#include "base/base.h"

static const double scales[] = {0.15, 0.3, 0.6, 1.2, 2.4}, noises[] = {0.001, 0.01, 0.1, 0.5};
#define FIT_EVERY 8 /* times between two choices of scale and noise */
/* Slower than this many times the fastest is all alike: what is bad by how much tells nothing of
 * what is good, and a disturbed run is no landscape. */
#define SLOW_FACTOR 2

/* ---- points ---- */

static int compare_values(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
	return (x > y) - (x < y);
}

/* `sorted`: room for a value of each point. */
static void set_ranks(struct tk_space_search *s, const int64_t *values, size_t d, int64_t *sorted)
{
	size_t distinct = 0;
	for (size_t i = 0; i < s->count; i++)
		sorted[i] = values[i * s->dimensions + d];
	tk_sort(sorted, s->count, sizeof *sorted, compare_values);
	for (size_t i = 0; i < s->count; i++)
		if (!distinct || sorted[i] != sorted[distinct - 1])
			sorted[distinct++] = sorted[i];
	for (size_t i = 0; i < s->count; i++) {
		const int64_t *rank = bsearch(&values[i * s->dimensions + d], sorted, distinct,
		        sizeof *sorted, compare_values);
		s->at[i * s->dimensions + d] =
		        distinct > 1 ? (double)(rank - sorted) / (double)(distinct - 1) : 0;
	}
}

int tk_space_search_open(struct tk_space_search *s, const int64_t *values, size_t count,
        size_t dimensions, uint64_t seed)
{
	struct tk_rng rng;
	size_t n = TK_SPACE_SEARCH_RUNS_MAX + 1, start = 6 + 2 * dimensions;
	*s = (struct tk_space_search){.count = count,
	        .dimensions = dimensions,
	        .at = tk_malloc((count * dimensions + 1) * sizeof *s->at),
	        .log_ns = tk_malloc((count + 1) * sizeof *s->log_ns),
	        .is_tried = tk_calloc(count + 1, sizeof *s->is_tried),
	        .tried = tk_malloc((count + 1) * sizeof *s->tried),
	        .start = tk_malloc((count + 1) * sizeof *s->start),
	        .work = tk_malloc((n * n + 4 * n) * sizeof *s->work),
	        .start_count = start < count ? start : count,
	        .scale = scales[1],
	        .noise = noises[1]};
	int64_t *sorted = tk_malloc((count + 1) * sizeof *sorted);
	if (!s->at || !s->log_ns || !s->is_tried || !s->tried || !s->start || !s->work || !sorted) {
		free(sorted);
		return TK_ENOMEM;
	}
	for (size_t i = 0; i < count; i++) {
		s->start[i] = i;
		s->log_ns[i] = NAN;
	}
	for (size_t d = 0; d < dimensions; d++)
		set_ranks(s, values, d, sorted);
	free(sorted);
	tk_rng_seed(&rng, seed);
	if (count > 1)
		tk_rng_shuffle(&rng, s->start + 1, count - 1, sizeof *s->start);
	return TK_OK;
}

void tk_space_search_close(struct tk_space_search *s)
{
	free(s->at);
	free(s->log_ns);
	free(s->is_tried);
	free(s->tried);
	free(s->start);
	free(s->work);
	*s = (struct tk_space_search){0};
}

/* ---- the model ---- */

/* Matern 5/2: times change smoothly, with bends. */
static double covariance(const struct tk_space_search *s, size_t i, size_t k, double scale)
{
	double squares = 0;
	for (size_t d = 0; d < s->dimensions; d++) {
		double difference = s->at[i * s->dimensions + d] - s->at[k * s->dimensions + d];
		squares += difference * difference;
	}
	double r = sqrt(5 * squares) / scale;
	return (1 + r + r * r / 3) * exp(-r);
}

struct model {
	const struct tk_space_search *s;
	size_t *points, n;
	double *factor;  /* Cholesky factor of the covariances, lower, n x n */
	double *weights; /* of the points: inverse covariances times standardised times */
	double *row;     /* n, of one prediction */
	double mean, sd, least;
};

/* The logarithm of the i-th time. */
static double get_time(const struct model *m, size_t i)
{
	return fmin(m->s->log_ns[m->points[i]], m->least + log(SLOW_FACTOR));
}

/* false: the matrix is not positive definite. */
static bool factorise(const struct model *m, double scale, double noise)
{
	double *l = m->factor;
	size_t n = m->n;
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k <= i; k++) {
			double sum = covariance(m->s, m->points[i], m->points[k], scale) +
			             (i == k ? noise : 0);
			for (size_t j = 0; j < k; j++)
				sum -= l[i * n + j] * l[k * n + j];
			if (i == k && !(sum > 0))
				return false;
			l[i * n + k] = i == k ? sqrt(sum) : sum / l[k * n + k];
		}
	return true;
}

/* x: solves L x = b in place. */
static void solve_lower(const struct model *m, double *x)
{
	for (size_t i = 0; i < m->n; i++) {
		for (size_t k = 0; k < i; k++)
			x[i] -= m->factor[i * m->n + k] * x[k];
		x[i] /= m->factor[i * m->n + i];
	}
}

static void solve_upper(const struct model *m, double *x)
{
	for (size_t i = m->n; i-- > 0;) {
		for (size_t k = i + 1; k < m->n; k++)
			x[i] -= m->factor[k * m->n + i] * x[k];
		x[i] /= m->factor[i * m->n + i];
	}
}

/* Logarithm of the likelihood of the times, without constants; the weights are set. */
static double fit(struct model *m, double scale, double noise)
{
	double likelihood = 0;
	if (!factorise(m, scale, noise))
		return -INFINITY;
	for (size_t i = 0; i < m->n; i++)
		m->weights[i] = (get_time(m, i) - m->mean) / m->sd;
	solve_lower(m, m->weights);
	for (size_t i = 0; i < m->n; i++)
		likelihood -= m->weights[i] * m->weights[i] / 2 + log(m->factor[i * m->n + i]);
	solve_upper(m, m->weights);
	return likelihood;
}

static void choose_scale(struct tk_space_search *s, struct model *m)
{
	double best = -INFINITY;
	for (size_t i = 0; i < sizeof scales / sizeof *scales; i++)
		for (size_t k = 0; k < sizeof noises / sizeof *noises; k++) {
			double likelihood = fit(m, scales[i], noises[k]);
			if (likelihood > best) {
				best = likelihood;
				s->scale = scales[i];
				s->noise = noises[k];
			}
		}
}

/* false: fewer than two points have a time, or all the same. */
static bool make_model(struct tk_space_search *s, size_t *points, struct model *m)
{
	size_t n_max = TK_SPACE_SEARCH_RUNS_MAX + 1;
	double sum = 0, squares = 0;
	*m = (struct model){.s = s,
	        .points = points,
	        .factor = s->work,
	        .weights = s->work + n_max * n_max,
	        .row = s->work + n_max * n_max + n_max,
	        .least = INFINITY};
	for (size_t i = 0; i < s->tried_count; i++)
		if (!isnan(s->log_ns[s->tried[i]]))
			points[m->n++] = s->tried[i];
	for (size_t i = 0; i < m->n; i++)
		m->least = fmin(m->least, s->log_ns[points[i]]);
	for (size_t i = 0; i < m->n; i++)
		sum += get_time(m, i);
	m->mean = sum / (double)m->n;
	for (size_t i = 0; i < m->n; i++)
		squares += (get_time(m, i) - m->mean) * (get_time(m, i) - m->mean);
	m->sd = sqrt(squares / (double)m->n);
	if (m->n < 2 || !(m->sd > 0))
		return false;
	if (s->tried_count % FIT_EVERY == s->start_count % FIT_EVERY)
		choose_scale(s, m);
	return isfinite(fit(m, s->scale, s->noise));
}

/* By how much, as a logarithm, the point is expected to be faster than the fastest. */
static double expect_gain(const struct model *m, size_t index)
{
	double mean = 0, variance = 1;
	for (size_t i = 0; i < m->n; i++) {
		m->row[i] = covariance(m->s, index, m->points[i], m->s->scale);
		mean += m->row[i] * m->weights[i];
	}
	solve_lower(m, m->row);
	for (size_t i = 0; i < m->n; i++)
		variance -= m->row[i] * m->row[i];
	double sd = sqrt(fmax(variance, 1e-12)), z = ((m->least - m->mean) / m->sd - mean) / sd,
	       density = exp(-z * z / 2) / sqrt(2 * 3.14159265358979323846);
	return m->sd * sd * (z * erfc(-z / sqrt(2)) / 2 + density);
}

/* ---- the search ---- */

static bool choose_by_model(struct tk_space_search *s, size_t *index)
{
	size_t points[TK_SPACE_SEARCH_RUNS_MAX + 1];
	struct model m;
	double most = TK_SPACE_SEARCH_GAIN_MIN;
	bool is_found = false;
	if (!make_model(s, points, &m))
		return false;
	for (size_t i = 0; i < s->count; i++) {
		double gain = s->is_tried[i] ? 0 : expect_gain(&m, i);
		if (gain > most) {
			most = gain;
			*index = i;
			is_found = true;
		}
	}
	return is_found;
}

bool tk_space_search_next(struct tk_space_search *s, size_t *index)
{
	if (s->tried_count >= s->count || s->tried_count >= TK_SPACE_SEARCH_RUNS_MAX)
		return false;
	if (s->tried_count < s->start_count) {
		*index = s->start[s->tried_count];
		return true;
	}
	return choose_by_model(s, index);
}

void tk_space_search_put(struct tk_space_search *s, size_t index, double ns)
{
	if (s->is_tried[index] || s->tried_count >= TK_SPACE_SEARCH_RUNS_MAX)
		return;
	s->is_tried[index] = true;
	s->tried[s->tried_count++] = index;
	s->log_ns[index] = ns > 0 ? log(ns) : NAN;
}

size_t tk_space_search_list_best(const struct tk_space_search *s, size_t *out, size_t max)
{
	size_t count = 0;
	for (size_t i = 0; i < s->tried_count; i++) {
		size_t index = s->tried[i], k = count < max ? count : max;
		if (isnan(s->log_ns[index]))
			continue;
		while (k > 0 && s->log_ns[out[k - 1]] > s->log_ns[index])
			k--;
		if (k == max)
			continue;
		count += count < max;
		memmove(&out[k + 1], &out[k], (count - 1 - k) * sizeof *out);
		out[k] = index;
	}
	return count;
}
