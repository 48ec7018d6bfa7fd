/* Starts children: their environment, and all that happens between fork and exec. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/process.h"
#include "base/sandbox_internal.h"

#define HIGH_FD 10 /* the child's copies of its descriptors, out of the way of 0 to 2 */

/* What the child could not do, as a literal of this program. It reports this and errno through a
 * pipe that exec closes. */
struct failure {
	const char *step;
	int error;
};

static const char cwd_step[] = "its working folder", exec_step[] = "its program";

/* ---- the child: only system calls between fork and exec, so that threads do not matter ---- */

static _Noreturn void fail_child(int report, const char *step)
{
	const struct failure f = {step, errno};
	ssize_t written = write(report, &f, sizeof f);

	_exit(written == (ssize_t)sizeof f ? 127 : 126);
}

/* The signal is sent when the parent dies from now on: it may be dead already. */
static int die_with_parent(pid_t parent)
{
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0)
		return -1;
	if (getppid() == parent)
		return 0;
	errno = ESRCH;
	return -1;
}

static int limit(int resource, uint64_t most)
{
	struct rlimit now;

	if (getrlimit(resource, &now) != 0)
		return -1;
	if (now.rlim_max != RLIM_INFINITY && most > now.rlim_max)
		most = now.rlim_max;
	return setrlimit(resource, &(struct rlimit){most, most});
}

static void step_below_caller(void)
{
	struct sched_param p;
	int policy = sched_getscheduler(0);

	if ((policy == SCHED_FIFO || policy == SCHED_RR) && sched_getparam(0, &p) == 0 &&
	        p.sched_priority-- > 1)
		sched_setscheduler(0, policy, &p);
}

static void close_range_of(unsigned from, unsigned to)
{
	if (from > to || syscall(SYS_close_range, from, to, 0u) == 0)
		return;
	for (unsigned fd = from; fd <= to && fd < 65536; fd++)
		close((int)fd);
}

/* Closes all from 3 on but these; negative ones and 0 are none. Sorts them. */
static void close_others(int *kept, int count)
{
	unsigned from = 3;

	for (int i = 0; i < count; i++) {
		for (int j = i + 1; j < count; j++) {
			int a = kept[i];

			if (kept[j] >= a)
				continue;
			kept[i] = kept[j];
			kept[j] = a;
		}
		if (kept[i] < (int)from)
			continue;
		if (kept[i] > (int)from)
			close_range_of(from, (unsigned)kept[i] - 1);
		from = (unsigned)kept[i] + 1;
	}
	close_range_of(from, ~0u);
}

/* All three are copied away first: each of them may have a number that another one is to get. */
static int set_files(const struct tk_spawn_spec *spec, int report)
{
	int copies[3];

	for (int i = 0; i < 3; i++) {
		copies[i] = fcntl(spec->stdio[i], F_DUPFD_CLOEXEC, HIGH_FD);
		if (copies[i] < 0)
			return -1;
	}
	for (int i = 0; i < 3; i++)
		if (dup2(copies[i], i) < 0)
			return -1;
	if (spec->keep_fd && fcntl(spec->keep_fd, F_SETFD, 0) != 0)
		return -1;
	int sandbox_report = spec->sandbox ? spec->sandbox->report_write : -1;
	int kept[] = {
	        report, spec->keep_fd, sandbox_report, spec->sandbox ? spec->sandbox->ruleset : -1};

	if (sandbox_report >= 0 && fcntl(sandbox_report, F_SETFD, 0) != 0)
		return -1;
	close_others(kept, 4);
	return 0;
}

