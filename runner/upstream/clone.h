/* The local repository of a tk_repo: for `self` the enclosing one, for git a bare partial clone in
 * the cache. Internal to runner/upstream. */
#ifndef TK_UPSTREAM_CLONE_H
#define TK_UPSTREAM_CLONE_H
#include "upstream/git.h"
#include "upstream/repo.h"
#include <stdbool.h>

struct tk_error;
struct tk_lock;
struct tk_repo;

struct tk_clone {
	const struct tk_repo *repo;
	char *dir;            /* self: top of the work tree; git: the bare clone */
	char tip[600];        /* the ref that is followed */
	struct tk_lock *lock; /* git: held while open */
	bool local;           /* self, or a git upstream that is a path */
	bool existing;        /* is not made */
	bool shallow;         /* single commits without a history: of a submodule */
};

enum tk_fetch { TK_FETCH_NONE, TK_FETCH_TIP, TK_FETCH_ALL };

/* Finds or creates the clone, waits for its lock (at most the deadline), fetches. After success
 * close it with tk_clone_close. */
int tk_clone_open(
        const struct tk_repo *s, enum tk_fetch fetch, struct tk_clone *c, struct tk_error *err);
void tk_clone_close(struct tk_clone *c);
/* The clone of the URL with the commit `id`, of which no history is needed: fetched if it lacks it.
 * id NULL: one that exists, as it is. As tk_clone_open. */
int tk_clone_open_commit(
        const struct tk_repo *s, const char *id, struct tk_clone *c, struct tk_error *err);
int tk_clone_fetch(const struct tk_clone *c, enum tk_fetch what, struct tk_error *err);
/* Fetches one ref by its full name, such as refs/pull/12/head, into the same name. */
int tk_clone_fetch_ref(const struct tk_clone *c, const char *ref, struct tk_error *err);
/* Fetches the commit if the clone lacks it. */
int tk_clone_need_commit(const struct tk_clone *c, const char *id, struct tk_error *err);
/* Fetches one commit by its full hash, if the server allows it. */
int tk_clone_fetch_commit(const struct tk_clone *c, const char *id, struct tk_error *err);

/* The submodules of the work tree `dir`, whose repository has the URL `url`; each is a work tree of
 * a clone of its own. One clone is open at a time, so that none waits for another. */
int tk_submodules_add(const struct tk_repo *s, const char *dir, const char *url, bool local,
        struct tk_error *err);
/* The output of `git config -z --list` of .gitmodules: in the work tree `dir`, or `blob`
 * ("<commit>:.gitmodules") of the repository there. Nothing where there is no such file. */
int tk_modules_file_read(
        const char *dir, const char *blob, struct tk_buf *out, struct tk_error *err);
/* A submodule's clone with the commit `id` (tk_clone_open_commit), in a repository with the URL
 * `url`. `path` is in that repository, whose own path in the upstream's is `prefix`. Free it in any
 * case. */
struct tk_submodule {
	struct tk_repo repo;
	struct tk_clone clone;
	char *name, *url;
	bool local;
};
int tk_submodule_open(const struct tk_repo *parent, const char *url, bool local, const char *prefix,
        const char *path, const struct tk_buf *modules, const char *id, struct tk_submodule *m,
        struct tk_error *err);
void tk_submodule_free(struct tk_submodule *m);
/* A work tree of a clone of a `git` upstream in `dir`, with a commit. `folders`: names with blanks
 * between them, of which alone the contents are fetched, beside the files at the top; NULL or "":
 * all. */
int tk_tree_add(const struct tk_clone *c, const char *dir, const char *id, const char *folders,
        struct tk_error *err);
/* The folders of `path` in `sources`, a new text; NULL: it is not named. */
char *tk_sources_find(const char *sources, const char *path);

/* For commands in this clone. */
struct tk_git tk_clone_git_context(const struct tk_clone *c, enum tk_git_mode mode);
/* The full hash of `rev`; TK_ENOTFOUND: the clone has no such revision. */
int tk_clone_resolve(
        const struct tk_clone *c, const char *rev, char *id, size_t size, struct tk_error *err);

#endif
