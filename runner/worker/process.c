/* See process.h. */
#include "worker/process.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/file.h"
#include "base/process.h"
#include "worker/worker.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define ADDRESS_SPACE_EXTRA (2ull << 30) /* code, stacks of threads, arenas: reserved, not used */

int tk_cpu_list_parse(const char *list, cpu_set_t *out, struct tk_error *err)
{
	const char *s = list;
	CPU_ZERO(out);
	for (;;) {
		char *end;
		unsigned long first = strtoul(s, &end, 10), last = first;
		bool good = end != s && *s >= '0' && *s <= '9';
		if (good && *end == '-') {
			s = end + 1;
			last = strtoul(s, &end, 10);
			good = end != s && *s >= '0' && *s <= '9';
		}
		if (!good || first > last || last >= CPU_SETSIZE)
			return tk_fail(err, TK_EUSAGE,
			        "\"%.64s\" is not a list of cores, expected for example 0-3,8",
			        list);
		for (; first <= last; first++)
			CPU_SET(first, out);
		if (!*end)
			return TK_OK;
		if (*end != ',')
			return tk_fail(err, TK_EUSAGE,
			        "\"%.64s\" is not a list of cores, expected for example 0-3,8",
			        list);
		s = end + 1;
	}
}

int tk_cpu_list_check(const char *list, struct tk_error *err)
{
	cpu_set_t wanted, here;
	int status = tk_cpu_list_parse(list, &wanted, err);
	if (status || sched_getaffinity(0, sizeof here, &here) != 0)
		return status;
	for (int i = 0; i < CPU_SETSIZE; i++)
		if (CPU_ISSET(i, &wanted) && !CPU_ISSET(i, &here))
			return tk_fail(err, TK_EUSAGE,
			        "core %d of \"%.64s\" is not available; `taskset -cp $$` lists "
			        "the %d that are",
			        i, list, CPU_COUNT(&here));
	return TK_OK;
}

/* What a child tells through the close-on-exec pipe when it cannot become the worker. */
struct failure {
	int step, error;
};

static const char *const steps[] = {
        "a process group", "its cores", "its limits", "its descriptors", "starting the program"};

static int limit(int resource, uint64_t most)
{
	struct rlimit now;
	if (getrlimit(resource, &now) != 0)
		return -1;
	if (now.rlim_max != RLIM_INFINITY && most > now.rlim_max)
		most = now.rlim_max;
	return setrlimit(resource, &(struct rlimit){most, most});
}

/* Under a real-time policy the tracker must come before what it watches, or a worker that computes
 * keeps it from ending the turn, or the job. */
static void step_below_parent(void)
{
	struct sched_param p;
	int policy = sched_getscheduler(0);
	if ((policy == SCHED_FIFO || policy == SCHED_RR) && sched_getparam(0, &p) == 0 &&
	        p.sched_priority-- > 1)
		sched_setscheduler(0, policy, &p);
}

/* Between fork and exec: only system calls. A list of cores that this machine does not have is an
 * error, not a smaller list. */
static int prepare(const struct tk_worker_process_spec *spec, const int fds[3])
{
	sigset_t none;
	if (setpgid(0, 0) != 0)
		return 0;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	step_below_parent();
	if (spec->cores && sched_setaffinity(0, sizeof *spec->cores, spec->cores) != 0)
		return 1;
	if (limit(RLIMIT_CORE, 0) != 0)
		return 2;
#if !defined __SANITIZE_ADDRESS__ && \
        !defined __SANITIZE_THREAD__ /* their shadow memory reserves terabytes of addresses */
	if (spec->memory_limit_bytes && spec->limit_address_space &&
	        limit(RLIMIT_AS, spec->memory_limit_bytes + ADDRESS_SPACE_EXTRA) != 0)
		return 2;
#endif
	for (int i = 0; i < 3; i++)
		if (dup2(fds[i], i) < 0)
			return 3;
	if (spec->token_fd > 0 && fcntl(spec->token_fd, F_SETFD, 0) != 0)
		return 3;
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGPIPE, SIG_DFL);
	signal(SIGINT, SIG_DFL);
	signal(SIGTERM, SIG_DFL);
	return -1;
}

static void child(
        const struct tk_worker_process_spec *spec, const int fds[3], int report, char *const *env)
{
	char *argv[] = {(char *)"tracker", (char *)"worker", NULL};
	int step = prepare(spec, fds);
	if (step < 0) {
		execve(spec->program, argv, env);
		step = 4;
	}
	struct failure f = {step, errno};
	ssize_t written = write(report, &f, sizeof f);
	_exit(written == sizeof f ? 127 : 126);
}

/* Threads for the libraries that only listen to the environment; sanitizers' options for the
 * tests. */
