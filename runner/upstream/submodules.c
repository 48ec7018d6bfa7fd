/* Submodules: each is a work tree of a clone in the cache that all upstreams share, and holds only
 * what the adapter's `sources` names. */
#include "base/base.h"
#include "upstream/clone.h"
#include "upstream/repo.h"

#define DEPTH_MAX 8 /* of submodules in submodules */

/* A repository whose submodules are added. */
struct parent {
	const struct tk_repo *repo; /* of the upstream */
	const char *dir;            /* its work tree */
	const char *url;
	const char *prefix; /* its path in the upstream's, with a "/" at the end; "": the same */
	bool local;         /* may have submodules that are local paths */
	int depth;
};

/* ---- `sources` ---- */

char *tk_sources_find(const char *sources, const char *path)
{
	for (const char *line = sources; line && *line;) {
		const size_t len = strcspn(line, "#\n"), begin = strspn(line, " \t");
		const size_t word = strcspn(line + begin, " \t#\n");
		if (word == strlen(path) && !strncmp(line + begin, path, word))
			return tk_strndup(line + begin + word, len - begin - word);
		line += strcspn(line, "\n");
		line += *line == '\n';
	}
	return NULL;
}

enum need { UNWANTED, OPTIONAL, NEEDED };

static bool is_word(const struct tk_repo *s, const char *word)
{
	return !strcmp(s->submodules[0], word);
}

/* *folders: what of it is checked out, a new text or NULL. */
static enum need find_need(const struct tk_repo *s, const char *path, bool nested, char **folders)
{
	*folders = tk_sources_find(s->sources, path);
	if (is_word(s, "yes"))
		return *folders ? NEEDED : s->sources || nested ? UNWANTED : OPTIONAL;
	if (is_word(s, "recursive"))
		return *folders ? NEEDED : OPTIONAL;
	for (char *const *name = s->submodules; *name; name++)
		if (!strcmp(*name, path))
			return NEEDED;
	return UNWANTED;
}

static bool has_needed_below(const struct tk_repo *s, const char *path)
{
	AUTO_TEXT folder = tk_sprintf("%s/", path);
	if (is_word(s, "recursive"))
		return true;
	if (is_word(s, "yes")) /* a line begins with it */
		return s->sources && strstr(s->sources, folder);
	for (char *const *name = s->submodules; *name; name++)
		if (!strncmp(*name, folder, strlen(folder)))
			return true;
	return false;
}

/* ---- .gitmodules ---- */

/* What git does with a URL that begins with ./ or ../ */
static char *resolve_url(const char *parent, const char *url)
{
	if (strncmp(url, "./", 2) && strncmp(url, "../", 3))
		return tk_strdup(url);
	AUTO_TEXT base = tk_strdup(parent);
	for (;;) {
		size_t len = strlen(base);
		while (len > 1 && base[len - 1] == '/')
			base[--len] = '\0';
		if (!strncmp(url, "./", 2)) {
			url += 2;
			continue;
		}
		if (strncmp(url, "../", 3))
			break;
		url += 3;
		char *slash = strrchr(base, '/'), *colon = strrchr(base, ':');
		if (slash && (!colon || slash > colon) && slash > base)
			*slash = '\0';
		else if (colon && colon[1])
			colon[1] = '\0';
	}
	const size_t len = strlen(base);
	return tk_sprintf("%s%s%s", base, len && base[len - 1] == ':' ? "" : "/", url);
}

/* The value of "submodule.NAME.KEY" in the output of `git config -z --list`. */
static const char *find_setting(
        const struct tk_buf *list, const char *name, size_t name_len, const char *key)
{
	const char *end = list->data + list->len, *found = NULL;
	for (const char *p = list->data; p && p < end; p += strlen(p) + 1) {
		const char *value = strchr(p, '\n');
		if (value && !strncmp(p, "submodule.", 10) && !strncmp(p + 10, name, name_len) &&
		        p[10 + name_len] == '.' && !strncmp(p + 11 + name_len, key, strlen(key)) &&
		        p + 11 + name_len + strlen(key) == value)
			found = value + 1;
	}
	return found;
}

/* NULL: there is none. */
static const char *find_url(const struct tk_buf *list, const char *path)
{
	const char *end = list->data + list->len;
	for (const char *p = list->data; p && p < end; p += strlen(p) + 1) {
		const char *value = strchr(p, '\n');
		if (!value || strncmp(p, "submodule.", 10) || value - p < 16 ||
		        strncmp(value - 5, ".path", 5) || strcmp(value + 1, path))
			continue;
		return find_setting(list, p + 10, (size_t)(value - 5 - (p + 10)), "url");
	}
	return NULL;
}

int tk_modules_file_read(
        const char *dir, const char *blob, struct tk_buf *out, struct tk_error *err)
{
	const struct tk_git git = {.dir = dir, .mode = TK_GIT_NETWORK, .deadline_s = 60};
	AUTO_TEXT file = tk_path_join(dir, ".gitmodules");
	if (!blob && !tk_file_exists(file))
		return TK_OK;
	return tk_git_run(&git,
	        (const char *const[]){"config", "-z", blob ? "--blob" : "-f",
	                blob ? blob : ".gitmodules", "--list", NULL},
	        out, err);
}

