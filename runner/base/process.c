/* Runs foreign programs: they may hang, flood their output, fork, exhaust memory or ignore signals,
 * and none of that may stop a night.
 *
 * The child leads a process group of its own; the whole group is killed when the child ends, at its
 * deadline, or when the run is cancelled. After fork the child calls async-signal-safe functions
 * only, so that threads of the caller do not matter. */
#include "base/process.h"
#include "base/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cgroup.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/file.h"
#include "base/present.h"
#include "base/process_limits.h"
#include "base/sandbox.h"
#include "base/spawn.h"
#include "base/try.h"

#define CAPTURE_DEFAULT ((size_t)16 << 20)
#define STDERR_TAIL 8192
#define GRACE_NS 2000000000
#define LOOK_AROUND_MS 200 /* how late a SIGINT is seen that came just before poll() */

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

/* ---- finding a program ---- */

static bool is_program(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] && access(path, X_OK) == 0;
}

/* TK_ENOTFOUND comes without a message. */
static int copy_path(const char *path, char **out)
{
	char *copy = tk_strdup(path);

	*out = copy;
	return TK_OK;
}

static int find_in(const char *program, const char *search, char **found)
{
	char candidate[PATH_MAX];

	while (search && *search) {
		size_t n = strcspn(search, ":");
		int length =
		        snprintf(candidate, sizeof candidate, "%.*s/%s", (int)n, search, program);

		/* An empty entry would mean the current folder: never run programs from there. */
		if (n && length < (int)sizeof candidate && is_program(candidate))
			return copy_path(candidate, found);
		search += n + (search[n] == ':');
	}
	return TK_ENOTFOUND;
}

bool tk_process_find_program(const char *program, char **path)
{
	if (!strchr(program, '/'))
		return !find_in(program, getenv("PATH"), path);
	return access(program, X_OK) == 0 && !copy_path(program, path);
}

static int resolve(
        const struct tk_process_spec *spec, char **env, char **path, struct tk_error *err)
{
	const char *program = spec->argv[0], *search = NULL;
	int status;

	for (char **e = env; *e; e++)
		if (strncmp(*e, "PATH=", 5) == 0)
			search = *e + 5;
	status = strchr(program, '/') ? copy_path(program, path) : find_in(program, search, path);
	if (status == TK_ENOTFOUND)
		return tk_fail(err, status, "%s: no such program in PATH", program);
	return status ? tk_fail(err, status, "out of memory") : TK_OK;
}

/* ---- starting it ---- */

struct child {
	pid_t pid;
	int pidfd;           /* -1 if the kernel has none: then poll() wakes up more often */
	int out, err;        /* our ends of the pipes, -1 where there is none or it ended */
	int64_t deadline_ns; /* 0: none */
	int64_t kill_ns;     /* when SIGTERM becomes SIGKILL; 0: no SIGTERM sent yet */
};

static void close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

/* What the child gets as stdin, stdout and stderr; the ends that are read here go into *c. */
static int open_stdio(
        const struct tk_process_spec *spec, int stdio[3], struct child *c, struct tk_error *err)
{
	const char *input = spec->stdin_path ? spec->stdin_path : "/dev/null";
	int out[2], errors[2], status;

	stdio[0] = open(input, O_RDONLY | O_CLOEXEC);
	if (stdio[0] < 0)
		return tk_fail_errno(err, "%s", input);
	if (spec->log_path) {
		stdio[1] = open(spec->log_path,
		        O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0666);
		if (stdio[1] < 0)
			return tk_fail_errno(err, "log file %s", spec->log_path);
		stdio[2] = fcntl(stdio[1], F_DUPFD_CLOEXEC, 0);
		return stdio[2] < 0 ? tk_fail_errno(err, "log file %s", spec->log_path) : TK_OK;
	}
	TRY(tk_spawn_pipe(out, err));
	c->out = out[0];
	stdio[1] = out[1];
	status = tk_spawn_pipe(errors, err);
	c->err = errors[0];
	stdio[2] = errors[1];
	return status;
}

