/* Rules of Landlock and a filter of system calls: how they are prepared, and entered in the
 * child. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/audit.h>
#include <linux/seccomp.h>
#include <linux/sockios.h>
#include <pthread.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/process.h"
#include "base/sandbox_internal.h"

/* ---- Landlock -------------------------------------------------------------------------------- */

/* Structures and bits are declared here: the headers of a system may be older than its kernel. */
#define EXECUTE (1ull << 0)
#define WRITE_FILE (1ull << 1)
#define READ_FILE (1ull << 2)
#define READ_DIR (1ull << 3)
#define ALL_OF_VERSION_1 ((1ull << 13) - 1)
#define REFER (1ull << 13)    /* version 2 */
#define TRUNCATE (1ull << 14) /* version 3 */
#define READ (EXECUTE | READ_FILE | READ_DIR)
#define OF_FILES (EXECUTE | READ_FILE | WRITE_FILE | TRUNCATE)

#define NET_TCP 3ull       /* bind and connect; version 4 */
#define SCOPE_SOCKETS 1ull /* abstract Unix sockets; version 6 */
#define SCOPE_SIGNALS 2ull

#define RULE_PATH_BENEATH 1
#define DEPTH_MAX 16
#define LANDLOCK_SIGNALS 6 /* from this version on, signals stay within the sandbox */

struct ruleset_attr {
	uint64_t fs, net, scoped;
};

struct path_attr {
	uint64_t allowed;
	int32_t fd;
} __attribute__((packed));

struct rules {
	int fd;
	uint64_t handled;
	char **hidden;
};

/* 0: none. */
static int landlock_version(void)
{
	long v = syscall(SYS_landlock_create_ruleset, NULL, 0, 1u);

	return v > 0 ? (int)v : 0;
}

/* A path that is gone or cannot be opened stays forbidden. */
static void allow(const struct rules *r, const char *path, uint64_t rights)
{
	int fd = open(path, O_PATH | O_CLOEXEC);
	struct stat st;

	if (fd < 0)
		return;
	if (fstat(fd, &st) == 0) {
		uint64_t all = S_ISDIR(st.st_mode) ? r->handled : r->handled & OF_FILES;
		struct path_attr rule = {rights & all, fd};

		syscall(SYS_landlock_add_rule, r->fd, RULE_PATH_BENEATH, &rule, 0u);
	}
	close(fd);
}

/* Landlock only allows: a folder but for what is hidden is the siblings of each path on the way to
 * that. */
static void allow_all_but_hidden(const struct rules *r, const char *folder, int depth)
{
	char **names = NULL;
	size_t count = 0;
	bool is_above = false;

	for (char **h = r->hidden; *h; h++) {
		if (tk_sandbox_is_below(folder, *h))
			return;
		is_above = is_above || tk_sandbox_is_below(*h, folder);
	}
	if (!is_above) {
		allow(r, folder, READ);
		return;
	}
	if (depth == DEPTH_MAX || tk_dir_list(folder, &names, &count, NULL))
		return;
	for (size_t i = 0; i < count; i++) {
		AUTO_TEXT path = tk_path_join(folder, names[i]);
		struct stat st;

		/* a link's target has its own rule, or none */
		if (lstat(path, &st) == 0 && !S_ISLNK(st.st_mode))
			allow_all_but_hidden(r, path, depth + 1);
	}
	tk_names_free(names, count);
}

static void allow_devices(const struct rules *r, const struct tk_sandbox_policy *policy)
{
	static const char *const nodes[] = {"null", "zero", "full", "random", "urandom", "tty"};
	char **names = NULL, path[300];
	size_t count = 0;

	for (size_t i = 0; i < sizeof nodes / sizeof *nodes; i++) {
		snprintf(path, sizeof path, "/dev/%s", nodes[i]);
		allow(r, path, r->handled);
	}
	if (policy->huge_pages)
		allow(r, "/dev/hugepages", r->handled);
	if (!policy->gpu || tk_dir_list("/dev", &names, &count, NULL))
		return;
	for (size_t i = 0; i < count; i++) {
		snprintf(path, sizeof path, "/dev/%.200s", names[i]);
		if (tk_sandbox_is_gpu_node(names[i]))
			allow(r, path, r->handled);
	}
	tk_names_free(names, count);
}

