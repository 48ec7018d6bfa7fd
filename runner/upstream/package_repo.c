/* The revisions of a Python package: its versions, in the order of PEP 440. Pages of the index are
 * kept in the cache, for questions about a named version while the index cannot be reached. */
#include "base/base.h"
#include "upstream/http.h"
#include "upstream/package.h"
#include <sys/stat.h>
#include <time.h>

#define PAGE_MAX ((size_t)64 << 20)
#define METADATA_MAX ((size_t)4 << 20)
#define FRESH_S 300 /* a page that is younger is not fetched again for a named version */

const char *tk_repo_package_name(const struct tk_repo *s)
{
	return s->package ? s->package : s->name;
}

/* ---- pages ---- */

static char *page_url(const char *index, const char *package)
{
	char *url = NULL;
	const size_t len = strlen(index);
	if (asprintf(&url, "%.*s/%s/", (int)(len - (len && index[len - 1] == '/')), index,
	            package) < 0)
		return NULL;
	return url;
}

static int page_path(const struct tk_repo *s, const char *url, char **out, struct tk_error *err)
{
	char *dir = tk_path_join(s->cache_dir, "python/index"), *slug = tk_path_make_slug(url);
	*out = dir && slug ? tk_path_join(dir, slug) : NULL;
	int status = tk_dir_create(dir, err);
	free(dir);
	free(slug);
	return status;
}

static bool is_fresh(const char *path)
{
	struct stat st;
	return stat(path, &st) == 0 && time(NULL) - st.st_mtime < FRESH_S;
}

static int fetch_page(const struct tk_repo *s, const char *url, const char *path,
        struct tk_buf *out, struct tk_error *err)
{
	static const char *const headers[] = {"Accept: application/vnd.pypi.simple.v1+json", NULL};
	const struct tk_http_options options = {
	        .deadline_s = s->deadline_s, .retries = 2, .headers = headers};
	TRY(tk_http_get(url, PAGE_MAX, &options, out, err));
	return tk_file_write_nosync(path, out->data, out->len, err);
}

/* The page of the package on one index. `current`: an answer from the cache is not enough. */
static int read_page(const struct tk_repo *s, const char *index, bool current, struct tk_buf *out,
        struct tk_error *err)
{
	AUTO_TEXT name = tk_package_normalize_name(tk_repo_package_name(s));
	char *url = name ? page_url(index, name) : NULL, *path = NULL;
	struct tk_error why = {0};
	int status = page_path(s, url, &path, err);
	if (!status && !current && is_fresh(path)) {
		status = tk_file_read(path, PAGE_MAX, out, err);
	} else if (!status) {
		status = fetch_page(s, url, path, out, &why);
		if (status && (current || !tk_file_exists(path))) {
			status = tk_fail(err, status, "%s", why.message);
		} else if (status) {
			tk_log(TK_LOG_WARN, "index", NULL, "%s: %s; using its last answer", s->name,
			        why.message);
			tk_buf_clear(out);
			status = tk_file_read(path, PAGE_MAX, out, err);
		}
	}
	free(path);
	free(url);
	return status;
}

static int read_index(const struct tk_repo *s, const char *index, bool current,
        struct tk_package_index *out, struct tk_error *err)
{
	struct tk_buf page = TK_BUF_INIT;
	int status = read_page(s, index, current, &page, err);
	if (!status)
		status = tk_package_index_add(out, tk_repo_package_name(s), index,
		        page.data ? page.data : "", page.len, err);
	tk_buf_free(&page);
	return status ? tk_error_add_context(err, "%s", s->name) : TK_OK;
}

static int read_all(
        const struct tk_repo *s, bool current, struct tk_package_index *out, struct tk_error *err)
{
	*out = (struct tk_package_index){0};
	TRY(read_index(s, s->url ? s->url : TK_PACKAGE_INDEX, current, out, err));
	if (s->extra_index)
		TRY(read_index(s, s->extra_index, current, out, err));
	return TK_OK;
}

/* ---- revisions ---- */

static bool is_listed(const struct tk_repo *s, const struct tk_package_release *r)
{
	return !r->yanked && r->wheel_count && (s->pre || !tk_version_is_pre(&r->version));
}

/* The release that is listed before this one; NULL: none. */
static const struct tk_package_release *find_previous(
        const struct tk_repo *s, const struct tk_package_index *p, size_t index)
{
	while (index-- > 0)
		if (is_listed(s, &p->releases[index]))
			return &p->releases[index];
	return NULL;
}

/* Positions count all versions, so that a later change of `pre` or a yanked one moves nothing. */
static void describe(const struct tk_repo *s, const struct tk_package_index *p, size_t index,
        struct tk_revision *out)
{
	const struct tk_package_release *r = &p->releases[index],
	                                *previous = find_previous(s, p, index);
	*out = (struct tk_revision){.author_time_s = r->time_s,
	        .commit_time_s = r->time_s,
	        .position = (int64_t)index + 1};
	snprintf(out->id, sizeof(out->id), "%s", r->text);
	snprintf(out->parent, sizeof(out->parent), "%s", previous ? previous->text : "");
	snprintf(out->subject, sizeof(out->subject), "%.100s %s", tk_repo_package_name(s), r->text);
}