static int start(const struct tk_process_spec *spec, struct child *c, struct tk_error *err)
{
	char **env = tk_env_new_scrubbed(spec->env, spec->for_network), *path = NULL;
	struct tk_spawn_spec child = {.argv = spec->argv,
	        .env = env,
	        .cwd = spec->cwd,
	        .stdio = {-1, -1, -1},
	        .address_space_bytes = spec->memory_limit_bytes,
	        .nice = spec->nice,
	        .file_size_bytes = spec->file_size_bytes,
	        .sandbox = spec->sandbox,
	        .cgroup = spec->cgroup};
	int status = resolve(spec, env, &path, err);

	child.path = path;
	if (!status)
		status = open_stdio(spec, child.stdio, c, err);
	if (!status)
		status = tk_spawn(&child, &c->pid, err);
	if (!status) {
		if (spec->deadline_s > 0)
			c->deadline_ns =
			        tk_clock_monotonic_ns() + (int64_t)(spec->deadline_s * 1e9);
		c->pidfd = (int)syscall(SYS_pidfd_open, c->pid, 0);
	}
	for (int i = 0; i < 3; i++)
		close_fd(&child.stdio[i]);
	free(path);
	tk_env_free(env);
	return status;
}

/* ---- watching it ---- */

/* Keeps what was read: all of stdout up to its limit, the tail of stderr. */
static void take(int *fd, struct tk_buf *into, size_t tail)
{
	char block[65536];
	ssize_t n = read(*fd, block, sizeof block);

	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return;
	if (n <= 0) {
		close_fd(fd);
		return;
	}
	tk_buf_add(into, block, (size_t)n);
	if (!into->status && tail && into->len > tail) {
		memmove(into->data, into->data + into->len - tail, tail);
		into->len = tail;
		into->data[tail] = '\0';
	}
}

