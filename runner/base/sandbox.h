/* The boundary around programs that are not trusted: builds of upstreams and workers.
 *
 * The best method that works on this machine is found once:
 * bubblewrap: namespaces of its own for processes, files and network.
 * landlock: rules for files, signals and TCP, and a filter of system calls.
 * limits: the filter alone.
 * docs/explanation/sandbox.md says what each of them stops. */
#ifndef TK_BASE_SANDBOX_H
#define TK_BASE_SANDBOX_H
#include "base/base.h"
#include <sys/types.h>

struct tk_sandbox;

enum tk_sandbox_mode { TK_SANDBOX_OFF, TK_SANDBOX_AUTO, TK_SANDBOX_REQUIRED };
enum tk_sandbox_method {
	TK_SANDBOX_NONE,
	TK_SANDBOX_LIMITS,
	TK_SANDBOX_LANDLOCK,
	TK_SANDBOX_BUBBLEWRAP
};

/* A file or folder that the program sees under another name as well, below /tmp. */
struct tk_sandbox_mount {
	const char *from, *to;
	bool writable;
};

struct tk_sandbox_policy {
	/* Absolute paths, NULL-terminated; those that do not exist are ignored. Of the rest of the
	 * machine only the folders of programs are readable. Writable ones are given to the
	 * sandbox's user, where root has one for it. */
	const char *const *writable, *const *readable;
	/* Where the sandbox has namespaces (tk_sandbox_has_mounts): ended by `from` NULL, and the
	 * folder that the program starts in, which is process 1 then. May be NULL. */
	const struct tk_sandbox_mount *mounts;
	const char *cwd;
	bool network;
	bool gpu;        /* device nodes of GPUs, and the machine's shared memory */
	bool huge_pages; /* /dev/hugepages */
	/* Where no namespace and no Landlock rule does better, kill() reaches the program itself
	 * and its group alone. Otherwise all but the tracker: a build ends its own children. */
	bool signals_itself_only;
};

/* To be called before threads start. Without it the mode is off. cache_dir: hidden as well; may be
 * NULL. */
void tk_sandbox_configure(enum tk_sandbox_mode mode, const char *cache_dir);
enum tk_sandbox_mode tk_sandbox_mode(void);
const char *tk_sandbox_mode_name(enum tk_sandbox_mode mode);
bool tk_sandbox_mode_parse(const char *name, enum tk_sandbox_mode *out);

/* The method in use. Tries the methods at the first call; $TRACKER_SANDBOX_METHOD names the best
 * one to try, for tests. */
enum tk_sandbox_method tk_sandbox_method(void);
const char *tk_sandbox_method_name(enum tk_sandbox_method method);
/* Whether the configured mode allows programs to run with no more than this method. */
bool tk_sandbox_is_sufficient(enum tk_sandbox_method method);
/* Why bubblewrap is not in use; "" if it is. */
const char *tk_sandbox_reason(void);

/* *out is for one start of one program; NULL where there is no method and none is required.
 * TK_EUNSUPPORTED: a method is required and there is none. */
int tk_sandbox_new(
        const struct tk_sandbox_policy *policy, struct tk_sandbox **out, struct tk_error *err);
void tk_sandbox_free(struct tk_sandbox *s);
bool tk_sandbox_has_mounts(const struct tk_sandbox *s); /* false for NULL */

/* After the child has ended by itself: whether the sandbox failed before it ran the program. False
 * for a program that is missing or hidden in a sandbox that works. */
bool tk_sandbox_has_failed(struct tk_sandbox *s);
/* Whether a sandbox hides this path unless its policy names it. */
bool tk_sandbox_is_hidden(const char *path);
/* Gives up a method that has failed, with a warning in the log; false where one is required. */
bool tk_sandbox_give_up(const struct tk_sandbox *s);
/* The process of the program itself: `child`, or a descendant of it. */
pid_t tk_sandbox_find_program(struct tk_sandbox *s, pid_t child);
/* The status of waitpid() that the program itself would have had. */
int tk_sandbox_wait_status(const struct tk_sandbox *s, int status);

#endif
