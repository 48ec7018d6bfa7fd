/* Which rows of a report are shown, in which order, and their texts. */
#include <math.h>

#include "cli/diff/diff.h"

const struct tk_diff_look tk_diff_looks[TK_VERDICT_STATUS_COUNT] = {
        [TK_VERDICT_REGRESSED] = {"red", "warning", "warning", "failure", true},
        [TK_VERDICT_NEWLY_FAILED] = {"red", "warning", "warning", "error", true},
        [TK_VERDICT_FAILING] = {"red", NULL, "note", "error", true},
        [TK_VERDICT_MISSING] = {"yellow", "warning", "warning", "skipped"},
        [TK_VERDICT_UNSURE] = {"yellow", NULL, "warning", "skipped"},
        [TK_VERDICT_NOT_COMPARABLE] = {"yellow", "warning", "warning", "skipped"},
        [TK_VERDICT_STALE] = {"yellow", NULL, "note", "skipped"},
        [TK_VERDICT_CHANGED] = {"yellow", "notice", "warning", NULL},
        [TK_VERDICT_IMPROVED] = {"green", "notice", "note", NULL},
        [TK_VERDICT_RECOVERED] = {"green", "notice", "note", NULL},
        [TK_VERDICT_FIXED] = {"green", "notice", "note", NULL},
        [TK_VERDICT_SAME] = {"halfbright", NULL, "note", NULL},
        [TK_VERDICT_ENVIRONMENT] = {"halfbright", "warning", "note", "skipped"},
        [TK_VERDICT_ACKED] = {"halfbright", NULL, "note", "skipped"},
        [TK_VERDICT_NEW] = {"halfbright", NULL, "note", "skipped"},
        [TK_VERDICT_RETIRED] = {"halfbright", NULL, "note", "skipped"},
        [TK_VERDICT_UNSUPPORTED] = {"halfbright", NULL, "note", "skipped"},
};

/* ---- the summary ----------------------------------------------------------------------------- */

static const struct tk_diff_row *worst(const struct tk_diff_report *r)
{
	const struct tk_diff_row *worst = NULL;

	for (size_t i = 0; i < r->count; i++)
		if (r->rows[i].verdict.status == TK_VERDICT_REGRESSED &&
		        isfinite(r->rows[i].verdict.change.value) &&
		        (!worst || fabs(r->rows[i].verdict.change.value) >
		                           fabs(worst->verdict.change.value)))
			worst = &r->rows[i];
	return worst;
}

/* "7-night median", "the best level", "tag:v1.0" */
static const char *describe_baseline(const struct tk_diff_report *r, char *out, size_t size)
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
	        describe_baseline(r, baseline, sizeof baseline));
}

static void write_sanitized(struct tk_buf *b, char *out, size_t size)
{
	snprintf(out, size, "%s", tk_buf_cstr(b));
	tk_text_sanitize(out, "", ' ');
	tk_buf_free(b);
}

static void explain_empty(const struct tk_diff_report *r, struct tk_buf *b)
{
	const char *separator = " (";

	tk_buf_add_str(b, "diff: nothing was compared: ");
	if (!r->count)
		tk_buf_add_str(b, "no series matches, or the history is empty");
	else
		tk_buf_add_printf(
		        b, "none of %zu series has a timing before and in the range", r->count);
	for (int i = 0; i < TK_VERDICT_STATUS_COUNT; i++)
		if (r->by_status[i]) {
			tk_buf_add_printf(b, "%s%zu %s", separator, r->by_status[i],
			        tk_verdict_status_name((enum tk_verdict_status)i));
			separator = ", ";
		}
	if (r->count)
		tk_buf_add_char(b, ')');
	if (r->by_status[TK_VERDICT_NEW])
		tk_buf_add_str(b, "; new series can be compared from their next night on");
	add_range(b, r);
}

