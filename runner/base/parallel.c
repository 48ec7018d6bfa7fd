/* See base.h. */
#include "base/base.h"

#include <pthread.h>
#include <sched.h>

#define THREADS_MAX 32
#define PARTS_PER_THREAD 8
#define STACK_BYTES ((size_t)512 << 10)

struct loop {
	void (*fn)(void *arg, int64_t first, int64_t count);
	void *arg;
	int64_t n, part_count;
	_Atomic int64_t next; /* part that nobody has taken yet */
};

static void *run_parts(void *arg)
{
	struct loop *l = arg;
	int64_t i;

	while ((i = atomic_fetch_add(&l->next, 1)) < l->part_count) {
		const int64_t first = l->n * i / l->part_count;

		l->fn(l->arg, first, l->n * (i + 1) / l->part_count - first);
	}
	return NULL;
}

static int64_t smaller(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

static int64_t count_threads(void)
{
	cpu_set_t cores;

	return sched_getaffinity(0, sizeof cores, &cores) == 0
	               ? smaller(CPU_COUNT(&cores), THREADS_MAX)
	               : 1;
}

/* Starts up to `count` threads. Returns how many. */
static int64_t start_threads(pthread_t *at, int64_t count, void *(*fn)(void *arg), void *arg)
{
	pthread_attr_t attributes;
	int64_t started = 0;

	if (pthread_attr_init(&attributes) != 0)
		return 0;
	pthread_attr_setstacksize(&attributes, STACK_BYTES);
	while (started < count && pthread_create(&at[started], &attributes, fn, arg) == 0)
		started++;
	pthread_attr_destroy(&attributes);
	return started;
}

/* A thread that cannot be started leaves its parts to the others, and to the caller. */
void tk_parallel_for(
        int64_t n, int64_t grain, void (*fn)(void *arg, int64_t first, int64_t count), void *arg)
{
	const int64_t parts_max = grain > 0 ? n / grain : n,
	              thread_count = smaller(parts_max, count_threads());
	struct loop l = {.fn = fn,
	        .arg = arg,
	        .n = n,
	        .part_count = smaller(parts_max, thread_count * PARTS_PER_THREAD)};
	pthread_t threads[THREADS_MAX];
	int64_t started;

	if (thread_count < 2) {
		fn(arg, 0, n);
		return;
	}
	started = start_threads(threads, thread_count - 1, run_parts, &l);
	run_parts(&l);
	for (int64_t i = 0; i < started; i++)
		pthread_join(threads[i], NULL);
}
