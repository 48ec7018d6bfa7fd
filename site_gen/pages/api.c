/* api/: the newest state as JSON, for other programs; and badges/. */
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/try.h"
#include "site_gen/pages/page.h"
#include "site_gen/report/report.h"
#include "store/query/record.h"

static const char *site_title(const struct tk_site *site)
{
	return site->options->title && *site->options->title ? site->options->title : "tracker";
}

/* The alerts of `tracker alert list --format=json`, without those about machines and upstreams. */
static int write_alerts(struct tk_site *site, struct tk_error *err)
{
	struct tk_buf *out = &site->page;
	json_auto_t *alerts = NULL;
	json_t *alert;
	size_t i;
	tk_buf_clear(out);
	tk_buf_add_str(out, "{\"format\":2,\"alerts\":[");
	TRY(tk_records_select_alerts(site->model.store,
	        "WHERE series IS NOT NULL ORDER BY opened_s DESC, uid", TK_NO_ARGS, &alerts, err));
	json_array_foreach (alerts, i, alert) {
		AUTO_TEXT text = json_dumps(alert, JSON_COMPACT);
		tk_buf_add_printf(out, "%s\n%s", i ? "," : "", text);
	}
	tk_buf_add_str(out, "]}\n");
	return tk_output_put(site->out, "api/alerts.json", out, err);
}

/* The report of `tracker report --format=md`. */
static int write_summary(struct tk_site *site, struct tk_error *err)
{
	const struct tk_report_options options = {.title = site_title(site),
	        .tie = site->options->tie,
	        .now_s = site->options->now_s,
	        .format = TK_DOCUMENT_MARKDOWN};
	tk_buf_clear(&site->page);
	TRY(tk_report_add(&site->model, &options, &site->page, err));
	return tk_output_put(site->out, "api/summary.md", &site->page, err);
}

int tk_page_write_api(struct tk_site *site, struct tk_error *err)
{
	char iso[TK_TIME_ISO_SIZE];
	AUTO_TEXT made = tk_sprintf("{\"format\":1,\"made\":\"%s\",\"machines\":[",
	        tk_time_format_iso(site->options->now_s, iso));
	TRY(tk_page_put_json(site, "series", "{\"format\":2,\"minor\":1,\"series\":[", err));
	TRY(write_alerts(site, err));
	TRY(tk_page_put_json(site, "machines", made, err));
	return write_summary(site, err);
}

int tk_page_write_badges(struct tk_site *site, struct tk_error *err)
{
	struct tk_value *page = tk_page_begin(site, "", "Badges", TK_SECTION_OVERVIEW);
	TRY(tk_page_add_sql(site, page, "badge", TK_ARGS(site_title(site)), err));
	for (struct tk_value *o = tk_value_find_list(page, "badges")->first; o; o = o->next) {
		AUTO_TEXT path = tk_sprintf("badges/%s.svg", tk_value_find_text(o, "file"));
		tk_buf_clear(&site->page);
		TRY(tk_templates_render(site->templates, "badge", o, &site->page, err));
		TRY(tk_output_put(site->out, path, &site->page, err));
	}
	return 0;
}