static bool has_ended(const struct child *c)
{
	siginfo_t info = {0};

	/* WNOWAIT: it stays a zombie, so that its group's id cannot be reused before the group is
	 * killed. */
	return waitid(P_PID, (id_t)c->pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
	       info.si_pid == c->pid;
}

static int wait_ms(const struct child *c)
{
	int64_t until = c->kill_ns ? c->kill_ns : c->deadline_ns, left;
	int ms = c->pidfd < 0 ? 20 : LOOK_AROUND_MS;

	if (until) {
		left = (until - tk_clock_monotonic_ns()) / 1000000 + 1;
		ms = left < 0 ? 0 : left < ms ? (int)left : ms;
	}
	return ms;
}

static void look(struct child *c, struct tk_process_result *r)
{
	struct pollfd fds[3] = {{c->out, POLLIN, 0}, {c->err, POLLIN, 0},
	        {c->pidfd, POLLIN, 0}}; /* negative ones are ignored */

	if (poll(fds, 3, wait_ms(c)) <= 0)
		return;
	if (fds[0].revents)
		take(&c->out, &r->out, 0);
	if (fds[1].revents)
		take(&c->err, &r->err, STDERR_TAIL);
}

static void kill_all(const struct tk_process_spec *spec, const struct child *c)
{
	kill(-c->pid, SIGKILL);
	tk_cgroup_kill(spec->cgroup);
}

static void ask_to_end(struct child *c)
{
	if (c->kill_ns)
		return;
	kill(-c->pid, SIGTERM);
	c->kill_ns = tk_clock_monotonic_ns() + GRACE_NS;
}

/* A program that has escaped its limits gets no time to end. */
static void check_limits(
        struct tk_process_limits *limits, struct child *c, struct tk_process_result *r, int64_t now)
{
	if (r->exceeded)
		return;
	r->exceeded = tk_process_limits_check(limits, c->pid, now);
	if (r->exceeded)
		kill_all(limits->spec, c);
}

/* Of stdout, which could not be kept. */
static int output_failed(
        const struct tk_process_spec *spec, const struct tk_process_result *r, struct tk_error *err)
{
	return tk_fail(
	        err, TK_EDATA, "%s: more than %zu bytes of output", spec->argv[0], r->out.max);
}

static int watch(struct tk_process_limits *limits, struct child *c, struct tk_process_result *r,
        struct tk_error *err)
{
	const struct tk_process_spec *spec = limits->spec;
	int status = TK_OK;

	while (!has_ended(c)) {
		int64_t now;

		look(c, r);
		now = tk_clock_monotonic_ns();
		check_limits(limits, c, r, now);
		if (r->out.status && !status) {
			status = output_failed(spec, r, err);
			ask_to_end(c);
		} else if (tk_cancel_is_requested() && !status) {
			status = tk_fail(err, TK_ECANCELED, "canceled");
			ask_to_end(c);
		} else if (c->deadline_ns && now >= c->deadline_ns && !c->kill_ns) {
			r->timed_out = true;
			ask_to_end(c);
		}
		if (c->kill_ns && now >= c->kill_ns) {
			kill_all(spec, c);
			c->kill_ns = now + GRACE_NS; /* one that hangs in the kernel ends later: no
			                                reason to spin */
		}
	}
	return status;
}

/* Kills what is left of the group, then takes what is still in the pipes; a process that left the
 * group may hold them open: half a second. */
static void finish(struct child *c, const struct tk_process_spec *spec, struct tk_process_result *r)
{
	int64_t until = tk_clock_monotonic_ns() + 500000000;
	int raw = 0;

	kill_all(spec, c);
	waitpid(c->pid, &raw, 0);
	if (!r->exceeded && tk_cgroup_is_out_of_memory(spec->cgroup))
		r->exceeded = TK_LIMIT_MEMORY;
	raw = tk_sandbox_wait_status(spec->sandbox, raw);
	r->exit_code = WIFEXITED(raw) ? WEXITSTATUS(raw) : -1;
	r->signal = WIFSIGNALED(raw) ? WTERMSIG(raw) : 0;
	close_fd(&c->pidfd);
	c->kill_ns = until;
	while ((c->out >= 0 || c->err >= 0) && !r->out.status && tk_clock_monotonic_ns() < until)
		look(c, r);
}

int tk_process_run(
        const struct tk_process_spec *spec, struct tk_process_result *result, struct tk_error *err)
{
	struct child c = {.pidfd = -1, .out = -1, .err = -1};
	struct tk_process_limits limits;
	int64_t begin = tk_clock_monotonic_ns();
	int status;

	memset(result, 0, sizeof *result);
	result->exit_code = -1;
	result->out.max = spec->capture_max ? spec->capture_max : CAPTURE_DEFAULT;
	if (tk_cancel_is_requested())
		return tk_fail(err, TK_ECANCELED, "canceled");
	tk_process_limits_init(&limits, spec);
	status = start(spec, &c, err);
	if (!status) {
		status = watch(&limits, &c, result, err);
		finish(&c, spec, result);
		if (!status && result->out.status)
			status = output_failed(spec, result, err);
	}
	close_fd(&c.out);
	close_fd(&c.err);
	close_fd(&c.pidfd);
	result->wall_s = (double)(tk_clock_monotonic_ns() - begin) * 1e-9;
	return status;
}

void tk_process_result_free(struct tk_process_result *result)
{
	if (!result)
		return;
	tk_buf_free(&result->out);
	tk_buf_free(&result->err);
}

/* ---- how it ended, in words ---- */

/* The command for messages: the program, and the subcommand if there is one. */
static void title(const struct tk_process_spec *spec, char *out, size_t size)
{
	const char *slash = strrchr(spec->argv[0], '/'),
	           *program = slash ? slash + 1 : spec->argv[0], *sub = spec->argv[1];
	bool word = sub && *sub && strlen(sub) < 20 &&
	            strspn(sub, "abcdefghijklmnopqrstuvwxyz-") == strlen(sub) && *sub != '-';

	snprintf(out, size, word ? "%s %s" : "%s", program, sub);
}

/* The last line, or the one with "fatal:", because git prints advice after it. */
static void telling_line(const struct tk_buf *text, char *out, size_t size)
{
	const char *s = tk_buf_cstr(text), *end = s + strlen(s), *begin,
	           *fatal = strstr(s, "fatal: ");

	if (fatal && (fatal == s || fatal[-1] == '\n')) {
		snprintf(out, size, "%.*s", (int)strcspn(fatal, "\r\n"), fatal);
		return;
	}
	while (end > s && (end[-1] == '\n' || end[-1] == '\r' || end[-1] == ' '))
		end--;
	for (begin = end; begin > s && begin[-1] != '\n' && begin[-1] != '\r';)
		begin--;
	snprintf(out, size, "%.*s", (int)(end - begin), begin);
}

int tk_process_check(const struct tk_process_spec *spec, const struct tk_process_result *result,
        struct tk_error *err)
{
	char name[128], line[512], took[32];

	if (result->exit_code == 0 && !result->timed_out)
		return TK_OK;
	title(spec, name, sizeof name);
	telling_line(&result->err, line, sizeof line);
	if (result->timed_out)
		return tk_fail(err, TK_ETIMEOUT, "%s did not end within %s", name,
		        tk_duration_format(spec->deadline_s, took, sizeof took));
	if (result->signal)
		return tk_fail(err, TK_ECRASH, "%s: ended by signal %d (%s)", name, result->signal,
		        strsignal(result->signal));
	return tk_fail(err, TK_EIO, *line ? "%s: exit code %d: %s" : "%s: exit code %d", name,
	        result->exit_code, line);
}
