/* index.html: the last night in a sentence, the machines, what changed by cause, open alerts, and
 * the standings. */
#include <math.h>

#include "base/base.h"
#include "site_gen/charts/charts.h"
#include "site_gen/data/data.h"
#include "site_gen/model/model.h"
#include "site_gen/pages/page.h"
#include "site_gen/report/report.h"

/* "3.0 % slower than", "as fast as"; "" for NAN. change: of the speed. */
static void set_speed(
        struct tk_site *site, struct tk_value *o, const char *key, const char *tone, double change)
{
	bool is_even = !isfinite(change) || fabs(change) < site->options->tie;
	tk_value_set_fmt(o, key,
	        !isfinite(change) ? ""
	        : is_even         ? "as fast as"
	        : change > 0      ? "%.1f %% faster than"
	                          : "%.1f %% slower than",
	        100 * fabs(change));
	tk_tone_set(o, tone, is_even ? TK_TONE_QUIET : change > 0 ? TK_TONE_GOOD : TK_TONE_BAD);
}

/* The index, as on the page of its trend. */
static void set_index(struct tk_site *site, struct tk_value *o, const struct tk_site_series *s)
{
	const struct tk_total *parts;
	struct tk_trend t;
	char text[TK_FORMAT_SIZE];
	size_t n = tk_totals_find(&site->totals, s->device, s->problem->op, &parts);
	tk_trend_load(parts, n, &t);
	size_t count = t.all.count;
	tk_value_set_fmt(o, "index", count > 1 ? "%.1f" : "",
	        count > 1 ? 100 * exp(t.levels[count - 1]) : 0);
	tk_value_set_fmt(o, "index_noise", isfinite(t.noise) ? "±%s" : "",
	        isfinite(t.noise) ? tk_format_change(expm1(t.noise), text) + 1 : "");
	tk_value_set_int(o, "index_nights", count);
	set_speed(site, o, "week", "week_tone", tk_trend_change(&t, 7));
	set_speed(site, o, "month", "month_tone", tk_trend_change(&t, 30));
	tk_index_draw(&site->markup, &t);
	tk_page_set_markup(site, o, "index_markup");
	tk_trend_free(&t);
}

int tk_page_add_overview(
        struct tk_site *site, struct tk_value *page, int64_t unused, struct tk_error *err)
{
	AUTO(tk_buf) summary = TK_BUF_INIT;
	struct tk_value *tile = tk_value_find_list(page, "tiles")->first;
	for (; tile; tile = tile->next)
		set_index(site, tile, tk_model_find_series(&site->model, tile->id));
	TRY(tk_report_add(site, TK_DOCUMENT_MARKDOWN, true, &summary, err));
	tk_value_set(page, "summary", tk_buf_cstr(&summary));
	return 0;
}