/* ---- one submodule ---- */

void tk_submodule_free(struct tk_submodule *m)
{
	tk_clone_close(&m->clone);
	free(m->name);
	free(m->url);
}

int tk_submodule_open(const struct tk_repo *parent, const char *url, bool local, const char *prefix,
        const char *path, const struct tk_buf *modules, const char *id, struct tk_submodule *m,
        struct tk_error *err)
{
	const char *own = find_url(modules, path);
	m->name = tk_sprintf("%s: submodule %s%s", parent->name, prefix, path);
	if (!own)
		return tk_fail(err, TK_EDATA, "%s: .gitmodules has no URL of it", m->name);
	m->url = resolve_url(url, own);
	if (tk_git_check_url(m->url, err))
		return tk_error_add_context(err, "%s", m->name);
	m->local = tk_git_url_is_local(m->url);
	if (m->local && !local)
		return tk_fail(err, TK_ECONFIG,
		        "%s: \"%.200s\" is a path of this machine; expected https, ssh or git",
		        m->name, m->url);
	m->repo = *parent;
	m->repo.kind = TK_REPO_GIT;
	m->repo.name = m->name;
	m->repo.url = m->url;
	m->repo.branch = m->repo.path = NULL;
	return tk_clone_open_commit(&m->repo, id, &m->clone, err);
}

static int add_all(const struct parent *p, struct tk_error *err);

static int add_one(const struct parent *p, const char *path, const char *id,
        const struct tk_buf *modules, const char *folders, struct tk_error *err)
{
	AUTO(tk_submodule) m = {0};
	AUTO_TEXT dir = tk_path_join(p->dir, path);
	TRY(tk_submodule_open(p->repo, p->url, p->local, p->prefix, path, modules, id, &m, err));
	int status = tk_dir_create(dir, err);
	if (!status)
		status = tk_tree_add(&m.clone, dir, id, folders, err);
	tk_clone_close(&m.clone);
	if (status)
		return tk_error_add_context(err, "%s", m.name);
	AUTO_TEXT inside = tk_sprintf("%s%s", p->prefix, path);
	if (!has_needed_below(p->repo, inside))
		return TK_OK;
	if (p->depth == DEPTH_MAX)
		return tk_fail(err, TK_EDATA, "%s: more than %d submodules in each other", m.name,
		        DEPTH_MAX);
	AUTO_TEXT prefix = tk_sprintf("%s/", inside);
	const struct parent below = {.repo = p->repo,
	        .dir = dir,
	        .url = m.url,
	        .prefix = prefix,
	        .local = p->local && m.local,
	        .depth = p->depth + 1};
	return add_all(&below, err);
}

/* "160000 <id> 0\t<path>" of the index, whose paths git has checked. */
static int add_entry(const struct parent *p, const char *entry, const struct tk_buf *modules,
        struct tk_error *err)
{
	char id[128];
	const char *path = strchr(entry, '\t');
	if (!path || sscanf(entry, "160000 %127[0-9a-f] 0", id) != 1)
		return TK_OK;
	path++;
	AUTO_TEXT inside = tk_sprintf("%s%s", p->prefix, path);
	AUTO_TEXT folders = NULL;
	const enum need need = find_need(p->repo, inside, *p->prefix != '\0', &folders);
	struct tk_error why = {0};
	if (need == UNWANTED)
		return TK_OK;
	const int status = add_one(p, path, id, modules, folders, &why);
	if (!status)
		return TK_OK;
	if (need == NEEDED || status == TK_ECANCELED)
		return tk_fail(err, status, "%s", why.message);
	tk_log(TK_LOG_WARN, "submodule_left_out", NULL,
	        "%s; left out: no file `sources` of the adapter says that it is needed",
	        why.message);
	return TK_OK;
}

static int add_all(const struct parent *p, struct tk_error *err)
{
	const struct tk_git git = {.dir = p->dir,
	        .mode = TK_GIT_LOCAL,
	        .deadline_s = 60,
	        .capture_max = (size_t)256 << 20};
	AUTO(tk_buf) index = TK_BUF_INIT;
	AUTO(tk_buf) modules = TK_BUF_INIT;
	TRY(tk_git_run(
	        &git, (const char *const[]){"ls-files", "--stage", "-z", NULL}, &index, err));
	TRY(tk_modules_file_read(p->dir, NULL, &modules, err));
	const char *end = index.data + index.len;
	for (const char *entry = index.data; entry && entry < end; entry += strlen(entry) + 1)
		TRY(add_entry(p, entry, &modules, err));
	return TK_OK;
}

int tk_submodules_add(
        const struct tk_repo *s, const char *dir, const char *url, bool local, struct tk_error *err)
{
	const struct parent top = {.repo = s, .dir = dir, .url = url, .prefix = "", .local = local};
	return s->submodules && s->submodules[0] ? add_all(&top, err) : TK_OK;
}
