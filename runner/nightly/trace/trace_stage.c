/* Stage "trace": where new regressions are inside their kernels. Backends of which both builds, the
 * last good one and the first bad one, record regions are measured by turns, and the comparison is
 * stored as that of `tracker trace --base --head`; the verdicts then say it. Within budgets.trace,
 * the worst regression of each backend first. What had no time follows in the next night, as long
 * as the verdict stands. */
#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "core/metric.h"
#include "nightly/confirm/ab_test.h"
#include "nightly/night.h"
#include "nightly/stages/detect_policy.h"
#include "nightly/trace/trace_compare.h"
#include "store/catalog/row_index.h"
#include "store/kernel_report.h"
#include <stdlib.h>
#include <string.h>

struct search {
	struct tk_night *n;
	struct tk_diff_report report; /* most severe first */
	struct tk_id_table series;
	double deadline_s; /* of the night's time */
	size_t stored;
};

static bool is_candidate(const struct tk_diff_row *r)
{
	return r->verdict.status == TK_VERDICT_REGRESSED &&
	       tk_metric_from_name(r->metric) == TK_METRIC_TIME && *r->good_rev && *r->bad_rev &&
	       r->verdict.good_build_id != r->verdict.bad_build_id;
}

static bool is_same_backend(const struct tk_diff_row *a, const struct tk_diff_row *b)
{
	return !strcmp(a->backend, b->backend) && !strcmp(a->upstream, b->upstream) &&
	       !strcmp(a->device, b->device) && !strcmp(a->bad_rev, b->bad_rev);
}

/* Whether it is the worst regression of its backend. */
static bool is_first(const struct search *s, size_t i)
{
	for (size_t k = 0; k < i; k++)
		if (is_candidate(&s->report.rows[k]) &&
		        is_same_backend(&s->report.rows[k], &s->report.rows[i]))
			return false;
	return true;
}

/* *found: false where an earlier night compared it, or a build of it does not record or is not in
 * the cache. */
static int open_comparison(struct search *s, const struct tk_diff_row *r,
        struct tk_trace_comparison_job *out, bool *found, struct tk_error *err)
{
	const struct tk_series_row *series = tk_id_table_find(&s->series, r->series_id);
	struct tk_error reason = {0};
	char *stored = NULL;
	*found = false;
	if (!series)
		return TK_OK;
	int status = tk_store_find_comparison(
	        s->n->store, series, r->upstream, r->good_rev, r->bad_rev, &stored, err);
	if (status || stored) {
		free(stored);
		return status;
	}
	status = tk_trace_comparison_open(s->n, r, out, &reason);
	*found = !status;
	if (status == TK_ENOTFOUND) {
		tk_log(TK_LOG_DEBUG, "trace", NULL, "%s is not traced: %s", r->series,
		        reason.message);
		return TK_OK;
	}
	return status ? tk_fail(err, status, "%s", reason.message) : TK_OK;
}

/* A comparison that fails, or has no time, is none. */
static int compare(struct search *s, const struct tk_diff_row *r, struct tk_error *err)
{
	struct tk_trace_comparison_job job = {.deadline_s = s->deadline_s};
	struct tk_error reason = {0};
	bool found;
	int status = open_comparison(s, r, &job, &found, err);
	if (!status && found) {
		tk_night_announce_stage(s->n, "trace", r->series);
		status = tk_trace_comparison_run(s->n, &job, &reason);
		s->stored += !status;
		if (status && !tk_night_is_fatal(status))
			tk_log(TK_LOG_WARN, "trace", NULL, "%s: no comparison: %s", r->series,
			        reason.message);
		status = tk_night_is_fatal(status) ? tk_fail(err, status, "%s", reason.message)
		                                   : TK_OK;
	}
	tk_trace_comparison_close(&job);
	return status;
}

static int compare_all(struct search *s, struct tk_error *err)
{
	int status = TK_OK;
	for (int first = 1; first >= 0; first--)
		for (size_t i = 0; !status && i < s->report.count; i++)
			if (is_candidate(&s->report.rows[i]) && is_first(s, i) == first &&
			        tk_night_elapsed_s(s->n) < s->deadline_s)
				status = compare(s, &s->report.rows[i], err);
	return status;
}

int tk_night_trace(struct tk_night *n, struct tk_error *err)
{
	double share_s = tk_night_find_share_s(n, n->config->budgets.trace_s);
	struct search s = {.n = n, .deadline_s = tk_night_elapsed_s(n) + share_s};
	struct tk_detect_policy policy;
	struct tk_error reason = {0};
	if (n->config->budgets.trace_s <= 0 || n->options->backfill_revision ||
	        !n->report->by_status[TK_VERDICT_REGRESSED])
		return TK_OK;
	if (tk_detect_policy_load(n->config, NULL, &policy, &reason))
		tk_log(TK_LOG_DEBUG, "acks", NULL, "%s", reason.message);
	int status = tk_detect_preview(n->store, n->night_id, &policy.options, &s.report, err);
	if (!status)
		status = tk_id_table_load(&s.series, n->store, tk_store_list_series,
		        sizeof(struct tk_series_row), err);
	for (size_t i = 0; !status && i < n->device_count; i++)
		tk_night_device_stop_workers(&n->devices[i]);
	if (!status)
		status = compare_all(&s, err);
	tk_detect_policy_free(&policy);
	tk_id_table_free(&s.series);
	tk_diff_report_free(&s.report);
	if (status || !s.stored)
		return status;
	status = tk_night_detect(n, err);
	return status ? tk_error_add_context(err,
	                        "the comparisons are stored, but the verdicts of the night do not "
	                        "name them; run `tracker detect`")
	              : TK_OK;
}
