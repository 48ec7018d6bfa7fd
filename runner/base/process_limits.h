/* The limits of a running program that are checked from outside, several times a second. */
#ifndef TK_BASE_PROCESS_LIMITS_H
#define TK_BASE_PROCESS_LIMITS_H
#include "base/process.h"
#include "base/process_tree.h"
#include <stdint.h>
#include <sys/types.h>

struct tk_process_limits {
	const struct tk_process_spec *spec;
	struct tk_process_tree tree;
	uint64_t free_bytes;     /* of the disk, when the program started */
	int64_t checked_ns;      /* when all were checked last */
	int64_t disk_counted_ns; /* when the folders were counted last */
	int64_t disk_count_ns;   /* how long that took */
};

/* To be called before the program starts; `spec` is used until the last check. */
void tk_process_limits_init(struct tk_process_limits *l, const struct tk_process_spec *spec);
/* What `child` has exceeded. Returns at once where the last check was less than 200 ms ago. */
enum tk_process_limit tk_process_limits_check(
        struct tk_process_limits *l, pid_t child, int64_t now_ns);

#endif
