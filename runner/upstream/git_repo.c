/* Reading revisions: the newest one, one by name, the history. */
#include "base/base.h"
#include "upstream/clone.h"
#include "upstream/package.h"
#include "upstream/repo.h"
#include <errno.h>
#include <fnmatch.h>

/* ---- `git log -z`, whose output is not trusted ---- */

/* With -z every field of every record ends with NUL. */
#define LOG_FORMAT "--format=tformat:%H%x00%P%x00%at%x00%ct%x00%an%x00%s"
#define FIELDS 6

static int parse_time(const char *text, int64_t *out, struct tk_error *err)
{
	char *end;
	errno = 0;
	const long long v = strtoll(text, &end, 10);
	if (errno || end == text || *end)
		return tk_fail(err, TK_EDATA, "git log: \"%.40s\" is not a time", text);
	*out = v;
	return TK_OK;
}

static int parse_hash(const char *text, size_t len, char *out, size_t size, struct tk_error *err)
{
	if (len < 40 || len >= size || strspn(text, "0123456789abcdef") < len)
		return tk_fail(err, TK_EDATA, "git log: \"%.*s\" is not a commit",
		        (int)(len < 80 ? len : 80), text);
	memcpy(out, text, len);
	out[len] = '\0';
	return TK_OK;
}

static int parse_record(
        const char *const fields[FIELDS], struct tk_revision *r, struct tk_error *err)
{
	memset(r, 0, sizeof(*r));
	TRY(parse_hash(fields[0], strlen(fields[0]), r->id, sizeof(r->id), err));
	const size_t parent_len = strcspn(fields[1], " ");
	if (parent_len)
		TRY(parse_hash(fields[1], parent_len, r->parent, sizeof(r->parent), err));
	TRY(parse_time(fields[2], &r->author_time_s, err));
	TRY(parse_time(fields[3], &r->commit_time_s, err));
	tk_text_copy_line(r->author, sizeof(r->author), fields[4]);
	tk_text_copy_line(r->subject, sizeof(r->subject), fields[5]);
	return TK_OK;
}

static size_t count_records(const char *data, size_t len)
{
	size_t ends = 0;
	for (size_t i = 0; i < len; i++)
		ends += data[i] == '\0';
	return ends / FIELDS;
}

/* Parses the whole output. *out (caller frees) is NULL if there are no records. Positions are left
 * 0. */
static int parse_log(
        const char *data, size_t len, struct tk_revision **out, size_t *count, struct tk_error *err)
{
	const size_t n = count_records(data, len);
	*out = NULL;
	*count = 0;
	if (!len)
		return TK_OK;
	if (!n || data[len - 1] != '\0')
		return tk_fail(err, TK_EDATA, "git log: truncated output");
	struct tk_revision *list = tk_calloc(n, sizeof(*list));
	const char *p = data;
	for (size_t i = 0; i < n; i++) {
		const char *fields[FIELDS];
		for (size_t f = 0; f < FIELDS; f++, p += strlen(p) + 1)
			fields[f] = p;
		if (parse_record(fields, &list[i], err)) {
			free(list);
			return TK_EDATA;
		}
	}
	if (p != data + len) {
		free(list);
		return tk_fail(
		        err, TK_EDATA, "git log: the output has a part of a record at its end");
	}
	*out = list;
	*count = n;
	return TK_OK;
}

/* ---- revisions ---- */

#define HASH_SIZE 128

#define PATHS_MAX 16 /* of one upstream */

struct pathspecs {
	char *list[PATHS_MAX];
	size_t count;
};

static void pathspecs_free(struct pathspecs *p)
{
	for (size_t i = 0; i < p->count; i++)
		free(p->list[i]);
}

/* ":(top,literal)<path>" for each of `paths`, separated by colons: a path is a name, never a
 * pattern. */
static int add_pathspecs(
        const struct tk_repo *s, const char *paths, struct pathspecs *p, struct tk_error *err)
{
	for (size_t len; *paths; paths += len + (paths[len] == ':')) {
		len = strcspn(paths, ":");
		if (!len)
			continue;
		if (p->count == PATHS_MAX)
			return tk_fail(
			        err, TK_ECONFIG, "%s: more than %d paths", s->name, PATHS_MAX);
		p->list[p->count] = tk_sprintf(":(top,literal)%.*s", (int)len, paths);
		p->count++;
	}
	return TK_OK;
}

