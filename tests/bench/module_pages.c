/* How the physical pages of its code change a kernel's time: one process, one set of tensors, the
 * f32 GEMM of 256 of the CPU backend. Code and constants keep their addresses and move to other
 * pages, drawn at random for each placement; the placements alternate.
 *
 * usage: bench_placement [PLACEMENTS [ROUNDS [SETS]]]
 *   defaults: 12 placements, 100 rounds, 60 sets of tensors (cold caches; 1: hot)
 * Prints how each placement differs from the middle half of its round: the median over the rounds,
 * and over either half of them. The first placement is the page cache's. */
#include "worker/module_pages.h"
#include "stats/summary/summary.h"
#include "tracker_abi.h"
#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

enum {
	PLACEMENTS_MOST = 64,
	ROUNDS_MOST = 10000,
	SEGMENTS_MOST = 8,
	LAUNCHES = 9,
	FIRST_LAUNCHES = 2,
	SIZE = 256
};

struct segment {
	char *at;
	size_t bytes;
	char *parked[PLACEMENTS_MOST]; /* where the pages of a placement are while another one is in
	                                  use */
};

struct bench {
	const struct tk_backend *backend;
	struct tk_plan *plan;
	uint32_t sets, launched;
	void *module;
	struct segment segments[SEGMENTS_MOST];
	int segment_count, placement, placements, rounds;
	double *shares; /* [placement][round]: of the middle of the round */
};

static double now_ns(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}

static void fail(const char *what)
{
	perror(what);
	exit(2);
}

static void load(struct bench *b)
{
	const struct tk_backend *(*entry)(void) = NULL;
	struct tk_open_args args = {.size = sizeof args, .threads = 1, .options = ""};
	struct tk_abi_error err = {.size = sizeof err};
	struct tk_plan_info info = {.size = sizeof info};
	static struct tk_gemm gemm = {
	        sizeof gemm, SIZE, SIZE, SIZE, 1, 0, 0, TK_F32, TK_F32, TK_F32, TK_F32};
	struct tk_problem problem = {
	        .size = sizeof problem, .op = TK_OP_GEMM, .text = "gemm", .gemm = &gemm};
	struct tk_backend_ctx *ctx;
	b->module = dlopen(TK_MODULE_DIR "/tk_backend_cpu.so", RTLD_NOW);
	void *symbol = b->module ? dlsym(b->module, "tk_backend_entry") : NULL;
	memcpy(&entry, &symbol, sizeof entry);
	b->backend = entry ? entry() : NULL;
	if (!b->backend || b->backend->open(&args, &ctx, &err) ||
	        b->backend->plan(ctx, &problem, NULL, b->sets, &b->plan, &info, &err))
		fail("tk_backend_cpu.so");
	for (uint32_t s = 0; s < b->sets; s++) {
		struct tk_tensor t[3];
		for (int i = 0; i < 3; i++) {
			size_t bytes = SIZE * SIZE * sizeof(float);
			t[i] = (struct tk_tensor){
			        .size = sizeof t[i], .dtype = TK_F32, .bytes = bytes};
			float *values = t[i].data = aligned_alloc(256, bytes);
			for (int j = 0; values && j < SIZE * SIZE; j++)
				values[j] = (float)rand() / (float)RAND_MAX;
		}
		if (b->backend->bind(b->plan, s, t, 3, &err))
			fail("bind");
	}
}

static void find_segments(struct bench *b)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	char line[4200], protection[8];
	unsigned long from, to;
	while (maps && fgets(line, sizeof line, maps) && b->segment_count < SEGMENTS_MOST)
		if (strstr(line, "tk_backend_cpu.so") &&
		        sscanf(line, "%lx-%lx %7s", &from, &to, protection) == 3 &&
		        protection[1] == '-' && protection[0] == 'r')
			b->segments[b->segment_count++] =
			        (struct segment){.at = (char *)from, .bytes = to - from};
	if (maps)
		fclose(maps);
}

static void move(char *from, size_t bytes, char *to)
{
	if (mremap(from, bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, to) != to)
		fail("mremap");
}

