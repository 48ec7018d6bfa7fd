/* Programs that read the counters of a device while a program runs below them: how they are called,
 * and what they leave in files. */
#ifndef TK_PROFILE_PROFILER_H
#define TK_PROFILE_PROFILER_H
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

struct tk_error;
struct tk_profile;

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