/* git log over first parents from `from`. since_s 0: any time. */
static int read_log(const struct tk_clone *c, const char *from, const char *path, size_t limit,
        int64_t since_s, struct tk_revision **out, size_t *count, struct tk_error *err)
{
	char max_count[40], max_age[40];
	struct tk_git git = tk_clone_git_context(c, TK_GIT_LOCAL);
	git.capture_max = (size_t)256 << 20;
	struct pathspecs specs = {.count = 0};
	struct tk_buf text = TK_BUF_INIT;
	const char *args[TK_GIT_ARGS_MAX] = {
	        "log", "--first-parent", "--no-show-signature", "-z", LOG_FORMAT};
	size_t n = 5;
	if (limit) {
		snprintf(max_count, sizeof(max_count), "--max-count=%zu", limit);
		args[n++] = max_count;
	}
	if (since_s) {
		snprintf(max_age, sizeof(max_age), "--max-age=%lld", (long long)since_s);
		args[n++] = max_age;
	}
	args[n++] = from;
	args[n++] = "--";
	int status = path ? add_pathspecs(c->repo, path, &specs, err) : TK_OK;
	for (size_t i = 0; i < specs.count; i++)
		args[n++] = specs.list[i];
	if (!status)
		status = tk_git_run(&git, args, &text, err);
	if (!status)
		status = parse_log(text.data, text.len, out, count, err);
	tk_buf_free(&text);
	pathspecs_free(&specs);
	return status;
}

/* 0 in a shallow repository: nobody knows how many commits it lacks. */
static int count_first_parents(
        const struct tk_clone *c, const char *id, int64_t *position, struct tk_error *err)
{
	const struct tk_git git = tk_clone_git_context(c, TK_GIT_LOCAL);
	struct tk_buf shallow = TK_BUF_INIT, text = TK_BUF_INIT;
	int status = tk_git_run(&git,
	        (const char *const[]){"rev-parse", "--is-shallow-repository", NULL}, &shallow, err);
	if (!status)
		status = tk_git_run(&git,
		        (const char *const[]){
		                "rev-list", "--first-parent", "--count", id, "--", NULL},
		        &text, err);
	if (!status)
		*position = strncmp(tk_buf_cstr(&shallow), "true", 4) == 0
		                    ? 0
		                    : strtoll(tk_buf_cstr(&text), NULL, 10);
	tk_buf_free(&shallow);
	tk_buf_free(&text);
	return status;
}

static int describe(const struct tk_clone *c, const char *id, const char *path,
        struct tk_revision *out, struct tk_error *err)
{
	struct tk_revision *list = NULL;
	size_t count = 0;
	int status = read_log(c, id, path, 1, 0, &list, &count, err);
	if (!status && !count)
		status = path ? tk_fail(err, TK_ENOTFOUND, "%s: no commit touches %s",
		                        c->repo->name, path)
		              : tk_fail(err, TK_ENOTFOUND, "%s: no commit", c->repo->name);
	if (!status)
		status = count_first_parents(c, list[0].id, &list[0].position, err);
	if (!status)
		*out = list[0];
	free(list);
	return status;
}

/* Uncommitted changes of tracked files. They are not measured. */
static int look_dirty(const struct tk_clone *c, bool *dirty, struct tk_error *err)
{
	const struct tk_git git = tk_clone_git_context(c, TK_GIT_LOCAL);
	int code = 0;
	TRY(tk_git_query(&git,
	        (const char *const[]){
	                "diff", "--quiet", "--no-ext-diff", "--no-textconv", "HEAD", "--", NULL},
	        &code, NULL, err));
	*dirty = code != 0;
	return TK_OK;
}

static int find_tip(const struct tk_clone *c, char *id, struct tk_error *err)
{
	const int status = tk_clone_resolve(c, c->tip, id, HASH_SIZE, err);
	if (status == TK_ENOTFOUND)
		return tk_fail(
		        err, TK_ENOTFOUND, "%s: the repository has no commit yet", c->repo->name);
	return status;
}