static void default_signals(void)
{
	sigset_t none;

	for (int sig = 1; sig < NSIG; sig++)
		signal(sig, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

static _Noreturn void become(const struct tk_spawn_spec *spec, int report, pid_t parent)
{
	/* Also a process group of its own. Without the tracker's terminal: a program could type
	 * commands into it (TIOCSTI), or become its foreground and read what is typed. */
	if (setsid() < 0)
		fail_child(report, "its session");
	if (die_with_parent(parent) != 0)
		fail_child(report, "its parent process");
	if (spec->cgroup && tk_cgroup_enter(spec->cgroup) != 0)
		fail_child(report, "its control group");
	if (spec->below_caller)
		step_below_caller();
	if (spec->cores && sched_setaffinity(0, sizeof *spec->cores, spec->cores) != 0)
		fail_child(report, "its cores");
	if (limit(RLIMIT_CORE, 0) != 0 ||
	        (spec->address_space_bytes && limit(RLIMIT_AS, spec->address_space_bytes) != 0) ||
	        (spec->file_size_bytes && limit(RLIMIT_FSIZE, spec->file_size_bytes) != 0))
		fail_child(report, "its limits");
	if (spec->nice && setpriority(PRIO_PROCESS, 0, spec->nice) != 0)
		fail_child(report, "its limits");
	if (set_files(spec, report) != 0)
		fail_child(report, "its descriptors");
	default_signals();
	if (spec->cwd && chdir(spec->cwd) != 0)
		fail_child(report, cwd_step);
	if (spec->sandbox && (limit(RLIMIT_RTPRIO, 0) != 0 || limit(RLIMIT_NICE, 0) != 0 ||
	                             tk_sandbox_enter(spec->sandbox) != 0))
		fail_child(report, "its sandbox");
	if (die_with_parent(parent) != 0) /* another user does no more */
		fail_child(report, "its parent process");
	execve(spec->path, (char *const *)spec->argv, spec->env);
	fail_child(report, exec_step);
}

/* ---- the parent ---- */

int tk_spawn_pipe(int ends[2], struct tk_error *err)
{
	if (pipe2(ends, O_CLOEXEC) == 0)
		return TK_OK;
	ends[0] = ends[1] = -1;
	return tk_fail_errno(err, "pipe");
}

/* The end that the child writes to must be above 2: 0 to 2 become its standard descriptors. */
static int report_pipe(int ends[2], struct tk_error *err)
{
	int low, status = tk_spawn_pipe(ends, err);

	if (status || ends[1] >= HIGH_FD)
		return status;
	low = ends[1];
	ends[1] = fcntl(low, F_DUPFD_CLOEXEC, HIGH_FD);
	if (ends[1] < 0)
		status = tk_fail_errno(err, "pipe");
	close(low);
	if (status)
		close(ends[0]);
	return status;
}

static int await_exec(
        const struct tk_spawn_spec *spec, int report, pid_t child, struct tk_error *err)
{
	struct failure f;
	ssize_t n;

	do
		n = read(report, &f, sizeof f);
	while (n < 0 && errno == EINTR);
	if (n != (ssize_t)sizeof f)
		return TK_OK;
	while (waitpid(child, NULL, 0) < 0 && errno == EINTR)
		;
	errno = f.error;
	if (f.step == exec_step)
		return tk_fail_errno(err, "starting %s", spec->argv[0]);
	if (f.step == cwd_step)
		return tk_fail_errno(err, "%s: working folder %s", spec->argv[0], spec->cwd);
	return tk_fail_errno(err, "starting %s: %s", spec->argv[0], f.step);
}

/* A program may open its own as /dev/stderr. */
static void give_pipes(const struct tk_spawn_spec *spec)
{
	struct stat st;

	for (int i = 0; i < 3; i++)
		if (fstat(spec->stdio[i], &st) == 0 && S_ISFIFO(st.st_mode) &&
		        fchown(spec->stdio[i], spec->sandbox->user, spec->sandbox->user) != 0)
			tk_log(TK_LOG_DEBUG, "pipe_owner", NULL, "a pipe keeps its owner");
}

static int spawn(const struct tk_spawn_spec *spec, pid_t *pid, struct tk_error *err)
{
	int report[2], status;
	pid_t parent = getpid(), child;

	if (spec->keep_fd && spec->keep_fd < 3)
		return tk_fail(
		        err, TK_EINTERNAL, "keep_fd is %d, expected 3 or more", spec->keep_fd);
	TRY(report_pipe(report, err));
	if (spec->sandbox && spec->sandbox->user)
		give_pipes(spec);
	child = fork();
	if (child == 0)
		become(spec, report[1], parent);
	close(report[1]);
	if (child < 0) {
		status = tk_fail_errno(err, "starting %s", spec->argv[0]);
	} else {
		status = await_exec(spec, report[0], child, err);
		if (!status)
			*pid = child;
	}
	close(report[0]);
	return status;
}

/* "bwrap OPTIONS -- PROGRAM ARGUMENTS": the pointers only. */
static const char **new_wrapped_argv(const struct tk_spawn_spec *spec)
{
	const struct tk_sandbox *s = spec->sandbox;
	size_t count = 0, launched = 0, n = s->prefix_count;
	const char **argv;

	while (spec->argv[count])
		count++;
	while (s->launcher && s->launcher[launched])
		launched++;
	argv = tk_calloc(n + launched + count + 3, sizeof *argv);
	for (size_t i = 0; i < n; i++)
		argv[i] = s->prefix[i];
	argv[n++] = "--";
	for (size_t i = 0; i < launched; i++)
		argv[n++] = s->launcher[i];
	argv[n++] = spec->path;
	for (size_t i = 1; i < count; i++)
		argv[n++] = spec->argv[i];
	return argv;
}

int tk_spawn(const struct tk_spawn_spec *spec, pid_t *pid, struct tk_error *err)
{
	struct tk_spawn_spec wrapped = *spec;
	const char **argv;
	int status;

	if (!spec->sandbox || spec->sandbox->method != TK_SANDBOX_BUBBLEWRAP)
		return spawn(spec, pid, err);
	argv = new_wrapped_argv(spec);
	wrapped.path = spec->sandbox->program;
	wrapped.argv = argv;
	status = spawn(&wrapped, pid, err);
	free(argv);
	/* The report ends when the child's copy is closed. */
	close(spec->sandbox->report_write);
	spec->sandbox->report_write = -1;
	return status;
}

int tk_spawn_open_stdio(struct tk_error *err)
{
	int fd;

	do {
		fd = open("/dev/null", O_RDWR);
		if (fd < 0)
			return tk_fail_errno(err, "/dev/null");
	} while (fd < 3);
	close(fd);
	return TK_OK;
}

/* ---- the environment ------------------------------------------------------------------------- */

extern char **environ;

/* Whole names: a prefix such as CUDA_ or SSH_ would also pass keys and tokens. docs/explanation/
 * sandbox.md has this list. */
static const char *const kept[] = {"PATH", "HOME", "USER", "LOGNAME", "TMPDIR", "TZ",
        "LD_LIBRARY_PATH", "SSL_CERT_FILE", "SSL_CERT_DIR", "CC", "CXX", "CUDA_VISIBLE_DEVICES",
        "CUDA_DEVICE_ORDER", "CUDA_DEVICE_MAX_CONNECTIONS", "CUDA_MODULE_LOADING", "CUDA_HOME",
        "CUDA_PATH", "CUDA_CACHE_DISABLE", "CUDA_CACHE_MAXSIZE", "CUDA_INJECTION64_PATH",
        "CUDA_MPS_PIPE_DIRECTORY", "CUDA_MPS_LOG_DIRECTORY", "NVIDIA_VISIBLE_DEVICES",
        "NVIDIA_DRIVER_CAPABILITIES", "NVIDIA_TF32_OVERRIDE", "HIP_VISIBLE_DEVICES", "HIP_PATH",
        "HIP_PLATFORM", "ROCR_VISIBLE_DEVICES", "ROCM_PATH", "ROCM_HOME", "CCACHE_DIR",
        "CCACHE_BASEDIR", "CCACHE_DISABLE", "CCACHE_MAXSIZE", "CCACHE_CONFIGPATH",
        "CCACHE_NOHASHDIR", "CCACHE_SLOPPINESS", "CCACHE_COMPILERCHECK", "ASAN_OPTIONS",
        "LSAN_OPTIONS", "UBSAN_OPTIONS", NULL};

/* How git reaches a repository, and pip an index. */
static const char *const kept_for_network[] = {"SSH_AUTH_SOCK", "http_proxy", "https_proxy",
        "HTTPS_PROXY", "ftp_proxy", "FTP_PROXY", "all_proxy", "ALL_PROXY", "no_proxy", "NO_PROXY",
        "PIP_CERT", "REQUESTS_CA_BUNDLE", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_NOSYSTEM", NULL};

static bool has_name(const char *const *names, const char *variable)
{
	size_t n = strcspn(variable, "=");

	for (; *names; names++)
		if (strlen(*names) == n && memcmp(*names, variable, n) == 0)
			return true;
	return false;
}

/* Replaces the variable of the same name or appends. `env` has room. */
static void set_variable(char **env, size_t *count, const char *variable)
{
	size_t n = strcspn(variable, "="), i = 0;
	char *copy = tk_strdup(variable);

	while (i < *count && (strncmp(env[i], variable, n) != 0 || env[i][n] != '='))
		i++;
	if (i == *count)
		(*count)++;
	else
		free(env[i]);
	env[i] = copy;
}

char **tk_env_new_scrubbed(const char *const *extra, bool for_network)
{
	static const char *const fixed[] = {"LANG=C", "LC_ALL=C", NULL};
	size_t room = 3, count = 0;
	char **env;

	for (char **e = environ; e && *e; e++)
		room++;
	for (const char *const *e = extra; e && *e; e++)
		room++;
	env = tk_calloc(room, sizeof *env);
	for (char **e = environ; e && *e; e++)
		if (has_name(kept, *e) || (for_network && has_name(kept_for_network, *e)))
			set_variable(env, &count, *e);
	for (const char *const *e = fixed; *e; e++)
		set_variable(env, &count, *e);
	for (const char *const *e = extra; e && *e; e++)
		set_variable(env, &count, *e);
	return env;
}

void tk_env_free(char **env)
{
	for (char **e = env; e && *e; e++)
		free(*e);
	free(env);
}

/* /proc/PID/environ is root's from now on, and empty. */
void tk_process_hide(void)
{
	prctl(PR_SET_DUMPABLE, 0);
	for (char **e = environ; e && *e; e++) {
		char *copy = tk_strdup(*e);

		explicit_bzero(*e, strlen(*e));
		*e = copy;
	}
}

/* ---- stopping, and finding a program --------------------------------------------------------- */

static volatile sig_atomic_t canceled;

static void on_signal(int sig)
{
	(void)sig;
	canceled = 1;
}

void tk_cancel_install_handlers(void)
{
	/* The second signal has its default effect: Ctrl-C twice ends the program at once. */
	struct sigaction a = {.sa_handler = on_signal, .sa_flags = (int)SA_RESETHAND};

	sigemptyset(&a.sa_mask);
	sigaction(SIGINT, &a, NULL);
	sigaction(SIGTERM, &a, NULL);
}

bool tk_cancel_is_requested(void)
{
	return canceled != 0;
}

static bool is_program(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] && access(path, X_OK) == 0;
}

char *tk_process_find_in(const char *program, const char *search)
{
	char candidate[PATH_MAX];

	while (search && *search) {
		size_t n = strcspn(search, ":");
		int length =
		        snprintf(candidate, sizeof candidate, "%.*s/%s", (int)n, search, program);

		/* An empty entry would mean the current folder: never run programs from there. */
		if (n && length < (int)sizeof candidate && is_program(candidate))
			return tk_strdup(candidate);
		search += n + (search[n] == ':');
	}
	return NULL;
}

bool tk_process_find_program(const char *program, char **path)
{
	char *found = !strchr(program, '/')        ? tk_process_find_in(program, getenv("PATH"))
	              : access(program, X_OK) == 0 ? tk_strdup(program)
	                                           : NULL;

	if (found)
		*path = found;
	return found;
}