static char **worker_env(uint32_t threads, struct tk_error *err)
{
	static const char *const thread_names[] = {
	        "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "BLIS_NUM_THREADS", "MKL_NUM_THREADS"};
	static const char *const passed[] = {
	        "ASAN_OPTIONS", "UBSAN_OPTIONS", "LSAN_OPTIONS", "TSAN_OPTIONS"};
	char text[9][512];
	const char *extra[10] = {0};
	int n = 0;
	for (size_t i = 0; threads && i < sizeof thread_names / sizeof *thread_names; i++, n++) {
		snprintf(text[n], sizeof text[n], "%s=%u", thread_names[i], threads);
		extra[n] = text[n];
	}
	for (size_t i = 0; i < sizeof passed / sizeof *passed; i++) {
		const char *value = getenv(passed[i]);
		if (!value || snprintf(text[n], sizeof text[n], "%s=%s", passed[i], value) >=
		                      (int)sizeof text[n])
			continue;
		extra[n] = text[n];
		n++;
	}
	return tk_env_new_scrubbed(extra, err);
}

static void close_all(int *fds, int n)
{
	for (int i = 0; i < n; i++)
		if (fds[i] >= 0)
			close(fds[i]);
}

static int await_exec(
        int report, struct tk_worker_process *p, const char *program, struct tk_error *err)
{
	struct failure f;
	ssize_t n;
	do
		n = read(report, &f, sizeof f);
	while (n < 0 && errno == EINTR);
	if (n != sizeof f)
		return TK_OK;
	waitpid(p->pid, NULL, 0);
	p->pid = 0;
	errno = f.error;
	return tk_fail_errno(err, "the worker cannot be started (%s: %s)", program, steps[f.step]);
}

int tk_worker_process_start(const struct tk_worker_process_spec *spec, struct tk_worker_process *p,
        struct tk_error *err)
{
	int fds[6] = {
	        -1, -1, -1, -1, -1, -1}; /* to the worker, from it, report: read and write ends */
	char **env = worker_env(spec->threads, err);
	int status = env ? TK_OK : TK_ENOMEM;
	*p = (struct tk_worker_process){.to = -1, .from = -1};
	for (int i = 0; status == TK_OK && i < 3; i++)
		if (pipe2(fds + 2 * i, O_CLOEXEC) != 0)
			status = tk_fail_errno(err, "a pipe for the worker");
	if (status)
		goto out;
	p->pid = fork();
	if (p->pid == 0)
		child(spec, (const int[]){fds[0], fds[3], spec->log_fd}, fds[5], env);
	if (p->pid < 0) {
		p->pid = 0;
		status = tk_fail_errno(err, "fork");
		goto out;
	}
	setpgid(p->pid, p->pid); /* here as well: whoever comes first */
	close(fds[5]);
	fds[5] = -1;
	status = await_exec(fds[4], p, spec->program, err);
	if (status == TK_OK) {
		p->to = fds[1];
		p->from = fds[2];
		fds[1] = fds[2] = -1;
		fcntl(p->to, F_SETFL, O_NONBLOCK);
	}
out:
	close_all(fds, 6);
	tk_env_free(env);
	return status;
}

bool tk_worker_process_has_ended(struct tk_worker_process *p)
{
	if (p->pid && !p->ended && waitpid(p->pid, &p->status, WNOHANG) == p->pid)
		p->ended = true;
	return p->ended;
}

void tk_worker_process_stop(struct tk_worker_process *p, double grace_s)
{
	int64_t until = tk_clock_monotonic_ns() + (int64_t)(grace_s * 1e9);
	if (p->to >= 0)
		close(p->to);
	if (p->from >= 0)
		close(p->from);
	p->to = p->from = -1;
	if (!p->pid)
		return;
	while (!tk_worker_process_has_ended(p) && tk_clock_monotonic_ns() < until)
		tk_clock_sleep_ns(1000000);
	kill(-p->pid, SIGKILL); /* children too, whether it has ended or not */
	if (!p->ended && waitpid(p->pid, &p->status, 0) == p->pid)
		p->ended = true;
	p->pid = 0;
}

uint64_t tk_worker_process_resident_bytes(const struct tk_worker_process *p)
{
	char path[64];
	struct tk_buf text = TK_BUF_INIT;
	unsigned long long pages = 0;
	snprintf(path, sizeof path, "/proc/%d/statm", (int)p->pid);
	if (tk_file_read(path, 4096, &text, NULL) != TK_OK ||
	        sscanf(tk_buf_cstr(&text), "%*u %llu", &pages) != 1)
		pages = 0;
	tk_buf_free(&text);
	return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

int64_t tk_kernel_oom_kill_count(void)
{
	struct tk_buf text = TK_BUF_INIT;
	int64_t kills = -1;
	if (tk_file_read("/proc/vmstat", 1 << 20, &text, NULL) == TK_OK) {
		const char *at = strstr(tk_buf_cstr(&text), "\noom_kill ");
		if (at)
			kills = strtoll(at + 10, NULL, 10);
	}
	tk_buf_free(&text);
	return kills;
}
