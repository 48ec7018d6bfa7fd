/* What two commits have different, by name alone: no content is fetched. */
#include "base/base.h"
#include "upstream/clone.h"
#include "upstream/repo.h"

#define OUTPUT_MAX_BYTES ((size_t)64 << 20)
#define MODE_LINK "120000"
#define MODE_SUBMODULE "160000"

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

int tk_repo_list_changes(const struct tk_repo *s, const char *from, const char *to,
        struct tk_changes *out, struct tk_error *err)
{
	struct tk_clone c;
	AUTO(tk_buf) text = TK_BUF_INIT;
	TRY(tk_clone_open(s, TK_FETCH_NONE, &c, err));
	struct tk_git git = tk_clone_git_context(&c, TK_GIT_LOCAL);
	git.capture_max = OUTPUT_MAX_BYTES;
	int status = tk_git_check_rev(from, err);
	if (!status)
		status = tk_git_check_rev(to, err);
	if (!status)
		status = tk_git_run(&git,
		        (const char *const[]){"diff-tree", "-r", "-z", "--raw", "--no-renames",
		                "--no-abbrev", from, to, "--", NULL},
		        &text, err);
	tk_clone_close(&c);
	const char *at = tk_buf_cstr(&text), *end = at + text.len;
	while (!status && at < end) {
		const char *path = at + strlen(at) + 1;
		if (path >= end)
			return tk_fail(err, TK_EDATA, "git diff-tree: truncated output");
		status = add_change(out, at, path, err);
		at = path + strlen(path) + 1;
	}
	return status;
}
