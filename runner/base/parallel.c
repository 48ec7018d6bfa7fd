/* See parallel.h. */
#include "base/parallel.h"
#include "base/memory.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

#define THREADS_MAX 32
#define PARTS_PER_THREAD 8
#define STACK_BYTES ((size_t)512 << 10)

struct loop {
	void (*fn)(void *arg, int64_t first, int64_t count);
	void *arg;
	int64_t n, part_count;
	_Atomic int64_t next; /* part that nobody has taken yet */
};

/* Threads that wait for the loops of the thread that keeps them. */
struct kept_threads {
	pthread_t at[THREADS_MAX];
	int64_t count;
	pthread_mutex_t lock;
	pthread_cond_t is_due, is_done;
	struct loop *loop;
	uint64_t loop_number; /* of the newest loop */
	int64_t wanted;       /* threads that shall still join it */
	int64_t busy;         /* threads in it */
	bool is_ending;
};

static _Thread_local struct kept_threads *kept;

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

static void join_threads(const pthread_t *at, int64_t count)
{
	for (int64_t i = 0; i < count; i++)
		pthread_join(at[i], NULL);
}

/* ---- kept threads ---- */

/* Each takes part in a loop once at most. */
static void *wait_for_loops(void *arg)
{
	struct kept_threads *k = arg;
	uint64_t last = 0;

	pthread_mutex_lock(&k->lock);
	for (;;) {
		while (!k->is_ending && (!k->wanted || k->loop_number == last))
			pthread_cond_wait(&k->is_due, &k->lock);
		if (k->is_ending)
			break;
		last = k->loop_number;
		k->wanted--;
		k->busy++;
		pthread_mutex_unlock(&k->lock);
		run_parts(k->loop);
		pthread_mutex_lock(&k->lock);
		if (--k->busy == 0)
			pthread_cond_signal(&k->is_done);
	}
	pthread_mutex_unlock(&k->lock);
	return NULL;
}

/* A thread that has not woken up when all parts are taken is not waited for. */
static void run_in_kept(struct kept_threads *k, struct loop *l, int64_t wanted)
{
	pthread_mutex_lock(&k->lock);
	k->loop = l;
	k->loop_number++;
	k->wanted = wanted;
	pthread_cond_broadcast(&k->is_due);
	pthread_mutex_unlock(&k->lock);
	run_parts(l);
	pthread_mutex_lock(&k->lock);
	k->wanted = 0;
	while (k->busy)
		pthread_cond_wait(&k->is_done, &k->lock);
	pthread_mutex_unlock(&k->lock);
}

void tk_parallel_keep_threads(struct tk_kept_threads *out)
{
	struct kept_threads *k = kept ? NULL : tk_calloc(1, sizeof *k);

	out->at = k;
	if (!k)
		return;
	pthread_mutex_init(&k->lock, NULL);
	pthread_cond_init(&k->is_due, NULL);
	pthread_cond_init(&k->is_done, NULL);
	k->count = start_threads(k->at, count_threads() - 1, wait_for_loops, k);
	kept = k;
}

void tk_parallel_end_threads(struct tk_kept_threads *threads)
{
	struct kept_threads *k = threads->at;

	threads->at = NULL;
	if (!k)
		return;
	kept = NULL;
	pthread_mutex_lock(&k->lock);
	k->is_ending = true;
	pthread_cond_broadcast(&k->is_due);
	pthread_mutex_unlock(&k->lock);
	join_threads(k->at, k->count);
	pthread_cond_destroy(&k->is_done);
	pthread_cond_destroy(&k->is_due);
	pthread_mutex_destroy(&k->lock);
	free(k);
}

/* ---- loops ---- */

/* A thread that cannot be started leaves its parts to the others, and to the caller. */
void tk_parallel_for(
        int64_t n, int64_t grain, void (*fn)(void *arg, int64_t first, int64_t count), void *arg)
{
	const int64_t parts_max = grain > 0 ? n / grain : n,
	              thread_count = smaller(parts_max, kept ? kept->count + 1 : count_threads());
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
	if (kept) {
		run_in_kept(kept, &l, thread_count - 1);
		return;
	}
	started = start_threads(threads, thread_count - 1, run_parts, &l);
	run_parts(&l);
	join_threads(threads, started);
}

void tk_parallel_set_failure(
        struct tk_parallel_failure *f, int status, const struct tk_error *error)
{
	int none = TK_OK;

	if (status && atomic_compare_exchange_strong(&f->status, &none, status))
		f->error = *error;
}

int tk_parallel_get_failure(const struct tk_parallel_failure *f, struct tk_error *err)
{
	return f->status ? tk_fail(err, f->status, "%s", f->error.message) : TK_OK;
}
