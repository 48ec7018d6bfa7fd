/* The lists of the overview: series that changed or failed in the last night. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/format.h"
#include "core/status.h"
#include "site_gen/model/ceilings.h"
#include "site_gen/model/links.h"
#include "site_gen/pages/page.h"

#define LINES_MAX 12

static int compare_changed(const void *a, const void *b)
{
	const struct tk_site_series *x = *(const struct tk_site_series *const *)a,
	                            *y = *(const struct tk_site_series *const *)b;
	int rx = (int)x->verdict->status, ry = (int)y->verdict->status;
	if (rx != ry)
		return rx - ry;
	double cx = isfinite(x->verdict->change) ? fabs(x->verdict->change) : 0,
	       cy = isfinite(y->verdict->change) ? fabs(y->verdict->change) : 0;
	if (cx != cy)
		return cx < cy ? 1 : -1;
	int reason = strcmp(x->verdict->reason, y->verdict->reason);
	return reason ? reason : x < y ? -1 : x > y;
}

static bool has_numbers(const struct tk_verdict_row *v)
{
	return isfinite(v->before_value) && isfinite(v->after_value);
}

/* How many series from here on are shown as one line. */
static size_t count_alike(const struct tk_site_series *const *changed, size_t count)
{
	size_t n = 1;
	while (n < count && tk_verdicts_are_alike(changed[0]->verdict, changed[n]->verdict))
		n++;
	return n < TK_VERDICT_GROUP_MIN ? 1 : n;
}

/* One line for many series with one reason, such as a failed build. */
static void add_group(struct tk_site *site, struct tk_value *list,
        const struct tk_site_series *const *changed, size_t count)
{
	struct tk_arena *a = site->arena;
	struct tk_value *o = tk_value_append_object(a, list);
	const struct tk_site_series *first = changed[0];
	const struct tk_night_row *analysed = first->device->machine->analysed_night;
	const struct tk_site_night *night =
	        analysed ? tk_model_find_night(&site->model, analysed->id) : NULL;
	char text[TK_FORMAT_SIZE];
	size_t devices = 1, reasons = 1;
	for (size_t i = 1; i < count; i++) {
		devices += changed[i]->device != changed[i - 1]->device;
		reasons +=
		        strcmp(changed[i]->verdict->reason, changed[i - 1]->verdict->reason) != 0;
	}
	tk_value_set_flag(a, o, "is_group", true);
	tk_value_set(a, o, "count", tk_format_count((int64_t)count, text));
	tk_value_set(a, o, "status", tk_series_status_word(first));
	tk_page_set_tone(site, o, "tone", tk_series_tone(first));
	tk_page_set_clipped(
	        site, o, "device", devices > 1 ? "several devices" : first->device->name, 60);
	tk_page_set_clipped(site, o, "reason", reasons > 1 ? "" : first->verdict->reason, 160);
	tk_value_set_fmt(a, o, "example_href", "series/%s.html", first->file);
	tk_page_set_clipped(site, o, "example", first->problem->title, 110);
	tk_page_set_clipped(site, o, "label", first->label, 60);
	if (tk_page_list_is_single(&site->model))
		tk_value_set_fmt(
		        a, o, "href", "lists/index.html#status=%s", tk_series_status_word(first));
	else
		tk_value_set_fmt(a, o, "href",
		        night && night->file ? "nights/%s.html" : "lists/index.html",
		        night && night->file ? night->file : "");
}

