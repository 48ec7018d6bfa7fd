/* A control group (version 2) of its own for one program and everything that it starts: limits of
 * memory and tasks that hold between two counts, and an end that no process escapes.
 *
 * A group is made below the tracker's own where systemd has delegated that one (`Delegate=`): the
 * tracker's processes then move to its subgroup "tracker". Otherwise it is made beside it, if that
 * one has no limits. */
#ifndef TK_BASE_CGROUP_H
#define TK_BASE_CGROUP_H
#include <stdbool.h>
#include <stdint.h>

struct tk_error;
struct tk_cgroup;

/* NULL where the tracker may make control groups, else why not. Tries it at the first call. */
const char *tk_cgroup_reason(void);
/* What a program may use by default: 90 % of the memory of this machine. */
uint64_t tk_cgroup_default_memory(void);

/* *out is for one start of one program; NULL where none can be made. If others could and this one
 * cannot, a warning is logged, once: the limits of each process still hold. process_max bounds
 * processes when counted, and 4 times as many tasks (processes and threads) by themselves. 0: no
 * limit. Fails only without memory. */
int tk_cgroup_new(
        uint64_t memory_bytes, unsigned process_max, struct tk_cgroup **out, struct tk_error *err);
/* Kills what is left in it, and removes it. */
void tk_cgroup_free(struct tk_cgroup *g);

void tk_cgroup_kill(const struct tk_cgroup *g); /* may be NULL */
/* More than `max` processes, or a task more than the group may have. */
bool tk_cgroup_exceeds(const struct tk_cgroup *g, unsigned max);
/* Whether it was killed because it used more memory than it may; false for NULL. */
bool tk_cgroup_is_out_of_memory(const struct tk_cgroup *g);
/* For the child, between fork and exec: system calls only. 0, or -1 with errno. */
int tk_cgroup_enter(const struct tk_cgroup *g);

#endif
