/* Runs foreign programs: they may hang, flood their output, fork, exhaust memory or ignore signals,
 * and none of that may stop a night.
 *
 * The child leads a process group of its own; the whole group is killed when the child ends, at its
 * deadline, or when the run is cancelled. After fork the child calls async-signal-safe functions
 * only, so that threads of the caller do not matter. */
#include "base/process.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/sandbox.h"

#define CAPTURE_DEFAULT ((size_t)16 << 20)
#define STDERR_TAIL 8192
#define GRACE_NS 1000000000
#define LOOK_AROUND_MS 200 /* how late a SIGINT is seen that came just before poll() */
#define TREE_INTERVAL_NS INT64_C(5000000000)
#define LIMITS_INTERVAL_NS INT64_C(200000000)
#define DISK_INTERVAL_NS INT64_C(1000000000)
#define DISK_INTERVAL_MAX_NS INT64_C(10000000000)
#define DISK_SHARE 20 /* at most one part in 20 of the time is spent counting */
#define RESERVE_MAX_BYTES ((uint64_t)1 << 30)

static int resolve(const char *program, char **env, char **path, struct tk_error *err)
{
	const char *search = NULL;

	for (char **e = env; *e; e++)
		if (strncmp(*e, "PATH=", 5) == 0)
			search = *e + 5;
	*path = strchr(program, '/') ? tk_strdup(program) : tk_process_find_in(program, search);
	return *path ? TK_OK : tk_fail(err, TK_ENOTFOUND, "%s: no such program in PATH", program);
}

/* ---- starting it ---- */

struct child {
	pid_t pid;
	int pidfd;         /* -1 if the kernel has none: then poll() wakes up more often */
	int out, err;      /* our ends of the pipes, -1 where there is none or it ended */
	int log;           /* the file that `out` goes to; -1: it is captured */
	uint64_t log_left; /* bytes that the log may still take */
	bool log_is_full;
	int64_t deadline_ns; /* 0: none */
	int64_t kill_ns;     /* when SIGTERM becomes SIGKILL; 0: no SIGTERM sent yet */
};

static void close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

