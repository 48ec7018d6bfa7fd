/* The command line of bubblewrap: what the program sees of the machine. */
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <unistd.h>

#include "base/process.h"
#include "base/sandbox_internal.h"

/* The report must not get one of the numbers that the child's own descriptors take. */
#define REPORT_FD_MIN 10
#define TMPFS_BYTES "1073741824" /* a file system in memory may take this much of it */

static char *bubblewrap, *setpriv; /* NULL: not installed */
/* bubblewrap 0.7 and 0.5, and later */
static bool has_size_option, has_mode_option;

/* Not by PATH: that of cron is short, and that of a user may name folders of others. */
static char *find_tool(const char *name)
{
	return tk_process_find_in(name, "/usr/bin:/bin:/usr/local/bin:/run/current-system/sw/bin");
}

static void find_tools(void)
{
	bubblewrap = find_tool("bwrap");
	setpriv = find_tool("setpriv");
	const char *const argv[] = {bubblewrap, "--version", NULL};
	const struct tk_process_spec spec = {.argv = argv, .deadline_s = 10};
	AUTO(tk_process_result) r = {0};
	int major = 0, minor = 0;

	if (bubblewrap && !tk_process_run(&spec, &r, NULL) && r.exit_code == 0 &&
	        sscanf(tk_buf_cstr(&r.out), "bubblewrap %d.%d", &major, &minor) == 2) {
		has_size_option = major > 0 || minor >= 7;
		has_mode_option = major > 0 || minor >= 5;
	}
}

static void put(struct tk_sandbox *s, const char *text)
{
	s->prefix = tk_reallocarray(s->prefix, s->prefix_count + 2, sizeof *s->prefix);
	s->prefix[s->prefix_count++] = tk_strdup(text);
	s->prefix[s->prefix_count] = NULL;
}

static void put_list(struct tk_sandbox *s, const char *const *texts)
{
	for (; *texts; texts++)
		put(s, *texts);
}

#define PUT(s, ...) put_list(s, (const char *const[]){__VA_ARGS__, NULL})

/* Bubblewrap would make the folders above a mount for root alone. */
static void put_parents(struct tk_sandbox *s, const char *path)
{
	for (const char *slash = path; s->user && *slash && (slash = strchr(slash + 1, '/'));) {
		AUTO_TEXT parent = tk_strndup(path, (size_t)(slash - path));
		size_t i = 0;

		while (i < s->prefix_count && strcmp(s->prefix[i], parent) != 0)
			i++;
		if (i == s->prefix_count)
			PUT(s, "--perms", "0755", "--dir", parent);
	}
}

static void put_mount(struct tk_sandbox *s, const char *option, const char *from, const char *to)
{
	put_parents(s, to);
	PUT(s, option, from, to);
}

/* "--bind-try PATH PATH" of each path. */
static void put_binds(struct tk_sandbox *s, const char *option, const char *const *paths)
{
	for (; paths && *paths; paths++)
		put_mount(s, option, *paths, *paths);
}

/* The folders of programs, and nothing else of the machine. */
static void put_base(struct tk_sandbox *s, const struct tk_sandbox_policy *policy)
{
	PUT(s, s->program, "--die-with-parent", "--unshare-pid");
	for (const char *const *shown = tk_sandbox_shown; *shown; shown++) {
		char target[PATH_MAX];
		const ssize_t n = readlink(*shown, target, sizeof target - 1);

		target[n > 0 ? n : 0] = '\0';
		if (n > 0)
			PUT(s, "--symlink", target, *shown);
		else
			PUT(s, "--ro-bind-try", *shown, *shown);
	}
	PUT(s, "--dev", "/dev", "--proc", "/proc");
	if (policy->mounts)
		put(s, "--as-pid-1");
	if (!policy->network)
		put(s, "--unshare-net");
	if (geteuid() == 0)
		PUT(s, "--cap-drop", "ALL");
	if (s->user)
		PUT(s, "--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID", "--cap-add",
		        "CAP_SETPCAP");
}

/* The program that becomes the user inside, when all is mounted. */
static void make_launcher(struct tk_sandbox *s)
{
	AUTO_TEXT user = tk_sprintf("%u", s->user);
	AUTO(tk_buf) groups = TK_BUF_INIT;

	tk_buf_add_str(&groups, s->group_count ? "--groups" : "--clear-groups");
	for (size_t i = 0; i < s->group_count; i++)
		tk_buf_add_printf(&groups, "%c%u", i ? ',' : '=', s->groups[i]);
	const char *const args[] = {setpriv, "--reuid", user, "--regid", user, groups.data,
	        "--bounding-set=-all", "--inh-caps=-all", "--pdeathsig=KILL", NULL};
	const size_t count = sizeof args / sizeof *args;

	s->launcher = tk_calloc(count, sizeof *s->launcher);
	for (size_t i = 0; i < count; i++)
		s->launcher[i] = args[i] ? tk_strdup(args[i]) : NULL;
}

