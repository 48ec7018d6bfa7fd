/* The thread pool of the CPU backends: every thread runs once, every task once, runs follow each
 * other closely or after a sleep. Also built with ThreadSanitizer: the pool has no locks on its
 * fast path. */
#include "../../../kernels/cpu/pool.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

enum { THREADS = 4, RUNS = 2000, TASKS = 1000 };

struct counts {
	int64_t by_thread[THREADS]; /* plain: the pool alone orders these accesses */
	unsigned char by_task[TASKS];
};

static void count_thread(void *arg, uint32_t thread)
{
	struct counts *c = arg;
	c->by_thread[thread]++;
}

static void count_task(void *arg, uint32_t thread, int64_t index)
{
	struct counts *c = arg;
	c->by_task[index]++;
	c->by_thread[thread]++;
}

static void every_thread_runs_once_in_each_run(void **state)
{
	struct tk_cpu_pool *pool = tk_cpu_pool_open(THREADS);
	struct counts c = {0};
	assert_non_null(pool);
	assert_int_equal(tk_cpu_pool_threads(pool), THREADS);
	for (int i = 0; i < RUNS; i++)
		tk_cpu_pool_run(pool, THREADS, count_thread, &c);
	for (int i = 0; i < THREADS; i++)
		assert_int_equal(c.by_thread[i], RUNS);
	tk_cpu_pool_close(pool);
}

static void a_run_may_use_fewer_threads(void **state)
{
	struct tk_cpu_pool *pool = tk_cpu_pool_open(THREADS);
	struct counts c = {0};
	assert_non_null(pool);
	for (uint32_t n = 1; n <= THREADS + 1; n++)
		tk_cpu_pool_run(pool, n, count_thread, &c);
	for (int i = 0; i < THREADS; i++)
		assert_int_equal(c.by_thread[i], THREADS + 1 - i);
	tk_cpu_pool_close(pool);
}

static void every_task_runs_once(void **state)
{
	struct tk_cpu_pool *pool = tk_cpu_pool_open(THREADS);
	struct counts c = {0};
	int64_t sum = 0;
	assert_non_null(pool);
	for (int round = 1; round <= 20; round++) {
		tk_cpu_pool_run_tasks(pool, THREADS, TASKS, count_task, &c);
		for (int i = 0; i < TASKS; i++)
			assert_int_equal(c.by_task[i], round);
	}
	for (int i = 0; i < THREADS; i++)
		sum += c.by_thread[i];
	assert_int_equal(sum, 20 * TASKS);
	tk_cpu_pool_run_tasks(pool, THREADS, 0, count_task, &c); /* no task: no call */
	tk_cpu_pool_close(pool);
}

/* Threads that spin become threads that sleep after some microseconds. */
static void sleeping_threads_wake_up(void **state)
{
	struct tk_cpu_pool *pool = tk_cpu_pool_open(THREADS);
	struct counts c = {0};
	assert_non_null(pool);
	for (int i = 0; i < 20; i++) {
		nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
		tk_cpu_pool_run(pool, THREADS, count_thread, &c);
	}
	for (int i = 0; i < THREADS; i++)
		assert_int_equal(c.by_thread[i], 20);
	tk_cpu_pool_close(pool);
}

static void pools_open_and_close(void **state)
{
	for (uint32_t n = 1; n <= THREADS; n++) {
		struct tk_cpu_pool *pool = tk_cpu_pool_open(n);
		assert_non_null(pool);
		assert_int_equal(tk_cpu_pool_threads(pool), n);
		tk_cpu_pool_close(pool); /* with threads that have never run */
	}
	struct tk_cpu_pool *pool = tk_cpu_pool_open(0);
	assert_true(tk_cpu_pool_threads(pool) >= 1);
	tk_cpu_pool_close(pool);
	tk_cpu_pool_close(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(every_thread_runs_once_in_each_run),
	        cmocka_unit_test(a_run_may_use_fewer_threads),
	        cmocka_unit_test(every_task_runs_once),
	        cmocka_unit_test(sleeping_threads_wake_up),
	        cmocka_unit_test(pools_open_and_close),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
