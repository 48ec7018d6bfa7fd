/* Programs that read the counters of a device while a program runs below them: how they are called,
 * what they leave in files, and what it says about the kernels of one launch of a problem. */
#ifndef TK_PROFILE_H
#define TK_PROFILE_H
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

struct tk_error;

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

#define TK_PROFILER_WORDS_MAX 32

/* The beginning of a command: what follows is the program to profile. Points to the arguments that
 * it was made from, and into itself: not to be copied. */
struct tk_profiler_command {
	const char *words[TK_PROFILER_WORDS_MAX];
	char output[PATH_MAX];
};

struct tk_profiler {
	const char *name;      /* of the program */
	const char *product;   /* what it is known as, and what brings it, in a message */
	const char *toolkit;   /* likewise */
	const char *installed; /* where its toolkit has it */
	size_t passes;         /* runs of the program below it; the first one must succeed */
	bool flushes_caches;
	/* The kernels that run while the program has switched the profiler on are recorded into
	 * `folder`. Clocks stay as they are. `flush_caches`: before each run of a kernel, where the
	 * profiler can do that. */
	void (*make_command)(struct tk_profiler_command *out, const char *path, const char *folder,
	        size_t pass, bool flush_caches);
	/* Reads what all passes have left for a device of this architecture. TK_EDATA: the
	 * profiler's own error, or that it recorded nothing. Free *out with tk_profile_free(). */
	int (*read)(
	        const char *folder, const char *arch, struct tk_profile *out, struct tk_error *err);
};

/* In PATH, else where its toolkit is installed. *path is the caller's. TK_ENOTFOUND says where it
 * was looked for. */
int tk_profiler_find(const struct tk_profiler *p, char **path, struct tk_error *err);

extern const struct tk_profiler tk_profiler_ncu;       /* of NVIDIA */
extern const struct tk_profiler tk_profiler_rocprofv3; /* of AMD */

#endif
