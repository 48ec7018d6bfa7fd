/* What the trend of a series shows besides its points: the change of the last night while it is no
 * change point yet, and the nights without a timing. */
#include <jansson.h>
#include <math.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/format.h"
#include "base/try.h"
#include "site_gen/pages/page.h"
#include "site_gen/pages/series_marks.h"

static bool is_change_point(const struct tk_site_series *s, int64_t since_s)
{
	return s->change_count && s->changes[s->change_count - 1].as_of_s >= since_s;
}

/* The verdict calls it changed, and no change point says so. */
static bool has_pending_change(const struct tk_site_series *s)
{
	const struct tk_point *last = tk_series_last_point(s);
	const enum tk_tone tone = tk_series_tone(s);
	return last && tk_series_has_change(s) &&
	       (tone == TK_TONE_BAD || tone == TK_TONE_GOOD ||
	               tk_series_status(s) == TK_VERDICT_ACKED) &&
	       !is_change_point(s, last->as_of_s);
}

static void set_pending(struct tk_site *site, struct tk_value *page, const struct tk_site_series *s)
{
	struct tk_value *list = tk_value_add_list(page, "pending");
	if (!has_pending_change(s))
		return;
	struct tk_value *o = tk_value_append(list);
	tk_page_set_series(site, o, s, "../");
	tk_page_set_verdict(site, o, s);
}

/* Whether the machine had more nights than the series has points since the first of its window. */
static bool has_gap(const struct tk_model *m, const struct tk_site_series *s, int64_t since_s)
{
	size_t nights = 0;
	for (size_t i = 0; i < m->night_count && m->nights[i].row->as_of_s >= since_s; i++)
		nights += m->nights[i].machine == s->device->machine;
	return nights > s->points.count || s->failure;
}

static void add_mark(json_t *marks, int64_t time_s, const char *word, bool is_verdict, bool is_worse)
{
	json_array_append_new(
	        marks, json_pack("{sIsssbsb}", "time", (json_int_t)time_s, "word", word,
	                       "isVerdict", is_verdict, "isWorse", is_worse));
}

/* Nights whose run of the series has no timing. An unsupported problem never has one. */
static int add_failures(
        struct tk_site *site, json_t *marks, const struct tk_site_series *s, struct tk_error *err)
{
	struct tk_rows runs = {0};
	const int64_t since_s =
	        s->points.count ? TK_ROWS_AT(&s->points, struct tk_point, 0)->as_of_s : 0;
	if (!has_gap(&site->model, s, since_s))
		return 0;
	int status = tk_store_list(site->model.store, TK_TABLE_run,
	        "series_id=?1 AND as_of_s>=?2 AND outcome<>'ok'", TK_ARGS(s->row->id, since_s),
	        &runs, err);
	for (size_t i = 0; !status && i < runs.count; i++) {
		const struct tk_run_row *run = TK_ROWS_AT(&runs, struct tk_run_row, i);
		if (tk_outcome_has_timing(run->outcome) || run->outcome == TK_OUTCOME_UNSUPPORTED)
			continue;
		add_mark(marks, run->as_of_s, tk_outcome_name(run->outcome), false,
		        tk_outcome_tone(run->outcome) == TK_TONE_BAD);
	}
	tk_rows_free(&runs);
	return status;
}

int tk_series_marks_load(
        struct tk_site *site, const struct tk_site_series *s, json_t **out, struct tk_error *err)
{
	const struct tk_point *last = tk_series_last_point(s);
	json_auto_t *marks = json_array();
	char text[TK_FORMAT_SIZE];
	if (has_pending_change(s))
		add_mark(marks, last->as_of_s, tk_format_change(s->verdict->change, text), true,
		        (s->verdict->change > 0) == (s->row->better == TK_BETTER_LOWER));
	TRY(add_failures(site, marks, s, err));
	*out = json_incref(marks);
	return 0;
}

void tk_series_marks_set(struct tk_site *site, struct tk_value *page,
        const struct tk_site_series *s, const json_t *marks)
{
	char *text = json_array_size(marks) ? json_dumps(marks, JSON_COMPACT) : NULL;
	tk_value_set(page, "marks", text ? text : "");
	free(text);
	set_pending(site, page, s);
}