static void become_user(
        struct tk_sandbox *s, const struct tk_sandbox_policy *policy, char *const *tools)
{
	s->user = tk_sandbox_find_user();
	s->passes_permissions = s->user && !tk_sandbox_are_public(policy, tools, true);
	if (policy->gpu)
		tk_sandbox_list_gpu_groups(s);
}

int tk_sandbox_prepare_landlock(
        struct tk_sandbox *s, const struct tk_sandbox_policy *policy, struct tk_error *err)
{
	const int version = landlock_version();
	const size_t size = version >= LANDLOCK_SIGNALS ? 24 : version >= 4 ? 16 : 8;
	struct ruleset_attr attr = {
	        .fs = ALL_OF_VERSION_1 | (version >= 2 ? REFER : 0) | (version >= 3 ? TRUNCATE : 0),
	        .net = policy->network ? 0 : NET_TCP,
	        .scoped = SCOPE_SOCKETS | SCOPE_SIGNALS};
	char **tools;
	struct rules r = {.handled = attr.fs};

	r.fd = (int)syscall(SYS_landlock_create_ruleset, &attr, size, 0u);
	if (r.fd < 0)
		return tk_fail_errno(err, "Landlock");
	tools = tk_sandbox_list_tools();
	become_user(s, policy, tools);
	r.hidden = tk_sandbox_list_hidden(!s->user || s->passes_permissions);
	for (const char *const *shown = tk_sandbox_shown; *shown; shown++)
		allow_all_but_hidden(&r, *shown, 0);
	allow_devices(&r, policy);
	/* Elsewhere the files of others there are readable. */
	if (policy->gpu || (s->user && !s->passes_permissions))
		allow(&r, "/dev/shm", r.handled);
	for (char **t = tools; *t; t++)
		allow(&r, *t, READ);
	for (const char *const *p = policy->readable; p && *p; p++)
		allow(&r, *p, READ);
	for (const char *const *p = policy->writable; p && *p; p++)
		allow(&r, *p, r.handled);
	if (policy->gpu) {
		allow(&r, "/run/nvidia-persistenced", r.handled);
		allow(&r, "/tmp/nvidia-mps", r.handled);
	}
	tk_sandbox_free_paths(r.hidden);
	tk_sandbox_free_paths(tools);
	s->ruleset = r.fd;
	s->file_rights = r.handled & (READ | WRITE_FILE | TRUNCATE);
	return TK_OK;
}

/* In the child, before the ruleset is in force: it may write to the files of its own threads.
 * CUDA's driver names its threads there, and finds no device where it cannot. */
static void allow_caller_threads(const struct tk_sandbox *s)
{
	/* Stays open in the program: a rule belongs to an inode, and the kernel may replace one of
	 * /proc that nobody holds. */
	const int fd = open("/proc/self/task", O_PATH);
	const struct path_attr rule = {s->file_rights, fd};

	if (fd >= 0)
		syscall(SYS_landlock_add_rule, s->ruleset, RULE_PATH_BENEATH, &rule, 0u);
}

/* ---- the filter ------------------------------------------------------------------------------ */

/* What Landlock does not cover, or all that there is without it. A filter compares arguments with
 * constants. It protects the tracker's own process and keeps children in their process group, which
 * is killed as a whole. */
#if defined __x86_64__
#define NATIVE_ARCH AUDIT_ARCH_X86_64
#elif defined __aarch64__
#define NATIVE_ARCH AUDIT_ARCH_AARCH64
#else
#define NATIVE_ARCH 0
#endif

