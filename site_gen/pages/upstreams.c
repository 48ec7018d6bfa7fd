/* upstreams/: the tracked sources, and the revisions of each with their change points. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/file.h"
#include "base/try.h"
#include "site_gen/model/versions.h"
#include "site_gen/pages/page.h"
#include "site_gen/render/escape.h"

void tk_page_set_versions_link(
        struct tk_site *site, struct tk_value *o, const struct tk_upstream_row *u)
{
	char path[TK_PAGE_PATH_SIZE] = "";
	if (tk_upstream_has_versions(&site->model, u))
		tk_page_upstream_path(u, "../versions/", path);
	tk_value_set(o, "versions_href", path);
}

static int write_upstream(
        struct tk_site *site, const struct tk_upstream_row *u, struct tk_error *err)
{
	char title[100], path[TK_PAGE_PATH_SIZE];
	tk_page_upstream_path(u, "upstreams/", path);
	snprintf(title, sizeof title, "%.*s", (int)tk_utf8_clip_len(u->name, 90), u->name);
	struct tk_value *page = tk_page_begin(site, path, title, TK_SECTION_UPSTREAMS);
	tk_page_set_versions_link(site, page, u);
	TRY(tk_page_add_sql(site, page, "upstream", TK_ARGS(u->id), err));
	return tk_page_finish(site, "upstream", path, err);
}

void tk_page_upstream_path(
        const struct tk_upstream_row *u, const char *folder, char path[TK_PAGE_PATH_SIZE])
{
	char *file = tk_path_make_slug(u->name);
	snprintf(path, TK_PAGE_PATH_SIZE, "%s%s.html", folder,
	        strcmp(file, "index") ? file : "index_");
	free(file);
}

int tk_page_write_upstreams(struct tk_site *site, struct tk_error *err)
{
	struct tk_value *page =
	        tk_page_begin(site, "upstreams/index.html", "Upstreams", TK_SECTION_UPSTREAMS);
	TRY(tk_page_add_sql(site, page, "upstreams", TK_NO_ARGS, err));
	TRY(tk_page_finish(site, "upstreams", "upstreams/index.html", err));
	for (size_t i = 0; i < site->model.upstream_rows.count; i++)
		TRY(write_upstream(site,
		        TK_ROWS_AT(&site->model.upstream_rows, struct tk_upstream_row, i), err));
	return 0;
}