static void put_tmpfs(struct tk_sandbox *s, const char *path)
{
	if (has_mode_option)
		PUT(s, "--perms", "1777");
	if (has_size_option)
		PUT(s, "--size", TMPFS_BYTES);
	PUT(s, "--tmpfs", path);
}

/* The machine's own only where measuring needs it: what is left there stays. */
static void put_shared_memory(struct tk_sandbox *s, const struct tk_sandbox_policy *policy)
{
	if (policy->gpu)
		PUT(s, "--bind-try", "/dev/shm", "/dev/shm");
	else
		put_tmpfs(s, "/dev/shm");
	if (policy->huge_pages)
		PUT(s, "--bind-try", "/dev/hugepages", "/dev/hugepages");
}

/* Device nodes, and the sockets of services that the drivers use. In a container /proc/driver may
 * be another one than the host's. */
static int put_gpu(struct tk_sandbox *s, struct tk_error *err)
{
	static const char *const services[] = {"/proc/driver/nvidia", "/run/nvidia-persistenced",
	        "/run/nvidia-fabricmanager", NULL};
	char **names, path[300];
	size_t count;
	TRY(tk_dir_list("/dev", &names, &count, err));
	for (size_t i = 0; i < count; i++) {
		snprintf(path, sizeof path, "/dev/%.200s", names[i]);
		if (tk_sandbox_is_gpu_node(names[i]))
			PUT(s, "--dev-bind-try", path, path);
	}
	tk_names_free(names, count);
	put_binds(s, "--ro-bind-try", services);
	put_mount(s, "--bind-try", "/tmp/nvidia-mps", "/tmp/nvidia-mps");
	return TK_OK;
}

/* Last, because bubblewrap makes the mount points there. Programs expect to be able to write to
 * /tmp and /var/tmp. */
static void put_read_only(struct tk_sandbox *s, char *const *hidden)
{
	PUT(s, "--remount-ro", "/", "--remount-ro", "/dev");
	for (; *hidden; hidden++)
		if (strcmp(*hidden, "/tmp") != 0 && strcmp(*hidden, "/var/tmp") != 0 &&
		        tk_dir_exists(*hidden))
			PUT(s, "--remount-ro", *hidden);
}

static int open_report(struct tk_sandbox *s, struct tk_error *err)
{
	char number[16];
	int ends[2];

	if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0)
		return tk_fail_errno(err, "pipe");
	s->report_read = ends[0];
	s->report_write = fcntl(ends[1], F_DUPFD_CLOEXEC, REPORT_FD_MIN);
	close(ends[1]);
	if (s->report_write < 0)
		return tk_fail_errno(err, "pipe");
	snprintf(number, sizeof number, "%d", s->report_write);
	PUT(s, "--json-status-fd", number);
	return TK_OK;
}

int tk_sandbox_prepare_bubblewrap(
        struct tk_sandbox *s, const struct tk_sandbox_policy *policy, struct tk_error *err)
{
	/* for names of hosts */
	static const char *const resolver[] = {
	        "/run/systemd/resolve", "/run/resolvconf", "/run/NetworkManager/resolv.conf", NULL};
	static pthread_once_t tools_found = PTHREAD_ONCE_INIT;
	char **hidden, **tools;
	int status = TK_OK;

	pthread_once(&tools_found, find_tools);
	if (!bubblewrap)
		return tk_fail(err, TK_ENOTFOUND, "bwrap is not installed");
	s->program = tk_strdup(bubblewrap);
	tools = tk_sandbox_list_tools();
	if (setpriv && has_mode_option && tk_sandbox_are_public(policy, tools, false))
		s->user = tk_sandbox_find_user();
	if (policy->gpu)
		tk_sandbox_list_gpu_groups(s);
	if (s->user)
		make_launcher(s);
	hidden = tk_sandbox_list_hidden(!s->user);
	put_base(s, policy);
	put_shared_memory(s, policy);
	for (char **h = hidden; *h; h++)
		if (tk_dir_exists(*h))
			put_tmpfs(s, *h);
		else
			PUT(s, "--ro-bind", "/dev/null", *h);
	put_binds(s, "--ro-bind-try", (const char *const *)tools);
	if (policy->network)
		put_binds(s, "--ro-bind-try", resolver);
	if (policy->gpu)
		status = put_gpu(s, err);
	put_binds(s, "--ro-bind-try", policy->readable);
	put_binds(s, "--bind-try", policy->writable);
	for (const struct tk_sandbox_mount *m = policy->mounts; m && m->from; m++)
		put_mount(s, m->writable ? "--bind" : "--ro-bind", m->from, m->to);
	if (policy->cwd)
		PUT(s, "--chdir", policy->cwd);
	put_read_only(s, hidden);
	tk_sandbox_free_paths(hidden);
	tk_sandbox_free_paths(tools);
	return status ? status : open_report(s, err);
}