int tk_repo_find_newest(const struct tk_repo *s, struct tk_revision *out, struct tk_error *err)
{
	struct tk_clone c;
	struct tk_revision r;
	char id[HASH_SIZE];
	if (s->kind == TK_REPO_PACKAGE)
		return tk_package_find_newest(s, out, err);
	int status = tk_clone_open(s, TK_FETCH_TIP, &c, err);
	if (status)
		return status;
	status = find_tip(&c, id, err);
	if (!status)
		status = describe(&c, id, s->path, &r, err);
	if (!status && s->kind == TK_REPO_SELF)
		status = look_dirty(&c, &r.dirty, err);
	if (!status)
		*out = r;
	tk_clone_close(&c);
	return status;
}

static bool looks_like_hash(const char *rev)
{
	const size_t len = strlen(rev);
	return len >= 7 && len <= 64 && strspn(rev, "0123456789abcdef") == len;
}

static bool is_full_hash(const char *rev)
{
	return looks_like_hash(rev) && (strlen(rev) == 40 || strlen(rev) == 64);
}

/* A ref that is neither a branch nor a tag, such as that of a pull request. */
static bool is_special_ref(const char *rev)
{
	return !strncmp(rev, "refs/", 5) && strncmp(rev, "refs/heads/", 11) != 0 &&
	       strncmp(rev, "refs/tags/", 10) != 0;
}

/* The full hash of `rev`, fetched if the clone lacks it. */
static int locate(const struct tk_clone *c, const char *rev, char *id, struct tk_error *err)
{
	const bool self = c->repo->kind == TK_REPO_SELF;
	int status = tk_git_check_rev(rev, err);
	if (status)
		return tk_error_add_context(err, "%s", c->repo->name);
	if (self || looks_like_hash(rev)) {
		status = tk_clone_resolve(c, rev, id, HASH_SIZE, err);
		/* A hash or its beginning always names the same commit: no fetch is needed if the
		 * clone has it. A tag "20260301" may have moved. */
		if (self || (!status && strncmp(id, rev, strlen(rev)) == 0))
			return status;
	}
	TRY(is_special_ref(rev) ? tk_clone_fetch_ref(c, rev, err)
	                        : tk_clone_fetch(c, TK_FETCH_ALL, err));
	char from_tip[5000];
	if (!strncmp(rev, "HEAD", 4) &&
	        (!rev[4] || rev[4] == '~' || rev[4] == '^')) { /* of the followed branch */
		snprintf(from_tip, sizeof(from_tip), "%s%s", c->tip, rev + 4);
		return tk_clone_resolve(c, from_tip, id, HASH_SIZE, err);
	}
	status = tk_clone_resolve(c, rev, id, HASH_SIZE, err);
	if (status != TK_ENOTFOUND || !is_full_hash(rev))
		return status;
	struct tk_error ignored; /* "no such revision" is clearer than the server's message */
	if (tk_clone_fetch_commit(c, rev, &ignored))
		return status;
	return tk_clone_resolve(c, rev, id, HASH_SIZE, err);
}

int tk_repo_find_revision(
        const struct tk_repo *s, const char *rev, struct tk_revision *out, struct tk_error *err)
{
	struct tk_clone c;
	char id[HASH_SIZE];
	if (s->kind == TK_REPO_PACKAGE)
		return tk_package_find_revision(s, rev, out, err);
	int status = tk_clone_open(s, TK_FETCH_NONE, &c, err);
	if (status)
		return status;
	status = locate(&c, rev, id, err);
	if (!status)
		status = describe(&c, id, NULL, out, err);
	tk_clone_close(&c);
	return status;
}

/* ---- history ---- */

/* Positions count down; with a path, the filtered list is matched against all first parents. */
static int number(const struct tk_clone *c, const char *tip, const char *path,
        struct tk_revision *list, size_t count, struct tk_error *err)
{
	int64_t position = 0;
	int status = count_first_parents(c, tip, &position, err);
	if (status || !position)
		return status;
	if (!path) {
		for (size_t i = 0; i < count; i++)
			list[i].position = position - (int64_t)i;
		return TK_OK;
	}
	struct tk_git git = tk_clone_git_context(c, TK_GIT_LOCAL);
	git.capture_max = (size_t)256 << 20;
	AUTO(tk_buf) all = TK_BUF_INIT;
	status = tk_git_run(&git,
	        (const char *const[]){"rev-list", "--first-parent", tip, "--", NULL}, &all, err);
	size_t i = 0;
	for (const char *line = tk_buf_cstr(&all); !status && *line && i < count; position--) {
		const size_t len = strcspn(line, "\n");
		if (strlen(list[i].id) == len && !memcmp(list[i].id, line, len))
			list[i++].position = position;
		line += len + (line[len] == '\n');
	}
	return status;
}

