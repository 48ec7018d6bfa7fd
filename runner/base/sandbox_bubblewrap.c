/* The command line of bubblewrap. */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/process.h"
#include "base/sandbox_internal.h"
#include "base/try.h"

/* The report must not get one of the numbers that the child's own descriptors take. */
#define REPORT_FD_MIN 10
#define TMPFS_BYTES "1073741824" /* a file system in memory may take this much of it */

static bool has_size_option; /* bubblewrap 0.7 and later */

static void find_version(void)
{
	static const char *const argv[] = {"bwrap", "--version", NULL};
	const struct tk_process_spec spec = {.argv = argv, .deadline_s = 10};
	struct tk_process_result r = {0};
	int major = 0, minor = 0;

	if (!tk_process_run(&spec, &r, NULL) && r.exit_code == 0 &&
	        sscanf(tk_buf_cstr(&r.out), "bubblewrap %d.%d", &major, &minor) == 2)
		has_size_option = major > 0 || minor >= 7;
	tk_process_result_free(&r);
}

static void put(struct tk_sandbox *s, const char *text)
{
	char **grown = tk_realloc(s->prefix, (s->prefix_count + 2) * sizeof *grown);

	s->prefix = grown;
	grown[s->prefix_count] = tk_strdup(text);
	grown[++s->prefix_count] = NULL;
}

static int put_list(struct tk_sandbox *s, const char *const *texts, struct tk_error *err)
{
	int status = TK_OK;

	for (; *texts && !status; texts++)
		put(s, *texts);
	return status;
}

/* "--bind-try PATH PATH" */
static int put_bind(
        struct tk_sandbox *s, const char *option, const char *path, struct tk_error *err)
{
	const char *const args[] = {option, path, path, NULL};

	return put_list(s, args, err);
}

static int put_binds(
        struct tk_sandbox *s, const char *option, const char *const *paths, struct tk_error *err)
{
	int status = TK_OK;

	for (; paths && *paths && !status; paths++)
		status = put_bind(s, option, *paths, err);
	return status;
}

/* What root keeps: ownership of its files, and what measuring needs. A user has none to keep. */
static const char *const root_args[] = {"--cap-drop", "ALL", "--cap-add", "CAP_CHOWN", "--cap-add",
        "CAP_DAC_OVERRIDE", "--cap-add", "CAP_FOWNER", "--cap-add", "CAP_FSETID", "--cap-add",
        "CAP_IPC_LOCK", "--cap-add", "CAP_SYS_NICE", "--cap-add", "CAP_PERFMON", NULL};

static int put_base(
        struct tk_sandbox *s, const struct tk_sandbox_policy *policy, struct tk_error *err)
{
	static const char *const base[] = {"--die-with-parent", "--unshare-pid", "--ro-bind", "/",
	        "/", "--dev", "/dev", "--proc", "/proc", NULL};
	put(s, s->program);
	TRY(put_list(s, base, err));
	if (!policy->network)
		put(s, "--unshare-net");
	if (geteuid() == 0)
		TRY(put_list(s, root_args, err));
	return TK_OK;
}

static int put_tmpfs(struct tk_sandbox *s, const char *path, struct tk_error *err)
{
	static const char *const size[] = {"--size", TMPFS_BYTES, NULL};
	const char *const args[] = {"--tmpfs", path, NULL};
	TRY(has_size_option ? put_list(s, size, err) : TK_OK);
	return put_list(s, args, err);
}

/* The machine's own only where measuring needs it: what is left there stays. */
static int put_shared_memory(
        struct tk_sandbox *s, const struct tk_sandbox_policy *policy, struct tk_error *err)
{
	TRY(policy->gpu ? put_bind(s, "--bind-try", "/dev/shm", err)
	                : put_tmpfs(s, "/dev/shm", err));
	if (policy->huge_pages)
		TRY(put_bind(s, "--bind-try", "/dev/hugepages", err));
	return TK_OK;
}

