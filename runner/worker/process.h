/* The process of a worker: started with its limits, watched, ended with all its children; its log,
 * and the Python that it may run in. Private to worker/. */
#ifndef TK_WORKER_PROCESS_H
#define TK_WORKER_PROCESS_H
#include "base/base.h"
#include <sched.h>
#include <sys/types.h>

#define TK_WORKER_PROCESS_MAX 1024 /* a compiler's helpers need a few */

struct tk_cgroup;
struct tk_sandbox;

struct tk_worker_process_spec {
	const char *program;
	const char *const *argv; /* NULL: "tracker worker" */
	/* comes before program and argv[1...], and runs without the sandbox; NULL: none */
	const char *const *profiler;
	const cpu_set_t *cores; /* NULL: as the parent */
	uint32_t threads;
	uint64_t memory_limit_bytes;
	bool limit_address_space; /* not for GPUs: their drivers reserve far more than they use */
	int log_fd;               /* stderr and stdout */
	int kept_fd;              /* stays open under this number; 0: a socket of the referee */
	const char *const *readable; /* in the sandbox, NULL-terminated */
	bool gpu;
	bool unsandboxed;
};

struct tk_worker_process {
	pid_t pid;    /* 0: none */
	int to, from; /* -1: closed */
	/* Of the referee: this end, and the number of the worker's; this end is -1: none. */
	int referee, worker_referee;
	int status; /* of waitpid, once it has ended */
	bool ended;
	struct tk_sandbox *sandbox; /* NULL: none */
	struct tk_cgroup *cgroup;   /* NULL: none */
	char *temp_dir; /* NULL: the sandbox has one of its own, or there is no sandbox */
};

/* "0-1,4"; TK_EUSAGE if it is not a list of cores. */
int tk_cpu_list_parse(const char *list, cpu_set_t *out, struct tk_error *err);

int tk_worker_process_start(const struct tk_worker_process_spec *spec, struct tk_worker_process *p,
        struct tk_error *err);
bool tk_worker_process_has_ended(struct tk_worker_process *p); /* looks, does not wait */
/* Closes the wire and waits at most `grace_s` for the process to end by itself. */
void tk_worker_process_wait(struct tk_worker_process *p, double grace_s);
/* Closes the wire and gives the process `grace_s` to end by itself; then the whole process group is
 * killed. */
void tk_worker_process_stop(struct tk_worker_process *p, double grace_s);
uint64_t tk_worker_process_resident_bytes(struct tk_worker_process *p);
/* Of a process with all its threads, in ns: processor time, and how long threads were ready to run
 * while others did. 0: not known. */
struct tk_process_usage {
	double cpu_ns, waited_ns;
};
struct tk_process_usage tk_process_read_usage(pid_t pid);
int64_t tk_kernel_oom_kill_count(void); /* of the whole system since boot; -1: unknown */

/* ---- the log: what a worker process and its backend print ---- */

struct tk_worker_log {
	int fd;
	bool is_file;        /* only a regular file has a size */
	int64_t start_bytes; /* size when the current request was sent */
};

/* Opens for appending; a log that has grown is moved to PATH.1 first. NULL: /dev/null. */
int tk_worker_log_open(struct tk_worker_log *log, const char *path, struct tk_error *err);
void tk_worker_log_close(struct tk_worker_log *log);
/* Output from here on counts for a new request. */
void tk_worker_log_mark(struct tk_worker_log *log);
/* Whether the current request has printed more than TK_WORKER_LOG_MAX_BYTES. */
#define TK_WORKER_LOG_MAX_BYTES (64ll << 20)
bool tk_worker_log_is_flooded(const struct tk_worker_log *log);
/* Cuts off all but the first MiB of what the current request has printed. */
void tk_worker_log_truncate(const struct tk_worker_log *log);
/* The last line that the current request has printed, sanitized; "" if none. */
void tk_worker_log_last_line(const struct tk_worker_log *log, char *out, size_t size);

/* ---- Python ----
 * The worker of a Python package is started inside the Python that the package names, which then
 * loads the worker as a library (tk_python_worker.so). */

#define TK_PYTHON_HOST_ARGS_MAX 10
#define TK_PYTHON_HOST_FOLDERS_MAX 10

struct tk_python_host {
	char *program;                             /* the interpreter */
	const char *argv[TK_PYTHON_HOST_ARGS_MAX]; /* NULL-terminated */
	/* What a sandbox must show of the Python and its environment, NULL-terminated. */
	char *folders[TK_PYTHON_HOST_FOLDERS_MAX];
	char *library; /* tk_python_worker.so */
};

/* Reads host.json of a package. TK_EDATA, TK_ENOTFOUND: it cannot be used, or its Python is not on
 * this machine. `modules_dir` has the library; NULL: TK_ENOTFOUND. */
int tk_python_host_open(const char *package, const char *modules_dir, struct tk_python_host *out,
        struct tk_error *err);
void tk_python_host_free(struct tk_python_host *h);

#endif
