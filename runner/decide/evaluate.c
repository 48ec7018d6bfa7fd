/* Statistical tests of all cases: each series by itself, without what the series of its device did
 * together, then the false-discovery rate of each machine. */
#include <math.h>

#include "base/base.h"
#include "decide/internal.h"
#include "decide/rules/witness.h"
#include "stats/compare.h"
#include "stats/summary.h"

#define MAD_TO_SD 1.4826

/* ---- common mode ---- */

/* The common-mode shift: what the series of a device did together on one night comes from the
 * machine, not from a kernel.
 *
 * Only series whose machine code has not changed since their baseline show it: when all kernels of
 * a library became slower together, that is a regression. Of a control and the median of the other
 * series, the smaller shift counts.
 *
 * Imported histories do not know the code of their nights. There all series show it, unless flat
 * ones among them show that it is not the machine's (rules/witness.h). */

#define SERIES_MIN 5        /* fewer unchanged series have no meaningful median */
#define UNKNOWN_CODE_MIN 8  /* and fewer of unknown code */
#define SHIFT_MIN 0.003     /* smaller shifts are not corrected */
#define MEDIAN_ERROR 1.2533 /* standard error of a median in units of that of a mean */

/* What one case shows of one night of the range that is not known to have measured other code than
 * its baseline. */
struct entry {
	int64_t device_id, night_id;
	struct tk_move move;
	bool control, unchanged;
};

/* Of entries and of shifts: both begin with these two ids. */
static int by_device_and_night(const void *a, const void *b)
{
	const int64_t *x = a, *y = b;

	if (x[0] != y[0])
		return x[0] < y[0] ? -1 : 1;
	return (x[1] > y[1]) - (x[1] < y[1]);
}

/* The entries of each case, found by several threads. */
struct collection {
	struct tk_analysis *c;
	struct entry *at;
	size_t *first, *count; /* of each case: where its entries are, and how many */
};

/* The median absolute deviation from a median, as a standard deviation; x is overwritten. */
static double spread_about(double *x, size_t n, double median)
{
	for (size_t i = 0; i < n; i++)
		x[i] = fabs(x[i] - median);
	return MAD_TO_SD * tk_median(x, n);
}

/* The same of the newest points that a level is estimated from. */
static double deviation(const double *y, size_t n, double level)
{
	const size_t count = n < TK_LEVEL_POINTS_MAX ? n : TK_LEVEL_POINTS_MAX;
	double work[TK_LEVEL_POINTS_MAX];

	memcpy(work, y + (n - count), count * sizeof *work);
	return spread_about(work, count, level);
}

static void collect(struct collection *e, size_t n)
{
	struct tk_analysis *c = e->c;
	struct tk_series_case *k = &c->at[n];
	const uint32_t window = c->options.window;
	const size_t from = k->range - k->base > window ? k->range - window : k->base;
	const double level = tk_level_estimate(k->y + from, k->range - from),
	             sd = deviation(k->y + from, k->range - from, level);
	bool is_new = false;

	for (size_t i = k->range, next; i < k->count; i = next) {
		for (next = i; next < k->count && k->points[next].night_id == k->points[i].night_id;
		        next++)
			;
		k->unchanged = tk_series_case_is_same_code(c, k, k->range - 1, i);
		is_new |= tk_series_case_is_new_build(c, k, i);
		if (k->unchanged || !is_new)
			e->at[e->first[n] + e->count[n]++] =
			        (struct entry){k->device->id, k->points[i].night_id,
			                {tk_level_estimate(k->y + i, next - i) - level,
			                        tk_move_error(sd, k->range - from, next - i)},
			                k->series->role == TK_ROLE_CONTROL, k->unchanged};
	}
}

static void collect_part(void *arg, int64_t first, int64_t count)
{
	struct collection *e = arg;

	for (int64_t i = first; i < first + count; i++)
		if (e->c->at[i].range)
			collect(e, (size_t)i);
}

/* The entries of all cases, without gaps. Returns how many there are. */
static size_t collect_all(struct tk_analysis *c, struct entry *at)
{
	struct collection e = {
	        .c = c, .at = at, .first = tk_calloc(2 * c->count + 1, sizeof *e.first)};
	size_t first = 0, total = 0;

	e.count = e.first + c->count;
	for (size_t i = 0; i < c->count; i++) {
		e.first[i] = first;
		first += c->at[i].range ? c->at[i].count - c->at[i].range : 0;
	}
	tk_parallel_for((int64_t)c->count, TK_CASES_PER_PART, collect_part, &e);
	for (size_t i = 0; i < c->count; i++) {
		memmove(at + total, at + e.first[i], e.count[i] * sizeof *at);
		total += e.count[i];
	}
	free(e.first);
	return total;
}

