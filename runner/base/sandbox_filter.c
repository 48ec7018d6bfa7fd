/* The filter of system calls: what Landlock does not cover, or all that there is without it.
 *
 * A filter compares arguments with constants. It protects the tracker's own process and keeps
 * children in their process group, which is killed as a whole. */
#include "base/sandbox_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/seccomp.h>
#include <linux/sockios.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

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
#define CAP_PERFMON_NUMBER 38
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
	const bool scoped = s->ruleset >= 0 && tk_landlock_version() >= TK_LANDLOCK_SIGNALS;

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

void tk_sandbox_prepare_filter(struct tk_sandbox *s, const struct tk_sandbox_policy *policy)
{
	if (!NATIVE_ARCH)
		return;
	/* The filter compares PIDs and does not see paths: without Landlock, the ID of a thread and
	 * /proc/PID/mem would reach the tracker's memory. The price is its core dumps. */
	if (s->method == TK_SANDBOX_LIMITS)
		prctl(PR_SET_DUMPABLE, 0);
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

/* What root keeps: ownership of its files, and what measuring needs. */
static bool is_kept(int capability)
{
	static const int kept[] = {CAP_CHOWN, CAP_DAC_OVERRIDE, CAP_FOWNER, CAP_FSETID,
	        CAP_IPC_LOCK, CAP_SYS_NICE, CAP_PERFMON_NUMBER};

	for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
		if (kept[i] == capability)
			return true;
	return false;
}

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
	for (int c = 0; c < 64 && prctl(PR_CAPBSET_READ, c) >= 0; c++)
		if (!is_kept(c))
			prctl(PR_CAPBSET_DROP, c); /* only root can, and only root needs it */
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
		return -1;
	if (s->ruleset >= 0)
		tk_landlock_allow_caller_threads(s);
	if (s->ruleset >= 0 && syscall(SYS_landlock_restrict_self, s->ruleset, 0) != 0)
		return -1;
	/* Without this flag old kernels would slow the program down (SSBD). */
	return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_SPEC_ALLOW,
	               &program) == 0
	               ? 0
	               : -1;
}
