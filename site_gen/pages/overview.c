/* index.html: the last night in a sentence, the machines, what changed by cause, open alerts, and
 * the standings. */
#include "site_gen/pages/overview.h"

#include <math.h>
#include <string.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/format.h"
#include "site_gen/report/report.h"

int tk_overview_set_headline(struct tk_site *site, struct tk_value *page,
        const struct tk_site_causes *causes, struct tk_error *err)
{
	const char *title = site->options->title;
	const struct tk_report_options options = {.title = title && *title ? title : "tracker",
	        .tie = site->options->tie,
	        .now_s = site->options->now_s,
	        .format = TK_DOCUMENT_MARKDOWN,
	        .brief = true};
	struct tk_buf text = TK_BUF_INIT;
	tk_report_add_headline(&site->model, &options, causes, &text);
	const char *whole = tk_buf_cstr(&text), *end = strstr(whole, ". ");
	size_t first_len = end ? (size_t)(end - whole) + 1 : strlen(whole);
	tk_value_set_fmt(page, "headline", "%.*s", (int)first_len, whole);
	tk_value_set(page, "headline_rest", whole + first_len);
	tk_value_set_clip(page, "description", whole, 300);
	tk_buf_clear(&text);
	int status = tk_report_add(&site->model, &options, &text, err);
	if (!status)
		tk_value_set(page, "summary", tk_buf_cstr(&text));
	tk_buf_free(&text);
	return status;
}

static void set_flags(
        struct tk_site *site, struct tk_value *page, const struct tk_site_causes *causes)
{
	const struct tk_model *m = &site->model;
	bool analysed = tk_model_has_verdicts(m);
	bool past = !analysed && m->night_count > 1, compared = analysed && causes->compared;
	tk_value_set_flag(page, "compared", compared);
	tk_value_set_flag(page, "nothing_analysed", m->series_count && past);
	tk_value_set_flag(page, "nothing_compared", m->series_count && !past && !compared);
}

static int set_parts(struct tk_site *site, struct tk_value *page,
        const struct tk_site_causes *causes, struct tk_error *err)
{
	static int (*const parts[])(struct tk_site *, struct tk_value *, struct tk_error *) = {
	        tk_overview_set_machines, tk_overview_set_tiles, tk_overview_set_attention,
	        tk_overview_set_alerts, tk_overview_set_standings};
	int status = tk_overview_set_headline(site, page, causes, err);
	tk_overview_set_causes(site, page, causes);
	for (size_t i = 0; !status && i < sizeof parts / sizeof *parts; i++)
		status = parts[i](site, page, err);
	return status ? status : tk_page_set_matrix(site, page, NULL, "", err);
}

int tk_page_write_overview(struct tk_site *site, struct tk_error *err)
{
	const struct tk_site_period newest = {0};
	struct tk_value *page = tk_page_begin(site, "index.html", "Overview", TK_SECTION_OVERVIEW);
	struct tk_site_causes causes;
	int status = tk_site_causes_load(&site->model, &newest, &causes, err);
	tk_value_set_time(page, "made", site->options->now_s);
	tk_value_set_count(page, "series_count", site->model.series_count);
	if (!status) {
		set_flags(site, page, &causes);
		status = set_parts(site, page, &causes, err);
	}
	tk_site_causes_free(&causes);
	return status ? status : tk_page_finish(site, "overview", "index.html", err);
}
