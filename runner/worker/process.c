/* See process.h. */
#include "base/process.h"
#include "base/base.h"
#include "base/sandbox.h"
#include "core/kernel_package.h"
#include "worker/process.h"
#include "worker/wire.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <limits.h>
#include <link.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define ADDRESS_SPACE_EXTRA (2ull << 30) /* code, stacks of threads, arenas: reserved, not used */

int tk_cpu_list_parse(const char *list, cpu_set_t *out, struct tk_error *err)
{
	CPU_ZERO(out);
	for (const char *s = list;; s++) {
		char *end;
		unsigned long first = strtoul(s, &end, 10), last = first;
		bool good = end != s && *s >= '0' && *s <= '9';
		if (good && *end == '-') {
			s = end + 1;
			last = strtoul(s, &end, 10);
			good = end != s && *s >= '0' && *s <= '9';
		}
		if (!good || first > last || last >= CPU_SETSIZE || (*end && *end != ','))
			return tk_fail(err, TK_EUSAGE,
			        "\"%.64s\" is not a list of cores, expected for example 0-3,8",
			        list);
		for (; first <= last; first++)
			CPU_SET(first, out);
		if (!*end)
			return TK_OK;
		s = end;
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
static char **worker_env(const struct tk_worker_process_spec *spec, const char *temp_dir)
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
	for (size_t i = 0; threads && i < sizeof thread_names / sizeof *thread_names; i++)
		snprintf(text[n++], sizeof *text, "%s=%u", thread_names[i], threads);
	for (size_t i = 0; i < sizeof passed / sizeof *passed; i++) {
		const char *value = getenv(passed[i]);
		n += value &&
		     snprintf(text[n], sizeof *text, "%s=%s", passed[i], value) < (int)sizeof *text;
	}
	for (size_t i = 0; temp_dir && i < sizeof folders / sizeof *folders; i++)
		snprintf(text[n++], sizeof *text, "%s=%s", folders[i], temp_dir);
	if (sanitizer)
		snprintf(text[n++], sizeof *text, "LD_PRELOAD=%s", sanitizer);
	for (int i = 0; i < n; i++)
		extra[i] = text[i];
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
	tk_cgroup_free(p->cgroup);
	tk_sandbox_free(p->sandbox);
	if (p->temp_dir)
		tk_dir_remove(p->temp_dir, NULL);
	free(p->temp_dir);
	p->cgroup = NULL;
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
	int fds[PIPE_ENDS] = {-1, -1, -1, -1}, referee[2] = {-1, -1};
	*p = (struct tk_worker_process){.to = -1, .from = -1, .referee = -1};
	int status = open_sandbox(spec, p, err);
	if (!status)
		p->cgroup = tk_cgroup_new(total_memory_limit(spec), TK_WORKER_PROCESS_MAX);
	if (!status)
		status = open_pipes(fds, err);
	if (!status && !spec->kept_fd &&
	        socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, referee) != 0)
		status = tk_fail_errno(err, "socket of the referee");
	char **env = worker_env(spec, temp_dir(p));
	struct tk_spawn_spec child = {.path = profiled ? profiled[0] : spec->program,
	        .argv = profiled ? profiled : argv,
	        .env = env,
	        .stdio = {fds[REQUEST_READ], fds[ANSWER_WRITE], spec->log_fd},
	        .keep_fd = spec->kept_fd ? spec->kept_fd : referee[1],
	        .cores = spec->cores,
	        .address_space_bytes = address_space_limit(spec),
	        .below_caller = true,
	        .sandbox = p->sandbox,
	        .cgroup = p->cgroup};
	if (!status && (status = tk_spawn(&child, &p->pid, err)))
		tk_error_add_context(err, "the worker cannot be started (%s)", child.path);
	if (!status) {
		p->to = fds[REQUEST_WRITE];
		p->from = fds[ANSWER_READ];
		p->referee = referee[0];
		p->worker_referee = referee[1];
		fds[REQUEST_WRITE] = fds[ANSWER_READ] = referee[0] = -1;
	} else {
		close_sandbox(p);
	}
	close_all(fds, PIPE_ENDS);
	close_all(referee, 2);
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
	if (p->referee >= 0)
		close(p->referee);
	p->to = p->from = p->referee = -1;
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
	close_sandbox(p);
}

