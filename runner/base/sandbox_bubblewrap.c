/* The command line of bubblewrap. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/file.h"
#include "base/process.h"
#include "base/sandbox_internal.h"

/* The report must not get one of the numbers that the child's own descriptors take. */
#define REPORT_FD_MIN 10

static int put(struct tk_sandbox *s, const char *text, struct tk_error *err)
{
	char **grown = realloc(s->prefix, (s->prefix_count + 2) * sizeof *grown);

	if (!grown)
		return tk_fail(err, TK_ENOMEM, "out of memory");
	s->prefix = grown;
	grown[s->prefix_count] = strdup(text);
	if (!grown[s->prefix_count])
		return tk_fail(err, TK_ENOMEM, "out of memory");
	grown[++s->prefix_count] = NULL;
	return TK_OK;
}

static int put_list(struct tk_sandbox *s, const char *const *texts, struct tk_error *err)
{
	int status = TK_OK;

	for (; *texts && !status; texts++)
		status = put(s, *texts, err);
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
	static const char *const shared[] = {"/dev/shm", "/dev/hugepages", NULL};
	int status = put(s, s->program, err);

	if (!status)
		status = put_list(s, base, err);
	if (!status && !policy->network)
		status = put(s, "--unshare-net", err);
	if (!status && geteuid() == 0)
		status = put_list(s, root_args, err);
	return status ? status : put_binds(s, "--bind-try", shared, err);
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

static int put_hidden(struct tk_sandbox *s, struct tk_error *err)
{
	char *hidden[TK_SANDBOX_HIDDEN_MAX + 1] = {0};
	int status = TK_OK;

	tk_sandbox_list_hidden(hidden);
	for (char **h = hidden; *h; h++) {
		const char *const args[] = {"--tmpfs", *h, NULL};

		if (!status)
			status = put_list(s, args, err);
		free(*h);
	}
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
	int status;

	if (!tk_process_find_program("bwrap", &s->program))
		return tk_fail(err, TK_ENOTFOUND, "bwrap is not installed");
	status = put_base(s, policy, err);
	if (!status)
		status = put_hidden(s, err);
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
	return status ? status : open_report(s, err);
}
