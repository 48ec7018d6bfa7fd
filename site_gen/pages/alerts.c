/* alerts.html: every reported change, open ones first, grouped by commit, with first bad commit and
 * triage; and feed.xml where the address of the site is known. */
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/try.h"
#include "site_gen/charts/charts.h"
#include "site_gen/model/records.h"
#include "site_gen/pages/page.h"
#include "store/kernel_report.h"

/* The A/B pairs of its two revisions. */
static int draw_pairs(struct tk_site *site, struct tk_value *member, struct tk_error *err)
{
	const struct tk_site_series *s = tk_model_find_series(&site->model, member->id);
	AUTO(tk_ab_plot) pairs = {0};
	if (!s)
		return 0;
	TRY(tk_ab_plot_load(&site->model, s, tk_value_find_text(member, "good_rev"),
	        tk_value_find_text(member, "bad_rev"), &pairs, err));
	tk_svg_draw_pairs(&site->markup, &pairs);
	tk_page_set_markup(site, member, "pairs_markup");
	return 0;
}

/* What a trace found inside the kernel of a member; "": nothing. */
static int find_inside(struct tk_site *site, const struct tk_value *member,
        char text[TK_KERNEL_CHANGE_SIZE], char path[TK_PAGE_PATH_SIZE], struct tk_error *err)
{
	const struct tk_site_series *s = tk_model_find_series(&site->model, member->id);
	const char *good_rev = tk_value_find_text(member, "good_rev");
	AUTO_TEXT result = NULL;
	if (!s || !*good_rev)
		return 0;
	TRY(tk_store_find_comparison(site->model.store, s->row, s->upstream->name, good_rev,
	        tk_value_find_text(member, "bad_rev"), &result, err));
	if (result)
		tk_kernel_report_summarize(result, text);
	if (*text && s->kernel_trace)
		tk_kernel_trace_path(s->kernel_trace, path);
	return 0;
}

static int add_measured(
        struct tk_site *site, struct tk_value *page, const char *key, struct tk_error *err)
{
	for (struct tk_value *g = tk_value_find_list(page, key)->first; g; g = g->next) {
		char text[TK_KERNEL_CHANGE_SIZE] = "", path[TK_PAGE_PATH_SIZE] = "";
		struct tk_value *m = tk_value_find_list(g, "members")->first;
		for (; m; m = m->next) {
			TRY(draw_pairs(site, m, err));
			if (!*text && site->model.kernel_report_rows.count)
				TRY(find_inside(site, m, text, path, err));
		}
		tk_value_set_clip(g, "inside", text, 300);
		tk_value_set(g, "inside_href", path);
	}
	return 0;
}

static int write_feed(struct tk_site *site, struct tk_error *err)
{
	char iso[TK_TIME_ISO_SIZE];
	struct tk_value *page = tk_page_begin(site, "feed.xml", "Alerts", TK_SECTION_ALERTS);
	size_t len = strlen(site->options->base_url);
	while (len && site->options->base_url[len - 1] == '/')
		len--;
	tk_value_set_len(page, "base", site->options->base_url, len);
	tk_value_set(page, "updated", tk_time_format_iso(site->options->now_s, iso));
	TRY(tk_page_add_sql(site, page, "feed", TK_NO_ARGS, err));
	return tk_page_finish(site, "feed", "feed.xml", err);
}

int tk_page_write_alerts(struct tk_site *site, struct tk_error *err)
{
	struct tk_value *page = tk_page_begin(site, "alerts.html", "Alerts", TK_SECTION_ALERTS);
	TRY(tk_page_add_sql(site, page, "alerts", TK_NO_ARGS, err));
	TRY(add_measured(site, page, "open", err));
	TRY(add_measured(site, page, "closed", err));
	TRY(tk_page_finish(site, "alerts", "alerts.html", err));
	return site->options->base_url && *site->options->base_url ? write_feed(site, err) : 0;
}
