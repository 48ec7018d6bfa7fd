/* Checkouts in temporary folders.
 *
 * git: `git worktree` of the cached clone, which fetches the contents that a partial clone lacks.
 * self: a shared clone of the user's repository, so that the tracker never writes into it. */
#include "base/base.h"
#include "upstream/clone.h"
#include "upstream/package.h"
#include "upstream/repo.h"
#include <dirent.h>
#include <sys/stat.h>

#define STALE_S (2 * 24 * 3600) /* age of a checkout that a killed tracker left behind */

static int create_folder(const struct tk_repo *s, char **dir, struct tk_error *err)
{
	AUTO_TEXT parent = tk_path_join(s->cache_dir, "work");
	AUTO_TEXT slug = tk_path_make_slug(s->name);
	TRY(tk_dir_create(parent, err));
	return tk_dir_create_temp(parent, slug, dir, err);
}

/* Removes checkouts of killed processes. */
static void remove_stale_checkouts(const struct tk_repo *s)
{
	char *parent = tk_path_join(s->cache_dir, "work");
	DIR *d = parent ? opendir(parent) : NULL;
	const struct dirent *e;
	while (d && (e = readdir(d))) {
		struct stat st;
		char *path = tk_path_join(parent, e->d_name);
		if (path && e->d_name[0] != '.' && !lstat(path, &st) &&
		        st.st_mtime < tk_clock_now_s() - STALE_S)
			tk_dir_remove(path, NULL);
		free(path);
	}
	if (d)
		closedir(d);
	free(parent);
}

static int add_worktree(
        const struct tk_clone *c, const char *id, const char *dir, struct tk_error *err)
{
	const struct tk_git local = tk_clone_git_context(c, TK_GIT_LOCAL),
	                    network = tk_clone_git_context(c, TK_GIT_NETWORK);
	int status =
	        tk_git_run(&local, (const char *const[]){"worktree", "prune", NULL}, NULL, err);
	if (!status)
		status = tk_git_run(&network,
		        (const char *const[]){"worktree", "add", "--quiet", "--force", "--detach",
		                "--", dir, id, NULL},
		        NULL, err);
	return status;
}

static int clone_shared(
        const struct tk_clone *c, const char *id, const char *dir, struct tk_error *err)
{
	struct tk_git git = tk_clone_git_context(c, TK_GIT_NETWORK);
	TRY(tk_git_run(&git,
	        (const char *const[]){"clone", "--quiet", "--shared", "--no-checkout",
	                "--template=", "--", c->dir, dir, NULL},
	        NULL, err));
	git.dir = dir;
	return tk_git_run(&git,
	        (const char *const[]){"checkout", "--quiet", "--detach", id, "--", NULL}, NULL,
	        err);
}

static int update_submodules(const struct tk_clone *c, const char *dir, struct tk_error *err)
{
	struct tk_git git = tk_clone_git_context(c, TK_GIT_NETWORK);
	git.dir = dir;
	const int status = tk_git_run(&git,
	        (const char *const[]){
	                "submodule", "--quiet", "update", "--init", "--recursive", NULL},
	        NULL, err);
	if (status)
		tk_error_add_context(err, "%s: cannot fetch the submodules", c->repo->name);
	return status;
}

static int find_id(
        const struct tk_repo *s, const char *rev, char *id, size_t size, struct tk_error *err)
{
	struct tk_revision r;
	TRY(tk_repo_find_revision(s, rev, &r, err));
	snprintf(id, size, "%s", r.id);
	return TK_OK;
}

int tk_repo_checkout(const struct tk_repo *s, const char *rev, char **dir, struct tk_error *err)
{
	struct tk_clone c = {0};
	char id[128];
	char *made = NULL;
	if (s->kind == TK_REPO_PACKAGE)
		return tk_package_checkout(s, rev, dir, err);
	int status = find_id(s, rev, id, sizeof(id), err);
	if (!status)
		status = tk_clone_open(s, TK_FETCH_NONE, &c, err);
	if (status)
		return status;
	remove_stale_checkouts(s);
	status = create_folder(s, &made, err);
	if (!status)
		status = s->kind == TK_REPO_SELF ? clone_shared(&c, id, made, err)
		                                 : add_worktree(&c, id, made, err);
	if (!status && s->submodules)
		status = update_submodules(&c, made, err);
	tk_clone_close(&c);
	if (status) {
		tk_repo_remove_checkout(s, made);
		return status;
	}
	*dir = made;
	return TK_OK;
}

/* The next `worktree prune` removes it from the clone too. */
void tk_repo_remove_checkout(const struct tk_repo *s, char *dir)
{
	if (!dir)
		return;
	if (s->kind != TK_REPO_PACKAGE)
		tk_dir_remove(dir, NULL);
	free(dir);
}