#ifndef SECCOMP_FILTER_FLAG_SPEC_ALLOW
#define SECCOMP_FILTER_FLAG_SPEC_ALLOW 4
#endif
/* A jump of the filter passes at most 255 instructions; the tracker has a few threads. */
#define TARGETS_MAX 120
#define OWN_PID 0x7fffffffu /* in the filter until its process is there; no process has this ID */

#define DATA(member) (uint32_t) offsetof(struct seccomp_data, member)

static void add(struct tk_sandbox *s, struct sock_filter f)
{
	if (s->filter_count < TK_SANDBOX_FILTER_MAX)
		s->filter[s->filter_count++] = f;
}

static void load(struct tk_sandbox *s, uint32_t offset)
{
	add(s, (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offset));
}

static void skip_unless(struct tk_sandbox *s, uint32_t value, uint8_t skipped)
{
	add(s, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, skipped));
}

/* 0: the call does nothing and reports success. */
static void answer(struct tk_sandbox *s, int error)
{
	add(s, (struct sock_filter)BPF_STMT(
	               BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ((uint32_t)error & SECCOMP_RET_DATA)));
}

static void refuse(struct tk_sandbox *s, long call, int error)
{
	skip_unless(s, (uint32_t)call, 1);
	answer(s, error);
}

/* Refuses the call if an argument has one of the values; the low 32 bits, as PIDs have. */
static void refuse_values(
        struct tk_sandbox *s, long call, int argument, const uint32_t *values, uint8_t count)
{
	skip_unless(s, (uint32_t)call, (uint8_t)(2 * count + 2));
	load(s, DATA(args) + 8 * (uint32_t)argument);
	for (uint8_t i = 0; i < count; i++) {
		skip_unless(s, values[i], 1);
		answer(s, EPERM);
	}
	load(s, DATA(nr));
}

/* Refuses the call unless the argument has one of the values. */
static void refuse_others(
        struct tk_sandbox *s, long call, int argument, const uint32_t *values, uint8_t count)
{
	skip_unless(s, (uint32_t)call, (uint8_t)(count + 3));
	load(s, DATA(args) + 8 * (uint32_t)argument);
	for (uint8_t i = 0; i < count; i++)
		add(s, (struct sock_filter)BPF_JUMP(
		               BPF_JMP | BPF_JEQ | BPF_K, values[i], (uint8_t)(count - i), 0));
	answer(s, EPERM);
	load(s, DATA(nr));
}

static void refuse_sockets(struct tk_sandbox *s)
{
	skip_unless(s, SYS_socket, 5);
	load(s, DATA(args));
	add(s, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AF_UNIX, 2, 0));
	add(s, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AF_NETLINK, 1, 0));
	answer(s, EACCES);
	load(s, DATA(nr));
}

/* The tracker as a target of kill(): its process, its group, all processes, and its threads of now:
 * the ID of a thread stands for its process. */
static uint8_t list_targets(uint32_t out[TARGETS_MAX])
{
	const uint32_t self = (uint32_t)getpid(), group = (uint32_t)getpgrp();
	const uint32_t first[] = {self, -self, -group, (uint32_t)-1};
	char **names = NULL;
	size_t count = 0;
	uint8_t n = 0;

	for (; n < sizeof first / sizeof *first; n++)
		out[n] = first[n];
	if (tk_dir_list("/proc/self/task", &names, &count, NULL))
		return n;
	for (size_t i = 0; i < count && n < TARGETS_MAX; i++)
		out[n++] = (uint32_t)strtoul(names[i], NULL, 10);
	tk_names_free(names, count);
	return n;
}

/* Files that send signals when they have data, to any process of the same user. */
static void refuse_file_owners(struct tk_sandbox *s)
{
	static const uint32_t commands[] = {F_SETOWN, F_SETOWN_EX},
	                      requests[] = {FIOSETOWN, SIOCSPGRP};

	refuse_values(s, SYS_fcntl, 1, commands, 2);
	refuse_values(s, SYS_ioctl, 1, requests, 2);
}