uint64_t tk_worker_process_resident_bytes(struct tk_worker_process *p)
{
	char path[64];
	AUTO(tk_buf) text = TK_BUF_INIT;
	unsigned long long pages = 0;
	snprintf(path, sizeof path, "/proc/%d/statm",
	        (int)tk_sandbox_find_program(p->sandbox, p->pid));
	if (tk_file_read(path, 4096, &text, NULL) ||
	        sscanf(tk_buf_cstr(&text), "%*u %llu", &pages) != 1)
		return 0;
	return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

struct tk_process_usage tk_process_read_usage(pid_t pid)
{
	struct tk_process_usage u = {0};
	struct timespec cpu = {0};
	clockid_t clock;
	char path[300], line[96];
	double waited;
	if (clock_getcpuclockid(pid, &clock) == 0 && clock_gettime(clock, &cpu) == 0)
		u.cpu_ns = (double)cpu.tv_sec * 1e9 + (double)cpu.tv_nsec;
	snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
	DIR *tasks = opendir(path);
	for (const struct dirent *d; tasks && (d = readdir(tasks));) {
		snprintf(path, sizeof path, "/proc/%d/task/%.20s/schedstat", (int)pid, d->d_name);
		FILE *f = *d->d_name == '.' ? NULL : fopen(path, "re");
		if (f && fgets(line, sizeof line, f) && sscanf(line, "%*s %lf", &waited) == 1)
			u.waited_ns += waited;
		if (f)
			fclose(f);
	}
	if (tasks)
		closedir(tasks);
	return u;
}

int64_t tk_kernel_oom_kill_count(void)
{
	AUTO(tk_buf) text = TK_BUF_INIT;
	const char *at = tk_file_read("/proc/vmstat", 1 << 20, &text, NULL)
	                         ? NULL
	                         : strstr(tk_buf_cstr(&text), "\noom_kill ");
	return at ? strtoll(at + 10, NULL, 10) : -1;
}

/* ---- the log ---- */

#define ROTATE_BYTES (16ll << 20)
#define TAIL_BYTES 4096
#define KEPT_BYTES (1ll << 20) /* of a request that floods the log */

/* Keeps one old log. */
static void rotate(const char *path)
{
	struct stat st;
	char *old = NULL;
	if (stat(path, &st) != 0 || !S_ISREG(st.st_mode) || st.st_size < ROTATE_BYTES ||
	        asprintf(&old, "%s.1", path) < 0)
		return;
	if (rename(path, old) != 0)
		tk_log(TK_LOG_WARN, "worker_log", NULL, "cannot rotate the log %s", path);
	free(old);
}

int tk_worker_log_open(struct tk_worker_log *log, const char *path, struct tk_error *err)
{
	struct stat st;
	if (path)
		rotate(path);
	else
		path = "/dev/null";
	*log = (struct tk_worker_log){
	        .fd = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0644)};
	if (log->fd < 0)
		return tk_fail_errno(err, "%s", path);
	log->is_file = fstat(log->fd, &st) == 0 && S_ISREG(st.st_mode);
	return TK_OK;
}

void tk_worker_log_close(struct tk_worker_log *log)
{
	if (log->fd >= 0)
		close(log->fd);
	log->fd = -1;
}

static int64_t log_size(const struct tk_worker_log *log)
{
	struct stat st;
	return log->is_file && fstat(log->fd, &st) == 0 ? (int64_t)st.st_size : 0;
}

void tk_worker_log_mark(struct tk_worker_log *log)
{
	log->start_bytes = log_size(log);
}

bool tk_worker_log_is_flooded(const struct tk_worker_log *log)
{
	return log_size(log) - log->start_bytes > TK_WORKER_LOG_MAX_BYTES;
}

void tk_worker_log_truncate(const struct tk_worker_log *log)
{
	if (ftruncate(log->fd, log->start_bytes + KEPT_BYTES) != 0)
		tk_log(TK_LOG_WARN, "worker_log", NULL, "cannot truncate the log of a worker");
}

void tk_worker_log_last_line(const struct tk_worker_log *log, char *out, size_t size)
{
	char tail[TAIL_BYTES + 1];
	int64_t end = log_size(log), start = end - TAIL_BYTES;
	if (start < log->start_bytes)
		start = log->start_bytes;
	out[0] = 0;
	ssize_t n = end > start ? pread(log->fd, tail, (size_t)(end - start), start) : 0;
	for (ssize_t i = 0; i < n; i++)
		if (tail[i] == 0)
			tail[i] = ' ';
	while (n > 0 && (tail[n - 1] == '\n' || tail[n - 1] == ' '))
		n--;
	if (n <= 0)
		return;
	tail[n] = 0;
	const char *line = strrchr(tail, '\n');
	snprintf(out, size, "%.200s", line ? line + 1 : tail);
	tk_wire_sanitize(out);
}

/* ---- Python ---- */

#define LIBRARY "tk_python_worker.so"

/* -I: neither variables, nor the user's packages, nor the current folder. -B: writes no .pyc. -u:
 * what a module prints is in the log even if the process is killed. -S: no packages of this Python
 * but those of the package. */
static const char boot[] = "import ctypes, os, sys\n"
                           "sys.path.insert(0, os.path.dirname(sys.argv[1]))\n"
                           "ctypes.PyDLL(sys.argv[1]).tk_python_worker_main()\n";

