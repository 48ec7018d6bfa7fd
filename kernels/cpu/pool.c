/* A run starts with a generation counter and ends with a counter of busy threads. Waiting spins
 * first, then sleeps on a condition variable; the counters are atomic, everything else is ordered
 * by them (tests: unit.kernels_pool, also under ThreadSanitizer). */
#include "pool.h"
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

enum { SPINS = 4000 }; /* some 20 to 100 us, depending on the cost of a pause */

struct tk_cpu_pool {
	uint32_t threads, started;
	pthread_t *handle;
	pthread_mutex_t lock;
	pthread_cond_t wake, done;
	atomic_uint generation; /* raised under `lock` when a run starts */
	atomic_uint busy;       /* threads that have not finished the run */
	atomic_bool quit;
	uint32_t active; /* threads that take part in the run */
	void (*work)(void *arg, uint32_t thread);
	void *arg;
};

struct start {
	struct tk_cpu_pool *pool;
	uint32_t thread;
};

static void relax(void)
{
#if defined(__x86_64__) || defined(__i386__)
	__builtin_ia32_pause();
#elif defined(__aarch64__)
	__asm__ volatile("yield");
#endif
}

static unsigned wait_for_run(struct tk_cpu_pool *pool, unsigned seen)
{
	for (int i = 0; i < SPINS; i++, relax()) {
		unsigned now = atomic_load_explicit(&pool->generation, memory_order_acquire);
		if (now != seen)
			return now;
	}
	pthread_mutex_lock(&pool->lock);
	while (atomic_load(&pool->generation) == seen)
		pthread_cond_wait(&pool->wake, &pool->lock);
	unsigned now = atomic_load(&pool->generation);
	pthread_mutex_unlock(&pool->lock);
	return now;
}

static void *thread_main(void *arg)
{
	struct start start = *(struct start *)arg;
	struct tk_cpu_pool *pool = start.pool;
	free(arg);
	for (unsigned seen = 0;;) {
		seen = wait_for_run(pool, seen);
		if (atomic_load(&pool->quit))
			return NULL;
		if (start.thread < pool->active)
			pool->work(pool->arg, start.thread);
		if (atomic_fetch_sub_explicit(&pool->busy, 1, memory_order_acq_rel) == 1) {
			pthread_mutex_lock(&pool->lock);
			pthread_cond_signal(&pool->done);
			pthread_mutex_unlock(&pool->lock);
		}
	}
}

static uint32_t allowed_cpus(void)
{
	cpu_set_t set;
	return sched_getaffinity(0, sizeof(set), &set) == 0 && CPU_COUNT(&set) > 0
	               ? (uint32_t)CPU_COUNT(&set)
	               : 1;
}

static int start_thread(struct tk_cpu_pool *pool, uint32_t thread)
{
	struct start *start = malloc(sizeof(*start));
	if (!start)
		return -1;
	*start = (struct start){pool, thread};
	if (pthread_create(&pool->handle[thread], NULL, thread_main, start) != 0) {
		free(start);
		return -1;
	}
	pool->started = thread;
	return 0;
}

struct tk_cpu_pool *tk_cpu_pool_open(uint32_t threads)
{
	struct tk_cpu_pool *pool = calloc(1, sizeof(*pool));
	if (!pool)
		return NULL;
	pool->threads = threads ? threads : allowed_cpus();
	pthread_mutex_init(&pool->lock, NULL);
	pthread_cond_init(&pool->wake, NULL);
	pthread_cond_init(&pool->done, NULL);
	pool->handle = calloc(pool->threads, sizeof(*pool->handle));
	for (uint32_t i = 1; pool->handle && i < pool->threads; i++)
		if (start_thread(pool, i))
			break;
	if (!pool->handle || pool->started + 1 != pool->threads) {
		tk_cpu_pool_close(pool);
		return NULL;
	}
	return pool;
}

static void begin(struct tk_cpu_pool *pool)
{
	pthread_mutex_lock(&pool->lock);
	atomic_fetch_add_explicit(&pool->generation, 1, memory_order_release);
	pthread_cond_broadcast(&pool->wake);
	pthread_mutex_unlock(&pool->lock);
}

static void wait_until_done(struct tk_cpu_pool *pool)
{
	for (int i = 0; i < SPINS; i++, relax())
		if (atomic_load_explicit(&pool->busy, memory_order_acquire) == 0)
			return;
	pthread_mutex_lock(&pool->lock);
	while (atomic_load_explicit(&pool->busy, memory_order_acquire) != 0)
		pthread_cond_wait(&pool->done, &pool->lock);
	pthread_mutex_unlock(&pool->lock);
}

void tk_cpu_pool_close(struct tk_cpu_pool *pool)
{
	if (!pool)
		return;
	atomic_store(&pool->quit, true);
	begin(pool);
	for (uint32_t i = 1; i <= pool->started; i++)
		pthread_join(pool->handle[i], NULL);
	pthread_cond_destroy(&pool->done);
	pthread_cond_destroy(&pool->wake);
	pthread_mutex_destroy(&pool->lock);
	free(pool->handle);
	free(pool);
}

uint32_t tk_cpu_pool_threads(const struct tk_cpu_pool *pool)
{
	return pool->threads;
}

void tk_cpu_pool_run(struct tk_cpu_pool *pool, uint32_t threads,
        void (*work)(void *arg, uint32_t thread), void *arg)
{
	pool->active = threads < pool->threads ? threads : pool->threads;
	if (pool->active <= 1) {
		work(arg, 0);
		return;
	}
	pool->work = work;
	pool->arg = arg;
	atomic_store_explicit(&pool->busy, pool->threads - 1, memory_order_release);
	begin(pool);
	work(arg, 0);
	wait_until_done(pool);
}

struct tasks {
	void (*task)(void *arg, uint32_t thread, int64_t index);
	void *arg;
	int64_t count;
	atomic_llong next;
};

static void take_tasks(void *arg, uint32_t thread)
{
	struct tasks *t = arg;
	int64_t i;
	while ((i = atomic_fetch_add_explicit(&t->next, 1, memory_order_relaxed)) < t->count)
		t->task(t->arg, thread, i);
}

void tk_cpu_pool_run_tasks(struct tk_cpu_pool *pool, uint32_t threads, int64_t tasks,
        void (*task)(void *arg, uint32_t thread, int64_t index), void *arg)
{
	struct tasks t = {.task = task, .arg = arg, .count = tasks};
	tk_cpu_pool_run(pool, (int64_t)threads < tasks ? threads : (uint32_t)tasks, take_tasks, &t);
}
