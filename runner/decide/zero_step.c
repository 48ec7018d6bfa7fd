/* Steps from 0 and to 0, which have no ratio: allocations, failures, bytes. They are found among
 * the values themselves, before those that have no logarithm are put aside. */
#include "decide/internal.h"
#include "stats/summary.h"

#define LASTING_NIGHTS 3 /* of less than HALF: so little lasts before it counts */
#define HALF 0.5         /* of what is counted */
#define SWITCHES 2       /* before: it alternates */

static double median_of(const struct tk_point *p, size_t n)
{
	double values[TK_LEVEL_POINTS_MAX];
	const size_t from = n > TK_LEVEL_POINTS_MAX ? n - TK_LEVEL_POINTS_MAX : 0;

	for (size_t i = from; i < n; i++)
		values[i - from] = p[i].value;
	return tk_median(values, n - from);
}

/* Where the values before `end` began to be all 0, or all not 0. */
static size_t find_run(const struct tk_point *p, size_t end)
{
	size_t first = end - 1;

	while (first && (p[first - 1].value == 0) == (p[end - 1].value == 0))
		first--;
	return first;
}

/* How often the values went to 0 or from it. */
static size_t count_switches(const struct tk_point *p, size_t n)
{
	size_t count = 0;

	for (size_t i = 1; i < n; i++)
		count += (p[i].value == 0) != (p[i - 1].value == 0);
	return count;
}

static size_t count_nights(const struct tk_point *p, size_t n)
{
	size_t nights = 0;

	for (size_t i = 0; i < n; i++)
		nights += !i || p[i].night_id != p[i - 1].night_id;
	return nights;
}

struct tk_zero_step tk_zero_step_find(
        const struct tk_point *p, size_t n, size_t range, uint32_t window)
{
	const bool is_zero = n && p[n - 1].value == 0;
	struct tk_zero_step s = {0};
	const size_t split = n ? find_run(p, n) : 0;

	s.is_changed = split && split >= range;
	s.exists = n > 1 && n > range && (is_zero || s.is_changed);
	if (!s.exists)
		return s;
	s.start_s = p[split].as_of_s;
	s.after = is_zero ? 0 : median_of(p + split, n - split);
	if (!s.is_changed)
		return s;
	const size_t from = find_run(p, split), base = split > window ? split - window : 0;

	s.before = is_zero ? median_of(p + from, split - from) : 0;
	s.nights = count_nights(p + split, n - split);
	s.nights_before = count_nights(p + from, split - from);
	/* It alternates, or it is next to nothing yet. */
	s.is_open = count_switches(p + base, split - base) >= SWITCHES ||
	            (s.nights < LASTING_NIGHTS && s.before < HALF && s.after < HALF);
	s.good_build_id = p[split - 1].build_id;
	s.bad_build_id = p[split].build_id;
	s.last_good_run_id = p[split - 1].run_id;
	s.first_bad_run_id = p[split].run_id;
	return s;
}
