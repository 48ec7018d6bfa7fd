/* Series of the overview that need attention: neither better nor worse, but not quiet. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/format.h"
#include "base/memory.h"
#include "core/status.h"
#include "site_gen/pages/overview.h"

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
	struct tk_value *o = tk_value_append(list);
	const struct tk_site_series *first = changed[0];
	const struct tk_night_row *analysed = first->device->machine->analysed_night;
	const struct tk_site_night *night =
	        analysed ? tk_model_find_night(&site->model, analysed->id) : NULL;
	size_t devices = 1, reasons = 1;
	for (size_t i = 1; i < count; i++) {
		devices += changed[i]->device != changed[i - 1]->device;
		reasons +=
		        strcmp(changed[i]->verdict->reason, changed[i - 1]->verdict->reason) != 0;
	}
	tk_value_set_flag(o, "is_group", true);
	tk_value_set_count(o, "count", count);
	tk_value_set(o, "status", tk_series_status_word(first));
	tk_tone_set(o, "tone", tk_series_tone(first));
	tk_value_set_clip(o, "device", devices > 1 ? "several devices" : first->device->name, 60);
	tk_value_set_reason(o, reasons > 1 ? "" : first->verdict->reason);
	if (tk_page_list_is_single(&site->model))
		tk_value_set_fmt(
		        o, "href", "lists/index.html#status=%s", tk_series_status_word(first));
	else
		tk_value_set_fmt(o, "href",
		        night && night->file ? "nights/%s.html" : "lists/index.html",
		        night && night->file ? night->file : "");
}

static void add_series(struct tk_site *site, struct tk_value *list, const struct tk_site_series *s)
{
	struct tk_value *o = tk_value_append(list);
	tk_page_set_series(site, o, s, "");
	tk_value_set_flag(o, "is_group", false);
	tk_value_set_reason(o, s->verdict->reason);
}

static void set_list(
        struct tk_site *site, struct tk_value *page, const struct tk_site_series **changed)
{
	size_t count = 0, left = 0;
	for (size_t i = 0; i < site->model.series_count; i++) {
		const struct tk_site_series *s = &site->model.series[i];
		if (s->verdict && tk_series_tone(s) == TK_TONE_NOTE &&
		        s->verdict->status != TK_VERDICT_ENVIRONMENT &&
		        !tk_series_is_unsupported(s))
			changed[count++] = s;
	}
	if (count)
		qsort(changed, count, sizeof *changed, compare_changed);
	struct tk_value *items = tk_value_add_list(page, "attention");
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
	tk_value_set_int(page, "attention_more", left);
	tk_value_set_flag(page, "attention_cut", left > 0);
}

int tk_overview_set_attention(struct tk_site *site, struct tk_value *page, struct tk_error *err)
{
	const struct tk_site_series **changed =
	        tk_malloc((site->model.series_count + 1) * sizeof *changed);
	set_list(site, page, changed);
	free(changed);
	return 0;
}
