/* See parallel.h. */
#include "measure/parallel.h"
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>

#define THREADS_MAX 32
#define STACK_BYTES ((size_t)512 << 10)

struct part {
	void (*fn)(void *arg, int64_t first, int64_t count);
	void *arg;
	int64_t first, count;
};

static void *run_part(void *arg)
{
	struct part *p = arg;
	p->fn(p->arg, p->first, p->count);
	return NULL;
}

static int64_t count_parts(int64_t n, int64_t grain)
{
	cpu_set_t cores;
	int64_t parts = grain > 0 ? n / grain : n, threads = 1;
	if (sched_getaffinity(0, sizeof cores, &cores) == 0)
		threads = CPU_COUNT(&cores);
	threads = threads > THREADS_MAX ? THREADS_MAX : threads;
	return parts < 1 ? 1 : parts < threads ? parts : threads;
}

/* The part of a thread that cannot be started is done by the caller. */
void tk_parallel_for(
        int64_t n, int64_t grain, void (*fn)(void *arg, int64_t first, int64_t count), void *arg)
{
	struct part parts[THREADS_MAX];
	pthread_t threads[THREADS_MAX];
	bool started[THREADS_MAX] = {false};
	pthread_attr_t attributes;
	int64_t part_count = count_parts(n, grain);
	if (part_count < 2 || pthread_attr_init(&attributes) != 0) {
		fn(arg, 0, n);
		return;
	}
	pthread_attr_setstacksize(&attributes, STACK_BYTES);
	for (int64_t i = 0; i < part_count; i++) {
		int64_t first = n * i / part_count;
		parts[i] = (struct part){fn, arg, first, n * (i + 1) / part_count - first};
		started[i] =
		        i > 0 && pthread_create(&threads[i], &attributes, run_part, &parts[i]) == 0;
	}
	pthread_attr_destroy(&attributes);
	for (int64_t i = 0; i < part_count; i++)
		if (!started[i])
			run_part(&parts[i]);
	for (int64_t i = 0; i < part_count; i++)
		if (started[i])
			pthread_join(threads[i], NULL);
}
