/* See process.h. The kernel's Documentation/admin-guide/cgroup-v2.rst describes the files. */
#include "base/process.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#define MOUNT "/sys/fs/cgroup"
#define PREFIX "tracker-job-" /* PREFIX PID "-" NUMBER */
#define FILE_MAX ((size_t)4 << 20)
#define TASKS_PER_PROCESS 4
#define MEMORY_PERCENT 90
#define REMOVE_MAX_NS INT64_C(2000000000)
#define REMOVE_INTERVAL_NS 1000000

struct tk_cgroup {
	char *folder;
	int procs; /* cgroup.procs, for writing */
};

static pthread_once_t probed = PTHREAD_ONCE_INIT;
static char parent[PATH_MAX]; /* of all groups; "" if none can be made */
static char reason[256];
static atomic_uint number;

/* ---- files of a group ---- */

static int read_text(const char *folder, const char *name, struct tk_buf *out)
{
	AUTO_TEXT path = tk_path_join(folder, name);
	return tk_file_read(path, FILE_MAX, out, NULL);
}

static int open_for_writing(const char *folder, const char *name)
{
	AUTO_TEXT path = tk_path_join(folder, name);
	return open(path, O_WRONLY | O_CLOEXEC);
}

static int write_text(const char *folder, const char *name, const char *text, struct tk_error *err)
{
	const int fd = open_for_writing(folder, name);
	const ssize_t len = (ssize_t)strlen(text);
	const bool done = fd >= 0 && write(fd, text, (size_t)len) == len;
	int status = done ? TK_OK : tk_fail_errno(err, "%s/%s", folder, name);

	if (fd >= 0)
		close(fd);
	return status;
}

static int write_number(const char *folder, const char *name, uint64_t value, struct tk_error *err)
{
	char text[32];

	snprintf(text, sizeof text, "%llu", (unsigned long long)value);
	return write_text(folder, name, text, err);
}

/* The number behind `key` in a file of lines "KEY NUMBER"; 0: there is none. */
static long read_count(const struct tk_cgroup *g, const char *name, const char *key)
{
	AUTO(tk_buf) text = TK_BUF_INIT;
	const size_t n = strlen(key);

	read_text(g->folder, name, &text);
	for (const char *at = tk_buf_cstr(&text); *at; at += strcspn(at, "\n"), at += *at == '\n')
		if (strncmp(at, key, n) == 0 && at[n] == ' ')
			return strtol(at + n, NULL, 10);
	return 0;
}

/* Whether groups below it get limits of memory and tasks. */
static bool gives_controllers(const char *folder)
{
	AUTO(tk_buf) text = TK_BUF_INIT;
	bool memory = false, pids = false;

	read_text(folder, "cgroup.subtree_control", &text);
	for (char *rest = text.data, *word; rest && (word = strsep(&rest, " \n"));) {
		memory |= strcmp(word, "memory") == 0;
		pids |= strcmp(word, "pids") == 0;
	}
	return memory && pids;
}

/* ---- one group ---- */

static void remove_folder(const char *folder)
{
	const int64_t until = tk_clock_monotonic_ns() + REMOVE_MAX_NS;

	/* Busy until the last killed process has ended. */
	while (rmdir(folder) != 0 && errno == EBUSY && tk_clock_monotonic_ns() < until)
		tk_clock_sleep_ns(REMOVE_INTERVAL_NS);
}

void tk_cgroup_kill(const struct tk_cgroup *g)
{
	if (g)
		write_text(g->folder, "cgroup.kill", "1", NULL);
}

void tk_cgroup_free(struct tk_cgroup *g)
{
	if (!g)
		return;
	tk_cgroup_kill(g);
	if (g->procs >= 0)
		close(g->procs);
	remove_folder(g->folder);
	free(g->folder);
	free(g);
}

/* memory.oom.group: a build that has lost one compiler of many would only fail later. */
static int set_limits(
        const char *folder, uint64_t memory_bytes, unsigned process_max, struct tk_error *err)
{
	TRY(write_number(folder, "memory.oom.group", 1, err));
	if (memory_bytes)
		TRY(write_number(folder, "memory.max", memory_bytes, err));
	if (process_max)
		TRY(write_number(
		        folder, "pids.max", (uint64_t)process_max * TASKS_PER_PROCESS, err));
	return TK_OK;
}

static int new_group(const char *in, uint64_t memory_bytes, unsigned process_max,
        struct tk_cgroup **out, struct tk_error *err)
{
	AUTO_TEXT folder =
	        tk_sprintf("%s/" PREFIX "%d-%u", in, (int)getpid(), atomic_fetch_add(&number, 1));
	struct tk_cgroup *g;

	if (mkdir(folder, 0755) != 0)
		return tk_fail_errno(err, "%s", folder);
	g = tk_calloc(1, sizeof *g);
	*g = (struct tk_cgroup){tk_strdup(folder), open_for_writing(folder, "cgroup.procs")};
	int status = g->procs < 0 ? tk_fail_errno(err, "%s/cgroup.procs", folder)
	                          : set_limits(folder, memory_bytes, process_max, err);
	if (status)
		tk_cgroup_free(g);
	else
		*out = g;
	return status;
}

int tk_cgroup_enter(const struct tk_cgroup *g)
{
	return write(g->procs, "0", 1) == 1 ? 0 : -1;
}

bool tk_cgroup_exceeds(const struct tk_cgroup *g, unsigned max)
{
	AUTO(tk_buf) text = TK_BUF_INIT;
	unsigned count = 0;

	if (read_count(g, "pids.events", "max") > 0)
		return true;
	read_text(g->folder, "cgroup.procs", &text);
	for (const char *at = tk_buf_cstr(&text); (at = strchr(at, '\n')); at++)
		count++;
	return count > max;
}

