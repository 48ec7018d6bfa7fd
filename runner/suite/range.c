/* See range.h. */
#include "suite/range.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/rng.h"
#include "base/yaml.h"
#include <ctype.h>
#include <stdlib.h>

static const char *const range_keys[] = {"from", "to", "step", "times", NULL};

bool tk_suite_read_number(const char **at, int64_t *out)
{
	int64_t v = 0;

	if (!isdigit((unsigned char)**at))
		return false;
	for (; isdigit((unsigned char)**at); ++*at)
		v = v > TK_SUITE_NUMBER_MAX ? v : v * 10 + (**at - '0');
	*out = v;
	return v <= TK_SUITE_NUMBER_MAX;
}

int tk_suite_find_number(const struct tk_yaml *y, int map, const char *key, int64_t least,
        int64_t missing, int64_t *out, struct tk_error *err)
{
	int node = tk_yaml_find(y, map, key);
	const char *text = node ? tk_yaml_text(y, node) : "";
	int64_t v = missing;

	if (node && (tk_yaml_kind(y, node) != TK_YAML_SCALAR || !tk_suite_read_number(&text, &v) ||
	                    *text || v < least))
		return tk_yaml_fail(y, node, err,
		        "%s is not a whole number from %lld to %lld as expected", key,
		        (long long)least, (long long)TK_SUITE_NUMBER_MAX);
	*out = v;
	return TK_OK;
}

static size_t count_values(const struct tk_suite_range *r, int64_t to)
{
	size_t count = 0;

	if (r->step)
		return (size_t)((to - r->from) / r->step) + 1;
	for (int64_t v = r->from; v <= to / r->times; v *= r->times)
		count++;
	return count + 1;
}

int tk_suite_range_read(
        const struct tk_yaml *y, int map, struct tk_suite_range *out, struct tk_error *err)
{
	struct tk_suite_range r = {0};
	int64_t to = 0;
	bool is_walk = tk_yaml_find(y, map, "times"), has_step = tk_yaml_find(y, map, "step");
	int status = tk_yaml_check_keys(y, map, "a range", range_keys, err);

	if (!status && (!tk_yaml_find(y, map, "from") || !tk_yaml_find(y, map, "to") ||
	                       (is_walk && has_step)))
		return tk_yaml_fail(y, map, err,
		        "expected from, to, and step or times, such as { from: 16, to: 4096, "
		        "times: 2 }");
	if (!status)
		status = tk_suite_find_number(y, map, "from", is_walk ? 1 : 0, 0, &r.from, err);
	if (!status)
		status = tk_suite_find_number(y, map, "to", r.from, 0, &to, err);
	if (!status)
		status = tk_suite_find_number(y, map, "step", 1, is_walk ? 0 : 1, &r.step, err);
	if (!status)
		status = tk_suite_find_number(y, map, "times", 2, 1, &r.times, err);
	if (status)
		return status;
	r.count = count_values(&r, to);
	*out = r;
	return TK_OK;
}

int64_t tk_suite_range_value(const struct tk_suite_range *r, size_t index)
{
	int64_t v = r->from;

	if (r->step)
		return v + (int64_t)index * r->step;
	while (index--)
		v *= r->times;
	return v;
}

static int compare_numbers(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static bool has_number(const uint64_t *list, size_t count, uint64_t number)
{
	for (size_t i = 0; i < count; i++)
		if (list[i] == number)
			return true;
	return false;
}

/* Floyd's algorithm: as many draws as numbers. */
uint64_t *tk_suite_pick(uint64_t total, size_t count, uint64_t seed)
{
	uint64_t *list = tk_calloc(count + 1, sizeof *list);
	struct tk_rng rng;

	if (!list)
		return NULL;
	tk_rng_seed(&rng, seed);
	for (size_t i = 0; i < count; i++) {
		uint64_t last = total - count + i, drawn = tk_rng_below(&rng, last + 1);

		list[i] = has_number(list, i, drawn) ? last : drawn;
	}
	qsort(list, count, sizeof *list, compare_numbers);
	return list;
}
