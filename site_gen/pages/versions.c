/* versions/: how each version of a package performs, on an axis of versions instead of dates. */
#include <math.h>

#include "base/base.h"
#include "site_gen/charts/charts.h"
#include "site_gen/pages/page.h"

/* ---- charts: the problems of a section that changed most ---- */

#define LINES_MAX TK_STYLES
#define VERSIONS_MAX 40 /* as views_compared.sql */
#define CHARTS 3

static const struct tk_chart charts[CHARTS] = {
        {.y_title = "first version = 100", .reference = NAN},
        {.y_title = "% of its speed", .reference = 100},
        {.y_title = "compile time", .unit = "ns", .reference = NAN},
};
static const char *const captions[CHARTS] = {
        "Speed", "Speed against the vendor's library", "Compile time"};
static const char lines_sql[] =
        "SELECT problem_key, title, k,"
        " 100 * first_value(value) OVER (PARTITION BY problem_key ORDER BY k) / value,"
        " 100 * vendor_ns / value, compile_ns"
        " FROM page_version_time JOIN problem q ON q.id = problem_id WHERE problem_key IN"
        " (SELECT problem_key FROM page_version_time WHERE section_id = ?1 GROUP BY problem_key"
        " HAVING count(*) > 1 ORDER BY ln(max(value) / min(value)) DESC, problem_key LIMIT 12)"
        " ORDER BY problem_key, k";

struct section {
	struct tk_site *site;
	struct tk_value *keys;
	const char *names[VERSIONS_MAX];
	size_t version_count, line_count;
	int64_t problem_key; /* of the last line */
	struct tk_chart_point points[CHARTS][LINES_MAX][VERSIONS_MAX];
};

static int add_name(void *user, const struct tk_query_row *row, struct tk_error *err)
{
	struct section *s = user;
	const char *name = row->values[0].text;
	s->names[s->version_count++] = tk_arena_text(s->site->arena, name, strlen(name));
	return 0;
}

static int add_point(void *user, const struct tk_query_row *row, struct tk_error *err)
{
	struct section *s = user;
	if (!s->line_count || s->problem_key != row->values[0].i) {
		tk_page_set_key(
		        s->site, tk_value_append(s->keys), s->line_count, row->values[1].text);
		s->problem_key = row->values[0].i;
		for (size_t c = 0; c < CHARTS; c++)
			for (size_t k = 0; k < s->version_count; k++)
				s->points[c][s->line_count][k] =
				        (struct tk_chart_point){(double)k, NAN};
		s->line_count++;
	}
	for (size_t c = 0; c < CHARTS; c++)
		s->points[c][s->line_count - 1][row->values[2].i].y = row->values[3 + c].real;
	return 0;
}

static void add_chart(struct section *s, struct tk_value *list, size_t c)
{
	struct tk_site *site = s->site;
	struct tk_chart_line lines[LINES_MAX];
	struct tk_chart chart = charts[c];
	for (size_t i = 0; i < s->line_count; i++) {
		bool any = false;
		for (size_t k = 0; k < s->version_count; k++)
			any = any || isfinite(s->points[c][i][k].y);
		if (any)
			lines[chart.count++] =
			        (struct tk_chart_line){i, s->points[c][i], s->version_count};
	}
	chart.kind = TK_CHART_VERSIONS;
	chart.lines = lines;
	chart.versions = s->names;
	chart.version_count = s->version_count;
	tk_chart_draw(&site->markup, &chart);
	if (!site->markup.len)
		return;
	struct tk_value *o = tk_value_append(list);
	tk_value_set(o, "caption", captions[c]);
	tk_page_set_markup(site, o, "drawing_markup");
}

static int set_charts(
        struct tk_site *site, struct tk_value *o, int64_t upstream_id, struct tk_error *err)
{
	struct tk_store *store = site->model.store;
	struct section s = {.site = site, .keys = tk_value_add_list(o, "keys")};
	struct tk_value *list = tk_value_add_list(o, "charts");
	int64_t problems;
	TRY(tk_store_query(store, "SELECT rev FROM page_version WHERE upstream_id = ?1 ORDER BY k",
	        TK_ARGS(upstream_id), add_name, &s, err));
	TRY(tk_store_query(store, lines_sql, TK_ARGS(o->id), add_point, &s, err));
	TRY(tk_store_select_int(store,
	        "SELECT count(DISTINCT problem_key) FROM page_version_time WHERE section_id = ?1",
	        TK_ARGS(o->id), 0, &problems, err));
	for (size_t c = 0; s.line_count && c < CHARTS; c++)
		add_chart(&s, list, c);
	tk_value_set_flag(
	        o, "charts_cut", s.line_count == LINES_MAX && (int64_t)s.line_count < problems);
	return 0;
}

int tk_page_add_versions(
        struct tk_site *site, struct tk_value *page, int64_t upstream_id, struct tk_error *err)
{
	struct tk_value *section = tk_value_find_list(page, "sections")->first;
	for (; section; section = section->next)
		TRY(set_charts(site, section, upstream_id, err));
	return 0;
}
