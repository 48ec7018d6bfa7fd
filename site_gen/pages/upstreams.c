/* upstreams/: the tracked sources, and the revisions of each with their change points. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/file.h"
#include "base/format.h"
#include "site_gen/model/links.h"
#include "site_gen/model/versions.h"
#include "site_gen/pages/page.h"
#include "site_gen/render/escape.h"

#define REVISIONS_MAX 500

struct tally {
	size_t revisions, worse, better, series, failed_builds;
	const struct tk_site_revision *newest;
};

static struct tally count_changes(const struct tk_model *m, const struct tk_upstream_row *u)
{
	struct tally t = {0};
	for (size_t i = 0; i < m->revision_changes.revision_count; i++) {
		const struct tk_site_revision *r = &m->revision_changes.revisions[i];
		if (r->row->upstream_id != u->id)
			continue;
		t.revisions++;
		t.worse += r->worse;
		t.better += r->count - r->worse;
		t.newest = r;
	}
	for (size_t i = 0; i < m->series_count; i++)
		t.series += m->series[i].upstream == u;
	return t;
}

static void set_counts(struct tk_site *site, struct tk_value *o, size_t worse, size_t better)
{
	tk_value_set_int(site->arena, o, "worse", (int64_t)worse);
	tk_value_set_int(site->arena, o, "better", (int64_t)better);
	tk_value_set_flag(site->arena, o, "any_worse", worse > 0);
	tk_value_set_flag(site->arena, o, "any_better", better > 0);
}

static void set_upstream(struct tk_site *site, struct tk_value *o, const struct tk_upstream_row *u)
{
	struct tally t = count_changes(&site->model, u);
	char text[TK_FORMAT_SIZE], link[TK_LINK_SIZE];
	tk_page_set_clipped(site, o, "name", u->name, 60);
	tk_page_set_clipped(site, o, "kind", u->kind, 20);
	tk_page_set_clipped(site, o, "url", tk_link_strip_user(u->url, link), 200);
	tk_value_set(site->arena, o, "series", tk_format_count((int64_t)t.series, text));
	tk_value_set(site->arena, o, "revisions", tk_format_count((int64_t)t.revisions, text));
	tk_page_set_revision(site, o, t.newest ? t.newest->row : NULL);
	int64_t commit_time_s = t.newest ? t.newest->row->commit_time_s : 0;
	tk_page_set_time(site, o, "commit_time", commit_time_s);
	tk_value_set_flag(site->arena, o, "dated", commit_time_s != 0);
	set_counts(site, o, t.worse, t.better);
}

/* The newest good build of a revision, else the newest failed one; NULL: none. */
static const struct tk_build_row *find_build(const struct tk_model *m, int64_t revision_id)
{
	const struct tk_build_row *found = NULL;
	size_t count;
	const struct tk_row_index_entry *builds = tk_model_find_builds(m, revision_id, &count);
	for (size_t i = 0; i < count; i++) {
		const struct tk_build_row *b = builds[i].row;
		if (!found || b->status == TK_BUILD_OK || found->status != TK_BUILD_OK)
			found = b;
	}
	return found;
}

static void add_revision(
        struct tk_site *site, struct tk_value *list, const struct tk_site_revision *r)
{
	struct tk_value *o = tk_value_append_object(site->arena, list);
	const struct tk_build_row *build = find_build(&site->model, r->row->id);
	tk_page_set_revision(site, o, r->row);
	tk_page_set_clipped(site, o, "author", r->row->author, 60);
	tk_page_set_time(site, o, "commit_time", r->row->commit_time_s);
	tk_page_set_build(site, o, build);
	set_counts(site, o, r->worse, r->count - r->worse);
}

int tk_page_set_versions_link(struct tk_site *site, struct tk_value *o,
        const struct tk_upstream_row *u, struct tk_error *err)
{
	char path[TK_PAGE_PATH_SIZE] = "";
	int status = tk_upstream_has_versions(&site->model, u)
	                     ? tk_page_upstream_path(u, "../versions/", path, err)
	                     : 0;
	tk_value_set(site->arena, o, "versions_href", path);
	return status;
}

static int write_upstream(struct tk_site *site, const struct tk_upstream_row *u, const char *path,
        struct tk_error *err)
{
	const struct tk_site_changes *changes = &site->model.revision_changes;
	char title[100];
	snprintf(title, sizeof title, "%.*s", (int)tk_utf8_clip_len(u->name, 90), u->name);
	struct tk_value *page = tk_page_begin(site, path, title, TK_SECTION_UPSTREAMS);
	int status = tk_page_set_versions_link(site, page, u, err);
	set_upstream(site, tk_value_set_object(site->arena, page, "upstream"), u);
	struct tk_value *list = tk_value_set_list(site->arena, page, "list");
	size_t shown = 0, all = 0;
	for (size_t i = changes->revision_count; i-- > 0;) {
		if (changes->revisions[i].row->upstream_id != u->id)
			continue;
		all++;
		if (shown < REVISIONS_MAX || changes->revisions[i].count) {
			add_revision(site, list, &changes->revisions[i]);
			shown++;
		}
	}
	tk_value_set_flag(site->arena, page, "cut", shown < all);
	return status ? status : tk_page_finish(site, "upstream", path, err);
}

int tk_page_upstream_path(const struct tk_upstream_row *u, const char *folder,
        char path[TK_PAGE_PATH_SIZE], struct tk_error *err)
{
	char *file = tk_path_make_slug(u->name);
	if (!file)
		return tk_fail(err, TK_ENOMEM, "out of memory");
	snprintf(path, TK_PAGE_PATH_SIZE, "%s%s.html", folder,
	        strcmp(file, "index") ? file : "index_");
	free(file);
	return 0;
}

static int write_list(struct tk_site *site, struct tk_error *err)
{
	struct tk_value *page =
	        tk_page_begin(site, "upstreams/index.html", "Upstreams", TK_SECTION_UPSTREAMS);
	struct tk_value *list = tk_value_set_list(site->arena, page, "list");
	int status = 0;
	for (size_t i = 0; !status && i < site->model.upstream_rows.count; i++) {
		const struct tk_upstream_row *u =
		        TK_ROWS_AT(&site->model.upstream_rows, struct tk_upstream_row, i);
		struct tk_value *o = tk_value_append_object(site->arena, list);
		char path[TK_PAGE_PATH_SIZE];
		status = tk_page_upstream_path(u, "", path, err);
		if (status)
			break;
		set_upstream(site, o, u);
		tk_value_set(site->arena, o, "href", path);
	}
	return status ? status : tk_page_finish(site, "upstreams", "upstreams/index.html", err);
}

int tk_page_write_upstreams(struct tk_site *site, struct tk_error *err)
{
	int status = write_list(site, err);
	for (size_t i = 0; !status && i < site->model.upstream_rows.count; i++) {
		const struct tk_upstream_row *u =
		        TK_ROWS_AT(&site->model.upstream_rows, struct tk_upstream_row, i);
		char path[TK_PAGE_PATH_SIZE];
		status = tk_page_upstream_path(u, "upstreams/", path, err);
		if (!status)
			status = write_upstream(site, u, path, err);
	}
	return status;
}
