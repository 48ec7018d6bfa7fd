/* The order of a night's jobs: every job once, ceilings first, the control at the start, in between
 * and at the end, and one seed one order. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/error.h"
#include "nightly/plan/job_list.h"

enum { SUITE = 1000, CEILING = 2000, CONTROL = 3000 }; /* series ids tell what a job is */

static void fill(struct tk_job_list *list, int64_t first, size_t count)
{
	for (size_t i = 0; i < count; i++)
		assert_int_equal(
		        tk_job_list_add(list, first + (int64_t)i, 1, "path", NULL, NULL), TK_OK);
}

static void order(size_t suite_count, uint32_t every, uint64_t seed, struct tk_job_list *out)
{
	struct tk_job_list suite = {0}, ceilings = {0}, controls = {0};
	fill(&suite, SUITE, suite_count);
	fill(&ceilings, CEILING, 2);
	fill(&controls, CONTROL, 1);
	assert_int_equal(
	        tk_plan_order_jobs(&suite, &ceilings, &controls, every, seed, out, NULL), TK_OK);
	tk_job_list_free(&suite);
	tk_job_list_free(&ceilings);
	tk_job_list_free(&controls);
}

static void every_job_once(void **state)
{
	struct tk_job_list jobs = {0};
	int seen[25] = {0}, controls = 0;
	order(25, 10, 7, &jobs);
	for (size_t i = 0; i < jobs.count; i++) {
		int64_t id = jobs.rows[i].series_id;
		assert_int_equal(jobs.rows[i].seq, i + 1);
		if (id >= CONTROL)
			controls++;
		else if (id < CEILING)
			seen[id - SUITE]++;
	}
	for (size_t i = 0; i < 25; i++)
		assert_int_equal(seen[i], 1);
	assert_int_equal(controls, 4); /* before jobs 1, 11, 21 and after the last */
	assert_int_equal(jobs.count, 2 + 25 + 4);
	tk_job_list_free(&jobs);
}

static void ceilings_first_controls_around(void **state)
{
	struct tk_job_list jobs = {0};
	order(20, 10, 7, &jobs);
	assert_true(jobs.rows[0].series_id >= CEILING && jobs.rows[0].series_id < CONTROL);
	assert_true(jobs.rows[1].series_id >= CEILING && jobs.rows[1].series_id < CONTROL);
	assert_int_equal(jobs.rows[2].series_id, CONTROL);
	assert_int_equal(jobs.rows[2 + 11].series_id, CONTROL);
	assert_int_equal(jobs.rows[jobs.count - 1].series_id, CONTROL);
	tk_job_list_free(&jobs);
}

static void no_control_where_none_is_wanted(void **state)
{
	struct tk_job_list jobs = {0};
	order(5, 0, 7, &jobs);
	assert_int_equal(jobs.count, 2 + 5);
	tk_job_list_free(&jobs);
}

static size_t differing(const struct tk_job_list *a, const struct tk_job_list *b)
{
	size_t n = 0;
	assert_int_equal(a->count, b->count);
	for (size_t i = 0; i < a->count; i++)
		n += a->rows[i].series_id != b->rows[i].series_id;
	return n;
}

static void one_seed_one_order(void **state)
{
	struct tk_job_list a = {0}, b = {0}, c = {0};
	order(40, 0, 1, &a);
	order(40, 0, 1, &b);
	order(40, 0, 2, &c);
	assert_int_equal(differing(&a, &b), 0);
	assert_true(differing(&a, &c) > 20);
	tk_job_list_free(&a);
	tk_job_list_free(&b);
	tk_job_list_free(&c);
}

/* Two jobs for each of four problems; the last two come at the end, each on its own. */
static void last_ones_last(void **state)
{
	struct tk_job_list suite = {0}, none = {0}, jobs = {0};
	fill(&suite, SUITE, 8);
	for (size_t i = 0; i < 8; i++)
		suite.rows[i].seq = (int64_t[]){0, 9, 0, 7}[i % 4];
	assert_int_equal(tk_plan_order_jobs(&suite, &none, &none, 0, 3, &jobs, NULL), TK_OK);
	for (size_t i = 0; i < 8; i++) {
		int64_t problem = (jobs.rows[i].series_id - SUITE) % 4;
		assert_int_equal(jobs.rows[i].seq, i + 1);
		assert_true(i < 4   ? problem == 0 || problem == 2
		            : i < 6 ? problem == 3
		                    : problem == 1);
	}
	tk_job_list_free(&suite);
	tk_job_list_free(&jobs);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(every_job_once),
	        cmocka_unit_test(ceilings_first_controls_around),
	        cmocka_unit_test(no_control_where_none_is_wanted),
	        cmocka_unit_test(one_seed_one_order),
	        cmocka_unit_test(last_ones_last),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
