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

/* Change points by the revision with which they begin. */
#define COUNTS_CTE \
	"WITH change_count AS (SELECT revision_id, count(*) AS n, sum(worse) AS worse" \
	"  FROM page_change WHERE is_of_revision GROUP BY revision_id)"
#define COUNT_COLUMNS(worse, better) \
	" " worse " AS worse, " better " AS better, " worse " AS 'any_worse?', " better \
	" AS 'any_better?'"

#define UPSTREAM_SQL \
	COUNTS_CTE ", revisions AS (SELECT r.upstream_id, count(*) AS n, sum(c.worse) AS worse," \
	           "  sum(c.n - c.worse) AS better FROM revision r" \
	           "  LEFT JOIN change_count c ON c.revision_id = r.id GROUP BY r.upstream_id)" \
	           " SELECT clip(u.name, 60) AS name, clip(u.kind, 20) AS kind," \
	           " clip(public_url(u.url), 200) AS url," \
	           " counted((SELECT count(*) FROM series WHERE upstream_id = u.id)) AS series," \
	           " counted(ifnull(t.n, 0)) AS revisions, newest.id AS 'revision+'," \
	           " minute(newest.commit_time_s) AS commit_time," \
	           " newest.commit_time_s <> 0 AS 'dated?'," \
	           " iif(slug(u.name) = 'index', 'index_', slug(u.name)) || '.html' AS " \
	           "href," COUNT_COLUMNS("ifnull(t.worse, 0)", \
	                   "ifnull(t.better, 0)") " FROM upstream u LEFT JOIN revisions t ON " \
	                                          "t.upstream_id = u.id" \
	                                          " LEFT JOIN revision newest ON newest.id = " \
	                                          "(SELECT id FROM revision" \
	                                          "  WHERE upstream_id = u.id ORDER BY position " \
	                                          "DESC, commit_time_s DESC, id DESC" \
	                                          "  LIMIT 1)"

/* The newest 500, and older ones with a change point; the newest good build, else the newest. */
static const char revisions_sql[] = COUNTS_CTE
        ", r AS (SELECT *, row_number() OVER (ORDER BY position DESC, commit_time_s DESC, id DESC)"
        "  AS place FROM revision WHERE upstream_id = ?1)"
        " SELECT r.id AS 'revision+', clip(r.author, 60) AS author,"
        " minute(r.commit_time_s) AS commit_time, b.id IS NOT NULL AS 'built?',"
        " b.status AS build_state, tone('build', b.status) AS build_tone,"
        " duration(b.wall_s) AS build_took," COUNT_COLUMNS("ifnull(c.worse, 0)",
                "ifnull(c.n - c.worse, 0)") " FROM r LEFT JOIN change_count c ON c.revision_id = "
                                            "r.id LEFT JOIN build b ON b.id ="
                                            "  (SELECT id FROM build WHERE revision_id = r.id "
                                            "ORDER BY status = 'ok' DESC, id DESC"
                                            "  LIMIT 1) WHERE r.place <= 500 OR c.n ORDER BY "
                                            "r.place";

static const char cut_sql[] = COUNTS_CTE
        ", r AS (SELECT id, row_number() OVER (ORDER BY position DESC, commit_time_s DESC, id DESC)"
        "  AS place FROM revision WHERE upstream_id = ?1)"
        " SELECT EXISTS (SELECT 1 FROM r WHERE place > 500"
        "  AND id NOT IN (SELECT revision_id FROM change_count)) AS 'cut?'";

int tk_page_set_versions_link(struct tk_site *site, struct tk_value *o,
        const struct tk_upstream_row *u, struct tk_error *err)
{
	char path[TK_PAGE_PATH_SIZE] = "";
	if (tk_upstream_has_versions(&site->model, u))
		TRY(tk_page_upstream_path(u, "../versions/", path, err));
	tk_value_set(site->arena, o, "versions_href", path);
	return 0;
}

static int write_upstream(
        struct tk_site *site, const struct tk_upstream_row *u, struct tk_error *err)
{
	const struct tk_cell id = TK_CELL_ID(u->id);
	char title[100], path[TK_PAGE_PATH_SIZE];
	TRY(tk_page_upstream_path(u, "upstreams/", path, err));
	snprintf(title, sizeof title, "%.*s", (int)tk_utf8_clip_len(u->name, 90), u->name);
	struct tk_value *page = tk_page_begin(site, path, title, TK_SECTION_UPSTREAMS);
	TRY(tk_page_set_versions_link(site, page, u, err));
	TRY(tk_page_add_query(
	        site, page, "upstream", UPSTREAM_SQL " WHERE u.id = ?1", &id, 1, NULL, err));
	TRY(tk_page_add_query(site, page, "list", revisions_sql, &id, 1, NULL, err));
	TRY(tk_page_set_query(site, page, cut_sql, &id, 1, err));
	return tk_page_finish(site, "upstream", path, err);
}

int tk_page_upstream_path(const struct tk_upstream_row *u, const char *folder,
        char path[TK_PAGE_PATH_SIZE], struct tk_error *err)
{
	char *file = tk_path_make_slug(u->name);
	(void)err;
	snprintf(path, TK_PAGE_PATH_SIZE, "%s%s.html", folder,
	        strcmp(file, "index") ? file : "index_");
	free(file);
	return 0;
}

int tk_page_write_upstreams(struct tk_site *site, struct tk_error *err)
{
	struct tk_value *page =
	        tk_page_begin(site, "upstreams/index.html", "Upstreams", TK_SECTION_UPSTREAMS);
	TRY(tk_page_add_query(
	        site, page, "list", UPSTREAM_SQL " ORDER BY u.name", NULL, 0, NULL, err));
	TRY(tk_page_finish(site, "upstreams", "upstreams/index.html", err));
	for (size_t i = 0; i < site->model.upstream_rows.count; i++)
		TRY(write_upstream(site,
		        TK_ROWS_AT(&site->model.upstream_rows, struct tk_upstream_row, i), err));
	return 0;
}