static void swap_in(struct bench *b, int placement)
{
	for (int s = 0; s < b->segment_count && placement != b->placement; s++) {
		struct segment *g = &b->segments[s];
		move(g->at, g->bytes, g->parked[b->placement]);
		move(g->parked[placement], g->bytes, g->at);
	}
	b->placement = placement;
}

/* The pages in use are copied and parked, and the copy gets new pages. */
static void add_placement(struct bench *b, int placement)
{
	for (int s = 0; s < b->segment_count; s++) {
		struct segment *g = &b->segments[s];
		for (int side = 0; side < 2;
		        side++) { /* a place to park the old pages, a copy of them */
			char **at = &g->parked[side ? placement : b->placement];
			*at = mmap(NULL, g->bytes, PROT_READ | PROT_WRITE,
			        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
			if (*at == MAP_FAILED)
				fail("mmap");
		}
		memcpy(g->parked[placement], g->at, g->bytes);
		if (mprotect(g->parked[placement], g->bytes, PROT_READ | PROT_EXEC))
			fail("mprotect");
	}
	swap_in(b, placement);
	if (!tk_module_randomize_pages(b->module))
		fail("cannot move the code to new pages");
}

/* The third of nine launches by time: neighbours only add to it. */
static double time_placement(struct bench *b, int placement)
{
	double times[LAUNCHES];
	struct tk_abi_error err = {.size = sizeof err};
	swap_in(b, placement);
	for (int i = -FIRST_LAUNCHES; i < LAUNCHES; i++) {
		double from = now_ns();
		b->backend->launch(b->plan, NULL, b->launched++ % b->sets, &err);
		if (i >= 0)
			times[i] = now_ns() - from;
	}
	tk_sort_values(times, LAUNCHES);
	return times[2];
}

static void run_round(struct bench *b, int round)
{
	int order[PLACEMENTS_MOST], quarter = b->placements / 4;
	double times[PLACEMENTS_MOST], sorted[PLACEMENTS_MOST], middle = 0;
	for (int i = 0; i < b->placements; i++) {
		int j = rand() % (i + 1);
		order[i] = order[j];
		order[j] = i;
	}
	for (int i = 0; i < b->placements; i++)
		sorted[i] = times[order[i]] = time_placement(b, order[i]);
	tk_sort_values(sorted, (size_t)b->placements);
	for (int i = quarter; i < b->placements - quarter; i++)
		middle += sorted[i] / (b->placements - 2 * quarter);
	for (int i = 0; i < b->placements; i++)
		b->shares[i * b->rounds + round] = times[i] / middle;
}

static double percent(const struct bench *b, int placement, int from, int to)
{
	static double copy[ROUNDS_MOST];
	memcpy(copy, b->shares + placement * b->rounds + from, (size_t)(to - from) * sizeof *copy);
	return 100 * (tk_median(copy, (size_t)(to - from)) - 1);
}

int main(int argc, char **argv)
{
	struct bench b = {.placements = argc > 1 ? atoi(argv[1]) : 12,
	        .rounds = argc > 2 ? atoi(argv[2]) : 100,
	        .sets = argc > 3 ? (uint32_t)atoi(argv[3]) : 60};
	if (b.placements < 4 || b.placements > PLACEMENTS_MOST || b.rounds < 4 ||
	        b.rounds > ROUNDS_MOST || !b.sets)
		return 2;
	b.shares = malloc((size_t)b.placements * (size_t)b.rounds * sizeof *b.shares);
	srand((unsigned)time(NULL));
	load(&b);
	find_segments(&b);
	for (int i = 1; i < b.placements; i++)
		add_placement(&b, i);
	for (int i = 0; b.shares && i < b.rounds; i++)
		run_round(&b, i);
	for (int i = 0; b.shares && i < b.placements; i++)
		printf("%+.2f %%  (%+.2f, %+.2f)%s\n", percent(&b, i, 0, b.rounds),
		        percent(&b, i, 0, b.rounds / 2), percent(&b, i, b.rounds / 2, b.rounds),
		        i ? "" : "  page cache");
	return b.shares ? 0 : 2;
}
