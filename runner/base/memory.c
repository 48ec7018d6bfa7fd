/* Allocations that end the process where there is no memory. */
#include "base/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Exit code "could not finish"; _exit(), because handlers of exit() may allocate. */
static void end_process(void) __attribute__((noreturn));
static void end_process(void)
{
	static const char message[] = "tracker: out of memory\n";

	if (write(STDERR_FILENO, message, sizeof message - 1) < 0)
		_exit(4);
	_exit(4);
}

void *tk_check_memory(void *p)
{
	if (!p)
		end_process();
	return p;
}

void *tk_malloc(size_t size)
{
	return tk_check_memory(malloc(size ? size : 1));
}

void *tk_calloc(size_t count, size_t size)
{
	return tk_check_memory(count && size ? calloc(count, size) : calloc(1, 1));
}

void *tk_realloc(void *p, size_t size)
{
	return tk_check_memory(realloc(p, size ? size : 1));
}

void *tk_reallocarray(void *p, size_t count, size_t size)
{
	return tk_check_memory(count && size ? reallocarray(p, count, size) : realloc(p, 1));
}

char *tk_strdup(const char *text)
{
	return tk_check_memory(strdup(text));
}

char *tk_strndup(const char *text, size_t len)
{
	return tk_check_memory(strndup(text, len));
}

char *tk_vsprintf(const char *fmt, va_list args)
{
	char *out = NULL;

	if (vasprintf(&out, fmt, args) < 0)
		end_process();
	return out;
}

char *tk_sprintf(const char *fmt, ...)
{
	va_list args;
	char *out;

	va_start(args, fmt);
	out = tk_vsprintf(fmt, args);
	va_end(args);
	return out;
}
