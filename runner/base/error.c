/* Messages for users: written once where the cause is known; callers prepend context. Allocations
 * that end the process where there is no memory. */
#include "base/base.h"

#include <errno.h>
#include <unistd.h>

#undef tk_fail
#undef tk_fail_errno

/* Newlines at the end of a message come from the tools that we quote; the printer adds its own. */
static void trim_end(char *s)
{
	size_t n = strlen(s);

	while (n > 0 && (s[n - 1] == '\n' || s[n - 1] == '\r'))
		s[--n] = '\0';
}

/* Takes out the beginning of a character whose end was cut: JSON takes whole characters only. */
static void trim_cut_character(char *s)
{
	size_t n = strlen(s), start = n;

	while (start > 0 && n - start < 3 && (s[start - 1] & 0xc0) == 0x80)
		start--;
	if (start > 0 && (s[start - 1] & 0xc0) == 0xc0 &&
	        !tk_utf8_decode(s + start - 1, SIZE_MAX, NULL))
		s[start - 1] = '\0';
}

int tk_fail(struct tk_error *err, int status, const char *fmt, ...)
{
	/* Callers hand in err->message as an argument: format into a copy. */
	char text[sizeof err->message];
	va_list ap;
	int len;

	if (!err)
		return status;
	va_start(ap, fmt);
	len = vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	if (len >= (int)sizeof text)
		trim_cut_character(text);
	trim_end(text);
	err->status = status;
	memcpy(err->message, text, sizeof text);
	return status;
}

static int errno_status(int e)
{
	switch (e) {
	case ENOSPC:
	case EDQUOT:
		return TK_ENOSPC;
	case ENOENT:
		return TK_ENOTFOUND;
	case ENOMEM:
		return TK_ENOMEM;
	default:
		return TK_EIO;
	}
}

int tk_fail_errno(struct tk_error *err, const char *fmt, ...)
{
	int e = errno;
	char text[sizeof err->message], reason[128];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	return tk_fail(err, errno_status(e), "%s: %s", text, strerror_r(e, reason, sizeof reason));
}

int tk_error_add_context(struct tk_error *err, const char *fmt, ...)
{
	char text[sizeof err->message];
	va_list ap;

	if (!err || !err->status)
		return TK_EINTERNAL;
	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	return tk_fail(err, err->status, "%s: %s", text, err->message);
}

const char *tk_status_name(int status)
{
	static const char *const words[] = {"ok", "usage", "config", "io", "out_of_memory",
	        "not_found", "data", "timeout", "crash", "disk_full", "unsupported", "busy",
	        "version", "internal", "canceled"};

	if (status > 0 || -status >= (int)(sizeof words / sizeof *words))
		return "unknown";
	return words[-status];
}

/* ---- memory ---------------------------------------------------------------------------------- */

/* Exit code "could not finish"; _exit(), because handlers of exit() may allocate. */
static _Noreturn void end_process(void)
{
	static const char message[] = "tracker: out of memory\n";

	(void)!write(STDERR_FILENO, message, sizeof message - 1);
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
