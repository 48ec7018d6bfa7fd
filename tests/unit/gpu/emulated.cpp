/* The scheduler of emulated_runtime.h. */
#include "gpu_runtime.h"
#include <cstdio>
#include <cstdlib>
#include <ucontext.h>
#include <vector>

enum { STACK = 1 << 17, THREADS_MAX = 1024, SHARED_MAX = 232448 };

dim3 threadIdx, blockIdx, blockDim, gridDim;
unsigned char *emulated_shared;
float emulated_lanes[64][64][8];
long emulated_multiply_adds;

/* Waiters of a barrier; it opens when all have come. */
struct barrier {
	int here;
	long opened;
};

/* The linker's: where the variables are that kernels declare as shared. */
extern unsigned char __start_emulated_static[] __attribute__((weak)),
	__stop_emulated_static[] __attribute__((weak));

static barrier of_block, of_warp[64];
static ucontext_t scheduler, fiber[THREADS_MAX];
static char *stack[THREADS_MAX];
static bool done[THREADS_MAX];
static int current, threads;
static long progress;
static const std::function<void()> *work;

static void wait(barrier &b, int all)
{
	long before = b.opened;
	if (++b.here == all) {
		b.here = 0;
		b.opened++;
		progress++;
	} else
		while (b.opened == before)
			swapcontext(&fiber[current], &scheduler);
}

void emulated_block_barrier(void)
{
	wait(of_block, threads);
}
void emulated_warp_barrier(void)
{
	wait(of_warp[threadIdx.x / GPU_LANES], GPU_LANES);
}

static void start(void)
{
	(*work)();
	done[current] = true;
	progress++;
	swapcontext(&fiber[current], &scheduler);
}

static void prepare(void)
{
	of_block.here = 0;
	for (barrier &b : of_warp)
		b.here = 0;
	for (int i = 0; i < threads; i++) {
		if (!stack[i])
			stack[i] = (char *)malloc(STACK);
		getcontext(&fiber[i]);
		fiber[i].uc_stack.ss_sp = stack[i];
		fiber[i].uc_stack.ss_size = STACK;
		fiber[i].uc_link = &scheduler;
		makecontext(&fiber[i], start, 0);
		done[i] = false;
	}
}

/* One turn for each fiber, from a random one on, forwards or backwards. */
static int turn(void)
{
	static unsigned seed = 1;
	int left = 0;
	seed = seed * 1664525u + 1013904223u;
	for (int i = 0; i < threads; i++) {
		int place = (int)(seed >> 8) % threads;
		current = (place + (seed >> 31 ? i : threads - i)) % threads;
		if (done[current])
			continue;
		threadIdx = dim3((unsigned)current % blockDim.x, (unsigned)current / blockDim.x);
		swapcontext(&scheduler, &fiber[current]);
		left += !done[current];
	}
	return left;
}

static void run_block(void)
{
	prepare();
	for (long before = progress; turn() > 0; before = progress)
		if (progress == before) {
			fprintf(stderr, "deadlock in block %u %u %u\n", blockIdx.x, blockIdx.y,
				blockIdx.z);
			exit(1);
		}
}

void emulated_run(dim3 grid, dim3 block, size_t bytes, const std::function<void()> &thread)
{
	static __align__(1024) unsigned char shared[SHARED_MAX];
	threads = (int)(block.x * block.y * block.z);
	if (bytes > sizeof shared || threads > THREADS_MAX) {
		fprintf(stderr, "%d threads or %zu bytes of shared memory are too many\n", threads,
			bytes);
		exit(1);
	}
	work = &thread;
	emulated_shared = shared;
	blockDim = block;
	gridDim = grid;
	for (unsigned z = 0; z < grid.z; z++)
		for (unsigned y = 0; y < grid.y; y++)
			for (unsigned x = 0; x < grid.x; x++) {
				blockIdx = dim3(x, y, z);
				memset(shared, 0xff, sizeof shared); /* NaN */
				memset(__start_emulated_static, 0xff,
				        (size_t)(__stop_emulated_static - __start_emulated_static));
				run_block();
			}
}
