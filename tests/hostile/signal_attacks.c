/* usage: signal_attacks METHOD
 * All ways to send a signal to a process or its threads, or to change its limits, tried from that
 * sandbox. Exit code 77 where this machine does not have the method. With "none" each of them must
 * work, so that none of the attacks is refused for another reason. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/process.h"
#include "base/sandbox.h"

#ifndef PIDFD_THREAD
#define PIDFD_THREAD O_EXCL
#endif
#define NO_FILES 7 /* the soft limit of descriptors that the attack sets */

/* ---- the attacks, in a process of their own ---- */

static siginfo_t from_queue(int sig)
{
	siginfo_t info = {.si_signo = sig, .si_code = SI_QUEUE};

	info.si_pid = getpid();
	info.si_uid = getuid();
	return info;
}

static int queue(pid_t pid, pid_t tid, int sig)
{
	siginfo_t info = from_queue(sig);

	return (int)syscall(SYS_rt_sigqueueinfo, tid ? tid : pid, sig, &info);
}

static int queue_to_thread(pid_t pid, pid_t tid, int sig)
{
	siginfo_t info = from_queue(sig);

	return (int)syscall(SYS_rt_tgsigqueueinfo, pid, tid, sig, &info);
}

static int by_descriptor(pid_t pid, pid_t tid, int sig)
{
	int fd = (int)syscall(SYS_pidfd_open, tid, PIDFD_THREAD);

	if (fd < 0)
		fd = (int)syscall(SYS_pidfd_open, pid, 0);
	return fd < 0 ? -1 : (int)syscall(SYS_pidfd_send_signal, fd, sig, NULL, 0);
}

/* A socket of this process that tells its owner of each byte. */
static int send_from_socket(int ends[2], int sig)
{
	if (fcntl(ends[0], F_SETSIG, sig) != 0 || fcntl(ends[0], F_SETFL, O_ASYNC) != 0)
		return -1;
	return write(ends[1], "x", 1) == 1 ? 0 : -1;
}

static int by_owner(pid_t pid, pid_t tid, int sig)
{
	int ends[2];

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0 || fcntl(ends[0], F_SETOWN, pid) != 0)
		return -1;
	return send_from_socket(ends, sig);
}

static int by_owner_thread(pid_t pid, pid_t tid, int sig)
{
	const struct f_owner_ex owner = {F_OWNER_TID, tid};
	int ends[2];

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0 ||
	        fcntl(ends[0], F_SETOWN_EX, &owner) != 0)
		return -1;
	return send_from_socket(ends, sig);
}

static int by_ioctl(pid_t pid, pid_t tid, int sig)
{
	int ends[2], owner = pid;

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0 ||
	        (ioctl(ends[0], FIOSETOWN, &owner) != 0 && ioctl(ends[0], SIOCSPGRP, &owner) != 0))
		return -1;
	return send_from_socket(ends, sig);
}

static int by_limit(pid_t pid, pid_t tid, int sig)
{
	struct rlimit limit;

	if (prlimit(tid, RLIMIT_NOFILE, NULL, &limit) != 0)
		return -1;
	limit.rlim_cur = NO_FILES;
	return prlimit(tid, RLIMIT_NOFILE, &limit, NULL);
}

static int to_process(pid_t pid, pid_t tid, int sig)
{
	return kill(pid, sig);
}

static int to_id_of_thread(pid_t pid, pid_t tid, int sig)
{
	return kill(tid, sig);
}

static int to_thread(pid_t pid, pid_t tid, int sig)
{
	return (int)syscall(SYS_tgkill, pid, tid, sig);
}

static int to_thread_alone(pid_t pid, pid_t tid, int sig)
{
	return (int)syscall(SYS_tkill, tid, sig);
}

static const struct {
	const char *name;
	int (*run)(pid_t pid, pid_t tid, int sig);
} attacks[] = {
        {"kill", to_process},
        {"kill of a thread's ID", to_id_of_thread},
        {"tgkill", to_thread},
        {"tkill", to_thread_alone},
        {"rt_sigqueueinfo", queue},
        {"rt_tgsigqueueinfo", queue_to_thread},
        {"pidfd_send_signal", by_descriptor},
        {"F_SETOWN", by_owner},
        {"F_SETOWN_EX", by_owner_thread},
        {"FIOSETOWN", by_ioctl},
        {"prlimit", by_limit},
};
#define ATTACKS (sizeof attacks / sizeof *attacks)

