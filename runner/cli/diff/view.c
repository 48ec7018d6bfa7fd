/* Which rows of a report are shown, in which order, and the phrases that formats share. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/present.h"
#include "base/text.h"
#include "cli/diff/view.h"
#include "cli/rate.h"

static const struct tk_diff_row *worst(const struct tk_diff_report *r)
{
	const struct tk_diff_row *worst = NULL;

	for (size_t i = 0; i < r->count; i++)
		if (r->rows[i].verdict.status == TK_VERDICT_REGRESSED &&
		        (!worst || fabs(r->rows[i].verdict.change.value) >
		                           fabs(worst->verdict.change.value)))
			worst = &r->rows[i];
	return worst;
}

const char *tk_diff_describe_baseline(const struct tk_diff_report *r, char *out, size_t size)
{
	switch (r->options.baseline) {
	case TK_BASELINE_FIRST:
		snprintf(out, size, "the first %u nights", r->window);
		break;
	case TK_BASELINE_BEST:
		snprintf(out, size, "the best level");
		break;
	case TK_BASELINE_PINNED:
		snprintf(out, size, "%.60s", r->options.baseline_name);
		break;
	default:
		snprintf(out, size, "%u-night median", r->window);
	}
	return out;
}

static void add_range(struct tk_buf *b, const struct tk_diff_report *r)
{
	char since[TK_TIME_ISO_SIZE], until[TK_TIME_ISO_SIZE], baseline[80];
	int64_t until_s = r->until_s;

	if (until_s == INT64_MAX) /* nights are later than now where the clock was set back */
		until_s = r->newest_s > r->options.now_s ? r->newest_s : r->options.now_s;
	tk_buf_add_printf(b, "; window %s..%s vs %s", tk_time_format_day(r->since_s, since),
	        tk_time_format_day(until_s, until),
	        tk_diff_describe_baseline(r, baseline, sizeof baseline));
}

static void write_sanitized(struct tk_buf *b, char *out, size_t size)
{
	snprintf(out, size, "%s", tk_buf_cstr(b));
	tk_text_sanitize(out, "", ' ');
	tk_buf_free(b);
}

static void explain_empty(const struct tk_diff_report *r, char *out, size_t size)
{
	struct tk_buf b = TK_BUF_INIT;
	const char *separator = " (";

	tk_buf_add_str(&b, "diff: nothing was compared: ");
	if (!r->count)
		tk_buf_add_str(&b, "no series matches, or the history is empty");
	else
		tk_buf_add_printf(
		        &b, "none of %zu series has a timing before and in the range", r->count);
	for (int i = 0; i < TK_VERDICT_STATUS_COUNT; i++)
		if (r->by_status[i]) {
			tk_buf_add_printf(&b, "%s%zu %s", separator, r->by_status[i],
			        tk_verdict_status_name((enum tk_verdict_status)i));
			separator = ", ";
		}
	if (r->count)
		tk_buf_add_char(&b, ')');
	if (r->by_status[TK_VERDICT_NEW])
		tk_buf_add_str(&b, "; new series can be compared from their next night on");
	add_range(&b, r);
	write_sanitized(&b, out, size);
}

void tk_diff_summarize(const struct tk_diff_view *v, char *out, size_t size)
{
	static const enum tk_verdict_status always[] = {TK_VERDICT_REGRESSED, TK_VERDICT_IMPROVED,
	        TK_VERDICT_SAME, TK_VERDICT_UNSURE, TK_VERDICT_NEWLY_FAILED, TK_VERDICT_MISSING,
	        TK_VERDICT_ACKED};
	const struct tk_diff_report *r = v->report;
	const struct tk_diff_row *w = worst(r);
	struct tk_buf b = TK_BUF_INIT;
	bool listed[TK_VERDICT_STATUS_COUNT] = {false};
	char age[64], mean[TK_DIFF_MEAN_TEXT_SIZE];

	if (!r->compared && !tk_diff_has_fail_on(v)) {
		explain_empty(r, out, size);
		return;
	}
	tk_buf_add_printf(&b, "diff: %zu series on %zu machine%s:", r->count, r->machines,
	        r->machines == 1 ? "" : "s");
	for (size_t i = 0; i < sizeof always / sizeof *always; i++) {
		listed[always[i]] = true;
		tk_buf_add_printf(&b, "%s %zu %s", i ? "," : "", r->by_status[always[i]],
		        tk_verdict_status_name(always[i]));
		if (always[i] == TK_VERDICT_REGRESSED && w)
			tk_buf_add_printf(&b, " (worst %+.1f %% %.40s %.80s %.40s)",
			        100 * w->verdict.change.value, w->backend, w->title, w->machine);
	}
	for (int i = 0; i < TK_VERDICT_STATUS_COUNT; i++)
		if (!listed[i] && r->by_status[i])
			tk_buf_add_printf(&b, ", %zu %s", r->by_status[i],
			        tk_verdict_status_name((enum tk_verdict_status)i));
	tk_buf_add_printf(&b, "; geomean %s", tk_diff_mean_format(&r->mean, mean));
	add_range(&b, r);
	if (r->newest_s)
		tk_buf_add_printf(&b, "; newest data %s old",
		        tk_duration_format(
		                (double)(r->options.now_s - r->newest_s), age, sizeof age));
	if (r->waiting)
		tk_buf_add_printf(&b, "; %zu wait for their turn, measured up to %u night%s ago",
		        r->waiting, r->waiting_nights, r->waiting_nights == 1 ? "" : "s");
	write_sanitized(&b, out, size);
}

