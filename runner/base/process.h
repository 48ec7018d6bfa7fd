/* Runs programs to their end, with a deadline, a memory limit, a log and a scrubbed environment.
 * Never through a shell. */
#ifndef TK_BASE_PROCESS_H
#define TK_BASE_PROCESS_H
#include "base/buf.h"
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct tk_cgroup;
struct tk_error;
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
	double deadline_s; /* 0: none; at the deadline the whole process group gets SIGTERM, 2 s
	                      later SIGKILL */
	uint64_t memory_limit_bytes; /* RLIMIT_AS of every process of the child; 0: none */
	int nice;
	bool for_network;           /* gets the variables of proxies and of the SSH agent */
	struct tk_sandbox *sandbox; /* of base/sandbox.h, for this run alone; NULL: none */
	/* Of base/cgroup.h, for this run alone: what is left in it is killed at the end. NULL: none
	 */
	const struct tk_cgroup *cgroup;
	/* Limits that are checked several times a second; the group is killed. 0: none. */
	uint64_t log_max_bytes; /* of the file at log_path */
	unsigned process_max;   /* of the group and its descendants */
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

/* The environment that children get: the variables that env.c names, which locate tools, accounts
 * and devices; with `for_network` also proxies and the SSH agent; LANG=C and LC_ALL=C; plus
 * `extra`, which wins. Caller frees with tk_env_free. */
char **tk_env_new_scrubbed(const char *const *extra, bool for_network);
void tk_env_free(char **env);
bool tk_process_find_program(const char *program, char **path); /* in PATH; *path is the caller's */

/* Set by the program's SIGINT/SIGTERM handler; long work looks at it and returns TK_ECANCELED. */
void tk_cancel_install_handlers(void);
bool tk_cancel_is_requested(void);

#endif