bool tk_cgroup_is_out_of_memory(const struct tk_cgroup *g)
{
	return g && read_count(g, "memory.events", "oom_kill") > 0;
}

/* ---- where groups can be made ---- */

static int find_own_folder(char *out, size_t size, struct tk_error *err)
{
	AUTO(tk_buf) text = TK_BUF_INIT;
	TRY(tk_file_read("/proc/self/cgroup", FILE_MAX, &text, err));
	const char *line = tk_buf_cstr(&text);

	while (line && strncmp(line, "0::/", 4) != 0) {
		line = strchr(line, '\n');
		line += line != NULL;
	}
	if (!line || access(MOUNT "/cgroup.controllers", F_OK) != 0)
		return tk_fail(
		        err, TK_EUNSUPPORTED, "there are no control groups of version 2 at " MOUNT);
	snprintf(out, size, MOUNT "%.*s", (int)strcspn(line + 3, "\n"), line + 3);
	return TK_OK;
}

/* Of trackers that were killed. */
static void remove_old_groups(const char *folder)
{
	char **names = NULL;
	size_t count = 0;

	if (tk_dir_list(folder, &names, &count, NULL))
		return;
	for (size_t i = 0; i < count; i++) {
		AUTO_TEXT path = tk_path_join(folder, names[i]);
		int pid = 0;

		if (sscanf(names[i], PREFIX "%d", &pid) == 1 && pid > 0 && kill(pid, 0) != 0 &&
		        errno == ESRCH)
			rmdir(path);
	}
	tk_names_free(names, count);
}

/* A group with processes gives no controllers to groups below it: all of them move. */
static int vacate(const char *own, struct tk_error *err)
{
	AUTO_TEXT leaf = tk_path_join(own, "tracker");
	AUTO(tk_buf) text = TK_BUF_INIT;
	if (mkdir(leaf, 0755) != 0 && errno != EEXIST)
		return tk_fail_errno(err, "%s", leaf);
	TRY(read_text(own, "cgroup.procs", &text));
	for (const char *at = tk_buf_cstr(&text); *at; at += *at == '\n') {
		char pid[32];

		snprintf(pid, sizeof pid, "%.*s", (int)strcspn(at, "\n"), at);
		write_text(leaf, "cgroup.procs", pid, NULL); /* it may have ended */
		at += strlen(pid);
	}
	return write_text(own, "cgroup.subtree_control", "+memory +pids", err);
}

static bool is_delegated(const char *folder)
{
	char value[8];

	return getxattr(folder, "user.delegate", value, sizeof value) == 1 && value[0] == '1';
}

static int try_in(const char *folder, struct tk_error *err)
{
	static const char *const argv[] = {"true", NULL};
	struct tk_cgroup *g = NULL;
	AUTO(tk_process_result) result = {0};
	struct tk_process_spec spec = {.argv = argv, .deadline_s = 10};
	int status = new_group(folder, tk_cgroup_default_memory(), 1024, &g, err);

	spec.cgroup = g;
	if (!status)
		status = tk_process_run(&spec, &result, err);
	if (!status)
		status = tk_process_check(&spec, &result, err);
	tk_cgroup_free(g);
	return status;
}

static bool starts_with(const char *folder, const char *name, const char *start)
{
	AUTO(tk_buf) text = TK_BUF_INIT;
	/* A file that is missing belongs to a controller that limits nothing. */
	return read_text(folder, name, &text) ||
	       strncmp(tk_buf_cstr(&text), start, strlen(start)) == 0;
}

/* A group beside its own must not free the tracker's programs from limits of its own. That of tasks
 * is left out: systemd always sets one, and each program gets another. */
static bool is_unlimited(const char *folder)
{
	return starts_with(folder, "memory.max", "max") && starts_with(folder, "cpu.max", "max") &&
	       starts_with(folder, "cpuset.cpus", "\n");
}

static int find_parent(struct tk_error *err)
{
	char own[PATH_MAX], above[PATH_MAX];
	const char *in = above;
	TRY(find_own_folder(own, sizeof own, err));
	snprintf(above, sizeof above, "%s", own);
	if (strlen(own) > strlen(MOUNT "/"))
		*strrchr(above, '/') = '\0';
	if (is_delegated(own)) {
		in = own;
		TRY(vacate(own, err));
	} else if (!is_unlimited(own) || !gives_controllers(above)) {
		return tk_fail(err, TK_EUNSUPPORTED,
		        "systemd has not delegated %s, and it has limits or %s gives none", own,
		        above);
	}
	TRY(try_in(in, err));
	remove_old_groups(in);
	memcpy(parent, in, strlen(in) + 1);
	return TK_OK;
}

static void probe(void)
{
	struct tk_error err = {0};

	if (find_parent(&err))
		snprintf(reason, sizeof reason, "%.250s", err.message);
}

const char *tk_cgroup_reason(void)
{
	pthread_once(&probed, probe);
	return *parent ? NULL : reason;
}

uint64_t tk_cgroup_default_memory(void)
{
	const long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);

	return pages > 0 && page > 0 ? (uint64_t)pages * (uint64_t)page / 100 * MEMORY_PERCENT : 0;
}

struct tk_cgroup *tk_cgroup_new(uint64_t memory_bytes, unsigned process_max)
{
	static atomic_flag warned = ATOMIC_FLAG_INIT;
	struct tk_error why = {0};
	struct tk_cgroup *g = NULL;

	if (!tk_cgroup_reason() && new_group(parent, memory_bytes, process_max, &g, &why) &&
	        !atomic_flag_test_and_set(&warned))
		tk_log(TK_LOG_WARN, "no_control_group", NULL,
		        "a control group cannot be made, only limits of each process hold: %s",
		        why.message);
	return g;
}