/* By the series of unchanged code, the first n of them. */
static void find_known_shift(
        const struct entry *e, size_t n, double *work, struct tk_common_mode_shift *s)
{
	double control = 0, median, spread;

	for (size_t i = 0; i < n; i++)
		if (e[i].control)
			work[s->controls++] = e[i].move.change;
	control = tk_median(work, s->controls);
	for (size_t i = 0; i < n; i++)
		work[i] = e[i].move.change;
	median = tk_median(work, n);
	spread = spread_about(work, n, median);
	s->series = n;
	s->shift = median;
	s->se = MEDIAN_ERROR * spread / sqrt((double)n);
	if (n < SERIES_MIN) {
		s->shift = s->controls ? control : 0;
		s->se = TK_NOISE_DEFAULT;
	} else if (s->controls) {
		s->shift = control * median > 0
		                   ? copysign(fmin(fabs(control), fabs(median)), median)
		                   : 0;
	}
}

/* By all series, none of which flat ones clear the machine of. */
static void find_unknown_shift(
        const struct entry *e, size_t n, double *work, struct tk_common_mode_shift *s)
{
	struct tk_move *moves = tk_malloc(n * sizeof *moves);

	for (size_t i = 0; i < n; i++) {
		moves[i] = e[i].move;
		work[i] = e[i].move.change;
	}
	const double median = tk_median(work, n);

	s->series = n;
	s->unknown_code = true;
	s->shift = tk_moves_have_flat(moves, n, median) ? 0 : median;
	s->se = MEDIAN_ERROR * spread_about(work, n, median) / sqrt((double)n);
	free(moves);
}

static struct tk_common_mode_shift shift_of(
        struct entry *e, size_t n, double min_effect, double *work)
{
	struct tk_common_mode_shift s = {.device_id = e->device_id, .night_id = e->night_id};
	size_t unchanged = 0, controls = 0;

	for (size_t i = 0; i < n; i++)
		if (e[i].unchanged) {
			const struct entry known = e[i];

			controls += known.control;
			e[i] = e[unchanged];
			e[unchanged++] = known;
		}
	if (controls || unchanged >= SERIES_MIN || n < UNKNOWN_CODE_MIN)
		find_known_shift(e, unchanged, work, &s);
	else
		find_unknown_shift(e, n, work, &s);
	s.significant = fabs(s.shift) >
	                fmax(TK_NOISE_STANDARD_ERRORS * s.se, fmax(SHIFT_MIN, min_effect / 4));
	return s;
}

static void correct(struct tk_analysis *c)
{
	for (size_t i = 0; i < c->count; i++) {
		struct tk_series_case *k = &c->at[i];

		for (size_t j = k->range; k->range && j < k->count; j++) {
			const struct tk_common_mode_shift *s =
			        tk_analysis_find_shift(c, k->device->id, k->points[j].night_id);

			if (s && s->significant)
				k->adjusted_y[j] -= s->shift;
		}
	}
}

/* Finds the common-mode shifts and removes them from adjusted_y. */
static void remove_common_mode(struct tk_analysis *c)
{
	size_t most = 0, count;

	for (size_t i = 0; i < c->count; i++)
		most += c->at[i].range ? c->at[i].count - c->at[i].range : 0;

	struct entry *at = tk_calloc(most + 1, sizeof *at);
	double *work = tk_calloc(most + 1, sizeof *work);

	c->shifts = tk_calloc(most + 1, sizeof *c->shifts);
	count = collect_all(c, at);
	tk_sort(at, count, sizeof *at, by_device_and_night);
	for (size_t i = 0, next; i < count; i = next) {
		for (next = i; next < count && by_device_and_night(&at[i], &at[next]) == 0; next++)
			;
		c->shifts[c->shift_count++] =
		        shift_of(at + i, next - i, tk_detect_least_effect(&c->options), work);
	}
	correct(c);
	free(at);
	free(work);
}

const struct tk_common_mode_shift *tk_analysis_find_shift(
        const struct tk_analysis *c, int64_t device_id, int64_t night_id)
{
	const struct tk_common_mode_shift key = {.device_id = device_id, .night_id = night_id};

	return c->shift_count
	               ? bsearch(&key, c->shifts, c->shift_count, sizeof key, by_device_and_night)
	               : NULL;
}

/* ---- prior noise ---- */

#define WITH_HISTORY_MIN 5
#define YOUNG_MIN 5
#define LEAST_PRIOR 0.0005
#define PRIOR_POINTS_MIN 10 /* of a series whose noise is a prior for the others of its device */

static int by_device(const void *a, const void *b)
{
	const struct tk_series_case *x = *(struct tk_series_case *const *)a,
	                            *y = *(struct tk_series_case *const *)b;

	return (x->device->id > y->device->id) - (x->device->id < y->device->id);
}

/* The noise of each series by itself, estimated by several threads. */
struct noises {
	struct tk_series_case *const *k;
	double *noise; /* 0: too few points */
};

static void estimate_part(void *arg, int64_t first, int64_t count)
{
	const struct noises *e = arg;

	for (int64_t i = first; i < first + count; i++)
		e->noise[i] = e->k[i]->range >= PRIOR_POINTS_MIN
		                      ? tk_level_estimate_noise(e->k[i]->y, e->k[i]->range)
		                      : 0;
}

