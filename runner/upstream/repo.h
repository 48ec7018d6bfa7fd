/* The repository of an upstream: its revisions, and checkouts of them. Of a Python package these
 * are its versions, and virtual environments.
 *
 * git runs in a scrubbed environment, without prompts and with a deadline. Text from a repository
 * (branch names, subjects) never reaches a shell or a path. */
#ifndef TK_UPSTREAM_H
#define TK_UPSTREAM_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tk_error;

enum tk_repo_kind { TK_REPO_SELF, TK_REPO_GIT, TK_REPO_PACKAGE };

struct tk_repo {
	enum tk_repo_kind kind;
	const char *name;   /* the upstream's name */
	const char *url;    /* git; self: the folder inside the enclosing repository */
	const char *branch; /* NULL: the remote's HEAD */
	const char *path;   /* only commits that touch it, or one of several with : between them;
	                       NULL: all */
	/* Which are checked out, NULL-terminated; NULL or empty: none. "yes": those of `sources`,
	 * without it all; "recursive": all, and theirs; else paths, "a/b" below "a" too. */
	char *const *submodules;
	/* What is read: a line "PATH FOLDER..." for each submodule, "." for the repository. Without
	 * folders all of it. A submodule that is named is needed. NULL: unknown */
	const char *sources;
	/* package: `url` is the index, NULL for PyPI */
	const char *package;      /* name; NULL: the upstream's name */
	const char *extra_index;  /* NULL: none */
	const char *python;       /* program, for uv also a version; NULL: python3 */
	const char *requirements; /* file of what is installed beside it; NULL: nothing */
	bool pre;                 /* pre-releases are revisions, too */
	const char *cache_dir;    /* clones live in <cache_dir>/git/<name>-<hash of the URL> */
	int64_t fresh_ns;         /* a fetch since this wall time is not repeated; 0: always is */
	double deadline_s;        /* of one network operation */
};

struct tk_revision {
	char id[128];                         /* full commit hash, or a version */
	char parent[128];                     /* first parent; "" where there is none */
	int64_t author_time_s, commit_time_s; /* 0 where unknown */
	int64_t position; /* number of first-parent commits up to this one; orders the x axis; 0
	                     where unknown, as in a shallow repository */
	char author[128];
	char subject[512]; /* UTF-8, one line, control characters replaced */
	bool dirty;        /* self: the work tree had uncommitted changes */
};

/* TK_REPO_PACKAGE: the name of the package. */
const char *tk_repo_package_name(const struct tk_repo *s);

/* The URL without user and password, for messages, the history and pages. */
void tk_repo_redact_url(const char *url, char *out, size_t size);

/* The newest revision. self never touches the network. */
int tk_repo_find_newest(const struct tk_repo *s, struct tk_revision *out, struct tk_error *err);

/* By hash, prefix of a hash, tag, branch, or the full name of another ref (refs/pull/12/head); by
 * version. */
int tk_repo_find_revision(
        const struct tk_repo *s, const char *rev, struct tk_revision *out, struct tk_error *err);

/* First-parent history, newest first: at most `limit` (0: all), not older than since_s (0: any
 * age). The caller frees *out. */
int tk_repo_list_revisions(const struct tk_repo *s, size_t limit, int64_t since_s,
        struct tk_revision **out, size_t *count, struct tk_error *err);

/* Those that a tag points to whose name matches `pattern` (* ? []), or versions that do; newest
 * first, not older than since_s. The caller frees *out. */
int tk_repo_list_tags(const struct tk_repo *s, const char *pattern, int64_t since_s,
        struct tk_revision **out, size_t *count, struct tk_error *err);

/* The positions of versions of a package in its index now: a late release of an older line moves
 * those after it. Versions that the index does not list, and commits, keep theirs. */
int tk_repo_number_versions(const struct tk_repo *s, const char *const *versions, size_t count,
        int64_t *positions, struct tk_error *err);

/* What is different between two commits, by names, also within submodules: no content is fetched.
 * Free *out, which is empty before, in any case. TK_EIO: the clone lacks one of them. */
struct tk_changes {
	struct tk_change {
		char *path;
		enum { TK_CHANGE_FILE, TK_CHANGE_ADDED, TK_CHANGE_LINK, TK_CHANGE_SUBMODULE } kind;
	} * list;
	size_t count;
};
int tk_repo_list_changes(const struct tk_repo *s, const char *from, const char *to,
        struct tk_changes *out, struct tk_error *err);
void tk_changes_free(struct tk_changes *c);

/* A checkout of the revision, of what `sources` names, with submodules if wanted, in a new folder
 * below cache_dir. A submodule that cannot be fetched is an error where it is named. Of a
 * package a virtual environment, which stays in the cache and must not be changed. Give *dir back
 * with tk_repo_remove_checkout, which removes the folder of a checkout too. */
int tk_repo_checkout(const struct tk_repo *s, const char *rev, char **dir, struct tk_error *err);
void tk_repo_remove_checkout(const struct tk_repo *s, char *dir);

/* The work tree that `folder` belongs to as a commit: tracked files as they are now, and new ones
 * that git does not ignore. The commit is made in a shared clone in a new folder *dir below
 * s->cache_dir (remove it with tk_repo_remove_checkout), never in the user's repository. Equal
 * files have the same commit. out->dirty: they differ from HEAD; else *out is HEAD.
 * TK_EUSAGE: not a work tree. */
int tk_repo_snapshot(const struct tk_repo *s, const char *folder, char **dir,
        struct tk_revision *out, struct tk_error *err);

#endif
