/* Running git: the scrubbed environment, the options that make it safe, and the deadline. Internal
 * to runner/upstream. */
#ifndef TK_UPSTREAM_GIT_H
#define TK_UPSTREAM_GIT_H
#include "base/base.h"

enum tk_git_mode {
	TK_GIT_LOCAL,   /* no transport: a partial clone fetches nothing */
	TK_GIT_NETWORK, /* may talk to the upstream */
};

struct tk_git {
	const char *dir; /* where git runs */
	enum tk_git_mode mode;
	bool sparse; /* a checkout has only what the file info/sparse-checkout names */
	double deadline_s;
	size_t capture_max; /* 0: 16 MiB */
};

#define TK_GIT_ARGS_MAX 32

/* Runs `git <args>` (NULL-terminated, at most TK_GIT_ARGS_MAX). *out (may be NULL) gets stdout. A
 * non-zero exit is TK_EIO with git's own first line; the deadline is TK_ETIMEOUT. */
int tk_git_run(const struct tk_git *git, const char *const *args, struct tk_buf *out,
        struct tk_error *err);
/* As tk_git_run, for commands whose exit code is the answer: any regular exit is TK_OK. */
int tk_git_query(const struct tk_git *git, const char *const *args, int *code, struct tk_buf *out,
        struct tk_error *err);

/* Refuse user input that git could take for an option or a transport helper. */
int tk_git_check_url(const char *url, struct tk_error *err);
int tk_git_check_branch(const char *branch, struct tk_error *err);
int tk_git_check_rev(const char *rev, struct tk_error *err);
bool tk_git_url_is_local(const char *url);

#endif