/* Device nodes, and the sockets of services that the drivers use. In a container /proc/driver may
 * be another one than the host's. */
static int put_gpu(struct tk_sandbox *s, struct tk_error *err)
{
	static const char *const services[] = {"/proc/driver/nvidia", "/run/nvidia-persistenced",
	        "/run/nvidia-fabricmanager", NULL};
	static const char *const mps[] = {"/tmp/nvidia-mps", NULL};
	char **names = NULL, path[300];
	size_t count = 0;
	int status = tk_dir_list("/dev", &names, &count, err);

	for (size_t i = 0; !status && i < count; i++) {
		snprintf(path, sizeof path, "/dev/%.200s", names[i]);
		if (tk_sandbox_is_gpu_node(names[i]))
			status = put_bind(s, "--dev-bind-try", path, err);
	}
	tk_names_free(names, count);
	if (!status)
		status = put_binds(s, "--ro-bind-try", services, err);
	return status ? status : put_binds(s, "--bind-try", mps, err);
}

static int put_hidden(struct tk_sandbox *s, char *const *hidden, struct tk_error *err)
{
	int status = TK_OK;

	for (; *hidden && !status; hidden++)
		status = put_tmpfs(s, *hidden, err);
	return status;
}

/* Last, because bubblewrap makes the mount points there. Programs expect to be able to write to
 * /tmp and /var/tmp. */
static int put_read_only(struct tk_sandbox *s, char *const *hidden, struct tk_error *err)
{
	int status = put_list(s, (const char *const[]){"--remount-ro", "/dev", NULL}, err);

	for (; *hidden && !status; hidden++)
		if (strcmp(*hidden, "/tmp") != 0 && strcmp(*hidden, "/var/tmp") != 0)
			status = put_list(
			        s, (const char *const[]){"--remount-ro", *hidden, NULL}, err);
	return status;
}

static int put_tools(struct tk_sandbox *s, struct tk_error *err)
{
	char *tools[TK_SANDBOX_TOOLS_MAX + 1];
	int status = TK_OK;

	tk_sandbox_list_tools(tools);
	for (char **t = tools; *t; t++) {
		if (!status)
			status = put_bind(s, "--ro-bind-try", *t, err);
		free(*t);
	}
	return status;
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
	const char *const args[] = {"--json-status-fd", number, NULL};

	return put_list(s, args, err);
}

int tk_sandbox_prepare_bubblewrap(
        struct tk_sandbox *s, const struct tk_sandbox_policy *policy, struct tk_error *err)
{
	/* for names of hosts */
	static const char *const resolver[] = {
	        "/run/systemd/resolve", "/run/resolvconf", "/run/NetworkManager/resolv.conf", NULL};
	static pthread_once_t version_found = PTHREAD_ONCE_INIT;
	char *hidden[TK_SANDBOX_HIDDEN_MAX + 1];
	int status;

	if (!tk_process_find_program("bwrap", &s->program))
		return tk_fail(err, TK_ENOTFOUND, "bwrap is not installed");
	pthread_once(&version_found, find_version);
	tk_sandbox_list_hidden(hidden);
	status = put_base(s, policy, err);
	if (!status)
		status = put_shared_memory(s, policy, err);
	if (!status)
		status = put_hidden(s, hidden, err);
	if (!status)
		status = put_tools(s, err);
	if (!status && policy->network)
		status = put_binds(s, "--ro-bind-try", resolver, err);
	if (!status && policy->gpu)
		status = put_gpu(s, err);
	if (!status)
		status = put_binds(s, "--ro-bind-try", policy->readable, err);
	if (!status)
		status = put_binds(s, "--bind-try", policy->writable, err);
	if (!status)
		status = put_read_only(s, hidden, err);
	for (char **h = hidden; *h; h++)
		free(*h);
	return status ? status : open_report(s, err);
}
