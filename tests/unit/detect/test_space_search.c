/* The search of large spaces: finds good points of made-up landscapes with few measurements. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/error.h"
#include "base/rng.h"
#include "detect/rules/space_search.h"

enum { A = 6, B = 8, C = 10, COUNT = A * B * C };

static int64_t values[COUNT][3];

/* A valley that is not along one parameter, and a fault at one point. */
static double time_of(size_t index)
{
	double a = (double)(index / (B * C)), b = (double)(index / C % B), c = (double)(index % C);
	double x = (a - 4) / A, y = (b - 2) / B, z = (c - 7) / C;

	return 1000 * exp(x * x + y * y + z * z + 1.2 * x * y - 0.8 * y * z);
}

static void fill(void)
{
	for (size_t i = 0; i < COUNT; i++) {
		values[i][0] = 32 << (i / (B * C));
		values[i][1] = (int64_t)(i / C % B) - 5;
		values[i][2] = (int64_t)(i % C) * 100;
	}
}

static double find_least(void)
{
	double least = INFINITY;

	for (size_t i = 0; i < COUNT; i++)
		least = fmin(least, time_of(i));
	return least;
}

/* Measurements until a point within 2 % of the best is known; the search goes on to its end. */
static size_t search(uint64_t seed, double noise, double fails, size_t *runs, size_t *best)
{
	struct tk_space_search s;
	struct tk_rng rng;
	size_t index, found = 0, count = 0;
	double least = find_least();

	tk_rng_seed(&rng, seed + 1000);
	assert_int_equal(tk_space_search_open(&s, values[0], COUNT, 3, seed), TK_OK);
	while (tk_space_search_next(&s, &index)) {
		bool failed = tk_rng_uniform(&rng) < fails;
		double ns = failed ? NAN : time_of(index) * exp(noise * tk_rng_normal(&rng));

		assert_true(index < COUNT && !s.is_tried[index]);
		assert_true(count || index == 0);
		count++;
		tk_space_search_put(&s, index, ns);
		if (!failed && !found && time_of(index) < 1.02 * least)
			found = count;
	}
	*runs = count;
	assert_in_range(tk_space_search_list_best(&s, best, 1), 1, 1);
	tk_space_search_close(&s);
	return found;
}

static void few_measurements_find_the_valley(void **state)
{
	size_t total = 0, missed = 0;

	fill();
	for (uint64_t seed = 0; seed < 40; seed++) {
		size_t runs, best, found = search(seed, 0.01, 0, &runs, &best);

		missed += !found || time_of(best) > 1.04 * find_least();
		total += found ? found : runs;
		assert_in_range(runs, 12, TK_SPACE_SEARCH_RUNS_MAX);
	}
	/* at random it would take 480 / 11 = 40 in the mean */
	assert_in_range(total / 40, 5, 24);
	assert_in_range(missed, 0, 2);
}

static void failures_are_no_times(void **state)
{
	size_t runs, best, missed = 0;

	fill();
	for (uint64_t seed = 0; seed < 20; seed++)
		missed += !search(seed, 0.01, 0.3, &runs, &best);
	assert_in_range(missed, 0, 2);
}

static void the_best_are_listed_in_order(void **state)
{
	struct tk_space_search s;
	size_t best[4];
	const double ns[] = {5, NAN, 3, 4, 1, 2};

	fill();
	assert_int_equal(tk_space_search_open(&s, values[0], 6, 3, 1), TK_OK);
	for (size_t i = 0; i < 6; i++)
		tk_space_search_put(&s, i, ns[i]);
	assert_int_equal(tk_space_search_list_best(&s, best, 4), 4);
	assert_true(best[0] == 4 && best[1] == 5 && best[2] == 2 && best[3] == 3);
	assert_false(tk_space_search_next(&s, best));
	tk_space_search_close(&s);
}

/* One point, and points that are all alike: the search ends. */
static void trivial_spaces_end(void **state)
{
	struct tk_space_search s;
	size_t index, count = 0;

	fill();
	assert_int_equal(tk_space_search_open(&s, values[0], 1, 3, 1), TK_OK);
	assert_true(tk_space_search_next(&s, &index));
	tk_space_search_put(&s, index, 7);
	assert_false(tk_space_search_next(&s, &index));
	tk_space_search_close(&s);
	assert_int_equal(tk_space_search_open(&s, values[0], COUNT, 3, 1), TK_OK);
	for (; tk_space_search_next(&s, &index); count++)
		tk_space_search_put(&s, index, 7);
	assert_in_range(count, 12, 12);
	tk_space_search_close(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(few_measurements_find_the_valley),
	        cmocka_unit_test(failures_are_no_times),
	        cmocka_unit_test(the_best_are_listed_in_order),
	        cmocka_unit_test(trivial_spaces_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
