/* revisions/NAME.html: one commit: its change points, its builds and its machine code. */
#include <stdio.h>

#include "base/error.h"
#include "base/try.h"
#include "site_gen/pages/page.h"
#include "site_gen/render/escape.h"

#define VERDICTS_MAX 300

/* Verdicts of the last night for this revision; a single night gives no change point yet. */
static void set_verdicts(
        struct tk_site *site, struct tk_value *page, const struct tk_revision_row *revision)
{
	struct tk_value *list = tk_value_add_list(page, "verdicts");
	bool has_first_bad = false;
	tk_page_set_first_bad(site, page, NULL, NULL, NULL);
	for (size_t i = 0, n = 0; i < site->model.series_count && n < VERDICTS_MAX; i++) {
		const struct tk_site_series *s = &site->model.series[i];
		const struct tk_revision_row *good, *bad;
		if (!s->verdict || s->upstream->id != revision->upstream_id)
			continue;
		/* An accepted change is a change of this commit still. */
		const enum tk_tone tone = s->verdict->status == TK_VERDICT_ACKED
		                                  ? tk_verdict_tone(s->verdict->status_before_ack)
		                                  : tk_series_tone(s);
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
		struct tk_value *o = tk_value_append(list);
		tk_page_set_series(site, o, s, "../");
		tk_page_set_levels(o, s);
		n++;
	}
}

static int write_revision(struct tk_site *site, const struct tk_revision_row *r, const char *file,
        struct tk_error *err)
{
	char path[140], title[300];
	snprintf(path, sizeof path, "revisions/%s.html", file);
	const char *what = *r->subject ? r->subject : r->rev;
	snprintf(title, sizeof title, "%.*s", (int)tk_utf8_clip_len(what, 160), what);
	struct tk_value *page = tk_page_begin(site, path, title, TK_SECTION_UPSTREAMS);
	set_verdicts(site, page, r);
	TRY(tk_page_add_sql(site, page, "revision", TK_ARGS(r->id), err));
	return tk_page_finish(site, "revision", path, err);
}

int tk_page_write_revisions(struct tk_site *site, struct tk_error *err)
{
	const struct tk_model *m = &site->model;
	for (size_t i = 0; i < m->revision_rows.count; i++)
		if (m->revision_files[i])
			TRY(write_revision(site,
			        TK_ROWS_AT(&m->revision_rows, struct tk_revision_row, i),
			        m->revision_files[i], err));
	return 0;
}