/* The line "Summary: ..." of the core metadata follows the name and the version in the subject. A
 * release without it is not an error. */
static void add_summary(
        const struct tk_repo *s, const struct tk_package_release *r, struct tk_revision *out)
{
	const struct tk_http_options options = {.deadline_s = 10};
	struct tk_buf text = TK_BUF_INIT;
	char *name = tk_package_normalize_name(tk_repo_package_name(s)), *base = NULL, *url = NULL;
	if (name && r->metadata_url)
		base = page_url(r->index, name);
	if (base)
		url = tk_http_resolve_url(base, r->metadata_url);
	if (url && !tk_http_get(url, METADATA_MAX, &options, &text, NULL)) {
		const char *at = strstr(tk_buf_cstr(&text), "\nSummary: ");
		char line[400];
		if (at) {
			at += strlen("\nSummary: ");
			snprintf(line, sizeof(line), "%.*s", (int)strcspn(at, "\r\n"), at);
			const size_t used = strlen(out->subject);
			snprintf(out->subject + used, sizeof(out->subject) - used, ": ");
			tk_text_copy_line(
			        out->subject + used + 2, sizeof(out->subject) - used - 2, line);
		}
	}
	tk_buf_free(&text);
	free(url);
	free(base);
	free(name);
}

int tk_package_find_newest(const struct tk_repo *s, struct tk_revision *out, struct tk_error *err)
{
	AUTO(tk_package_index) p = {0};
	int status = read_all(s, true, &p, err);
	const struct tk_package_release *newest = status ? NULL : find_previous(s, &p, p.count);
	if (newest) {
		describe(s, &p, (size_t)(newest - p.releases), out);
		add_summary(s, newest, out);
	} else if (!status) {
		status = tk_fail(err, TK_ENOTFOUND,
		        "%s: the index has no version of %s with a wheel", s->name,
		        tk_repo_package_name(s));
	}
	return status;
}

/* p->count: none is equal. */
static size_t find_version(const struct tk_package_index *p, const char *text)
{
	struct tk_version v;
	size_t i = tk_version_parse(text, &v) ? 0 : p->count;
	while (i < p->count && tk_version_compare(&p->releases[i].version, &v))
		i++;
	return i;
}

/* By version; *index is its place. Also versions that are not listed can be named. */
static int locate(const struct tk_repo *s, const struct tk_package_index *p, const char *rev,
        size_t *index, struct tk_error *err)
{
	const char *text = strncmp(rev, "refs/tags/", 10) ? rev : rev + 10;
	*index = find_version(p, text);
	if (*index < p->count && p->releases[*index].wheel_count)
		return TK_OK;
	return tk_fail(
	        err, TK_ENOTFOUND, "%s has no version \"%.80s\" with a wheel", s->name, text);
}

int tk_package_find_revision(
        const struct tk_repo *s, const char *rev, struct tk_revision *out, struct tk_error *err)
{
	AUTO(tk_package_index) p = {0};
	size_t index = 0;
	TRY(read_all(s, false, &p, err));
	TRY(locate(s, &p, rev, &index, err));
	describe(s, &p, index, out);
	add_summary(s, &p.releases[index], out);
	return TK_OK;
}

int tk_package_list_revisions(const struct tk_repo *s, size_t limit, int64_t since_s,
        struct tk_revision **out, size_t *count, struct tk_error *err)
{
	struct tk_package_index p;
	size_t n = 0;
	int status = read_all(s, true, &p, err);
	struct tk_revision *list = status ? NULL : tk_calloc(p.count + 1, sizeof(*list));
	for (size_t i = status ? 0 : p.count; i-- > 0 && (!limit || n < limit);) {
		if (is_listed(s, &p.releases[i]) && p.releases[i].time_s >= since_s)
			describe(s, &p, i, &list[n++]);
	}
	tk_package_index_free(&p);
	if (status)
		return status;
	*out = list;
	*count = n;
	return TK_OK;
}

int tk_package_number_versions(const struct tk_repo *s, const char *const *versions, size_t count,
        int64_t *positions, struct tk_error *err)
{
	AUTO(tk_package_index) p = {0};
	TRY(read_all(s, false, &p, err));
	for (size_t i = 0; i < count; i++) {
		const size_t index = find_version(&p, versions[i]);
		if (index < p.count)
			positions[i] = (int64_t)index + 1;
	}
	return TK_OK;
}

int tk_package_checkout(const struct tk_repo *s, const char *rev, char **dir, struct tk_error *err)
{
	AUTO(tk_package_index) p = {0};
	size_t index = 0;
	TRY(read_all(s, false, &p, err));
	TRY(locate(s, &p, rev, &index, err));
	return tk_package_install(s, &p.releases[index], dir, err);
}
