#include "cli/series_ref.h"

#include <fnmatch.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/try.h"
#include "cli/triage/alert_groups.h"
#include "store/store.h"

#define ALERT_DIGITS_MIN 4
#define NAMED_MAX 4

enum likeness { UNLIKE, PART, START, EQUAL };

static enum likeness likeness(const char *slug, const char *text)
{
	if (strcmp(slug, text) == 0)
		return EQUAL;
	if (strpbrk(text, "*?["))
		return fnmatch(text, slug, 0) == 0 ? START : UNLIKE;
	if (strncmp(slug, text, strlen(text)) == 0)
		return START;
	return strcasestr(slug, text) ? PART : UNLIKE;
}

static int fail_many(
        const struct tk_rows *series, const char *text, enum likeness best, struct tk_error *err)
{
	struct tk_buf names = TK_BUF_INIT;
	size_t count = 0;

	for (size_t i = 0; i < series->count; i++) {
		const char *slug = TK_ROWS_AT(series, struct tk_series_row, i)->slug;

		if (likeness(slug, text) == best && count++ < NAMED_MAX)
			tk_buf_add_printf(&names, "%s%s", names.len ? ", " : "", slug);
	}
	tk_fail(err, TK_EUSAGE, "\"%s\" is ambiguous: it matches %zu series: %s%s", text, count,
	        tk_buf_cstr(&names), count > NAMED_MAX ? ", ..." : "");
	tk_buf_free(&names);
	return err->status;
}

static void take(const struct tk_series_row *s, struct tk_series_ref *out)
{
	out->series_id = s->id;
	snprintf(out->slug, sizeof out->slug, "%s", s->slug);
}

static int find_series(const struct tk_rows *series, const char *text, struct tk_series_ref *out,
        struct tk_error *err)
{
	enum likeness best = UNLIKE;
	size_t count = 0;

	for (size_t i = 0; i < series->count; i++) {
		const struct tk_series_row *s = TK_ROWS_AT(series, struct tk_series_row, i);
		enum likeness l = likeness(s->slug, text);

		if (l == UNLIKE || l < best)
			continue;
		count = l > best ? 1 : count + 1;
		best = l;
		take(s, out);
	}
	if (count > 1)
		return fail_many(series, text, best, err);
	return count ? TK_OK
	             : tk_fail(err, TK_EUSAGE,
	                       "no series or alert matches \"%s\"; `tracker show '*'` lists the "
	                       "series",
	                       text);
}

/* The alert, or of a group the one with the largest change. TK_ENOTFOUND: no alert has that id. */
static int find_alert(const struct tk_alerts *alerts, const char *text, struct tk_series_ref *out,
        struct tk_error *err)
{
	const struct tk_alert_group *group;
	const struct tk_alert_row *a = NULL;
	const struct tk_series_row *series;
	TRY(strlen(text) < ALERT_DIGITS_MIN ? TK_ENOTFOUND
	                                    : tk_alerts_find(alerts, text, &group, &a, err));
	a = a ? a : group->alerts[0];
	series = tk_lookup_series(&alerts->names, a->series_id);
	if (!series)
		return tk_fail(err, TK_EUSAGE, "alert %s does not belong to one series: %s", text,
		        a->title);
	take(series, out);
	snprintf(out->good, sizeof out->good, "%s", a->good_rev);
	snprintf(out->bad, sizeof out->bad, "%s", a->bad_rev);
	return TK_OK;
}

/* The range of revisions of the newest alert of the series. */
static void find_range(const struct tk_rows *alerts, struct tk_series_ref *out)
{
	int64_t newest = INT64_MIN;

	for (size_t i = 0; i < alerts->count; i++) {
		const struct tk_alert_row *a = TK_ROWS_AT(alerts, struct tk_alert_row, i);

		if (a->series_id != out->series_id || a->opened_s <= newest)
			continue;
		newest = a->opened_s;
		snprintf(out->good, sizeof out->good, "%s", a->good_rev);
		snprintf(out->bad, sizeof out->bad, "%s", a->bad_rev);
	}
}

int tk_series_ref_resolve(
        struct tk_store *s, const char *text, struct tk_series_ref *out, struct tk_error *err)
{
	const struct tk_detect_options no_missing_data = {0};
	struct tk_alerts alerts = {0};
	int status = tk_alerts_load(s, &no_missing_data, &alerts, err);

	*out = (struct tk_series_ref){0};
	if (status)
		return status;
	status = find_alert(&alerts, text, out, err);
	if (status == TK_ENOTFOUND) {
		*err = (struct tk_error){0};
		status = find_series(&alerts.names.series.rows, text, out, err);
		if (!status)
			find_range(&alerts.rows, out);
	}
	tk_alerts_free(&alerts);
	return status;
}
