/* The command line of bubblewrap. */
#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

#include "base/process.h"
#include "base/sandbox_internal.h"

/* The report must not get one of the numbers that the child's own descriptors take. */
#define REPORT_FD_MIN 10
#define TMPFS_BYTES "1073741824" /* a file system in memory may take this much of it */

static bool has_size_option; /* bubblewrap 0.7 and later */

static void find_version(void)
{
	static const char *const argv[] = {"bwrap", "--version", NULL};
	const struct tk_process_spec spec = {.argv = argv, .deadline_s = 10};
	AUTO(tk_process_result) r = {0};
	int major = 0, minor = 0;

	if (!tk_process_run(&spec, &r, NULL) && r.exit_code == 0 &&
	        sscanf(tk_buf_cstr(&r.out), "bubblewrap %d.%d", &major, &minor) == 2)
		has_size_option = major > 0 || minor >= 7;
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

/* "--bind-try PATH PATH" of each path. */
static void put_binds(struct tk_sandbox *s, const char *option, const char *const *paths)
{
	for (; paths && *paths; paths++)
		PUT(s, option, *paths, *paths);
}

/* What root keeps: ownership of its files, and what measuring needs. A user has none to keep. */
static const char *const root_args[] = {"--cap-drop", "ALL", "--cap-add", "CAP_CHOWN", "--cap-add",
        "CAP_DAC_OVERRIDE", "--cap-add", "CAP_FOWNER", "--cap-add", "CAP_FSETID", "--cap-add",
        "CAP_IPC_LOCK", "--cap-add", "CAP_SYS_NICE", "--cap-add", "CAP_PERFMON", NULL};

static void put_base(struct tk_sandbox *s, const struct tk_sandbox_policy *policy)
{
	PUT(s, s->program, "--die-with-parent", "--unshare-pid", "--ro-bind", "/", "/", "--dev",
	        "/dev", "--proc", "/proc");
	if (!policy->network)
		put(s, "--unshare-net");
	if (geteuid() == 0)
		put_list(s, root_args);
}

static void put_tmpfs(struct tk_sandbox *s, const char *path)
{
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
	PUT(s, "--bind-try", "/tmp/nvidia-mps", "/tmp/nvidia-mps");
	return TK_OK;
}

/* Last, because bubblewrap makes the mount points there. Programs expect to be able to write to
 * /tmp and /var/tmp. */
static void put_read_only(struct tk_sandbox *s, char *const *hidden)
{
	PUT(s, "--remount-ro", "/dev");
	for (; *hidden; hidden++)
		if (strcmp(*hidden, "/tmp") != 0 && strcmp(*hidden, "/var/tmp") != 0)
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
	static pthread_once_t version_found = PTHREAD_ONCE_INIT;
	char *hidden[TK_SANDBOX_HIDDEN_MAX + 1], *tools[TK_SANDBOX_TOOLS_MAX + 1];
	int status = TK_OK;

	if (!tk_process_find_program("bwrap", &s->program))
		return tk_fail(err, TK_ENOTFOUND, "bwrap is not installed");
	pthread_once(&version_found, find_version);
	tk_sandbox_list_hidden(hidden);
	tk_sandbox_list_tools(tools);
	put_base(s, policy);
	put_shared_memory(s, policy);
	for (char **h = hidden; *h; h++)
		put_tmpfs(s, *h);
	put_binds(s, "--ro-bind-try", (const char *const *)tools);
	if (policy->network)
		put_binds(s, "--ro-bind-try", resolver);
	if (policy->gpu)
		status = put_gpu(s, err);
	put_binds(s, "--ro-bind-try", policy->readable);
	put_binds(s, "--bind-try", policy->writable);
	put_read_only(s, hidden);
	tk_sandbox_free_paths(hidden);
	tk_sandbox_free_paths(tools);
	return status ? status : open_report(s, err);
}
