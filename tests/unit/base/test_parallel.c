/* Parallel loops: every iteration once, in parts of at least the grain, whatever their number. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdatomic.h>

#include "base/base.h"

#define LARGEST 4096

struct seen {
	_Atomic int times[LARGEST];
	_Atomic int64_t parts, smallest;
};

static void see(void *arg, int64_t first, int64_t count)
{
	struct seen *s = arg;
	int64_t smallest = s->smallest;

	s->parts++;
	while (count < smallest && !atomic_compare_exchange_weak(&s->smallest, &smallest, count))
		;
	for (int64_t i = first; i < first + count; i++)
		s->times[i]++;
}

static void every_iteration_runs_once(void **state)
{
	static const struct {
		int64_t n, grain;
	} loops[] = {{1, 1}, {2, 1}, {7, 3}, {100, 1}, {1000, 16}, {1023, 1000}, {LARGEST, 0},
	        {LARGEST, 1}, {LARGEST, 33}};
	(void)state;

	for (size_t i = 0; i < sizeof loops / sizeof *loops; i++) {
		struct seen s = {.smallest = LARGEST};

		tk_parallel_for(loops[i].n, loops[i].grain, see, &s);
		for (int64_t k = 0; k < LARGEST; k++)
			assert_int_equal(s.times[k], k < loops[i].n);
		assert_true(s.smallest >= loops[i].grain || s.parts == 1);
	}
}

static void few_iterations_stay_in_the_calling_thread(void **state)
{
	struct seen s = {.smallest = LARGEST};
	(void)state;

	tk_parallel_for(31, 16, see, &s);
	assert_int_equal(s.parts, 1);
	assert_int_equal(s.smallest, 31);
}

static void no_iteration_is_one_empty_part(void **state)
{
	struct seen s = {.smallest = LARGEST};
	(void)state;

	tk_parallel_for(0, 16, see, &s);
	assert_int_equal(s.parts, 1);
	assert_int_equal(s.smallest, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(every_iteration_runs_once),
	        cmocka_unit_test(few_iterations_stay_in_the_calling_thread),
	        cmocka_unit_test(no_iteration_is_one_empty_part),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
