/* Errors: a status for the program, a sentence for the user.
 *
 * The first function that knows the cause writes the message (tk_fail), callers may prepend context
 * (tk_error_add_context), only runner/cli prints it, once. Every function of the project that can
 * fail returns an int status (0 or a negative TK_E...) and takes `struct tk_error *err` last; err
 * may be NULL. */
#ifndef TK_BASE_ERROR_H
#define TK_BASE_ERROR_H

enum tk_status {
	TK_OK = 0,
	TK_EUSAGE = -1,  /* the command line is wrong */
	TK_ECONFIG = -2, /* a file that the user wrote is wrong */
	TK_EIO = -3,     /* the system refused: open, read, write, spawn */
	TK_ENOMEM = -4,
	TK_ENOTFOUND = -5,
	TK_EDATA = -6, /* external data is malformed: wire, result, bundle, import */
	TK_ETIMEOUT = -7,
	TK_ECRASH = -8, /* a child process died */
	TK_ENOSPC = -9, /* disk full: stop, nothing half-written */
	TK_EUNSUPPORTED = -10,
	TK_EBUSY = -11,    /* another process holds the lock */
	TK_EVERSION = -12, /* made by a newer tracker */
	TK_EINTERNAL = -13,
	TK_ECANCELED = -14, /* the user asked to stop (SIGINT, SIGTERM) */
};

struct tk_error {
	int status;
	char message[2048]; /* complete sentence without the final full stop; never a newline at its
	                       end */
};

/* Writes status and message; an over-long message is cut between two characters. Returns status, so
 * that `return tk_fail(...)` reads well. */
int tk_fail(struct tk_error *err, int status, const char *fmt, ...)
        __attribute__((format(printf, 3, 4)));

/* As tk_fail with ": strerror(errno)" appended; ENOSPC and EDQUOT become TK_ENOSPC, ENOENT
 * TK_ENOTFOUND, ENOMEM TK_ENOMEM, the rest TK_EIO. */
int tk_fail_errno(struct tk_error *err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Puts "fmt: " in front of the message that is there. Returns err->status (TK_EINTERNAL where err
 * is NULL or holds no error). */
int tk_error_add_context(struct tk_error *err, const char *fmt, ...)
        __attribute__((format(printf, 2, 3)));

/* Clang's analyser sees one file at a time: this states that tk_fail never returns 0. */
#ifdef __clang_analyzer__
#define tk_fail(err, status, ...) (tk_fail(err, status, __VA_ARGS__), (status))
#define tk_fail_errno(...) (tk_fail_errno(__VA_ARGS__), TK_EIO)
#endif

/* One lower-case word for a status: "config", "timeout", ... Never NULL. */
const char *tk_status_name(int status);

#endif
