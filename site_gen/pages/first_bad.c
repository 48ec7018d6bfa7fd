/* The first bad commit of a change, as every page shows it. */
#include <string.h>

#include "site_gen/model/links.h"
#include "site_gen/pages/page.h"

/* Of the series; else of another series of the upstream over the same range, which has one
 * cause. */
const struct tk_bisection_row *tk_model_find_first_bad(const struct tk_model *m,
        const struct tk_site_series *s, const char *good_rev, const char *bad_rev)
{
	const struct tk_bisection_row *found = NULL;
	for (size_t i = 0; i < m->bisection_rows.count; i++) {
		const struct tk_bisection_row *c =
		        TK_ROWS_AT(&m->bisection_rows, struct tk_bisection_row, i);
		const struct tk_site_series *of = tk_model_find_series(m, c->series_id);
		if (c->outcome != TK_BISECT_FOUND || !of || of->upstream != s->upstream ||
		        strcmp(c->good_rev, good_rev) || strcmp(c->bad_rev, bad_rev))
			continue;
		if (of == s)
			return c;
		found = found ? found : c;
	}
	return found;
}

void tk_page_set_first_bad(struct tk_site *site, struct tk_value *o, const struct tk_site_series *s,
        const struct tk_revision_row *good, const struct tk_revision_row *bad)
{
	const struct tk_bisection_row *c =
	        good && bad ? tk_model_find_first_bad(&site->model, s, good->rev, bad->rev) : NULL;
	char link[TK_LINK_SIZE];
	tk_value_set(o, "first_bad", c ? tk_rev_abbreviate(c->first_bad_rev, link) : "");
	if (!c)
		return;
	tk_value_set(o, "first_bad_href", tk_link_commit(s->upstream->url, c->first_bad_rev, link));
	tk_value_set_clip(o, "first_bad_subject", c->subject, 80);
	tk_value_set_clip(o, "first_bad_author", c->author, 60);
	tk_value_set_fmt(o, "first_bad_confidence", "%.1f", 100 * c->confidence);
}

const struct tk_alert_row *tk_series_find_open_alert(
        const struct tk_model *m, const struct tk_site_series *s)
{
	const struct tk_alert_row *alert = NULL;
	for (size_t i = 0; i < m->alert_rows.count; i++) {
		const struct tk_alert_row *row = TK_ROWS_AT(&m->alert_rows, struct tk_alert_row, i);
		if (row->series_id == s->row->id && row->status == TK_ALERT_OPEN &&
		        (!alert || row->opened_s > alert->opened_s))
			alert = row;
	}
	return alert;
}