const char *tk_diff_describe_commits(const struct tk_diff_row *row, char *out, size_t size)
{
	char commits[48] = "";

	if (row->commits_between >= 0)
		snprintf(commits, sizeof commits, " (%lld commit%s)",
		        (long long)row->commits_between, row->commits_between == 1 ? "" : "s");
	if (*row->first_bad_commit)
		snprintf(out, size, "%.12s, of %.12s..%.12s%s", row->first_bad_commit,
		        row->good_rev, row->bad_rev, commits);
	else if (*row->good_rev && *row->bad_rev)
		snprintf(out, size, "%.12s..%.12s%s", row->good_rev, row->bad_rev, commits);
	else
		snprintf(out, size, "%.12s", row->bad_rev);
	return out;
}

const char *tk_diff_first_bad_subject(const struct tk_diff_row *row)
{
	return *row->first_bad_commit ? row->first_bad_subject : row->bad_subject;
}

const char *tk_diff_evidence_name(const struct tk_diff_row *row)
{
	return isnan(row->verdict.change.value)   ? ""
	       : tk_diff_row_is_ab_confirmed(row) ? "ab"
	                                          : "nights";
}

struct tk_rate tk_diff_row_rate(const struct tk_diff_row *row)
{
	return tk_rate_from_problem(
	        row->problem, row->flops, row->device_name, row->verdict.after.value, row->unit);
}

const char *tk_diff_ab_suffix(const struct tk_diff_row *row)
{
	return tk_diff_row_is_ab_confirmed(row) ? " (A/B confirmed)" : "";
}

const char *tk_diff_series_url(
        const struct tk_diff_view *v, const struct tk_diff_row *row, char *out, size_t size)
{
	char *file;

	*out = '\0';
	file = v->site_url && *v->site_url ? tk_path_make_slug(row->series) : NULL;
	if (file)
		snprintf(out, size, "%s%sseries/%s.html", v->site_url,
		        v->site_url[strlen(v->site_url) - 1] == '/' ? "" : "/", file);
	free(file);
	return out;
}

void tk_diff_describe_direction(const struct tk_diff_report *r, char *out, size_t size)
{
	struct tk_buf b = TK_BUF_INIT;

	for (size_t i = 0; i < r->count; i++) {
		bool listed = false;

		for (size_t j = 0; j < i && !listed; j++)
			listed = strcmp(r->rows[i].metric, r->rows[j].metric) == 0;
		if (!listed)
			tk_buf_add_printf(&b, "%s%.31s: %s is better", b.len ? ", " : "",
			        r->rows[i].metric, r->rows[i].lower_is_better ? "lower" : "higher");
		if (b.len > size)
			break;
	}
	write_sanitized(&b, out, size);
}

#define ROW(name, everything, write) {name, everything, write},
const struct tk_diff_format tk_diff_formats[] = {TK_DIFF_FORMATS(ROW, ROW){0}};

/* Other statuses are counted in the last line, not listed. */
static bool is_news(enum tk_verdict_status s)
{
	return s != TK_VERDICT_SAME && s != TK_VERDICT_NEW && s != TK_VERDICT_FAILING &&
	       s != TK_VERDICT_UNSUPPORTED && s != TK_VERDICT_STALE;
}

const char *tk_diff_group_name(
        const struct tk_diff_view *v, const struct tk_diff_row *row, char out[TK_DIFF_GROUP_SIZE])
{
	switch (v->group) {
	case TK_DIFF_GROUP_MACHINE:
		return row->machine;
	case TK_DIFF_GROUP_BACKEND:
		return row->backend;
	case TK_DIFF_GROUP_UPSTREAM:
		return row->upstream;
	case TK_DIFF_GROUP_REVISION:
		return *row->bad_rev ? row->bad_rev : "no revision";
	case TK_DIFF_GROUP_KERNEL:
		snprintf(out, TK_DIFF_GROUP_SIZE, "%s %s", row->backend, row->op);
		return out;
	default:
		return "";
	}
}

