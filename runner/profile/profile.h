/* What the counters of a device say about the kernels of one launch of a problem. */
#ifndef TK_PROFILE_H
#define TK_PROFILE_H
#include <stddef.h>

#define TK_PROFILE_STALLS_MAX 32

enum tk_profile_memory { TK_PROFILE_DRAM, TK_PROFILE_L2, TK_PROFILE_L1, TK_PROFILE_MEMORIES };
extern const char *const tk_profile_memory_names[TK_PROFILE_MEMORIES]; /* "DRAM" ... */

/* Why a warp did not issue an instruction. */
struct tk_profile_stall {
	char reason[48]; /* "long scoreboard" */
	double cycles;   /* for each instruction that was issued */
};

/* NAN: the profiler has no such figure. */
struct tk_profile_kernel {
	char name[512];
	double time_ns; /* while it was profiled, which may be longer than otherwise */
	double bytes[TK_PROFILE_MEMORIES]; /* read and written */
	double tensor_share; /* of the cycles in which the tensor cores work, of all cycles */
	double occupancy;    /* mean number of active warps, of those a multiprocessor can have */
	double occupancy_limit; /* the same as registers and shared memory allow */
	double l2_hit_share;
	double registers, shared_bytes;                        /* of a thread; of a block */
	struct tk_profile_stall stalls[TK_PROFILE_STALLS_MAX]; /* longest first */
	size_t stall_count;
};

struct tk_profile {
	struct tk_profile_kernel *kernels; /* in the order of their launches; owned */
	size_t count;
	char missing[512]; /* counters that could not be recorded, separated by ", "; "": none */
};

void tk_profile_free(struct tk_profile *p);
/* Orders the stalls by length. */
void tk_profile_sort_stalls(struct tk_profile_kernel *k);
/* Times and bytes of all kernels; NAN where a kernel has no such figure, or there is no kernel. */
double tk_profile_sum_time_ns(const struct tk_profile *p);
double tk_profile_sum_bytes(const struct tk_profile *p, enum tk_profile_memory memory);
/* The share of the kernels' time; NAN where one has no such figure. */
double tk_profile_mean_tensor_share(const struct tk_profile *p);

#endif
