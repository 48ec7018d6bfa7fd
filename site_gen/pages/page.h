/* What every page shares: its frame, and how a series appears on it. */
#ifndef TK_SITE_PAGE_H
#define TK_SITE_PAGE_H
#include "base/base.h"
#include "site_gen/data/data.h"
#include "site_gen/model/model.h"
#include "site_gen/pages/query.h"
#include "site_gen/pages/tone.h"
#include "site_gen/render/assets.h"
#include "site_gen/render/output.h"
#include "site_gen/render/template.h"
#include "site_gen/render/value.h"
#include "site_gen/site.h"

#define TK_PAGE_PATH_SIZE 160

/* Everything that is needed while a site is written. */
struct tk_site {
	const struct tk_site_options *options;
	struct tk_model model;
	struct tk_output *out;
	struct tk_templates *templates;
	struct tk_page_queries *queries; /* of the pages */
	struct tk_arena *arena;          /* of the page being made */
	struct tk_buf page, markup;      /* reused */
	struct tk_value *frame;          /* the outermost value of that page */
	const char *root;                /* of that page: "" or "../" */
	struct tk_buf sitemap; /* addresses of all pages, a line each; needs the site's address */
	struct tk_chart_data data;
	struct tk_totals totals;
	bool has_charts;
	char version[17]; /* of the assets, for their addresses */
	size_t pages;
};

/* Sections of the navigation. */
#define TK_SECTIONS(X) \
	X(TK_SECTION_OVERVIEW, "Overview") \
	X(TK_SECTION_TRENDS, "Trends") \
	X(TK_SECTION_KERNELS, "Kernels") \
	X(TK_SECTION_SERIES, "Series") \
	X(TK_SECTION_COMPARE, "Compare") \
	X(TK_SECTION_ROOFLINE, "Roofline") \
	X(TK_SECTION_NIGHTS, "Nights") \
	X(TK_SECTION_UPSTREAMS, "Upstreams") \
	X(TK_SECTION_MACHINES, "Machines") \
	X(TK_SECTION_ALERTS, "Alerts") \
	X(TK_SECTION_METHOD, "Method")
enum tk_section {
#define TK_SECTION_ENUM(id, title) id,
	TK_SECTIONS(TK_SECTION_ENUM)
#undef TK_SECTION_ENUM
	        TK_SECTION_COUNT
};

int tk_page_write_all(struct tk_site *site, struct tk_error *err);

/* The pages that are more than queries; one source file each. */
int tk_page_write_series(struct tk_site *site, struct tk_error *err);
int tk_page_write_api(struct tk_site *site, struct tk_error *err); /* and badges */
/* What they add to the page; `unused` is 0. */
int tk_page_add_versions(
        struct tk_site *site, struct tk_value *page, int64_t upstream_id, struct tk_error *err);
int tk_page_add_overview(
        struct tk_site *site, struct tk_value *page, int64_t unused, struct tk_error *err);
int tk_page_add_timelines(
        struct tk_site *site, struct tk_value *page, int64_t id, struct tk_error *err);
int tk_page_add_trends(
        struct tk_site *site, struct tk_value *page, int64_t unused, struct tk_error *err);
int tk_page_add_trend(
        struct tk_site *site, struct tk_value *page, int64_t op_id, struct tk_error *err);
int tk_page_add_kernel(
        struct tk_site *site, struct tk_value *page, int64_t op_id, struct tk_error *err);
int tk_page_add_roofline(
        struct tk_site *site, struct tk_value *page, int64_t device_id, struct tk_error *err);
int tk_page_add_compare(
        struct tk_site *site, struct tk_value *page, int64_t unused, struct tk_error *err);

/* Starts a page: resets the arena, sets title, navigation and `root` ("" or "../"). A page may set
 * `description`, which links to it show, to a better one. */
struct tk_value *tk_page_begin(
        struct tk_site *site, const char *path, const char *title, enum tk_section section);
/* Sets label and mark_markup: a line of the key to a chart. */
void tk_page_set_key(struct tk_site *site, struct tk_value *o, size_t style, const char *label);
/* Renders and registers the page. */
int tk_page_finish(
        struct tk_site *site, const char *template_name, const char *path, struct tk_error *err);

/* Writes `head`, the rows, which it takes, and "]}". */
int tk_page_put_rows(struct tk_site *site, const char *path, const char *head, struct json_t *rows,
        struct tk_error *err);

/* Moves site->markup into a member and empties it. */
void tk_page_set_markup(struct tk_site *site, struct tk_value *o, const char *key);

/* href, series_id, title, label, device, upstream, value, half, rate, status, tone, outcome,
 * outcome_tone, ab_confirmed (a flag), and what tk_page_set_change sets. */
void tk_page_set_series(
        struct tk_site *site, struct tk_value *o, const struct tk_site_series *s, const char *root);
void tk_page_set_sparkline(struct tk_site *site, struct tk_value *o,
        const struct tk_site_series *s); /* spark_markup */
/* change (text), direction ("slower", "faster", "worse", "better", ""), glyph. */
void tk_page_set_change(struct tk_value *o, const struct tk_site_series *s, double change);
/* rev, rev_href (at the forge), rev_page (ours, from the root), subject; empty where unknown. */
void tk_page_set_revision(
        struct tk_site *site, struct tk_value *o, const struct tk_revision_row *r);
/* The commits between two points: range, range_href, range_subject and range_page (from the root)
 * of the newer one. */
void tk_page_set_revision_range(struct tk_site *site, struct tk_value *o,
        const struct tk_revision_row *good, const struct tk_revision_row *bad);
/* What the verdict of a series says of its change, as every page shows it: before, after,
 * ab_confirmed (a flag), what tk_page_set_revision_range() sets of its revisions, author, first_bad
 * ("" where unknown), first_bad_href, first_bad_subject, first_bad_author, first_bad_confidence,
 * alert_uid, alert_state. */
void tk_page_set_verdict(struct tk_site *site, struct tk_value *o, const struct tk_site_series *s);

/* run_facts: of the newest run. */
int tk_page_set_run_facts(struct tk_site *site, struct tk_value *page,
        const struct tk_site_series *s, struct tk_error *err);

#endif
