/* revisions/NAME.html: one commit: its change points, its builds and its machine code. */
#include <stdio.h>

#include "base/error.h"
#include "base/try.h"
#include "site_gen/pages/page.h"
#include "site_gen/render/escape.h"

#define VERDICTS_MAX 300

/* ---- of the revision ?1 ---------------------------------------------------------------------- */

static const char revision_sql[] =
        "WITH r AS (SELECT *, lag(id) OVER (PARTITION BY upstream_id"
        "  ORDER BY position, commit_time_s, id) AS older_id FROM revision"
        "  WHERE upstream_id = (SELECT upstream_id FROM revision WHERE id = ?1))"
        " SELECT r.id AS 'revision+', clip(r.rev, 120) AS full, clip(r.author, 80) AS author,"
        " minute(r.commit_time_s) AS commit_time, r.commit_time_s <> 0 AS 'dated?',"
        " clip(u.name, 60) AS upstream, clip(public_url(u.url), 200) AS url,"
        " '' AS range, r.older_id AS 'since+'"
        " FROM r JOIN upstream u ON u.id = r.upstream_id WHERE r.id = ?1";

static const char change_points_sql[] =
        "SELECT " TK_CHANGE_POINT_COLUMNS " FROM page_change c"
        " WHERE is_of_revision AND revision_id = ?1"
        " ORDER BY worse DESC, max(ratio, 1 / ratio) DESC, series_id, as_of_s LIMIT 300";

static const char change_counts_sql[] =
        "SELECT ifnull(sum(worse), 0) AS worse, ifnull(sum(NOT worse), 0) AS better,"
        " count(*) > 300 AS 'change_points_cut?' FROM page_change"
        " WHERE is_of_revision AND revision_id = ?1";

static const char builds_sql[] =
        "SELECT status AS state, tone('build', status) AS tone, minute(built_s) AS built,"
        " duration(wall_s) AS took, iif(size_bytes, quantity(size_bytes, 'bytes'), '') AS size,"
        " clip(toolchain, 200) AS toolchain, clip(flags, 200) AS flags, clip(arch, 60) AS arch,"
        " clip(message, 400) AS message, iif(status <> 'ok', substr(log, -8000), '') AS log"
        " FROM build WHERE revision_id = ?1 ORDER BY built_s DESC, id DESC LIMIT 10";

/* The functions of its newest good build and of the newest one of the same kind before it. */
#define FUNCTIONS_CTE \
	"WITH this AS (SELECT * FROM revision WHERE id = ?1)," \
	" new AS (SELECT * FROM build WHERE revision_id = ?1 AND status = 'ok'" \
	"  ORDER BY id DESC LIMIT 1)," \
	" old AS (SELECT b.id, b.revision_id FROM this" \
	"  JOIN revision r ON r.upstream_id = this.upstream_id JOIN build b ON b.revision_id = " \
	"r.id" \
	"  JOIN new ON new.adapter = b.adapter AND new.arch = b.arch" \
	"  WHERE b.status = 'ok' AND (r.position, r.commit_time_s, r.id) <" \
	"  (this.position, this.commit_time_s, this.id)" \
	"  ORDER BY r.position DESC, r.commit_time_s DESC, r.id DESC, b.id DESC LIMIT 1)," \
	" a AS (SELECT * FROM kernel WHERE build_id = (SELECT id FROM new))," \
	" b AS (SELECT * FROM kernel WHERE build_id = (SELECT id FROM old))"
#define PAIRS " FROM a FULL JOIN b ON a.backend = b.backend AND a.name = b.name"
#define PAIR(column) \
	"CASE WHEN a." column " <> b." column " THEN b." column " || ' → ' || a." column \
	" ELSE coalesce(a." column ", b." column ", '–') END"

