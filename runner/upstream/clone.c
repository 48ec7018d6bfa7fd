/* Bare partial clones in the cache, and the enclosing repository of `self`. */
#include "upstream/clone.h"
#include "base/base.h"
#include "upstream/repo.h"
#include <sys/stat.h>

/* HEAD of the remote, outside of its branches. */
#define HEAD_REF "refs/tracker/HEAD"

static double get_deadline_s(const struct tk_repo *s)
{
	return s->deadline_s > 0 ? s->deadline_s : 600;
}

struct tk_git tk_clone_git_context(const struct tk_clone *c, enum tk_git_mode mode)
{
	return (struct tk_git){.dir = c->dir, .mode = mode, .deadline_s = get_deadline_s(c->repo)};
}

static int trim_line(struct tk_buf *b, char *out, size_t size, struct tk_error *err)
{
	const char *text = tk_buf_cstr(b);
	const size_t len = strcspn(text, "\n");
	if (!len || len >= size)
		return tk_fail(
		        err, TK_EDATA, "git printed %zu bytes where one name was expected", b->len);
	memcpy(out, text, len);
	out[len] = '\0';
	return TK_OK;
}

int tk_clone_resolve(
        const struct tk_clone *c, const char *rev, char *id, size_t size, struct tk_error *err)
{
	char spec[5000];
	if (tk_git_check_rev(rev, err))
		return TK_ECONFIG;
	snprintf(spec, sizeof(spec), "%s^{commit}", rev);
	const struct tk_git git = tk_clone_git_context(c, TK_GIT_LOCAL);
	AUTO(tk_buf) out = TK_BUF_INIT;
	int code = 0;
	TRY(tk_git_query(&git,
	        (const char *const[]){"rev-parse", "--verify", "--quiet", spec, NULL}, &code, &out,
	        err));
	if (code)
		return tk_fail(
		        err, TK_ENOTFOUND, "%s has no revision \"%.100s\"", c->repo->name, rev);
	return trim_line(&out, id, size, err);
}

/* ---- self ---- */

static int open_self(struct tk_clone *c, struct tk_error *err)
{
	const struct tk_repo *s = c->repo;
	const char *folder = s->url ? s->url : ".";
	bool is_own = strcmp(folder, tk_path_data_dir()) == 0; /* has no clone once installed */
	const struct tk_git git = {
	        .dir = folder, .mode = TK_GIT_LOCAL, .deadline_s = get_deadline_s(s)};
	AUTO(tk_buf) out = TK_BUF_INIT;
	char top[4096];
	snprintf(c->tip, sizeof(c->tip), "HEAD");
	int status = tk_dir_exists(folder) ? TK_OK
	                                   : tk_fail(err, TK_ENOTFOUND, "%s: no such folder: %s",
	                                             s->name, folder);
	if (!status)
		status = tk_git_run(&git,
		        (const char *const[]){"rev-parse", "--show-toplevel", NULL}, &out, err);
	if (!status)
		status = trim_line(&out, top, sizeof(top), err);
	if (status && status != TK_ENOTFOUND)
		tk_error_add_context(err, "%s: %s is not inside a git repository%s", s->name,
		        folder, is_own ? "; set \"url\" to a clone of the tracker" : "");
	if (!status)
		c->dir = tk_strdup(top);
	return status;
}

/* ---- git ---- */

/* A URL that is valid in the folder of the clone. NULL: out of memory. */
static char *absolute_url(const char *url)
{
	return tk_git_url_is_local(url) && strncmp(url, "file://", 7) ? tk_path_make_absolute(url)
	                                                              : tk_strdup(url);
}

/* <cache>/git/<last part of the URL>-<hash of the URL>: upstreams with one URL share it. */
static char *clone_path(const struct tk_repo *s, const char *url)
{
	char hex[TK_HASH_HEX_SIZE];
	char name[160];
	AUTO_TEXT bare = tk_strdup(url);
	size_t len = strlen(bare);
	while (len && bare[len - 1] == '/')
		bare[--len] = '\0';
	if (len > 4 && !strcmp(bare + len - 4, ".git"))
		bare[len - 4] = '\0';
	const char *slash = strrchr(bare, '/');
	AUTO_TEXT slug = tk_path_make_slug(slash ? slash + 1 : bare);
	tk_hash_bytes(url, strlen(url), hex);
	snprintf(name, sizeof(name), "%.80s-%.16s", slug, hex);
	return tk_path_join3(s->cache_dir, "git", name);
}

static int wait_for_lock(
        const char *dir, double deadline_s, struct tk_lock **lock, struct tk_error *err)
{
	AUTO_TEXT path = NULL;
	path = tk_sprintf("%s.lock", dir);
	return tk_lock_wait(path, deadline_s, lock, err);
}