/* What an honest program does: 0 if it can. A worker may also be refused its children. */
static int signal_itself(bool has_children)
{
	struct rlimit limit;
	pid_t child;

	signal(SIGUSR1, SIG_IGN);
	if (kill(0, 0) != 0 || kill(getpid(), SIGUSR1) != 0 || raise(SIGUSR1) != 0 ||
	        prlimit(getpid(), RLIMIT_NOFILE, NULL, &limit) != 0)
		return 1;
	child = has_children ? fork() : -1;
	if (child == 0)
		pause();
	return child > 0 && kill(child, SIGKILL) != 0;
}

/* ---- the process that is attacked ---- */

static atomic_int received;

static void count_signal(int sig)
{
	atomic_fetch_add(&received, 1);
}

static void *wait_as_thread(void *arg)
{
	atomic_store((atomic_int *)arg, (int)syscall(SYS_gettid));
	for (;;)
		pause();
	return NULL;
}

static bool was_hit(void)
{
	struct rlimit limit;
	bool hit;

	for (int i = 0; i < 20 && !atomic_load(&received); i++)
		usleep(1000);
	getrlimit(RLIMIT_NOFILE, &limit);
	hit = atomic_exchange(&received, 0) > 0 || limit.rlim_cur == NO_FILES;
	limit.rlim_cur = limit.rlim_max < 1024 ? limit.rlim_max : 1024;
	setrlimit(RLIMIT_NOFILE, &limit);
	return hit;
}

/* Runs this program with the arguments in a sandbox; its exit code, or -1. */
static int run_inside(const struct tk_sandbox_policy *policy, const char *what, int tid)
{
	char self[PATH_MAX], pid_text[16], tid_text[16];
	const char *const argv[] = {self, what, pid_text, tid_text, NULL};
	struct tk_process_spec spec = {.argv = argv, .deadline_s = 20};
	struct tk_process_result result = {0};
	struct tk_error err = {0};
	const ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
	int code;

	self[n > 0 ? n : 0] = '\0';
	snprintf(pid_text, sizeof pid_text, "%d", (int)getpid());
	snprintf(tid_text, sizeof tid_text, "%d", tid);
	if (tk_sandbox_new(policy, &spec.sandbox, &err) || tk_process_run(&spec, &result, &err)) {
		fprintf(stderr, "%s\n", err.message);
		return -1;
	}
	code = result.exit_code;
	tk_process_result_free(&result);
	tk_sandbox_free(spec.sandbox);
	return code;
}

/* How many attacks did what they should not: hit within a sandbox, miss without one. */
static int attack_all(const struct tk_sandbox_policy *policy, const char *who, int tid)
{
	const bool expected = tk_sandbox_method() == TK_SANDBOX_NONE;
	int failures = 0;

	for (size_t i = 0; i < ATTACKS; i++) {
		char number[8];
		int code;

		snprintf(number, sizeof number, "%zu", i);
		code = run_inside(policy, number, tid);
		if (was_hit() == expected && code == !expected)
			continue;
		fprintf(stderr, "%s: %s: exit code %d, expected the attack to %s\n", who,
		        attacks[i].name, code, expected ? "work" : "be refused");
		failures++;
	}
	return failures;
}

static int attack_from(const char *method)
{
	/* The sandbox hides folders where this program may be. */
	const char *const readable[] = {getenv("TK_BUILD_ROOT"), NULL};
	const struct tk_sandbox_policy build = {.readable = readable};
	const struct tk_sandbox_policy worker = {.readable = readable, .signals_itself_only = true};
	atomic_int tid = 0;
	pthread_t thread;
	int failures;

	setenv("TRACKER_SANDBOX_METHOD", method, 1);
	tk_sandbox_configure(strcmp(method, "none") == 0 ? TK_SANDBOX_OFF : TK_SANDBOX_AUTO, NULL);
	if (strcmp(tk_sandbox_method_name(tk_sandbox_method()), method) != 0)
		return 77;
	signal(SIGUSR1, count_signal);
	if (pthread_create(&thread, NULL, wait_as_thread, &tid) != 0)
		return 2;
	while (!atomic_load(&tid))
		usleep(1000);
	failures = attack_all(&build, "build", tid) + attack_all(&worker, "worker", tid);
	if (run_inside(&build, "build", tid) != 0 || run_inside(&worker, "worker", tid) != 0) {
		fprintf(stderr, "a program could not send a signal to itself or its child\n");
		failures++;
	}
	return failures ? 1 : 0;
}

int main(int argc, char **argv)
{
	if (argc == 2)
		return attack_from(argv[1]);
	if (argc != 4)
		return 2;
	if (strcmp(argv[1], "build") == 0 || strcmp(argv[1], "worker") == 0)
		return signal_itself(strcmp(argv[1], "build") == 0);
	const unsigned long i = strtoul(argv[1], NULL, 10);

	return i < ATTACKS && attacks[i].run(atoi(argv[2]), atoi(argv[3]), SIGUSR1) == 0 ? 0 : 1;
}
