/* Runs programs to their end, with a deadline, a memory limit, a log and a scrubbed environment.
 * Never through a shell. */
#ifndef TK_BASE_PROCESS_H
#define TK_BASE_PROCESS_H
#include "base/base.h"
#include <sched.h>
#include <sys/types.h>

struct tk_cgroup;
struct tk_sandbox;

/* Why a group was killed. */
enum tk_process_limit {
	TK_LIMIT_NONE,
	TK_LIMIT_LOG,
	TK_LIMIT_PROCESSES,
	TK_LIMIT_MEMORY, /* of its control group */
	TK_LIMIT_DISK,
	TK_LIMIT_DISK_FULL
};

struct tk_process_spec {
	const char *const *argv; /* NULL-terminated; argv[0] is looked up in PATH */
	const char *const *env;  /* "NAME=value" additions to the scrubbed environment,
	                            NULL-terminated; may be NULL */
	const char *cwd;         /* NULL: the caller's */
	const char *stdin_path;  /* the file that is its standard input; NULL: /dev/null */
	const char *log_path;    /* stdout and stderr are appended there; NULL: stdout is captured,
	                            stderr kept (its tail) */
	size_t capture_max;      /* bytes of stdout kept; 0: 16 MiB; more is TK_EDATA */
	double deadline_s; /* 0: none; at the deadline the whole process group gets SIGTERM, 1 s
	                      later SIGKILL */
	uint64_t memory_limit_bytes; /* RLIMIT_AS of every process of the child; 0: none */
	int nice;
	bool for_network;           /* gets the variables of proxies and of the SSH agent */
	struct tk_sandbox *sandbox; /* see base/sandbox.h, for this run alone; NULL: none */
	/* See below, for this run alone: what is left in it is killed at the end. NULL: none
	 */
	const struct tk_cgroup *cgroup;
	uint64_t log_max_bytes; /* of the file at log_path, which gets no more; 0: none */
	/* Limits that are checked several times a second; the group is killed. 0: none. */
	unsigned process_max; /* of the group and its descendants */
	/* Folders on one disk, NULL-terminated; may be NULL. TK_LIMIT_DISK: they use more than
	 * disk_max_bytes together. TK_LIMIT_DISK_FULL: less than 1 % of the disk is free, or less
	 * than 1 GiB of a large one, and less than at the start. */
	const char *const *disk_paths;
	uint64_t disk_max_bytes;
	uint64_t file_size_bytes; /* RLIMIT_FSIZE of every process; 0: none */
};

struct tk_process_result {
	int exit_code; /* -1: ended by a signal */
	int signal;    /* 0, or the signal */
	bool timed_out;
	enum tk_process_limit exceeded;
	double wall_s;
	double cpu_s;      /* of the process and of those that it waited for */
	struct tk_buf out; /* stdout, if there is no log_path */
	struct tk_buf err; /* the last 8 KiB of stderr, if there is no log_path */
};

/* The status says whether it could be run (TK_EIO, TK_ENOTFOUND: no such program, TK_EDATA: too
 * much output, TK_ECANCELED); the result says how it ended. Processes that the child leaves in its
 * group are killed when it ends. The child dies with the calling thread. The result is initialised
 * even on failure; free it with tk_process_result_free. */
int tk_process_run(
        const struct tk_process_spec *spec, struct tk_process_result *result, struct tk_error *err);
void tk_process_result_free(struct tk_process_result *result);
/* 0 if the exit code was 0, else a message: "git fetch: exit code 128: <last line of stderr>",
 * "... did not end within 30 s". */
int tk_process_check(const struct tk_process_spec *spec, const struct tk_process_result *result,
        struct tk_error *err);

/* The environment that children get: the variables that spawn.c names, which locate tools, accounts
 * and devices; with `for_network` also proxies and the SSH agent; LANG=C and LC_ALL=C; plus
 * `extra`, which wins. Caller frees with tk_env_free. */
char **tk_env_new_scrubbed(const char *const *extra, bool for_network);
void tk_env_free(char **env);
/* Keeps this process's environment, memory and descriptors from others of its user, for good. The
 * price is its core dumps. */
void tk_process_hide(void);
bool tk_process_find_program(const char *program, char **path); /* in PATH; *path is the caller's */
/* The same in `search`, which is as $PATH. New; NULL: there is none. */
char *tk_process_find_in(const char *program, const char *search);

/* Set by the program's SIGINT/SIGTERM handler; long work looks at it and returns TK_ECANCELED. */
void tk_cancel_install_handlers(void);
bool tk_cancel_is_requested(void);

/* ---- starting a child ------------------------------------------------------------------------ */

/* Starts a child process: the one place of the tracker that forks and executes.
 *
 * The child leads a session and process group of its own, without a terminal, has default signals
 * and no core dumps, and dies with the thread that started it, even if that thread ended before the
 * child could request it. It inherits no descriptor but the ones named here. */
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
	const struct tk_cgroup *cgroup; /* see below, for this start alone; NULL: none */
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

/* ---- control groups -------------------------------------------------------------------------- */

/* A control group (version 2) of its own for one program and everything that it starts: limits of
 * memory and tasks that hold between two counts, and an end that no process escapes.
 *
 * A group is made below the tracker's own where systemd has delegated that one (`Delegate=`): the
 * tracker's processes then move to its subgroup "tracker". Otherwise it is made beside it, if that
 * one has no limits. */

/* NULL where the tracker may make control groups, else why not. Tries it at the first call. */
const char *tk_cgroup_reason(void);
/* What a program may use by default: 90 % of the memory of this machine. */
uint64_t tk_cgroup_default_memory(void);

/* For one start of one program; NULL where none can be made. If others could and this one cannot, a
 * warning is logged, once: the limits of each process still hold. process_max bounds processes when
 * counted, and 4 times as many tasks (processes and threads) by themselves. 0: no limit. */
struct tk_cgroup *tk_cgroup_new(uint64_t memory_bytes, unsigned process_max);
/* Kills what is left in it, and removes it. */
void tk_cgroup_free(struct tk_cgroup *g);

void tk_cgroup_kill(const struct tk_cgroup *g); /* may be NULL */
/* More than `max` processes, or a task more than the group may have. */
bool tk_cgroup_exceeds(const struct tk_cgroup *g, unsigned max);
/* Whether it was killed because it used more memory than it may; false for NULL. */
bool tk_cgroup_is_out_of_memory(const struct tk_cgroup *g);
/* For the child, between fork and exec: system calls only. 0, or -1 with errno. */
int tk_cgroup_enter(const struct tk_cgroup *g);

/* ---- processes that a child has started ------------------------------------------------------ */

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
