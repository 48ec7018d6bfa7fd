/* What two commits have different, by name alone: no content is fetched, of a submodule its trees
 * where its clone lacks them. */
#include "base/base.h"
#include "upstream/clone.h"
#include "upstream/repo.h"

#define OUTPUT_MAX_BYTES ((size_t)64 << 20)
#define MODE_LINK "120000"
#define MODE_SUBMODULE "160000"

/* The repository that the changes are of. */
struct origin {
	const struct tk_repo *repo;
	char *url;
	bool local;
	struct tk_buf modules; /* .gitmodules of the newer commit */
};

static void origin_free(struct origin *o)
{
	free(o->url);
	tk_buf_free(&o->modules);
}

void tk_changes_free(struct tk_changes *c)
{
	for (size_t i = 0; i < c->count; i++)
		free(c->list[i].path);
	free(c->list);
}

/* ":100644 100755 <hash> <hash> M", then the path. */
static int add_change(
        struct tk_changes *c, const char *entry, const char *path, struct tk_error *err)
{
	if (entry[0] != ':' || strlen(entry) < 16 || entry[7] != ' ')
		return tk_fail(err, TK_EDATA, "git diff-tree: \"%.80s\" is not a change", entry);
	const bool is_link = !strncmp(entry + 1, MODE_LINK, 6) || !strncmp(entry + 8, MODE_LINK, 6);
	const bool is_submodule =
	        !strncmp(entry + 1, MODE_SUBMODULE, 6) || !strncmp(entry + 8, MODE_SUBMODULE, 6);
	c->list = tk_reallocarray(c->list, c->count + 1, sizeof *c->list);
	c->list[c->count++] = (struct tk_change){.path = tk_strdup(path),
	        .kind = is_submodule                      ? TK_CHANGE_SUBMODULE
	                : is_link                         ? TK_CHANGE_LINK
	                : entry[strlen(entry) - 1] == 'A' ? TK_CHANGE_ADDED
	                                                  : TK_CHANGE_FILE};
	return TK_OK;
}

/* Both commits of a submodule, ":160000 160000 <id> <id> M". */
static bool parse_bump(const char *entry, char from[128], char to[128])
{
	return sscanf(entry, ":" MODE_SUBMODULE " " MODE_SUBMODULE " %127[0-9a-f] %127[0-9a-f] M",
	               from, to) == 2;
}

/* In any clone. */
static int diff(const struct tk_clone *c, const char *from, const char *to, struct tk_buf *out,
        struct tk_error *err)
{
	struct tk_git git = tk_clone_git_context(c, TK_GIT_LOCAL);
	git.capture_max = OUTPUT_MAX_BYTES;
	return tk_git_run(&git,
	        (const char *const[]){"diff-tree", "-r", "-z", "--raw", "--no-renames",
	                "--no-abbrev", from, to, "--", NULL},
	        out, err);
}

/* What is different inside of a submodule, of which a build had the older commit. An error: that is
 * not known. */
static int diff_submodule(const struct origin *o, const char *path, const char *from,
        const char *to, struct tk_buf *out, struct tk_error *err)
{
	AUTO(tk_submodule) m = {0};
	char id[128];
	TRY(tk_submodule_open(o->repo, o->url, o->local, "", path, &o->modules, NULL, &m, err));
	TRY(tk_clone_resolve(&m.clone, from, id, sizeof(id), err));
	TRY(tk_clone_need_commit(&m.clone, to, err));
	return diff(&m.clone, from, to, out, err);
}

/* The changes of a list, with `prefix` before their paths: the files of a submodule where its clone
 * tells them, else the submodule as a whole. */
static int add_changes(struct tk_changes *c, const struct origin *o, const struct tk_buf *text,
        const char *prefix, struct tk_error *err)
{
	const char *at = text->data, *end = at + text->len;
	while (at && at < end) {
		AUTO(tk_buf) inside = TK_BUF_INIT;
		const char *path = at + strlen(at) + 1;
		char from[128], to[128];
		struct tk_error why = {0};
		if (path >= end)
			return tk_fail(err, TK_EDATA, "git diff-tree: truncated output");
		AUTO_TEXT full = tk_sprintf("%s%s", prefix, path);
		AUTO_TEXT folder = tk_sprintf("%s/", full);
		if (!*prefix && parse_bump(at, from, to) &&
		        !diff_submodule(o, path, from, to, &inside, &why))
			TRY(add_changes(c, o, &inside, folder, err));
		else
			TRY(add_change(c, at, full, err));
		at = path + strlen(path) + 1;
	}
	return TK_OK;
}

int tk_repo_list_changes(const struct tk_repo *s, const char *from, const char *to,
        struct tk_changes *out, struct tk_error *err)
{
	struct tk_clone c;
	AUTO(tk_buf) text = TK_BUF_INIT;
	AUTO(origin) o = {.repo = s};
	struct tk_error ignored;
	TRY(tk_git_check_rev(from, err));
	TRY(tk_git_check_rev(to, err));
	TRY(tk_clone_open(s, TK_FETCH_NONE, &c, err));
	AUTO_TEXT blob = tk_sprintf("%s:.gitmodules", to);
	int status = diff(&c, from, to, &text, err);
	if (!status && tk_modules_file_read(c.dir, blob, &o.modules, &ignored))
		tk_buf_free(&o.modules); /* without: each is changed as a whole */
	o.url = tk_strdup(s->kind == TK_REPO_SELF ? c.dir : s->url);
	o.local = c.local;
	tk_clone_close(&c);
	return status ? status : add_changes(out, &o, &text, "", err);
}
