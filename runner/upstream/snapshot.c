/* A work tree with uncommitted changes as a commit of its own, in a clone of the tracker's. */
#include "base/base.h"
#include "upstream/clone.h"
#include "upstream/repo.h"

#define SUBJECT "uncommitted changes"

struct snapshot {
	struct tk_clone tree;  /* of the user */
	struct tk_clone clone; /* of the tracker; only `repo`, `dir` and `local` are set */
};

static int run_in_clone(const struct snapshot *s, const char *const *args, char *line, size_t size,
        struct tk_error *err)
{
	const struct tk_git git = tk_clone_git_context(&s->clone, TK_GIT_NETWORK);
	AUTO(tk_buf) out = TK_BUF_INIT;
	TRY(tk_git_run(&git, args, &out, err));
	if (line)
		snprintf(line, size, "%.*s", (int)strcspn(tk_buf_cstr(&out), "\n"),
		        tk_buf_cstr(&out));
	return TK_OK;
}

static int clone_tree(struct snapshot *s, const struct tk_repo *repo, struct tk_error *err)
{
	const struct tk_git git = tk_clone_git_context(&s->tree, TK_GIT_NETWORK);
	AUTO_TEXT parent = tk_path_join(repo->cache_dir, "work");
	TRY(tk_dir_create(parent, err));
	TRY(tk_dir_create_temp(parent, "tree-", &s->clone.dir, err));
	return tk_git_run(&git,
	        (const char *const[]){"clone", "--quiet", "--shared", "--no-checkout",
	                "--template=", "--", s->tree.dir, s->clone.dir, NULL},
	        NULL, err);
}

/* What the user excludes in .git/info/exclude is not part of a clone. */
static int copy_excludes(const struct snapshot *s, struct tk_error *err)
{
	const struct tk_git git = tk_clone_git_context(&s->tree, TK_GIT_LOCAL);
	struct tk_buf out = TK_BUF_INIT, text = TK_BUF_INIT;
	int status = tk_git_run(&git,
	        (const char *const[]){"rev-parse", "--git-path", "info/exclude", NULL}, &out, err);
	AUTO_TEXT line = tk_strndup(tk_buf_cstr(&out), strcspn(tk_buf_cstr(&out), "\n"));
	AUTO_TEXT from = line ? tk_path_join(s->tree.dir, line) : NULL;
	AUTO_TEXT folder = tk_path_join(s->clone.dir, ".git/info");
	AUTO_TEXT to = folder ? tk_path_join(folder, "exclude") : NULL;
	if (!status && tk_file_exists(from)) {
		status = tk_dir_create(folder, err);
		if (!status)
			status = tk_file_read(from, (size_t)1 << 20, &text, err);
		if (!status)
			status = tk_file_write_nosync(to, text.data, text.len, err);
	}
	tk_buf_free(&out);
	tk_buf_free(&text);
	return status;
}

/* The files of the work tree as a tree object of the clone. */
static int write_tree(const struct snapshot *s, char *tree, size_t size, struct tk_error *err)
{
	char work_tree[4200];
	int status = copy_excludes(s, err);
	snprintf(work_tree, sizeof work_tree, "--work-tree=%s", s->tree.dir);
	if (!status)
		status = run_in_clone(
		        s, (const char *const[]){"read-tree", "HEAD", NULL}, NULL, 0, err);
	if (!status)
		status = run_in_clone(s,
		        (const char *const[]){"--git-dir=.git", work_tree, "add", "--all", NULL},
		        NULL, 0, err);
	return status ? status
	              : run_in_clone(s, (const char *const[]){"write-tree", NULL}, tree, size, err);
}

/* At the time of HEAD, by the tracker: equal files make the same commit, whose build is cached. */
static int commit_tree(
        const struct snapshot *s, const char *tree, char *id, size_t size, struct tk_error *err)
{
	char when[64];
	int status = run_in_clone(s,
	        (const char *const[]){
	                "log", "-1", "--format=%cd", "--date=raw", "--no-show-signature", NULL},
	        when, sizeof when, err);
	char author[160], text[700];
	snprintf(author, sizeof author, "tracker <tracker@localhost> %s", when);
	char head[128];
	if (!status)
		status = run_in_clone(s, (const char *const[]){"rev-parse", "HEAD", NULL}, head,
		        sizeof head, err);
	snprintf(text, sizeof text, "tree %s\nparent %s\nauthor %s\ncommitter %s\n\n" SUBJECT "\n",
	        tree, head, author, author);
	AUTO_TEXT path = tk_path_join(s->clone.dir, ".git/snapshot");
	if (!status)
		status = tk_file_write_nosync(path, text, strlen(text), err);
	if (!status)
		status = run_in_clone(s,
		        (const char *const[]){
		                "hash-object", "-t", "commit", "-w", ".git/snapshot", NULL},
		        id, size, err);
	if (!status)
		status = run_in_clone(s,
		        (const char *const[]){"update-ref", "--no-deref", "HEAD", id, NULL}, NULL,
		        0, err);
	return status;
}

static int make_snapshot(
        struct snapshot *s, const struct tk_repo *repo, bool *dirty, struct tk_error *err)
{
	char tree[128], head_tree[128], id[128];
	int status = clone_tree(s, repo, err);
	if (!status)
		status = write_tree(s, tree, sizeof tree, err);
	if (!status)
		status = run_in_clone(s, (const char *const[]){"rev-parse", "HEAD^{tree}", NULL},
		        head_tree, sizeof head_tree, err);
	*dirty = !status && strcmp(tree, head_tree) != 0;
	return status || !*dirty ? status : commit_tree(s, tree, id, sizeof id, err);
}

int tk_repo_snapshot(const struct tk_repo *repo, const char *folder, char **dir,
        struct tk_revision *out, struct tk_error *err)
{
	struct tk_repo user = *repo;
	struct snapshot s = {0};
	struct tk_error why = {0};
	bool dirty = false;
	user.kind = TK_REPO_SELF;
	user.url = folder;
	if (tk_clone_open(&user, TK_FETCH_NONE, &s.tree, &why))
		return tk_fail(err, why.status == TK_ECANCELED ? TK_ECANCELED : TK_EUSAGE, "%s",
		        why.message);
	s.clone = (struct tk_clone){.repo = &user, .local = true};
	int status = make_snapshot(&s, &user, &dirty, err);
	if (status) {
		tk_error_add_context(err, "%s: work tree %s", repo->name, folder);
		tk_repo_remove_checkout(repo, s.clone.dir);
	} else {
		struct tk_repo made = user;
		made.url = s.clone.dir;
		status = tk_repo_find_revision(&made, "HEAD", out, err);
		out->dirty = dirty;
		*dir = s.clone.dir;
	}
	tk_clone_close(&s.tree);
	return status;
}