int tk_repo_list_revisions(const struct tk_repo *s, size_t limit, int64_t since_s,
        struct tk_revision **out, size_t *count, struct tk_error *err)
{
	struct tk_clone c;
	char id[HASH_SIZE];
	struct tk_revision *list = NULL;
	size_t n = 0;
	if (s->kind == TK_REPO_PACKAGE)
		return tk_package_list_revisions(s, limit, since_s, out, count, err);
	int status = tk_clone_open(s, TK_FETCH_TIP, &c, err);
	if (status)
		return status;
	status = find_tip(&c, id, err);
	if (!status)
		status = read_log(&c, id, s->path, limit, since_s, &list, &n, err);
	if (!status)
		status = number(&c, id, s->path, list, n, err);
	tk_clone_close(&c);
	if (status) {
		free(list);
		return status;
	}
	*out = list;
	*count = n;
	return TK_OK;
}

/* ---- tags ---- */

static int newest_first(const void *a, const void *b)
{
	const struct tk_revision *x = a, *y = b;
	if (x->commit_time_s != y->commit_time_s)
		return x->commit_time_s < y->commit_time_s ? 1 : -1;
	return strcmp(x->id, y->id);
}

/* A tag of something else than a commit is left out. */
static int add_tag(const struct tk_clone *c, const char *name, int64_t since_s,
        struct tk_revision *list, size_t *n, struct tk_error *err)
{
	char id[HASH_SIZE], ref[512];
	struct tk_error ignored;
	snprintf(ref, sizeof ref, "refs/tags/%s", name);
	if (tk_clone_resolve(c, ref, id, sizeof id, &ignored))
		return TK_OK;
	for (size_t i = 0; i < *n; i++)
		if (strcmp(list[i].id, id) == 0)
			return TK_OK;
	TRY(describe(c, id, NULL, &list[*n], err));
	*n += list[*n].commit_time_s >= since_s;
	return TK_OK;
}

static int list_git_tags(const struct tk_repo *s, const char *pattern, int64_t since_s,
        struct tk_revision **out, size_t *count, struct tk_error *err)
{
	struct tk_clone c;
	AUTO(tk_buf) names = TK_BUF_INIT;
	size_t lines = 0, n = 0;
	TRY(tk_clone_open(s, TK_FETCH_ALL, &c, err));
	const struct tk_git git = tk_clone_git_context(&c, TK_GIT_LOCAL);
	int status = tk_git_run(&git,
	        (const char *const[]){
	                "for-each-ref", "--format=%(refname:lstrip=2)", "refs/tags", NULL},
	        &names, err);
	for (const char *p = tk_buf_cstr(&names); *p; p++)
		lines += *p == '\n';
	struct tk_revision *list = tk_calloc(lines + 1, sizeof *list);
	char *rest = names.data;
	for (char *name; !status && (name = strsep(&rest, "\n"));)
		if (*name && fnmatch(pattern, name, 0) == 0)
			status = add_tag(&c, name, since_s, list, &n, err);
	tk_clone_close(&c);
	tk_sort(list, n, sizeof *list, newest_first);
	*out = list;
	*count = n;
	return status;
}

int tk_repo_list_tags(const struct tk_repo *s, const char *pattern, int64_t since_s,
        struct tk_revision **out, size_t *count, struct tk_error *err)
{
	size_t n = 0, kept = 0;
	if (s->kind != TK_REPO_PACKAGE)
		return list_git_tags(s, pattern, since_s, out, count, err);
	TRY(tk_package_list_revisions(s, 0, since_s, out, &n, err));
	for (size_t i = 0; i < n; i++)
		if (fnmatch(pattern, (*out)[i].id, 0) == 0)
			(*out)[kept++] = (*out)[i];
	*count = kept;
	return TK_OK;
}

int tk_repo_number_versions(const struct tk_repo *s, const char *const *versions, size_t count,
        int64_t *positions, struct tk_error *err)
{
	return s->kind == TK_REPO_PACKAGE
	               ? tk_package_number_versions(s, versions, count, positions, err)
	               : TK_OK;
}
