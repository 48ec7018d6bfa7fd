/* The process of a worker: started with its limits, watched, ended with all its children. Private
 * to worker/. */
#ifndef TK_WORKER_PROCESS_H
#define TK_WORKER_PROCESS_H
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define TK_WORKER_PROCESS_MAX 1024 /* a compiler's helpers need a few */

struct tk_cgroup;
struct tk_error;
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
	int kept_fd;              /* stays open under this number; 0: none */
	const char *const *readable; /* in the sandbox, NULL-terminated */
	bool gpu;
	bool unsandboxed;
};

struct tk_worker_process {
	pid_t pid;    /* 0: none */
	int to, from; /* -1: closed */
	int status;   /* of waitpid, once it has ended */
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
int64_t tk_kernel_oom_kill_count(void); /* of the whole system since boot; -1: unknown */

#endif
