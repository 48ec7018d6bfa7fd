/* See process.h. */
#include "worker/process.h"
#include "base/buf.h"
#include "base/cgroup.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/process.h"
#include "base/sandbox.h"
#include "base/spawn.h"
#include "base/try.h"
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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

/* The library of AddressSanitizer in this process; NULL: none. It must be the first one in a Python
 * that loads the worker. */
static const char *find_sanitizer(void)
{
	const char *path = NULL;
#if defined __SANITIZE_ADDRESS__
	struct link_map *map = _r_debug.r_map;
	for (; map && !path; map = map->l_next)
		if (strstr(map->l_name, "/libasan.so"))
			path = map->l_name;
#endif
	return path;
}

/* Threads for the libraries that only listen to the environment; sanitizers' options for the
 * tests. */
static char **worker_env(
        const struct tk_worker_process_spec *spec, const char *temp_dir, struct tk_error *err)
{
	const uint32_t threads = spec->threads;
	const char *sanitizer = spec->argv ? find_sanitizer() : NULL;
	static const char *const thread_names[] = {
	        "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "BLIS_NUM_THREADS", "MKL_NUM_THREADS"};
	static const char *const passed[] = {
	        "ASAN_OPTIONS", "UBSAN_OPTIONS", "LSAN_OPTIONS", "TSAN_OPTIONS"};
	static const char *const folders[] = {"HOME", "TMPDIR"};
	char text[12][512];
	const char *extra[13] = {0};
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
	for (size_t i = 0; temp_dir && i < sizeof folders / sizeof *folders; i++, n++) {
		snprintf(text[n], sizeof text[n], "%s=%s", folders[i], temp_dir);
		extra[n] = text[n];
	}
	if (sanitizer) {
		snprintf(text[n], sizeof text[n], "LD_PRELOAD=%s", sanitizer);
		extra[n] = text[n];
	}
	return tk_env_new_scrubbed(extra, false);
}

static void close_all(int *fds, int n)
{
	for (int i = 0; i < n; i++)
		if (fds[i] >= 0)
			close(fds[i]);
}

/* The ends of two pipes: of requests to the worker, and of answers from it. */
enum { REQUEST_READ, REQUEST_WRITE, ANSWER_READ, ANSWER_WRITE, PIPE_ENDS };

static int open_pipes(int fds[PIPE_ENDS], struct tk_error *err)
{
	TRY(tk_spawn_pipe(fds, err));
	TRY(tk_spawn_pipe(fds + ANSWER_READ, err));
	/* A worker that does not read must not block the tracker. */
	if (fcntl(fds[REQUEST_WRITE], F_SETFL, O_NONBLOCK) != 0)
		return tk_fail_errno(err, "pipe");
	return TK_OK;
}

static uint64_t address_space_limit(const struct tk_worker_process_spec *spec)
{
#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
	/* Their shadow memory reserves terabytes of addresses. */
	return 0;
#else
	return spec->memory_limit_bytes && spec->limit_address_space
	               ? spec->memory_limit_bytes + ADDRESS_SPACE_EXTRA
	               : 0;
#endif
}

/* Bubblewrap gives every worker an empty /tmp; otherwise a folder is made. */
static int open_sandbox(const struct tk_worker_process_spec *spec, struct tk_worker_process *p,
        struct tk_error *err)
{
	enum tk_sandbox_method method = tk_sandbox_method();
	int status = TK_OK;
	if (spec->profiler && !tk_sandbox_is_sufficient(TK_SANDBOX_NONE))
		return tk_fail(err, TK_EUNSUPPORTED,
		        "a profiler does not work within the sandbox, and the configuration says "
		        "\"sandbox: required\"");
	if (spec->unsandboxed || spec->profiler)
		return TK_OK;
	if (method == TK_SANDBOX_LANDLOCK)
		status = tk_dir_create_temp("/tmp", "tracker-worker-", &p->temp_dir, err);
	const char *const writable[] = {p->temp_dir, NULL};
	const struct tk_sandbox_policy policy = {.writable = writable,
	        .readable = spec->readable,
	        .gpu = spec->gpu,
	        .huge_pages = true,
	        .signals_itself_only = true};
	return status ? status : tk_sandbox_new(&policy, &p->sandbox, err);
}

static void close_sandbox(struct tk_worker_process *p)
{
	tk_sandbox_free(p->sandbox);
	if (p->temp_dir)
		tk_dir_remove(p->temp_dir, NULL);
	free(p->temp_dir);
	p->sandbox = NULL;
	p->temp_dir = NULL;
}

static uint64_t total_memory_limit(const struct tk_worker_process_spec *spec)
{
	return spec->memory_limit_bytes ? spec->memory_limit_bytes + ADDRESS_SPACE_EXTRA
	                                : tk_cgroup_default_memory();
}

static const char *temp_dir(const struct tk_worker_process *p)
{
	if (p->temp_dir || !p->sandbox)
		return p->temp_dir;
	return tk_sandbox_method() == TK_SANDBOX_BUBBLEWRAP ? "/tmp" : NULL;
}

static size_t count_words(const char *const *words)
{
	size_t n = 0;
	while (words && words[n])
		n++;
	return n;
}

/* What the profiler runs: the program and its arguments behind its own. */
static const char **add_profiler(const struct tk_worker_process_spec *spec, const char *const *argv)
{
	size_t own = count_words(spec->profiler), count = count_words(argv);
	const char **all = tk_calloc(own + count + 1, sizeof *all);
	for (size_t i = 0; i < own; i++)
		all[i] = spec->profiler[i];
	for (size_t i = 0; i < count; i++)
		all[own + i] = i ? argv[i] : spec->program;
	return all;
}

int tk_worker_process_start(const struct tk_worker_process_spec *spec, struct tk_worker_process *p,
        struct tk_error *err)
{
	static const char *const worker_argv[] = {"tracker", "worker", NULL};
	const char *const *argv = spec->argv ? spec->argv : worker_argv;
	const char **profiled = spec->profiler ? add_profiler(spec, argv) : NULL;
	int fds[PIPE_ENDS] = {-1, -1, -1, -1};
	*p = (struct tk_worker_process){.to = -1, .from = -1};
	int status = open_sandbox(spec, p, err);
	if (!status)
		status = tk_cgroup_new(
		        total_memory_limit(spec), TK_WORKER_PROCESS_MAX, &p->cgroup, err);
	char **env = status ? NULL : worker_env(spec, temp_dir(p), err);
	if (!status)
		status = env ? open_pipes(fds, err) : TK_ENOMEM;
	struct tk_spawn_spec child = {.path = profiled ? profiled[0] : spec->program,
	        .argv = profiled ? profiled : argv,
	        .env = env,
	        .stdio = {fds[REQUEST_READ], fds[ANSWER_WRITE], spec->log_fd},
	        .keep_fd = spec->kept_fd,
	        .cores = spec->cores,
	        .address_space_bytes = address_space_limit(spec),
	        .below_caller = true,
	        .sandbox = p->sandbox,
	        .cgroup = p->cgroup};
	if (!status) {
		status = tk_spawn(&child, &p->pid, err);
		if (status)
			tk_error_add_context(err, "the worker cannot be started (%s)", child.path);
	}
	if (!status) {
		p->to = fds[REQUEST_WRITE];
		p->from = fds[ANSWER_READ];
		fds[REQUEST_WRITE] = fds[ANSWER_READ] = -1;
	}
	if (status) {
		tk_cgroup_free(p->cgroup);
		p->cgroup = NULL;
		close_sandbox(p);
	}
	close_all(fds, PIPE_ENDS);
	tk_env_free(env);
	free(profiled);
	return status;
}

static bool reap(struct tk_worker_process *p, int flags)
{
	if (!p->pid || p->ended || waitpid(p->pid, &p->status, flags) != p->pid)
		return p->ended;
	p->status = tk_sandbox_wait_status(p->sandbox, p->status);
	p->ended = true;
	return true;
}

bool tk_worker_process_has_ended(struct tk_worker_process *p)
{
	return reap(p, WNOHANG);
}

void tk_worker_process_wait(struct tk_worker_process *p, double grace_s)
{
	int64_t until = tk_clock_monotonic_ns() + (int64_t)(grace_s * 1e9);
	if (p->to >= 0)
		close(p->to);
	if (p->from >= 0)
		close(p->from);
	p->to = p->from = -1;
	while (p->pid && !tk_worker_process_has_ended(p) && tk_clock_monotonic_ns() < until)
		tk_clock_sleep_ns(1000000);
}

void tk_worker_process_stop(struct tk_worker_process *p, double grace_s)
{
	tk_worker_process_wait(p, grace_s);
	if (!p->pid)
		return;
	kill(-p->pid, SIGKILL); /* children too, whether it has ended or not */
	tk_cgroup_kill(p->cgroup);
	reap(p, 0);
	p->pid = 0;
	tk_cgroup_free(p->cgroup);
	p->cgroup = NULL;
	close_sandbox(p);
}

uint64_t tk_worker_process_resident_bytes(struct tk_worker_process *p)
{
	char path[64];
	struct tk_buf text = TK_BUF_INIT;
	unsigned long long pages = 0;
	snprintf(path, sizeof path, "/proc/%d/statm",
	        (int)tk_sandbox_find_program(p->sandbox, p->pid));
	if (tk_file_read(path, 4096, &text, NULL) ||
	        sscanf(tk_buf_cstr(&text), "%*u %llu", &pages) != 1)
		pages = 0;
	tk_buf_free(&text);
	return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

int64_t tk_kernel_oom_kill_count(void)
{
	struct tk_buf text = TK_BUF_INIT;
	int64_t kills = -1;
	if (!tk_file_read("/proc/vmstat", 1 << 20, &text, NULL)) {
		const char *at = strstr(tk_buf_cstr(&text), "\noom_kill ");
		if (at)
			kills = strtoll(at + 10, NULL, 10);
	}
	tk_buf_free(&text);
	return kills;
}