static void protect_parent(struct tk_sandbox *s, const struct tk_sandbox_policy *policy)
{
	static const uint32_t own[] = {0, OWN_PID};
	uint32_t targets[TARGETS_MAX];
	const uint8_t count = list_targets(targets);
	/* Landlock tells the sandbox's own processes from others. */
	const bool scoped = s->ruleset >= 0 && landlock_version() >= LANDLOCK_SIGNALS;

	if (policy->signals_itself_only && !scoped)
		refuse_others(s, SYS_kill, 0, own, 2);
	else
		refuse_values(s, SYS_kill, 0, targets, count);
	refuse_others(s, SYS_rt_sigqueueinfo, 0, own, 2);
	refuse_others(s, SYS_prlimit64, 0, own, 2); /* a limit of processor time kills */
	refuse_file_owners(s);
	/* Here the process must be the thread's: its ID is enough. */
	refuse_values(s, SYS_tgkill, 0, targets, 1);
	refuse_values(s, SYS_rt_tgsigqueueinfo, 0, targets, 1);
	refuse_values(s, SYS_process_vm_writev, 0, targets, 1);
	refuse_values(s, SYS_process_vm_readv, 0, targets, 1);
	refuse_values(s, SYS_ptrace, 1, targets, 1);
	refuse(s, SYS_tkill, EPERM);
	refuse(s, SYS_pidfd_send_signal, ENOSYS);
	refuse(s, SYS_pidfd_open, ENOSYS);
}

bool tk_sandbox_has_filter(void)
{
	return NATIVE_ARCH && prctl(PR_GET_SECCOMP, 0, 0, 0, 0) >= 0;
}

void tk_sandbox_prepare_filter(struct tk_sandbox *s, const struct tk_sandbox_policy *policy)
{
	if (!NATIVE_ARCH)
		return;
	/* The filter compares PIDs and does not see paths: without Landlock, the ID of a thread and
	 * /proc/PID/mem would reach the tracker's memory. The price is its core dumps. */
	if (s->method == TK_SANDBOX_LIMITS) {
		char *none[] = {NULL};

		prctl(PR_SET_DUMPABLE, 0);
		become_user(s, policy, none);
	}
	load(s, DATA(arch));
	add(s, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, NATIVE_ARCH, 1, 0));
	answer(s, EPERM);
	load(s, DATA(nr));
#ifdef __x86_64__
	/* the x32 numbers of the same calls */
	add(s, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, 0x40000000, 0, 1));
	answer(s, ENOSYS);
#endif
	protect_parent(s, policy);
	/* Success without effect: tools such as ninja stop at an error. */
	refuse(s, SYS_setsid, 0);
	refuse(s, SYS_setpgid, 0);
	refuse(s, SYS_unshare, EPERM);
	refuse(s, SYS_setns, EPERM);
	refuse(s, SYS_io_uring_setup, ENOSYS); /* would open sockets past the filter */
	if (!policy->network)
		refuse_sockets(s);
	add(s, (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
}

/* ---- in the child ---- */

static void name_own_process(struct tk_sandbox *s)
{
	for (unsigned short i = 0; i < s->filter_count; i++)
		if (BPF_CLASS(s->filter[i].code) == BPF_JMP && s->filter[i].k == OWN_PID)
			s->filter[i].k = (uint32_t)getpid();
}

int tk_sandbox_enter(struct tk_sandbox *s)
{
	const struct sock_fprog program = {s->filter_count, s->filter};

	if (s->method == TK_SANDBOX_BUBBLEWRAP)
		return 0;
	name_own_process(s);
	if (tk_sandbox_drop_privileges(s) != 0 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
		return -1;
	if (s->ruleset >= 0)
		allow_caller_threads(s);
	if (s->ruleset >= 0 && syscall(SYS_landlock_restrict_self, s->ruleset, 0) != 0)
		return -1;
	/* Without this flag old kernels would slow the program down (SSBD). */
	return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_SPEC_ALLOW,
	               &program) == 0
	               ? 0
	               : -1;
}