/* A new bare repository with the remote set up. It is renamed to its place when it is complete. */
static int make_clone(
        const struct tk_clone *c, const char *url, const char *parent, struct tk_error *err)
{
	AUTO_TEXT temp = NULL;
	int status = tk_dir_create(parent, err);
	if (!status)
		status = tk_dir_create_temp(parent, "new-", &temp, err);
	if (status)
		return status;
	const struct tk_git git = {
	        .dir = temp, .mode = TK_GIT_LOCAL, .deadline_s = get_deadline_s(c->repo)};
	status = tk_git_run(&git,
	        (const char *const[]){"init", "--quiet", "--bare", "--template=", ".", NULL}, NULL,
	        err);
	if (!status)
		status = tk_git_run(&git,
		        (const char *const[]){"config", "remote.origin.url", url, NULL}, NULL, err);
	if (!status && rename(temp, c->dir))
		status = tk_fail_errno(err, "cannot create %s", c->dir);
	if (status) {
		struct tk_error ignored;
		tk_dir_remove(temp, &ignored);
	}
	return status;
}

void tk_repo_redact_url(const char *url, char *out, size_t size)
{
	const char *start = strstr(url, "://");
	start = start ? start + 3 : url;
	const size_t host = strcspn(start, "/");
	const char *at = start == url ? NULL : memrchr(start, '@', host);
	snprintf(out, size, "%.*s%s", (int)(at ? start - url : 0), url, at ? at + 1 : url);
}

/* git lets a partial clone ask for the parents that a shallow repository lacks, without an end.
 * Single commits can be fetched from one. */
static int check_whole(const struct tk_clone *c, struct tk_error *err)
{
	const char *folder = c->repo->url;
	if (!c->local || c->shallow)
		return TK_OK;
	folder += strncmp(folder, "file://", 7) ? 0 : 7;
	AUTO_TEXT bare = tk_path_join(folder, "shallow");
	AUTO_TEXT inside = tk_path_join(folder, ".git/shallow");
	return !tk_file_exists(bare) && !tk_file_exists(inside)
	               ? TK_OK
	               : tk_fail(err, TK_ECONFIG,
	                         "%s: the repository %s is shallow, its history is cut off; "
	                         "expected "
	                         "a whole one (`git -C %s fetch --unshallow`)",
	                         c->repo->name, folder, folder);
}

static int fetch_refs(
        const struct tk_clone *c, bool prune, const char *const *refspecs, struct tk_error *err)
{
	const struct tk_git git = tk_clone_git_context(c, TK_GIT_NETWORK);
	const char *args[TK_GIT_ARGS_MAX + 1] = {"fetch", "--quiet", "--force", "--no-tags",
	        "--no-write-fetch-head", "--no-auto-gc", "--filter=blob:none",
	        prune ? "--prune" : "--no-prune"};
	size_t n = 8;
	if (c->shallow)
		args[n++] = "--depth=1";
	args[n++] = "origin";
	TRY(check_whole(c, err));
	for (size_t i = 0; refspecs[i] && n < TK_GIT_ARGS_MAX; i++)
		args[n++] = refspecs[i];
	args[n] = NULL;
	struct tk_error first = {0};
	int status = tk_git_run(&git, args, NULL, &first);
	if (status == TK_EIO && strcasestr(first.message, "filter")) {
		args[6] = "--no-filter"; /* the server refuses filters */
		status = tk_git_run(&git, args, NULL, &first);
	}
	char shown[512];
	tk_repo_redact_url(c->repo->url, shown, sizeof(shown));
	return status ? tk_fail(err, status, "%s: cannot reach %s: %s", c->repo->name, shown,
	                        first.message)
	              : TK_OK;
}

/* A file whose time is that of the last fetch of the tip. */
static char *stamp_path(const struct tk_clone *c)
{
	AUTO_TEXT slug = tk_path_make_slug(c->tip);
	return tk_sprintf("%s/fetched-%s", c->dir, slug);
}

static bool is_fresh(const struct tk_clone *c)
{
	AUTO_TEXT path = stamp_path(c);
	struct stat st;
	return c->repo->fresh_ns && !stat(path, &st) &&
	       (int64_t)st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec >= c->repo->fresh_ns;
}

int tk_clone_fetch(const struct tk_clone *c, enum tk_fetch what, struct tk_error *err)
{
	if (what == TK_FETCH_NONE || c->repo->kind == TK_REPO_SELF ||
	        (what == TK_FETCH_TIP && is_fresh(c)))
		return TK_OK;
	char tip[1024];
	const char *branch = c->repo->branch;
	if (branch)
		snprintf(tip, sizeof(tip), "+refs/heads/%.400s:refs/heads/%.400s", branch, branch);
	else
		snprintf(tip, sizeof(tip), "+HEAD:" HEAD_REF);
	const char *const tip_only[] = {tip, NULL};
	const char *const all[] = {
	        tip, "+refs/heads/*:refs/heads/*", "+refs/tags/*:refs/tags/*", NULL};
	struct tk_error why = {0};
	int status =
	        fetch_refs(c, what == TK_FETCH_ALL, what == TK_FETCH_ALL ? all : tip_only, &why);
	/* "dev/x" cannot be fetched while the clone has a branch "dev" that the upstream removed */
	if (status == TK_EIO && strstr(why.message, "cannot lock ref"))
		status = fetch_refs(c, true, all, &why);
	if (status && strstr(why.message, "find remote ref"))
		return branch ? tk_fail(err, TK_ENOTFOUND,
		                        "%s: the repository has no branch \"%s\"", c->repo->name,
		                        branch)
		              : tk_fail(err, TK_ENOTFOUND,
		                        "%s: the repository has no commit on its default branch; "
		                        "`branch` names another one",
		                        c->repo->name);
	if (status)
		return tk_fail(err, status, "%s", why.message);
	AUTO_TEXT stamp = stamp_path(c);
	return tk_file_write_nosync(stamp, "", 0, err);
}

