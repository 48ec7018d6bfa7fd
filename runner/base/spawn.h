/* Starts a child process: the one place of the tracker that forks and executes.
 *
 * The child leads a session and process group of its own, without a terminal, has default signals
 * and no core dumps, and dies with the thread that started it, even if that thread ended before the
 * child could request it. It inherits no descriptor but the ones named here. */
#ifndef TK_BASE_SPAWN_H
#define TK_BASE_SPAWN_H
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct tk_cgroup;
struct tk_error;
struct tk_sandbox;

struct tk_spawn_spec {
	const char *path;        /* of the program */
	const char *const *argv; /* NULL-terminated */
	char *const *env;        /* NULL-terminated */
	const char *cwd;         /* NULL: the caller's */
	int stdio[3];            /* become 0, 1 and 2; any numbers, also 0 to 2 themselves */
	int keep_fd;             /* stays open under its number, above 2; 0: none */
	const cpu_set_t *cores;  /* NULL: the caller's */
	uint64_t
	        /* RLIMIT_AS, at most the hard limit of the caller; 0: as it is */
	        address_space_bytes;
	uint64_t file_size_bytes; /* RLIMIT_FSIZE; 0: as it is */
	int nice;
	struct tk_sandbox *sandbox;     /* of base/sandbox.h, for this start alone; NULL: none */
	const struct tk_cgroup *cgroup; /* of base/cgroup.h, for this start alone; NULL: none */
	/* Under a real-time policy: one step below the caller, so that it can still stop the
	 * child. */
	bool below_caller;
};

/* *pid is the child, which executes the program. TK_EIO or TK_ENOTFOUND if it cannot be started;
 * the message names what failed, and no child is left. */
int tk_spawn(const struct tk_spawn_spec *spec, pid_t *pid, struct tk_error *err);

/* A close-on-exec pipe; both ends are -1 if it fails. */
int tk_spawn_pipe(int ends[2], struct tk_error *err);

/* Opens /dev/null in place of each standard descriptor that is closed, so that no file of the
 * program becomes its stdin, stdout or stderr. To be called first in main(). */
int tk_spawn_open_stdio(struct tk_error *err);

#endif