/* The open alert of a series: since when, and its triage state. */
static void set_since(struct tk_site *site, struct tk_value *o, const struct tk_site_series *s)
{
	const struct tk_model *m = &site->model;
	const struct tk_alert_row *alert = tk_series_find_open_alert(m, s);
	char day[TK_TIME_ISO_SIZE];
	enum tk_triage_state state =
	        alert ? tk_alert_compute_state(&m->triage_rows, alert) : TK_TRIAGE_NEW;
	bool is_new = alert && s->device->machine->analysed_night &&
	              alert->opened_s >= s->device->machine->analysed_night->as_of_s;
	tk_value_set_fmt(site->arena, o, "since",
	        !alert   ? ""
	        : is_new ? "new last night"
	                 : "since %s",
	        alert ? tk_time_format_day(alert->opened_s, day) : "");
	tk_value_set(site->arena, o, "alert_state",
	        state != TK_TRIAGE_NEW ? tk_triage_state_name(state) : "");
	tk_page_set_clipped(site, o, "alert_uid", alert ? alert->uid : "", 80);
}

static void add_series(struct tk_site *site, struct tk_value *list, const struct tk_site_series *s)
{
	struct tk_arena *a = site->arena;
	struct tk_value *o = tk_value_append_object(a, list);
	const struct tk_verdict_row *v = s->verdict;
	const struct tk_revision_row *good, *bad;
	char text[TK_FORMAT_SIZE];
	struct tk_ceiling_set ceilings;
	tk_ceiling_set_load(&site->model, s->device, &ceilings);
	double efficiency = tk_ceiling_set_efficiency(&ceilings, s, v->after_value);
	tk_page_set_series(site, o, s, "");
	tk_page_set_sparkline(site, o, s);
	tk_value_set_flag(a, o, "is_group", false);
	tk_value_set_flag(a, o, "numbers", has_numbers(v));
	tk_value_set(a, o, "efficiency",
	        isfinite(efficiency) ? tk_format_percent(efficiency, text) : "");
	set_since(site, o, s);
	tk_value_set(a, o, "before", tk_format_value(v->before_value, s->row->unit, text));
	tk_value_set(a, o, "after", tk_format_value(v->after_value, s->row->unit, text));
	tk_page_set_clipped(site, o, "reason", v->reason, 160);
	tk_series_find_change_range(site, s, &good, &bad);
	tk_page_set_revision_range(site, o, good, bad);
	tk_page_set_first_bad(site, o, s, good, bad);
}

/* A list of the overview. */
struct list {
	enum tk_tone tone;
	const char *key, *key_more, *key_cut; /* its items; how many are left out; whether any is */
};

/* The series of one tone, most severe first. */
static void set_list(struct tk_site *site, struct tk_value *page, const struct list *list,
        const struct tk_site_series **changed)
{
	size_t count = 0, left = 0;
	for (size_t i = 0; i < site->model.series_count; i++) {
		const struct tk_site_series *s = &site->model.series[i];
		if (s->verdict && tk_series_tone(s) == list->tone && !tk_series_is_unsupported(s))
			changed[count++] = s;
	}
	qsort(changed, count, sizeof *changed, compare_changed);
	struct tk_value *items = tk_value_set_list(site->arena, page, list->key);
	for (size_t i = 0, n, lines = 0; i < count; i += n) {
		n = count_alike(&changed[i], count - i);
		if (n > 1) /* never cut: there are few reasons */
			add_group(site, items, &changed[i], n);
		else if (lines < LINES_MAX)
			add_series(site, items, changed[i]);
		else
			left++;
		lines += n == 1;
	}
	tk_value_set_int(site->arena, page, list->key_more, (int64_t)left);
	tk_value_set_flag(site->arena, page, list->key_cut, left > 0);
}

int tk_page_set_changed_series(struct tk_site *site, struct tk_value *page, struct tk_error *err)
{
	static const struct list lists[] = {
	        {TK_TONE_BAD, "worse", "worse_more", "worse_cut"},
	        {TK_TONE_GOOD, "better", "better_more", "better_cut"},
	        {TK_TONE_NOTE, "attention", "attention_more", "attention_cut"},
	};
	const struct tk_site_series **changed =
	        malloc((site->model.series_count + 1) * sizeof *changed);
	if (!changed)
		return tk_fail(err, TK_ENOMEM, "out of memory");
	for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
		set_list(site, page, &lists[i], changed);
	free(changed);
	return 0;
}