static void summarize(const struct tk_diff_report *r, struct tk_buf *b)
{
	static const enum tk_verdict_status always[] = {TK_VERDICT_REGRESSED, TK_VERDICT_IMPROVED,
	        TK_VERDICT_SAME, TK_VERDICT_UNSURE, TK_VERDICT_NEWLY_FAILED, TK_VERDICT_MISSING,
	        TK_VERDICT_ACKED};
	const struct tk_diff_row *w = worst(r);
	bool listed[TK_VERDICT_STATUS_COUNT] = {false};
	char age[64], mean[TK_DIFF_MEAN_TEXT_SIZE];

	tk_buf_add_printf(b, "diff: %zu series on %zu machine%s:", r->count, r->machines,
	        r->machines == 1 ? "" : "s");
	for (size_t i = 0; i < sizeof always / sizeof *always; i++) {
		listed[always[i]] = true;
		tk_buf_add_printf(b, "%s %zu %s", i ? "," : "", r->by_status[always[i]],
		        tk_verdict_status_name(always[i]));
		if (always[i] == TK_VERDICT_REGRESSED && w)
			tk_buf_add_printf(b, " (worst %+.1f %% %.40s %.80s %.40s)",
			        100 * w->verdict.change.value, w->backend, w->title, w->machine);
	}
	for (int i = 0; i < TK_VERDICT_STATUS_COUNT; i++)
		if (!listed[i] && r->by_status[i])
			tk_buf_add_printf(b, ", %zu %s", r->by_status[i],
			        tk_verdict_status_name((enum tk_verdict_status)i));
	tk_buf_add_printf(b, "; geomean %s", tk_diff_mean_format(&r->mean, mean));
	add_range(b, r);
	if (r->newest_s)
		tk_buf_add_printf(b, "; newest data %s old",
		        tk_duration_format(
		                (double)(r->options.now_s - r->newest_s), age, sizeof age));
	if (r->waiting)
		tk_buf_add_printf(b, "; %zu wait for their turn, measured up to %u night%s ago",
		        r->waiting, r->waiting_nights, r->waiting_nights == 1 ? "" : "s");
}

static void describe_direction(const struct tk_diff_report *r, char *out, size_t size)
{
	struct tk_buf b = TK_BUF_INIT;

	for (size_t i = 0; i < r->count; i++) {
		bool listed = false;

		for (size_t j = 0; j < i && !listed; j++)
			listed = strcmp(r->rows[i].metric, r->rows[j].metric) == 0;
		if (!listed)
			tk_buf_add_printf(&b, "%s%.31s: %s is better", b.len ? ", " : "",
			        r->rows[i].metric,
			        r->rows[i].better == TK_BETTER_UNKNOWN
			                ? "it is not known what"
			                : tk_better_name(r->rows[i].better));
		if (b.len > size)
			break;
	}
	write_sanitized(&b, out, size);
}

/* ---- groups and order ------------------------------------------------------------------------ */