static const char functions_sql[] = FUNCTIONS_CTE
        " SELECT clip(ifnull(a.backend, b.backend), 60) AS backend,"
        " clip(coalesce(nullif(ifnull(a.name, b.name), ''), '(whole backend)'), 160) AS function,"
        " CASE WHEN b.id IS NULL THEN 'new' WHEN a.id IS NULL THEN 'gone' ELSE 'changed' END AS "
        "what,"
        " clip(ifnull(a.code_hash, b.code_hash), 12) AS code,"
        " " PAIR("registers") " AS registers, " PAIR(
                "spill_bytes") " AS spills,"
                               " " PAIR("shared_bytes") " AS shared, " PAIR(
                                       "size_bytes") " AS size" PAIRS
                                                     " WHERE a.code_hash IS NOT b.code_hash"
                                                     " ORDER BY ifnull(a.backend, b.backend), "
                                                     "ifnull(a.name, b.name) LIMIT 100";

static const char function_counts_sql[] = FUNCTIONS_CTE
        ", f AS (SELECT a.id AS new_id, b.id AS old_id, a.code_hash IS b.code_hash AS same" PAIRS
        ")"
        " SELECT count(new_id) AND count(old_id) AS 'compared?', ifnull(sum(same), 0) AS"
        " same_functions, sum(same) > 0 AS 'has_same_functions?', sum(NOT same) > 100 AS"
        " 'functions_cut?' FROM f";

static const char older_sql[] = FUNCTIONS_CTE " SELECT revision_id AS 'revision+' FROM old";

/* Verdicts of the last night for this revision; a single night gives no change point yet. */
static void set_verdicts(
        struct tk_site *site, struct tk_value *page, const struct tk_revision_row *revision)
{
	struct tk_value *list = tk_value_set_list(site->arena, page, "verdicts");
	bool has_first_bad = false;
	tk_page_set_first_bad(site, page, NULL, NULL, NULL);
	for (size_t i = 0, n = 0; i < site->model.series_count && n < VERDICTS_MAX; i++) {
		const struct tk_site_series *s = &site->model.series[i];
		const struct tk_revision_row *good, *bad;
		if (!s->verdict || s->upstream->id != revision->upstream_id)
			continue;
		const enum tk_tone tone = tk_series_tone(s);
		if (tone != TK_TONE_BAD && tone != TK_TONE_GOOD)
			continue;
		tk_series_find_change_range(site, s, &good, &bad);
		if (bad != revision || good == bad)
			continue;
		if (!has_first_bad && good &&
		        tk_model_find_first_bad(&site->model, s, good->rev, bad->rev)) {
			tk_page_set_first_bad(site, page, s, good, bad);
			has_first_bad = true;
		}
		struct tk_value *o = tk_value_append_object(site->arena, list);
		tk_page_set_series(site, o, s, "../");
		tk_page_set_levels(site, o, s);
		n++;
	}
}

static int write_revision(
        struct tk_site *site, const struct tk_site_revision *r, struct tk_error *err)
{
	static const struct tk_page_query parts[] = {{"revision", revision_sql},
	        {"change_points", change_points_sql}, {NULL, change_counts_sql},
	        {"builds", builds_sql}, {"functions", functions_sql}, {NULL, function_counts_sql},
	        {"older", older_sql}};
	char path[140], title[300];
	snprintf(path, sizeof path, "revisions/%s.html", r->file);
	const char *what = *r->row->subject ? r->row->subject : r->row->rev;
	snprintf(title, sizeof title, "%.*s", (int)tk_utf8_clip_len(what, 160), what);
	struct tk_value *page = tk_page_begin(site, path, title, TK_SECTION_UPSTREAMS);
	set_verdicts(site, page, r->row);
	TRY(tk_page_add_queries(site, page, parts, sizeof parts / sizeof *parts, r->row->id, err));
	return tk_page_finish(site, "revision", path, err);
}

int tk_page_write_revisions(struct tk_site *site, struct tk_error *err)
{
	const struct tk_site_changes *changes = &site->model.revision_changes;
	for (size_t i = 0; i < changes->revision_count; i++)
		if (changes->revisions[i].file)
			TRY(write_revision(site, &changes->revisions[i], err));
	return 0;
}
