/* See parallel.h. */
#include "base/parallel.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

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
	bool started[THREADS_MAX] = {false};
	pthread_attr_t attributes;

	if (thread_count < 2 || pthread_attr_init(&attributes) != 0) {
		fn(arg, 0, n);
		return;
	}
	pthread_attr_setstacksize(&attributes, STACK_BYTES);
	for (int64_t i = 1; i < thread_count; i++)
		started[i] = pthread_create(&threads[i], &attributes, run_parts, &l) == 0;
	pthread_attr_destroy(&attributes);
	run_parts(&l);
	for (int64_t i = 1; i < thread_count; i++)
		if (started[i])
			pthread_join(threads[i], NULL);
}