int tk_clone_fetch_ref(const struct tk_clone *c, const char *ref, struct tk_error *err)
{
	char spec[1024];
	if (tk_git_check_branch(ref, err))
		return tk_error_add_context(err, "%s", c->repo->name);
	snprintf(spec, sizeof(spec), "+%.255s:%.255s", ref, ref);
	const int status = fetch_refs(c, false, (const char *const[]){spec, NULL}, err);
	if (status && err && strstr(err->message, "find remote ref"))
		return tk_fail(err, TK_ENOTFOUND, "%s has no ref \"%.100s\"", c->repo->name, ref);
	return status;
}

int tk_clone_fetch_commit(const struct tk_clone *c, const char *id, struct tk_error *err)
{
	/* under a name: the next fetch says that it is there */
	char spec[400];
	snprintf(spec, sizeof(spec), "+%.128s:refs/tracker/commits/%.128s", id, id);
	return fetch_refs(c, false, (const char *const[]){spec, NULL}, err);
}

static int open_git(struct tk_clone *c, struct tk_error *err)
{
	const struct tk_repo *s = c->repo;
	if (tk_git_check_url(s->url, err) || (s->branch && tk_git_check_branch(s->branch, err)))
		return tk_error_add_context(err, "%s", s->name);
	c->local = tk_git_url_is_local(s->url);
	if (s->branch)
		snprintf(c->tip, sizeof(c->tip), "refs/heads/%.400s", s->branch);
	else
		snprintf(c->tip, sizeof(c->tip), HEAD_REF);
	int status = TK_OK;
	AUTO_TEXT url = absolute_url(s->url);
	AUTO_TEXT parent = tk_path_join(s->cache_dir, "git");
	if (!url || !parent || !(c->dir = clone_path(s, url)))
		status = tk_fail(err, TK_ENOMEM, "out of memory");
	if (!status)
		status = tk_dir_create(parent, err);
	/* The history that another upstream needs serves, too. */
	c->shallow = c->shallow && !tk_dir_exists(c->dir);
	if (!status && c->shallow) {
		char *whole = c->dir;
		c->dir = tk_sprintf("%s.commits", whole);
		free(whole);
	}
	if (!status && c->existing && !tk_dir_exists(c->dir))
		status = tk_fail(err, TK_ENOTFOUND, "%s has no clone yet", s->name);
	if (!status)
		status = wait_for_lock(c->dir, get_deadline_s(s), &c->lock, err);
	if (!status && !tk_dir_exists(c->dir))
		status = make_clone(c, url, parent, err);
	return status;
}

int tk_clone_open(
        const struct tk_repo *s, enum tk_fetch fetch, struct tk_clone *c, struct tk_error *err)
{
	*c = (struct tk_clone){.repo = s};
	int status;
	if (s->kind == TK_REPO_SELF) {
		c->local = true;
		status = open_self(c, err);
	} else {
		status = open_git(c, err);
	}
	if (!status)
		status = tk_clone_fetch(c, fetch, err);
	if (status)
		tk_clone_close(c);
	return status;
}

int tk_clone_need_commit(const struct tk_clone *c, const char *id, struct tk_error *err)
{
	char found[128];
	struct tk_error why = {0}, ignored;
	if (!tk_clone_resolve(c, id, found, sizeof(found), &ignored))
		return TK_OK;
	const int status = tk_clone_fetch_commit(c, id, &why);
	/* a server that names no single commits */
	if (status == TK_EIO && !tk_clone_fetch(c, TK_FETCH_ALL, &ignored) &&
	        !tk_clone_resolve(c, id, found, sizeof(found), &ignored))
		return TK_OK;
	return status ? tk_fail(err, status, "%s", why.message) : TK_OK;
}

int tk_clone_open_commit(
        const struct tk_repo *s, const char *id, struct tk_clone *c, struct tk_error *err)
{
	*c = (struct tk_clone){.repo = s, .shallow = true, .existing = !id};
	int status = open_git(c, err);
	if (!status && id)
		status = tk_clone_need_commit(c, id, err);
	if (status)
		tk_clone_close(c);
	return status;
}

void tk_clone_close(struct tk_clone *c)
{
	tk_lock_release(c->lock);
	free(c->dir);
	*c = (struct tk_clone){0};
}
