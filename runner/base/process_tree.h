/* Counts the processes that a child has started. */
#ifndef TK_BASE_PROCESS_TREE_H
#define TK_BASE_PROCESS_TREE_H
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct tk_cgroup;

/* The child, its process group and all descendants that are still linked to one of them. setsid()
 * and namespaces hide none: bubblewrap's first process adopts orphans. Without bubblewrap, an
 * orphan that has left the group is not found. 0: /proc cannot be read. */
unsigned tk_process_tree_count(pid_t child);

/* Counting reads all of /proc. How many threads the whole machine has tells cheaply that a child
 * cannot have that many processes. */
struct tk_process_tree {
	long threads_min; /* of the machine, since the start */
	int64_t counted_ns;
	const struct tk_cgroup *cgroup;
};
/* A control group of the child's own, if it has one (else NULL), is counted instead. */
void tk_process_tree_init(struct tk_process_tree *t, const struct tk_cgroup *cgroup);
/* Counts where the machine has at least `max` more threads than before, and every 5 s, since others
 * may have ended. */
bool tk_process_tree_exceeds(struct tk_process_tree *t, pid_t child, unsigned max, int64_t now_ns);

#endif
