/* The faults of the null backend: everything that a backend can do wrong. */
#include "element.h"
#include "null.h"
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static int applies(const struct null_options *o, const struct tk_problem *p)
{
	return !o->only[0] || (p && p->text && strstr(p->text, o->only));
}

static void eat(void)
{
	for (;;) {
		size_t step = 16 << 20;
		char *memory = malloc(step);
		if (!memory)
			abort();
		memset(memory, 1, step);
		__asm__ volatile("" ::"r"(memory) : "memory"); /* keeps the writes */
		nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
	}
}

static void write_all(int fd, const char *text, size_t n)
{
	while (n > 0) {
		ssize_t wrote = write(fd, text, n);
		if (wrote <= 0)
			return;
		text += wrote;
		n -= (size_t)wrote;
	}
}

/* Writes to every pipe and socket other than stdin, stdout and stderr: one of them is the
 * connection to the tracker. */
static void write_to_pipes(const char *text, size_t n)
{
	for (int fd = 3; fd < 256; fd++) {
		struct stat st;
		int flags = fcntl(fd, F_GETFL);
		if (flags >= 0 && (flags & O_ACCMODE) != O_RDONLY && fstat(fd, &st) == 0 &&
		        (S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode)))
			write_all(fd, text, n);
	}
}

static void print_garbage(int rounds)
{
	char block[4096];
	for (size_t i = 0; i < sizeof block; i++)
		block[i] = (char)(i * 7 + (i >> 5));
	for (int i = 0; rounds < 0 || i < rounds; i++) {
		write_all(1, block, sizeof block);
		write_all(2, block, sizeof block);
	}
}

static void die_with_orphan(void)
{
	if (fork() == 0) {
		sleep(600);
		_exit(0);
	}
	raise(SIGKILL);
}

static void start_child(void)
{
	if (fork() == 0) {
		execlp("sleep", "sleep", "600", (char *)NULL);
		_exit(127);
	}
}

static void nap(double s)
{
	struct timespec t = {.tv_sec = (time_t)s, .tv_nsec = (long)((s - floor(s)) * 1e9)};
	nanosleep(&t, NULL);
}

/* Faults that only return a status. */
static const struct {
	enum null_fault fault;
	int status;
	const char *message;
} status_faults[] = {
        {NULL_FAULT_UNSUPPORTED, TK_ABI_UNSUPPORTED, "told not to support this"},
        {NULL_FAULT_NO_MEMORY, TK_ABI_NO_MEMORY, "told to be out of memory"},
        {NULL_FAULT_INVALID, TK_ABI_INVALID, "told to call this invalid"},
        {NULL_FAULT_DEVICE, TK_ABI_DEVICE, "told that the device failed"},
        {NULL_FAULT_INTERNAL, TK_ABI_INTERNAL, "told to fail inside"},
        {NULL_FAULT_UNKNOWN, 4711, "told to return a status that there is not"},
        {NULL_FAULT_MARKUP, TK_ABI_INTERNAL,
                "<script>alert(1)</script> \"quoted\" 'single' \n../../etc/passwd \x1b[31m "
                "\xff\xfe %s%n"},
};

static int return_status(enum null_fault fault, struct tk_abi_error *err)
{
	for (size_t i = 0; i < sizeof status_faults / sizeof *status_faults; i++)
		if (status_faults[i].fault == fault)
			return fail(err, status_faults[i].status, "%s", status_faults[i].message);
	return TK_ABI_OK;
}

static void hang(void)
{
	for (;;)
		pause();
}

/* Status faults, and some others, return; the rest end or stop the process. */
static int misbehave(const struct null_options *o, struct tk_abi_error *err)
{
	static const char forged[] =
	        "{\"id\":2,\"ok\":true,\"result\":{\"outcome\":\"ok\",\"median\":1}}\n";
	static int *volatile nowhere; /* volatile: the compiler must not see that this is null */
	switch (o->fault) {
	case NULL_FAULT_SEGV:
		*(volatile int *)nowhere = 1;
		break;
	case NULL_FAULT_ABORT:
		abort();
	case NULL_FAULT_EXIT:
		exit(0);
	case NULL_FAULT_KILL:
		raise(SIGKILL);
		break;
	case NULL_FAULT_HANG:
		hang();
		break;
	case NULL_FAULT_STOP:
		raise(SIGSTOP);
		break;
	case NULL_FAULT_LATE:
		nap(o->late_s);
		break;
	case NULL_FAULT_EAT:
		eat();
		break;
	case NULL_FAULT_PRINT:
		print_garbage(256);
		break;
	case NULL_FAULT_FLOOD:
		print_garbage(-1);
		break;
	case NULL_FAULT_WIRE:
		write_to_pipes("\0\xff{{{[[[ not an answer\n", 24);
		break;
	case NULL_FAULT_FORGE:
		write_to_pipes(forged, sizeof forged - 1);
		hang();
		break;
	case NULL_FAULT_CHILD:
		start_child();
		break;
	case NULL_FAULT_ORPHAN:
		die_with_orphan();
		break;
	case NULL_FAULT_UNENDED:
		memset(err->message, 'x', sizeof err->message);
		return TK_ABI_INTERNAL;
	default:
		return return_status(o->fault, err);
	}
	return TK_ABI_OK;
}

int null_fault_run(struct null_options *o, enum null_stage stage, const struct tk_problem *p,
        struct tk_abi_error *err)
{
	if (o->fault == NULL_FAULT_NONE || o->at != stage || !applies(o, p) ||
	        o->reached[stage]++ < o->after)
		return TK_ABI_OK;
	bool once = o->fault == NULL_FAULT_LATE || o->fault == NULL_FAULT_PRINT ||
	            o->fault == NULL_FAULT_STOP || o->fault == NULL_FAULT_CHILD;
	if (once && o->reached[stage] > o->after + 1)
		return TK_ABI_OK;
	return misbehave(o, err);
}

int null_fault_is_idle(const struct null_options *o, const struct tk_problem *p)
{
	return o->fault == NULL_FAULT_IDLE && applies(o, p);
}

void null_fault_corrupt(
        const struct null_options *o, const struct tk_problem *p, const struct tk_tensor *output)
{
	if ((o->fault != NULL_FAULT_LIE && o->fault != NULL_FAULT_NAN) || !applies(o, p))
		return;
	int64_t n = (int64_t)(output->bytes / tk_element_bytes(output->dtype)), at = n / 2;
	double right = tk_element_load(output->dtype, output->data, at);
	tk_element_store(output->dtype, output->data, at,
	        o->fault == NULL_FAULT_NAN ? NAN : 3 * right + 100);
}
