/* The common-mode shift: what the series of a device did together on one night comes from the
 * machine, not from a kernel.
 *
 * Only series whose machine code has not changed since their baseline show it: when all kernels of
 * a library became slower together, that is a regression. Of a control and the median of the other
 * series, the smaller shift counts. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "base/try.h"
#include "decide/history/analysis.h"
#include "stats/summary.h"

#define SERIES_MIN 5        /* fewer unchanged series have no meaningful median */
#define SHIFT_MIN 0.003     /* smaller shifts are not corrected */
#define MEDIAN_ERROR 1.2533 /* standard error of a median in units of that of a mean */

struct entry {
	int64_t device_id, night_id;
	double change;
	bool control;
};

static int by_device_and_night(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	if (x->device_id != y->device_id)
		return x->device_id < y->device_id ? -1 : 1;
	return (x->night_id > y->night_id) - (x->night_id < y->night_id);
}

/* The baseline's level of each case, estimated by several threads. */
struct levels {
	const struct tk_analysis *c;
	double *level;
};

static void estimate_part(void *arg, int64_t first, int64_t count)
{
	const struct levels *e = arg;
	const uint32_t window = e->c->options.window;

	for (int64_t i = first; i < first + count; i++) {
		const struct tk_series_case *k = &e->c->at[i];
		const size_t from = k->range - k->base > window ? k->range - window : k->base;

		if (k->range)
			e->level[i] = tk_level_estimate(k->y + from, k->range - from);
	}
}

/* The entries of each case: one for each night of the range that measured the code of the
 * baseline. They are collected by several threads. */
struct collection {
	struct tk_analysis *c;
	const double *level; /* of each case */
	struct entry *at;
	size_t *first, *count; /* of each case: where its entries are, and how many */
	struct tk_parallel_failure failure;
};

static int collect(struct collection *e, size_t n, struct tk_error *err)
{
	struct tk_analysis *c = e->c;
	struct tk_series_case *k = &c->at[n];
	int64_t old = k->points[k->range - 1].build_id;

	for (size_t i = k->range, next; i < k->count; i = next) {
		bool same;
		TRY(tk_catalog_is_same_code(
		        &c->catalog, old, k->points[i].build_id, k->series->backend, &same, err));
		for (next = i; next < k->count && k->points[next].night_id == k->points[i].night_id;
		        next++)
			;
		k->unchanged = same;
		if (same)
			e->at[e->first[n] + e->count[n]++] =
			        (struct entry){k->device->id, k->points[i].night_id,
			                tk_level_estimate(k->y + i, next - i) - e->level[n],
			                k->series->role == TK_ROLE_CONTROL};
	}
	return TK_OK;
}

static void collect_part(void *arg, int64_t first, int64_t count)
{
	struct collection *e = arg;
	struct tk_error err = {0};
	int status = TK_OK;

	for (int64_t i = first; !status && i < first + count; i++)
		if (e->c->at[i].range)
			status = collect(e, (size_t)i, &err);
	tk_parallel_set_failure(&e->failure, status, &err);
}

/* The entries of all cases without gaps. Returns how many there are. */
static size_t close_gaps(struct collection *e)
{
	size_t total = 0;

	for (size_t i = 0; i < e->c->count; i++) {
		memmove(e->at + total, e->at + e->first[i], e->count[i] * sizeof *e->at);
		total += e->count[i];
	}
	return total;
}

static int collect_all(struct tk_analysis *c, const double *level, struct entry *at, size_t *count,
        struct tk_error *err)
{
	struct collection e = {.c = c,
	        .level = level,
	        .at = at,
	        .first = tk_calloc(2 * c->count + 1, sizeof *e.first)};
	size_t first = 0;

	e.count = e.first + c->count;
	for (size_t i = 0; i < c->count; i++) {
		e.first[i] = first;
		first += c->at[i].range ? c->at[i].count - c->at[i].range : 0;
	}
	tk_parallel_for((int64_t)c->count, TK_CASES_PER_PART, collect_part, &e);
	*count = close_gaps(&e);
	free(e.first);
	return tk_parallel_get_failure(&e.failure, err);
}

static struct tk_common_mode_shift shift_of(
        const struct entry *e, size_t n, double min_effect, double *work)
{
	struct tk_common_mode_shift s = {
	        .device_id = e->device_id, .night_id = e->night_id, .series = n};
	double control = 0, median, spread;

	for (size_t i = 0; i < n; i++)
		if (e[i].control)
			work[s.controls++] = e[i].change;
	control = tk_median(work, s.controls);
	for (size_t i = 0; i < n; i++)
		work[i] = e[i].change;
	median = tk_median(work, n);
	for (size_t i = 0; i < n; i++)
		work[i] = fabs(e[i].change - median);
	spread = 1.4826 * tk_median(work, n);
	s.shift = median;
	s.se = MEDIAN_ERROR * spread / sqrt((double)n);
	if (n < SERIES_MIN) {
		s.shift = s.controls ? control : 0;
		s.se = TK_NOISE_DEFAULT;
	} else if (s.controls) {
		s.shift = control * median > 0 ? copysign(fmin(fabs(control), fabs(median)), median)
		                               : 0;
	}
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

static size_t count_range_points(const struct tk_analysis *c)
{
	size_t count = 0;

	for (size_t i = 0; i < c->count; i++)
		count += c->at[i].range ? c->at[i].count - c->at[i].range : 0;
	return count;
}

int tk_analysis_remove_common_mode(struct tk_analysis *c, struct tk_error *err)
{
	const size_t most = count_range_points(c);
	struct entry *at = tk_calloc(most + 1, sizeof *at);
	size_t count = 0;
	double *work = tk_calloc(most + c->count + 1, sizeof *work);
	double *level = work ? work + most : NULL;
	struct levels levels = {c, level};
	int status = TK_OK;

	c->shifts = tk_calloc(most + 1, sizeof *c->shifts);
	if (!at || !work || !c->shifts)
		status = tk_fail(
		        err, TK_ENOMEM, "out of memory while estimating common-mode shifts");
	if (!status)
		tk_parallel_for((int64_t)c->count, TK_CASES_PER_PART, estimate_part, &levels);
	if (!status)
		status = collect_all(c, level, at, &count, err);
	if (status)
		goto out;
	qsort(at, count, sizeof *at, by_device_and_night);
	for (size_t i = 0, next; i < count; i = next) {
		for (next = i; next < count && by_device_and_night(&at[i], &at[next]) == 0; next++)
			;
		c->shifts[c->shift_count++] =
		        shift_of(at + i, next - i, c->options.min_effect, work);
	}
	correct(c);
out:
	free(at);
	free(work);
	return status;
}

const struct tk_common_mode_shift *tk_analysis_find_shift(
        const struct tk_analysis *c, int64_t device_id, int64_t night_id)
{
	size_t lo = 0, hi = c->shift_count;

	while (lo < hi) {
		size_t mid = (lo + hi) / 2;
		const struct tk_common_mode_shift *s = &c->shifts[mid];

		if (s->device_id < device_id ||
		        (s->device_id == device_id && s->night_id < night_id))
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < c->shift_count && c->shifts[lo].device_id == device_id &&
	                       c->shifts[lo].night_id == night_id
	               ? &c->shifts[lo]
	               : NULL;
}
