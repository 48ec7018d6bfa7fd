/* api/: the newest state as JSON, for other programs; and badges/. */
#include "base/base.h"
#include "site_gen/pages/page.h"
#include "site_gen/report/report.h"
#include "store/query/record.h"

/* A "<" of JSON stands in a string: written as \u003c, nothing of it is markup in a page. */
static void add_without_markup(struct tk_buf *out, const char *json)
{
	for (const char *end; (end = strchr(json, '<')); json = end + 1) {
		tk_buf_add(out, json, (size_t)(end - json));
		tk_buf_add_str(out, "\\u003c");
	}
	tk_buf_add_str(out, json);
}

int tk_page_put_rows(struct tk_site *site, const char *path, const char *head, json_t *rows,
        struct tk_error *err)
{
	struct tk_buf *out = &site->page;
	json_t *row;
	size_t i;
	tk_buf_clear(out);
	tk_buf_add_str(out, head);
	json_array_foreach (rows, i, row) {
		AUTO_TEXT text = json_dumps(row, JSON_COMPACT | JSON_REAL_PRECISION(9));
		tk_buf_add_str(out, i ? ",\n" : "\n");
		add_without_markup(out, text);
	}
	json_decref(rows);
	tk_buf_add_str(out, "]}\n");
	return tk_output_put(site->out, path, out, err);
}

static int put_query(struct tk_site *site, const char *path, const char *head, const char *key,
        struct tk_error *err)
{
	json_t *rows;
	TRY(tk_records_select(
	        site->model.store, tk_page_find_sql(site, "api", key), TK_NO_ARGS, &rows, err));
	return tk_page_put_rows(site, path, head, rows, err);
}

/* The alerts of `tracker alert list --format=json`, without those about machines and upstreams. */
static int put_alerts(struct tk_site *site, struct tk_error *err)
{
	json_t *alerts;
	TRY(tk_records_select_alerts(site->model.store,
	        "WHERE series IS NOT NULL ORDER BY opened_s DESC, uid", TK_NO_ARGS, &alerts, err));
	return tk_page_put_rows(site, "api/alerts.json", "{\"format\":2,\"alerts\":[", alerts, err);
}

/* The report of `tracker report --format=md`. */
static int write_summary(struct tk_site *site, struct tk_error *err)
{
	tk_buf_clear(&site->page);
	TRY(tk_report_add(site, TK_DOCUMENT_MARKDOWN, false, &site->page, err));
	return tk_output_put(site->out, "api/summary.md", &site->page, err);
}

static int put_badges(struct tk_site *site, struct tk_error *err)
{
	struct tk_value *page = tk_page_begin(site, "", "Badges", TK_SECTION_OVERVIEW);
	TRY(tk_page_add_sql(site, page, "badge", TK_NO_ARGS, err));
	for (struct tk_value *o = tk_value_find_list(page, "badges")->first; o; o = o->next) {
		AUTO_TEXT path = tk_sprintf("badges/%s.svg", tk_value_find_text(o, "file"));
		tk_buf_clear(&site->page);
		TRY(tk_templates_render(site->templates, "badge", o, &site->page, err));
		TRY(tk_output_put(site->out, path, &site->page, err));
	}
	return 0;
}

int tk_page_write_api(struct tk_site *site, struct tk_error *err)
{
	char iso[TK_TIME_ISO_SIZE];
	AUTO_TEXT made = tk_sprintf("{\"format\":1,\"made\":\"%s\",\"machines\":[",
	        tk_time_format_iso(site->options->now_s, iso));
	TRY(put_query(
	        site, "api/series.json", "{\"format\":2,\"minor\":1,\"series\":[", "series", err));
	TRY(put_query(site, "api/machines.json", made, "machines", err));
	TRY(put_alerts(site, err));
	TRY(put_badges(site, err));
	return write_summary(site, err);
}