static void add_folder(struct tk_python_host *h, const char *path)
{
	for (size_t i = 0; i + 1 < TK_PYTHON_HOST_FOLDERS_MAX; i++)
		if (!h->folders[i]) {
			h->folders[i] = tk_strdup(path);
			return;
		}
}

/* Only what belongs to Python, and only where the pattern leads to without links: a package could
 * name any folder of the machine. */
static void add_matches(struct tk_python_host *h, const char *prefix, const char *pattern)
{
	char path[PATH_MAX], real[PATH_MAX];
	glob_t found = {.gl_pathc = 0};
	if (strpbrk(prefix, "*?[\\") ||
	        snprintf(path, sizeof path, "%s/%s", prefix, pattern) >= (int)sizeof path)
		return;
	if (glob(path, GLOB_NOSORT, NULL, &found) == 0)
		for (size_t i = 0; i < found.gl_pathc; i++)
			if (realpath(found.gl_pathv[i], real) &&
			        strcmp(real, found.gl_pathv[i]) == 0)
				add_folder(h, real);
	globfree(&found);
}

/* PREFIX of PREFIX/bin/python3; false: it is not in such a folder. */
static bool find_prefix(const char *program, char *out, size_t size)
{
	snprintf(out, size, "%s", program);
	for (int i = 0; i < 2; i++) {
		char *slash = strrchr(out, '/');
		if (!slash || (i == 0 && (slash < out + 4 || strncmp(slash - 4, "/bin", 4))))
			return false;
		*slash = '\0';
	}
	return *out != '\0';
}

static const char *const python_patterns[] = {
        "lib/python3.[0-9]*", "lib/libpython3*.so*", "bin/python*", NULL};
/* The folder `bin` has links to the Python that it was made from. */
static const char *const environment_patterns[] = {"lib/python3.[0-9]*", "bin", "pyvenv.cfg", NULL};

static void add_all_matches(
        struct tk_python_host *h, const char *prefix, const char *const *patterns)
{
	for (; *patterns; patterns++)
		add_matches(h, prefix, *patterns);
}

/* A virtual environment is started by its own path, and knows by it where it is. */
static bool is_environment(const char *prefix)
{
	char real[PATH_MAX], *config = tk_path_join(prefix, "pyvenv.cfg");
	bool found = config && realpath(config, real) && strcmp(real, config) == 0;
	free(config);
	return found;
}

/* Whatever is started must be visible in the sandbox: one that cannot start its program counts as
 * broken, and is given up. */
static int find_python(
        struct tk_python_host *h, const struct tk_python_package *p, struct tk_error *err)
{
	char real[PATH_MAX], prefix[PATH_MAX], environment[PATH_MAX];
	if (!realpath(p->python, real) || access(real, X_OK))
		return tk_fail(err, TK_ENOTFOUND,
		        "%s does not exist, which this backend was built for; build it again",
		        p->python);
	if (strncmp(strrchr(real, '/') + 1, "python", 6) != 0)
		return tk_fail(
		        err, TK_EDATA, "%s leads to %s, which is not a Python", p->python, real);
	if (!find_prefix(real, prefix, sizeof prefix))
		return tk_fail(err, TK_EDATA, "%s is not in a folder \"bin\" of a Python", real);
	bool has_environment = find_prefix(p->python, environment, sizeof environment) &&
	                       is_environment(environment);
	h->program = tk_strdup(has_environment ? p->python : real);
	add_all_matches(h, prefix, python_patterns);
	if (has_environment)
		add_all_matches(h, environment, environment_patterns);
	return TK_OK;
}

static int find_library(struct tk_python_host *h, const char *modules_dir, struct tk_error *err)
{
	if (!modules_dir)
		return tk_fail(
		        err, TK_ENOTFOUND, "no folder of modules, which has the Python host");
	h->library = tk_path_join(modules_dir, LIBRARY);
	return tk_file_exists(h->library)
	               ? TK_OK
	               : tk_fail(err, TK_ENOTFOUND, "%s does not exist", h->library);
}

int tk_python_host_open(const char *package, const char *modules_dir, struct tk_python_host *out,
        struct tk_error *err)
{
	AUTO(tk_python_package) p = {0};
	struct tk_python_host h = {.program = NULL};
	TRY(tk_python_package_read(package, &p, err));
	int status = find_library(&h, modules_dir, err);
	if (!status)
		status = find_python(&h, &p, err);
	if (status) {
		tk_python_host_free(&h);
		return status;
	}
	const char *const argv[] = {h.program, "-I", "-B", "-u", p.own_packages ? "-E" : "-S", "-c",
	        boot, h.library, NULL};
	memcpy(h.argv, argv, sizeof argv);
	*out = h;
	return TK_OK;
}

void tk_python_host_free(struct tk_python_host *h)
{
	for (size_t i = 0; i < TK_PYTHON_HOST_FOLDERS_MAX; i++)
		free(h->folders[i]);
	free(h->program);
	free(h->library);
	*h = (struct tk_python_host){.program = NULL};
}