struct tk_diff_group_totals tk_diff_group_totals(const struct tk_diff_view *v, const char *group)
{
	struct tk_diff_group_totals s = {.mean = {.change = NAN}};
	char name[TK_DIFF_GROUP_SIZE];

	for (size_t i = 0; i < v->report->count; i++) {
		const struct tk_diff_row *r = &v->report->rows[i];

		if (strcmp(tk_diff_group_name(v, r, name), group) != 0)
			continue;
		s.series++;
		s.compared += tk_diff_row_is_compared(r);
		tk_diff_mean_add(&s.mean, r);
	}
	return s;
}

static double descending(double a, double b)
{
	double x = isnan(a) ? -1 : a, y = isnan(b) ? -1 : b;

	return (x < y) - (x > y);
}

static int compare(const void *a, const void *b, void *arg)
{
	const struct tk_diff_row *x = *(const struct tk_diff_row *const *)a,
	                         *y = *(const struct tk_diff_row *const *)b;
	const struct tk_diff_view *v = arg;
	char gx[TK_DIFF_GROUP_SIZE], gy[TK_DIFF_GROUP_SIZE];
	int order = strcmp(tk_diff_group_name(v, x, gx), tk_diff_group_name(v, y, gy));

	if (!order && v->sort == TK_DIFF_SORT_PERCENT)
		order = (int)descending(
		        fabs(x->verdict.change.value), fabs(y->verdict.change.value));
	if (!order && v->sort == TK_DIFF_SORT_ABSOLUTE)
		order = (int)descending(fabs(x->verdict.after.value - x->verdict.before.value),
		        fabs(y->verdict.after.value - y->verdict.before.value));
	if (!order && v->sort == TK_DIFF_SORT_NAME)
		order = strcmp(x->series, y->series);
	if (!order)
		order = (x > y) - (x < y); /* the report has the most severe first */
	return order;
}

static bool is_shared_backend(const struct tk_diff_view *v, const char *backend)
{
	for (size_t i = 0; i < v->shared_backend_count; i++)
		if (!strcmp(v->shared_backends[i], backend))
			return true;
	return false;
}

/* Compares each row with the first one of its backend: there are few backends and many rows. */
static void find_shared_backends(struct tk_diff_view *v)
{
	const struct tk_diff_row *firsts[64], *rows = v->report->rows;
	size_t known = 0;

	for (size_t i = 0; i < v->report->count; i++) {
		size_t k = 0;

		while (k < known && strcmp(firsts[k]->backend, rows[i].backend) != 0)
			k++;
		if (k == known && known < sizeof firsts / sizeof *firsts)
			firsts[known++] = &rows[i];
		if (k < known && strcmp(firsts[k]->upstream, rows[i].upstream) != 0 &&
		        !is_shared_backend(v, rows[i].backend) &&
		        v->shared_backend_count < TK_DIFF_SHARED_BACKENDS_MAX)
			v->shared_backends[v->shared_backend_count++] = rows[i].backend;
	}
}

const char *tk_diff_describe_backend(
        const struct tk_diff_view *v, const struct tk_diff_row *row, char *out, size_t size)
{
	bool shared = is_shared_backend(v, row->backend);

	snprintf(out, size, "%s%s%s%s%s%s", row->backend, shared ? " (" : "",
	        shared ? row->upstream : "", shared ? ")" : "", *row->mode ? ", " : "", row->mode);
	return out;
}

int tk_diff_view_init(struct tk_diff_view *v, bool everything, struct tk_error *err)
{
	if (!v->explicit_statuses)
		for (int i = 0; i < TK_VERDICT_STATUS_COUNT; i++)
			v->chosen[i] = everything || is_news((enum tk_verdict_status)i);
	v->shared_backend_count = 0;
	find_shared_backends(v);
	v->count = 0;
	v->rows = tk_calloc(v->report->count + 1, sizeof *v->rows);
	for (size_t i = 0; i < v->report->count; i++)
		if (v->chosen[v->report->rows[i].verdict.status])
			v->rows[v->count++] = &v->report->rows[i];
	if (v->count)
		qsort_r(v->rows, v->count, sizeof *v->rows, compare, v);
	return TK_OK;
}

void tk_diff_view_free(struct tk_diff_view *v)
{
	free(v->rows);
	v->rows = NULL;
}

size_t tk_diff_shown_count(const struct tk_diff_view *v)
{
	return v->limit && v->limit < v->count ? v->limit : v->count;
}

bool tk_diff_has_fail_on(const struct tk_diff_view *v)
{
	for (int i = 0; i < TK_VERDICT_STATUS_COUNT; i++)
		if (v->fail_on[i] && v->report->by_status[i])
			return true;
	return false;
}
