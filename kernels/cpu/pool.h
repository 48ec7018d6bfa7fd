/* A small persistent thread pool: tk_cpu_pool_run() runs one function on all threads and returns
 * when all are done.
 *
 * The threads inherit the CPU affinity of the thread that opens the pool and never change it: the
 * tracker pins. Between runs in close succession they spin for some microseconds, then they
 * sleep. */
#ifndef TK_CPU_POOL_H
#define TK_CPU_POOL_H
#include <stdint.h>

struct tk_cpu_pool;

/* threads = 0: as many as CPUs are available to this thread. The caller is thread 0. NULL: a thread
 * cannot be started. */
struct tk_cpu_pool *tk_cpu_pool_open(uint32_t threads);
void tk_cpu_pool_close(struct tk_cpu_pool *pool);
uint32_t tk_cpu_pool_threads(const struct tk_cpu_pool *pool);

/* Calls work(arg, thread) on the threads 0 .. threads-1 (at most as many as the pool has). */
void tk_cpu_pool_run(struct tk_cpu_pool *pool, uint32_t threads,
        void (*work)(void *arg, uint32_t thread), void *arg);

/* Calls task(arg, thread, index) for every index below `tasks`; each thread takes the next index
 * when it is done. */
void tk_cpu_pool_run_tasks(struct tk_cpu_pool *pool, uint32_t threads, int64_t tasks,
        void (*task)(void *arg, uint32_t thread, int64_t index), void *arg);

#endif