/* Other statuses are counted in the last line, not listed. */
static bool is_news(enum tk_verdict_status s)
{
	return s != TK_VERDICT_SAME && s != TK_VERDICT_NEW && s != TK_VERDICT_FAILING &&
	       s != TK_VERDICT_UNSUPPORTED && s != TK_VERDICT_STALE && s != TK_VERDICT_RETIRED;
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

size_t tk_diff_group_end(const struct tk_diff_view *v, size_t i)
{
	char a[TK_DIFF_GROUP_SIZE], b[TK_DIFF_GROUP_SIZE];
	const char *group = tk_diff_group_name(v, v->rows[i], a);

	while (++i < v->shown && strcmp(group, tk_diff_group_name(v, v->rows[i], b)) == 0)
		;
	return i;
}

size_t tk_diff_count_alike(const struct tk_diff_view *v, size_t i, size_t end,
        bool (*is_alike)(const struct tk_diff_row *a, const struct tk_diff_row *b))
{
	size_t count = 1;

	for (size_t j = 0; j < end; j++)
		if (j != i && is_alike(v->rows[j], v->rows[i])) {
			if (j < i)
				return 0;
			count++;
		}
	return count;
}

/* ---- the view -------------------------------------------------------------------------------- */

static json_t *find_upstreams(const struct tk_diff_report *r)
{
	json_t *upstreams = json_object();

	for (size_t i = 0; i < r->count; i++) {
		const struct tk_diff_row *row = &r->rows[i];
		const json_t *known = json_object_get(upstreams, row->backend);

		if (!known)
			json_object_set_new(upstreams, row->backend, json_string(row->upstream));
		else if (json_is_string(known) &&
		         strcmp(json_string_value(known), row->upstream) != 0)
			json_object_set_new(upstreams, row->backend, json_null());
	}
	return upstreams;
}

void tk_diff_view_init(struct tk_diff_view *v, bool everything)
{
	const struct tk_diff_report *r = v->report;
	struct tk_buf summary = TK_BUF_INIT;

	for (int i = 0; i < TK_VERDICT_STATUS_COUNT; i++) {
		if (!v->explicit_statuses)
			v->chosen[i] = everything || is_news((enum tk_verdict_status)i);
		v->is_found |= v->fail_on[i] && r->by_status[i];
	}
	v->upstreams = find_upstreams(r);
	v->rows = tk_calloc(r->count + 1, sizeof *v->rows);
	for (size_t i = 0; i < r->count; i++)
		if (v->chosen[r->rows[i].verdict.status])
			v->rows[v->count++] = &r->rows[i];
	if (v->count)
		qsort_r(v->rows, v->count, sizeof *v->rows, compare, v);
	v->shown = v->limit && v->limit < v->count ? v->limit : v->count;
	v->is_empty = !r->compared && !v->is_found;
	(v->is_empty ? explain_empty : summarize)(r, &summary);
	write_sanitized(&summary, v->summary, sizeof v->summary);
	describe_direction(r, v->direction, sizeof v->direction);
}

void tk_diff_view_free(struct tk_diff_view *v)
{
	free(v->rows);
	json_decref(v->upstreams);
}

/* ---- texts of a row -------------------------------------------------------------------------- */

static void describe_commits(struct tk_diff_line *l)
{
	const struct tk_diff_row *r = &l->r;
	const char *between = *r->good_rev && *r->bad_rev ? ".." : "";
	char commits[48] = "";

	if (r->commits_between >= 0)
		snprintf(commits, sizeof commits, " (%lld commit%s)", (long long)r->commits_between,
		        r->commits_between == 1 ? "" : "s");
	if (*r->first_bad_commit)
		snprintf(l->commits, sizeof l->commits, "%.12s, of %.12s..%.12s%s",
		        r->first_bad_commit, r->good_rev, r->bad_rev, commits);
	else
		snprintf(l->commits, sizeof l->commits, "%.12s%s%.12s%s",
		        *between ? r->good_rev : "", between, r->bad_rev, *between ? commits : "");
}

static void describe_url(const struct tk_diff_view *v, struct tk_diff_line *l)
{
	char *file;

	if (!v->site_url || !*v->site_url)
		return;
	file = tk_path_make_slug(l->r.series);
	snprintf(l->url, sizeof l->url, "%s%sseries/%s.html", v->site_url,
	        v->site_url[strlen(v->site_url) - 1] == '/' ? "" : "/", file);
	free(file);
}

void tk_diff_line_make(const struct tk_diff_view *v, size_t i, struct tk_diff_line *l)
{
	const struct tk_diff_row *r = v->rows[i];
	const struct tk_verdict *verdict = &r->verdict;
	const bool is_ab = tk_diff_row_is_ab_confirmed(r),
	           is_shared = json_is_null(json_object_get(v->upstreams, r->backend));

	*l = (struct tk_diff_line){.r = *r,
	        .status = tk_verdict_status_name(verdict->status),
	        .mark = tk_verdict_status_mark(verdict->status),
	        .better = tk_better_name(r->better),
	        .evidence = isnan(verdict->change.value) ? ""
	                    : is_ab                      ? "ab"
	                                                 : "nights",
	        .ab_suffix = is_ab ? " (A/B confirmed)" : "",
	        .accepted = verdict->status == TK_VERDICT_ACKED
	                            ? tk_verdict_status_name(verdict->status_before_ack)
	                            : "",
	        .subject = *r->first_bad_commit ? r->first_bad_subject : r->bad_subject,
	        .rate = tk_rate_from_problem(
	                r->problem, r->flops, r->device_name, verdict->after.value, r->unit),
	        .first_bad = {r->first_bad_commit, r->first_bad_subject, r->first_bad_author,
	                r->first_bad_time_s, r->first_bad_change, r->first_bad_confidence}};
	snprintf(l->backend, sizeof l->backend, "%s%s%s%s%s%s", r->backend, is_shared ? " (" : "",
	        is_shared ? r->upstream : "", is_shared ? ")" : "", *r->mode ? ", " : "", r->mode);
	describe_commits(l);
	describe_url(v, l);
	tk_verdict_format_reason(verdict, l->reason);
	tk_format_value(verdict->before.value, r->unit, l->before);
	tk_format_value(verdict->after.value, r->unit, l->after);
	if (!isnan(verdict->change.value))
		tk_format_change(verdict->change.value, l->change);
}
