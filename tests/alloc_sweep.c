/* See alloc_sweep.h. */
#include "alloc_sweep.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <errno.h>
#include <execinfo.h>
#include <jansson.h>
#include <sqlite3.h>
#include <cmocka.h>

static struct {
	bool on, of_sqlite;
	bool onwards; /* all allocations from the n-th on */
	size_t count, nth, failed;
	void *stack[16]; /* of the first one that failed */
	int depth;
} state;

bool alloc_sweep_fails(void)
{
	bool fails;

	if (!state.on)
		return false;
	state.count++;
	fails = state.onwards ? state.count >= state.nth : state.count == state.nth;
	if (fails)
		errno = ENOMEM;
	if (fails && !state.failed++)
		state.depth = backtrace(state.stack, sizeof state.stack / sizeof *state.stack);
	return fails;
}

void alloc_sweep_pause(bool pause)
{
	state.on = !pause && state.nth;
}

/* ---- the functions that the linker puts in place of the C library's -------------------------- */

void *__real_malloc(size_t size);
void *__wrap_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__real_realloc(void *p, size_t size);
void *__wrap_realloc(void *p, size_t size);
char *__real_strdup(const char *s);
char *__wrap_strdup(const char *s);
char *__real_strndup(const char *s, size_t n);
char *__wrap_strndup(const char *s, size_t n);
int __wrap_asprintf(char **out, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

void *__wrap_malloc(size_t size)
{
	return alloc_sweep_fails() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
	return alloc_sweep_fails() ? NULL : __real_calloc(count, size);
}

void *__wrap_realloc(void *p, size_t size)
{
	return alloc_sweep_fails() ? NULL : __real_realloc(p, size);
}

char *__wrap_strdup(const char *s)
{
	return alloc_sweep_fails() ? NULL : __real_strdup(s);
}

char *__wrap_strndup(const char *s, size_t n)
{
	return alloc_sweep_fails() ? NULL : __real_strndup(s, n);
}

int __wrap_asprintf(char **out, const char *fmt, ...)
{
	va_list ap;
	int length;

	if (alloc_sweep_fails()) {
		*out = (char *)1; /* undefined after a failure: nobody may use or free it */
		return -1;
	}
	va_start(ap, fmt);
	length = vasprintf(out, fmt, ap);
	va_end(ap);
	return length;
}

/* ---- libraries ------------------------------------------------------------------------------- */

static sqlite3_mem_methods own; /* of SQLite */

static bool sqlite_fails(void)
{
	return state.of_sqlite && alloc_sweep_fails();
}

static void *sqlite_malloc(int size)
{
	return sqlite_fails() ? NULL : own.xMalloc(size);
}

static void *sqlite_realloc(void *p, int size)
{
	return sqlite_fails() ? NULL : own.xRealloc(p, size);
}

void alloc_sweep_add_sqlite(void)
{
	sqlite3_mem_methods methods;

	assert_int_equal(sqlite3_config(SQLITE_CONFIG_GETMALLOC, &own), SQLITE_OK);
	methods = own;
	methods.xMalloc = sqlite_malloc;
	methods.xRealloc = sqlite_realloc;
	assert_int_equal(sqlite3_config(SQLITE_CONFIG_MALLOC, &methods), SQLITE_OK);
	/* Small blocks come from the same functions. */
	assert_int_equal(sqlite3_config(SQLITE_CONFIG_LOOKASIDE, 0, 0), SQLITE_OK);
}

void alloc_sweep_add_jansson(void)
{
	json_set_alloc_funcs(__wrap_malloc, free);
}

/* ---- the sweep ------------------------------------------------------------------------------- */

/* Of the sanitizers, where there are any. */
int __lsan_do_recoverable_leak_check(void) __attribute__((weak));
void __sanitizer_symbolize_pc(void *pc, const char *fmt, char *out, size_t size)
        __attribute__((weak));

/* Where the allocation that failed first was made. */
static void print_stack(void)
{
	char line[400];

	for (int i = 0; i < state.depth && state.failed && __sanitizer_symbolize_pc; i++) {
		__sanitizer_symbolize_pc((char *)state.stack[i] - 1, "%f %s:%l", line, sizeof line);
		print_message("    %s\n", line);
	}
}

#define ALLOCATIONS_MAX 1000000 /* more is a call that never ends */

/* Each of the first allocations fails in turn, later ones more rarely; of SQLite, which makes
 * thousands and has tests of its own, fewer. */
static size_t next_after(const struct alloc_sweep *sweep, size_t n)
{
	size_t each = sweep->slow ? 4 : state.of_sqlite ? 8 : 32;

	return n < each ? n + 1 : n + n / (sweep->slow ? 2 : state.of_sqlite ? 4 : 12);
}

static void check(const struct alloc_sweep *sweep, int status, const struct tk_error *err)
{
	const char *which = state.onwards ? "all allocations from" : "allocation";

	if (!status) {
		if (!state.failed || sweep->may_succeed)
			return;
		print_stack();
		fail_msg("%s: %s %zu failed, and nobody noticed", sweep->name, which, state.nth);
	}
	if (!state.failed)
		fail_msg("%s: without a failure: %s", sweep->name, err->message);
	if (status == sweep->other_status && err->message[0])
		return;
	if (status == TK_ENOMEM && err->status == TK_ENOMEM && err->message[0])
		return;
	print_stack();
	fail_msg("%s: %s %zu failed: %s instead of %s: \"%s\"", sweep->name, which, state.nth,
	        tk_status_name(status), tk_status_name(TK_ENOMEM), err->message);
}

/* Returns how often something failed. */
static size_t sweep_once(const struct alloc_sweep *sweep, bool onwards, bool of_sqlite)
{
	size_t times = 0;

	for (size_t n = 1; n <= ALLOCATIONS_MAX; n = next_after(sweep, n), times++) {
		struct tk_error err = {0};
		int status;

		state.on = false; /* a test that failed may have left it on */
		state.nth = state.count = state.failed = 0;
		if (sweep->before)
			sweep->before(sweep->arg);
		state.nth = n;
		state.onwards = onwards;
		state.of_sqlite = of_sqlite;
		state.on = true;
		status = sweep->call(sweep->arg, &err);
		state.on = false;
		check(sweep, status, &err);
		if (sweep->after)
			sweep->after(sweep->arg, status);
		if (!state.failed)
			return times;
	}
	fail_msg("%s: more than %d allocations", sweep->name, ALLOCATIONS_MAX);
	return 0;
}

size_t alloc_sweep(const struct alloc_sweep *sweep)
{
	size_t times = 0;

	for (int of_sqlite = 0; of_sqlite <= (own.xMalloc != NULL); of_sqlite++)
		for (int onwards = 0; onwards < 2; onwards++)
			times += sweep_once(sweep, onwards, of_sqlite);
	if (!times)
		fail_msg("%s: no allocation", sweep->name);
	if (__lsan_do_recoverable_leak_check && __lsan_do_recoverable_leak_check())
		fail_msg("%s: leaks memory", sweep->name);
	print_message("%s: %zu failures\n", sweep->name, times);
	return times;
}
