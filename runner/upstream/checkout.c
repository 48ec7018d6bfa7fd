/* Checkouts in temporary folders.
 *
 * git: `git worktree` of the cached clone, which fetches the contents that a partial clone lacks;
 * of a submodule one of its own clone.
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

/* The files at the top, and the folders. */
static int write_sparse_patterns(
        const struct tk_git *git, const char *folders, struct tk_error *err)
{
	AUTO(tk_buf) out = TK_BUF_INIT;
	AUTO(tk_buf) text = TK_BUF_INIT;
	TRY(tk_git_run(git,
	        (const char *const[]){"rev-parse", "--git-path", "info/sparse-checkout", NULL},
	        &out, err));
	AUTO_TEXT name = tk_strndup(tk_buf_cstr(&out), strcspn(tk_buf_cstr(&out), "\n"));
	AUTO_TEXT path = *name == '/' ? tk_strdup(name) : tk_path_join(git->dir, name);
	AUTO_TEXT parent = tk_strndup(path, (size_t)(strrchr(path, '/') - path));
	tk_buf_add_str(&text, "/*\n!/*/\n");
	for (const char *word = folders; *(word += strspn(word, " \t"));) {
		const size_t len = strcspn(word, " \t");
		tk_buf_add_printf(&text, "/%.*s\n", (int)len, word);
		word += len;
	}
	TRY(tk_dir_create(parent, err));
	return tk_file_write_nosync(path, text.data, text.len, err);
}

static int fill_tree(const struct tk_git *in, const char *dir, const char *id, const char *folders,
        struct tk_error *err)
{
	struct tk_git git = *in;
	git.dir = dir;
	git.sparse = folders && folders[strspn(folders, " \t")];
	if (git.sparse)
		TRY(write_sparse_patterns(&git, folders, err));
	return tk_git_run(&git,
	        (const char *const[]){"checkout", "--quiet", "--detach", id, "--", NULL}, NULL,
	        err);
}

int tk_tree_add(const struct tk_clone *c, const char *dir, const char *id, const char *folders,
        struct tk_error *err)
{
	const struct tk_git local = tk_clone_git_context(c, TK_GIT_LOCAL),
	                    network = tk_clone_git_context(c, TK_GIT_NETWORK);
	TRY(tk_git_run(&local, (const char *const[]){"worktree", "prune", NULL}, NULL, err));
	TRY(tk_git_run(&local,
	        (const char *const[]){"worktree", "add", "--quiet", "--force", "--detach",
	                "--no-checkout", "--", dir, id, NULL},
	        NULL, err));
	return fill_tree(&network, dir, id, folders, err);
}

static int clone_shared(const struct tk_clone *c, const char *dir, const char *id,
        const char *folders, struct tk_error *err)
{
	const struct tk_git git = tk_clone_git_context(c, TK_GIT_NETWORK);
	TRY(tk_git_run(&git,
	        (const char *const[]){"clone", "--quiet", "--shared", "--no-checkout",
	                "--template=", "--", c->dir, dir, NULL},
	        NULL, err));
	return fill_tree(&git, dir, id, folders, err);
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
	AUTO_TEXT folders = tk_sources_find(s->sources, ".");
	TRY(find_id(s, rev, id, sizeof(id), err));
	TRY(tk_clone_open(s, TK_FETCH_NONE, &c, err));
	remove_stale_checkouts(s);
	int status = create_folder(s, &made, err);
	if (!status)
		status = s->kind == TK_REPO_SELF ? clone_shared(&c, made, id, folders, err)
		                                 : tk_tree_add(&c, made, id, folders, err);
	AUTO_TEXT url = tk_strdup(s->kind == TK_REPO_SELF && c.dir ? c.dir : s->url);
	const bool local = c.local;
	tk_clone_close(&c);
	if (!status)
		status = tk_submodules_add(s, made, url, local, err);
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