static double noise_from_history(struct tk_series_case *const *k, size_t n, double *work)
{
	struct noises e = {k, work};
	size_t count = 0;

	tk_parallel_for((int64_t)n, TK_CASES_PER_PART, estimate_part, &e);
	for (size_t i = 0; i < n; i++)
		if (work[i] > 0)
			work[count++] = work[i];
	return count >= WITH_HISTORY_MIN ? fmax(LEAST_PRIOR, tk_median(work, count)) : 0;
}

static double noise_from_spread(struct tk_series_case *const *k, size_t n, double *work)
{
	size_t count = 0;
	double median;

	for (size_t i = 0; i < n; i++)
		if (k[i]->range && k[i]->unchanged)
			work[count++] = k[i]->adjusted_y[k[i]->count - 1] -
			                k[i]->adjusted_y[k[i]->range - 1];
	if (count < YOUNG_MIN)
		return 0;
	median = tk_median(work, count);
	return spread_about(work, count, median) / M_SQRT2;
}

/* The noise between nights that a series of its device probably has; prior[i] of case i. */
static void estimate_priors(struct tk_analysis *c, double *prior)
{
	struct tk_series_case **k = tk_calloc(c->count + 1, sizeof *k);
	double *work = tk_calloc(c->count + 1, sizeof *work);

	for (size_t i = 0; i < c->count; i++)
		k[i] = &c->at[i];
	tk_sort(k, c->count, sizeof *k, by_device);
	for (size_t i = 0, next; i < c->count; i = next) {
		double sigma;

		for (next = i; next < c->count && by_device(&k[i], &k[next]) == 0; next++)
			;
		sigma = noise_from_history(k + i, next - i, work);
		const bool has_history = sigma > 0;
		if (!has_history)
			sigma = fmax(TK_NOISE_DEFAULT, noise_from_spread(k + i, next - i, work));
		for (size_t j = i; j < next; j++) {
			const double noise = tk_series_case_sensitivity(c, k[j])->noise;

			prior[k[j] - c->at] = has_history || isnan(noise) ? sigma : noise;
		}
	}
	free(k);
	free(work);
}

/* ---- evaluate ---- */

static void test_case(const struct tk_analysis *c, struct tk_series_case *k, double prior)
{
	const bool by_window = c->options.baseline == TK_BASELINE_WINDOW;
	struct tk_level_test_input in = {.y = k->adjusted_y,
	        .se = k->se,
	        .n = k->count,
	        .range = k->range,
	        .window = c->options.window ? c->options.window : 1,
	        .prior_sigma = prior,
	        .worse = k->series->better == TK_BETTER_HIGHER ? -1 : 1};

	tk_level_test_run(&in, k->base, &k->adjusted);
	/* Against another baseline, when the level changed does not matter. */
	k->adjusted.earlier &= by_window;
	k->raw = k->adjusted;
	if (memcmp(k->adjusted_y, k->y, k->count * sizeof *k->y) == 0)
		return;
	in.y = k->y;
	tk_level_test_run(&in, k->base, &k->raw);
	k->raw.earlier &= by_window;
}

/* The tests of all cases, by several threads. */
struct tests {
	struct tk_analysis *c;
	const double *prior;
};

static void test_part(void *arg, int64_t first, int64_t count)
{
	const struct tests *t = arg;

	for (int64_t i = first; i < first + count; i++)
		if (t->c->at[i].range)
			test_case(t->c, &t->c->at[i], t->prior[i]);
}

/* q over the series of one machine; p and q are work space of c->count numbers. */
static void adjust_machine(struct tk_analysis *c, int64_t machine_id, double *p, double *q)
{
	for (size_t i = 0; i < c->count; i++) {
		const struct tk_series_case *k = &c->at[i];

		p[i] = k->machine->id == machine_id && k->range ? k->adjusted.best.p : NAN;
	}
	tk_fdr_adjust(p, c->count, q);
	for (size_t i = 0; i < c->count; i++)
		if (!isnan(q[i]))
			c->at[i].q = q[i];
}

static void control_fdr(struct tk_analysis *c)
{
	const struct tk_rows *machines = &c->catalog.machines.rows;
	double *work = tk_calloc(2 * c->count + 1, sizeof *work);

	for (size_t m = 0; m < machines->count; m++)
		adjust_machine(c, TK_ROWS_AT(machines, struct tk_machine_row, m)->id, work,
		        work + c->count);
	free(work);
}

static void use_uncorrected_p(struct tk_analysis *c)
{
	for (size_t i = 0; i < c->count; i++)
		c->at[i].q = c->at[i].range ? c->at[i].adjusted.best.p : NAN;
}

void tk_analysis_evaluate(struct tk_analysis *c)
{
	double *prior = tk_calloc(c->count + 1, sizeof *prior);
	struct tests t = {.c = c, .prior = prior};

	remove_common_mode(c);
	estimate_priors(c, prior);
	tk_parallel_for((int64_t)c->count, TK_CASES_PER_PART, test_part, &t);
	free(prior);
	if (c->options.uncorrected)
		use_uncorrected_p(c);
	else
		control_fdr(c);
}
