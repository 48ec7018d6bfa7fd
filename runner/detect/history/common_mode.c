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
#include "base/parallel.h"
#include "detect/history/case_set.h"
#include "stats/summary/summary.h"

#define SERIES_MIN 5        /* fewer unchanged series have no meaningful median */
#define SHIFT_MIN 0.003     /* smaller shifts are not corrected */
#define MEDIAN_ERROR 1.2533 /* standard error of a median in units of that of a mean */

struct entry {
	int64_t device_id, night_id;
	double change;
	bool control;
};

struct entries {
	struct entry *at;
	size_t count;
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
	const struct tk_case_set *c;
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

/* One entry for each night of the range that measured the code of the baseline. */
static int collect(struct tk_case_set *c, struct tk_series_case *k, double level, struct entries *e,
        struct tk_error *err)
{
	int64_t old = k->points[k->range - 1].build_id;

	for (size_t i = k->range, next; i < k->count; i = next) {
		bool same;
		int status = tk_catalog_is_same_code(
		        &c->catalog, old, k->points[i].build_id, k->series->backend, &same, err);

		if (status)
			return status;
		for (next = i; next < k->count && k->points[next].night_id == k->points[i].night_id;
		        next++)
			;
		k->unchanged = same;
		if (same)
			e->at[e->count++] = (struct entry){k->device->id, k->points[i].night_id,
			        tk_level_estimate(k->y + i, next - i) - level,
			        k->series->role == TK_ROLE_CONTROL};
	}
	return TK_OK;
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

static void correct(struct tk_case_set *c)
{
	for (size_t i = 0; i < c->count; i++) {
		struct tk_series_case *k = &c->at[i];

		for (size_t j = k->range; k->range && j < k->count; j++) {
			const struct tk_common_mode_shift *s =
			        tk_case_set_find_shift(c, k->device->id, k->points[j].night_id);

			if (s && s->significant)
				k->adjusted_y[j] -= s->shift;
		}
	}
}

int tk_case_set_remove_common_mode(struct tk_case_set *c, struct tk_error *err)
{
	struct entries e = {calloc(c->point_count + 1, sizeof *e.at), 0};
	double *work = calloc(c->point_count + c->count + 1, sizeof *work);
	double *level = work ? work + c->point_count : NULL;
	struct levels levels = {c, level};
	int status = TK_OK;

	c->shifts = calloc(c->point_count + 1, sizeof *c->shifts);
	if (!e.at || !work || !c->shifts)
		status = tk_fail(
		        err, TK_ENOMEM, "out of memory while estimating common-mode shifts");
	if (!status)
		tk_parallel_for((int64_t)c->count, TK_CASES_PER_PART, estimate_part, &levels);
	for (size_t i = 0; !status && i < c->count; i++)
		if (c->at[i].range)
			status = collect(c, &c->at[i], level[i], &e, err);
	if (status)
		goto out;
	qsort(e.at, e.count, sizeof *e.at, by_device_and_night);
	for (size_t i = 0, next; i < e.count; i = next) {
		for (next = i; next < e.count && by_device_and_night(&e.at[i], &e.at[next]) == 0;
		        next++)
			;
		c->shifts[c->shift_count++] =
		        shift_of(e.at + i, next - i, c->options.min_effect, work);
	}
	correct(c);
out:
	free(e.at);
	free(work);
	return status;
}

const struct tk_common_mode_shift *tk_case_set_find_shift(
        const struct tk_case_set *c, int64_t device_id, int64_t night_id)
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