/* A log with a limit is written here, so that no program is faster than its limit. */
static int open_log(
        const struct tk_process_spec *spec, int stdio[3], struct child *c, struct tk_error *err)
{
	const int log =
	        open(spec->log_path, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0666);
	int ends[2] = {-1, log};
	struct stat st;

	if (log < 0 || fstat(log, &st) != 0)
		return tk_fail_errno(err, "log file %s", spec->log_path);
	if (spec->log_max_bytes) {
		c->log = log;
		c->log_left = spec->log_max_bytes - (uint64_t)st.st_size;
		c->log_is_full = (uint64_t)st.st_size > spec->log_max_bytes;
		TRY(tk_spawn_pipe(ends, err));
	}
	c->out = ends[0];
	stdio[1] = ends[1];
	stdio[2] = fcntl(ends[1], F_DUPFD_CLOEXEC, 0);
	return stdio[2] < 0 ? tk_fail_errno(err, "log file %s", spec->log_path) : TK_OK;
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
	if (spec->log_path)
		return open_log(spec, stdio, c, err);
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
	int status = resolve(spec->argv[0], env, &path, err);

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

/* ---- processes that it has started ---- */

struct entry {
	pid_t pid, parent, group;
	bool found;
};

/* "PID (NAME) STATE PARENT GROUP ..."; the name may contain anything. */
static bool read_entry(const char *name, struct entry *e)
{
	char path[64];
	AUTO(tk_buf) text = TK_BUF_INIT;

	*e = (struct entry){.pid = (pid_t)strtol(name, NULL, 10)};
	if (e->pid <= 0)
		return false;
	snprintf(path, sizeof path, "/proc/%d/stat", (int)e->pid);
	tk_file_read(path, 4096, &text, NULL);
	const char *end = strrchr(tk_buf_cstr(&text), ')');
	return end && sscanf(end, ") %*c %d %d", &e->parent, &e->group) == 2;
}

static int compare_pids(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	return (x->pid > y->pid) - (x->pid < y->pid);
}

static bool has_found_parent(const struct entry *e, const struct entry *all, size_t count)
{
	const struct entry key = {.pid = e->parent};
	const struct entry *parent = bsearch(&key, all, count, sizeof *all, compare_pids);

	return parent && parent->found;
}

/* Parents usually have lower PIDs, so that one pass and one more to see the end are enough. */
static unsigned count_found(struct entry *all, size_t count, pid_t child)
{
	unsigned found = 0;
	bool changed = true;

	while (changed) {
		changed = false;
		for (size_t i = 0; i < count; i++) {
			struct entry *e = &all[i];

			if (e->found || (e->group != child && e->pid != child &&
			                        !has_found_parent(e, all, count)))
				continue;
			e->found = changed = true;
			found++;
		}
	}
	return found;
}

/* The child, its process group and all descendants that are still linked to one of them. setsid()
 * and namespaces hide none: bubblewrap's first process adopts orphans. Without bubblewrap, an
 * orphan that has left the group is not found. 0: /proc cannot be read. */
static unsigned count_tree(pid_t child)
{
	char **names = NULL;
	size_t count = 0, n = 0;
	struct entry *all;
	unsigned found;

	if (tk_dir_list("/proc", &names, &count, NULL))
		return 0;
	all = tk_calloc(count, sizeof *all);
	for (size_t i = 0; i < count; i++)
		n += read_entry(names[i], &all[n]);
	tk_sort(all, n, sizeof *all, compare_pids);
	found = count_found(all, n, child);
	free(all);
	tk_names_free(names, count);
	return found;
}

/* "0.20 0.18 0.12 1/80 11206": running and all threads of the machine; 0: unknown. */
static long count_all_threads(void)
{
	AUTO(tk_buf) text = TK_BUF_INIT;

	tk_file_read("/proc/loadavg", 256, &text, NULL);
	const char *slash = strchr(tk_buf_cstr(&text), '/');
	return slash ? strtol(slash + 1, NULL, 10) : 0;
}

void tk_process_tree_init(struct tk_process_tree *t, const struct tk_cgroup *cgroup)
{
	*t = (struct tk_process_tree){.threads_min = count_all_threads(), .cgroup = cgroup};
}

bool tk_process_tree_exceeds(struct tk_process_tree *t, pid_t child, unsigned max, int64_t now_ns)
{
	long threads;

	if (t->cgroup)
		return tk_cgroup_exceeds(t->cgroup, max);
	threads = count_all_threads();
	if (threads < t->threads_min)
		t->threads_min = threads;
	if (threads > 0 && threads - t->threads_min < (long)max &&
	        now_ns - t->counted_ns < TREE_INTERVAL_NS)
		return false;
	t->counted_ns = now_ns;
	return count_tree(child) > max;
}

/* ---- limits that are checked several times a second ---- */

/* Those of a running program that are checked from outside. */
struct limits {
	const struct tk_process_spec *spec;
	struct tk_process_tree tree;
	uint64_t free_bytes;     /* of the disk, when the program started */
	int64_t checked_ns;      /* when all were checked last */
	int64_t disk_counted_ns; /* when the folders were counted last */
	int64_t disk_count_ns;   /* how long that took */
};

static bool find_space(const char *path, uint64_t *free_bytes, uint64_t *all_bytes)
{
	struct statvfs disk;

	if (statvfs(path, &disk) != 0)
		return false;
	*free_bytes = (uint64_t)disk.f_bavail * disk.f_frsize;
	*all_bytes = (uint64_t)disk.f_blocks * disk.f_frsize;
	return true;
}

/* To be called before the program starts. */
static void init_limits(struct limits *l, const struct tk_process_spec *spec)
{
	uint64_t all = 0;

	*l = (struct limits){.spec = spec};
	if (spec->process_max)
		tk_process_tree_init(&l->tree, spec->cgroup);
	if (spec->disk_paths)
		find_space(spec->disk_paths[0], &l->free_bytes, &all);
}

/* Files that were removed and are still open are found by the free space alone. */
static bool is_disk_nearly_full(const struct limits *l, uint64_t *free_bytes)
{
	uint64_t all = 0, reserve;

	*free_bytes = 0;
	if (!find_space(l->spec->disk_paths[0], free_bytes, &all))
		return false;
	reserve = all / 100 < RESERVE_MAX_BYTES ? all / 100 : RESERVE_MAX_BYTES;
	return *free_bytes < reserve && *free_bytes < l->free_bytes;
}

/* A tree of many files takes seconds to count, so that it is counted less often; so is one while
 * the disk has lost less than half of the limit. Others may have freed space. */
static bool is_disk_count_due(const struct limits *l, uint64_t free_bytes, int64_t now_ns)
{
	const int64_t since = now_ns - l->disk_counted_ns;

	if (since < DISK_INTERVAL_NS || since < DISK_SHARE * l->disk_count_ns)
		return false;
	return since >= DISK_INTERVAL_MAX_NS ||
	       free_bytes + l->spec->disk_max_bytes / 2 < l->free_bytes;
}

static bool is_tree_too_large(struct limits *l, int64_t now_ns)
{
	uint64_t bytes = 0;

	for (const char *const *path = l->spec->disk_paths; *path; path++)
		bytes += tk_dir_disk_bytes(*path);
	l->disk_counted_ns = now_ns;
	l->disk_count_ns = tk_clock_monotonic_ns() - now_ns;
	return bytes > l->spec->disk_max_bytes;
}

static enum tk_process_limit check_disk(struct limits *l, int64_t now_ns)
{
	uint64_t free_bytes;

	if (!l->spec->disk_paths || !l->spec->disk_max_bytes)
		return TK_LIMIT_NONE;
	if (is_disk_nearly_full(l, &free_bytes))
		return TK_LIMIT_DISK_FULL;
	if (!is_disk_count_due(l, free_bytes, now_ns))
		return TK_LIMIT_NONE;
	return is_tree_too_large(l, now_ns) ? TK_LIMIT_DISK : TK_LIMIT_NONE;
}

/* Returns at once where the last check was less than 200 ms ago. */
static enum tk_process_limit find_exceeded(struct limits *l, const struct child *c, int64_t now_ns)
{
	const struct tk_process_spec *spec = l->spec;

	if (now_ns - l->checked_ns < LIMITS_INTERVAL_NS)
		return TK_LIMIT_NONE;
	l->checked_ns = now_ns;
	if (c->log_is_full)
		return TK_LIMIT_LOG;
	if (spec->process_max &&
	        tk_process_tree_exceeds(&l->tree, c->pid, spec->process_max, now_ns))
		return TK_LIMIT_PROCESSES;
	return check_disk(l, now_ns);
}

/* ---- watching it ---- */

/* Up to its limit. A disk that is full is found by its size. */
static void write_log(struct child *c, const char *bytes, size_t size)
{
	c->log_is_full |= size > c->log_left;
	if (size > c->log_left)
		size = (size_t)c->log_left;
	c->log_left -= size;
	for (ssize_t n = 1; size && n > 0; size -= (size_t)n, bytes += n)
		n = write(c->log, bytes, size);
}

/* Keeps what was read: all of stdout up to its limit, the tail of stderr. */
static void take(struct child *c, int *fd, struct tk_buf *into, size_t tail)
{
	char block[65536];
	ssize_t n = read(*fd, block, sizeof block);

	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return;
	if (n <= 0) {
		close_fd(fd);
		return;
	}
	if (c->log >= 0)
		write_log(c, block, (size_t)n);
	else
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
	struct pollfd fds[3] = {{c->log_is_full ? -1 : c->out, POLLIN, 0}, {c->err, POLLIN, 0},
	        {c->pidfd, POLLIN, 0}}; /* negative ones are ignored */

	if (poll(fds, 3, wait_ms(c)) <= 0)
		return;
	if (fds[0].revents)
		take(c, &c->out, &r->out, 0);
	if (fds[1].revents)
		take(c, &c->err, &r->err, STDERR_TAIL);
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
        struct limits *limits, struct child *c, struct tk_process_result *r, int64_t now)
{
	if (r->exceeded)
		return;
	r->exceeded = find_exceeded(limits, c, now);
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

static int watch(
        struct limits *limits, struct child *c, struct tk_process_result *r, struct tk_error *err)
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

static double seconds(const struct timeval *t)
{
	return (double)t->tv_sec + (double)t->tv_usec / 1e6;
}

/* Kills what is left of the group, then takes what is still in the pipes; a process that left the
 * group may hold them open: half a second. */
static void finish(struct child *c, const struct tk_process_spec *spec, struct tk_process_result *r)
{
	int64_t until = tk_clock_monotonic_ns() + 500000000;
	struct rusage used = {0};
	int raw = 0;

	kill_all(spec, c);
	wait4(c->pid, &raw, 0, &used);
	r->cpu_s = seconds(&used.ru_utime) + seconds(&used.ru_stime);
	if (!r->exceeded && tk_cgroup_is_out_of_memory(spec->cgroup))
		r->exceeded = TK_LIMIT_MEMORY;
	raw = tk_sandbox_wait_status(spec->sandbox, raw);
	r->exit_code = WIFEXITED(raw) ? WEXITSTATUS(raw) : -1;
	r->signal = WIFSIGNALED(raw) ? WTERMSIG(raw) : 0;
	close_fd(&c->pidfd);
	c->kill_ns = until;
	while (!c->log_is_full && (c->out >= 0 || c->err >= 0) && !r->out.status &&
	        tk_clock_monotonic_ns() < until)
		look(c, r);
}

int tk_process_run(
        const struct tk_process_spec *spec, struct tk_process_result *result, struct tk_error *err)
{
	struct child c = {.pidfd = -1, .out = -1, .err = -1, .log = -1};
	struct limits limits;
	int64_t begin = tk_clock_monotonic_ns();
	int status;

	memset(result, 0, sizeof *result);
	result->exit_code = -1;
	result->out.max = spec->capture_max ? spec->capture_max : CAPTURE_DEFAULT;
	if (tk_cancel_is_requested())
		return tk_fail(err, TK_ECANCELED, "canceled");
	init_limits(&limits, spec);
	status = start(spec, &c, err);
	if (!status) {
		status = watch(&limits, &c, result, err);
		finish(&c, spec, result);
		if (!status && result->out.status)
			status = output_failed(spec, result, err);
	}
	close_fd(&c.out);
	close_fd(&c.err);
	close_fd(&c.log);
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
