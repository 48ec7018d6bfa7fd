/* Stage "bisect": finds the first bad commit of each new regression that spans several commits,
 * within budgets.bisect. A bisection that runs out of budget continues in the next night, while
 * its alert is open and nobody has triaged it. Where several series regressed in the same range,
 * the commit found for one is tested first for the others. */
#include "base/error.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/try.h"
#include "core/metric.h"
#include "nightly/bisect/bisect.h"
#include "nightly/night.h"
#include "nightly/stages/detect_policy.h"
#include <stdlib.h>
#include <string.h>

/* One series, one range. */
struct range {
	int64_t series_id;
	const char *series, *upstream, *good, *bad;
};

struct search {
	struct tk_night *n;
	struct tk_diff_report report; /* most severe first */
	struct tk_rows unfinished;    /* bisections of earlier nights and parts of this one */
	double left_s;
	struct {
		struct range range;
		char rev[128];
	} * found;
	size_t found_count, pairs;
};

static struct range regressed_range(const struct tk_diff_row *r)
{
	return (struct range){r->series_id, r->series, r->upstream, r->good_rev, r->bad_rev};
}

static int is_decided(
        const struct search *h, const struct range *q, bool *out, struct tk_error *err)
{
	int64_t count;
	TRY(tk_store_select_int(h->n->store,
	        "SELECT count(*) FROM bisection WHERE series_id=?1 AND good_rev=?2 AND bad_rev=?3"
	        " AND outcome<>'inconclusive'",
	        TK_ARGS(q->series_id, q->good, q->bad), 0, &count, err));
	*out = count > 0;
	return TK_OK;
}

static bool needs_bisection(const struct tk_diff_row *r)
{
	return r->verdict.status == TK_VERDICT_REGRESSED && r->commits_between > 1 &&
	       *r->good_rev && *r->bad_rev && tk_metric_from_name(r->metric) == TK_METRIC_TIME;
}

/* The first bad commit of the same range, found for another series; NULL: none. */
static const char *find_hint(const struct search *h, const struct range *q)
{
	for (size_t i = 0; i < h->found_count; i++) {
		const struct range *o = &h->found[i].range;
		if (strcmp(o->upstream, q->upstream) == 0 && strcmp(o->good, q->good) == 0 &&
		        strcmp(o->bad, q->bad) == 0)
			return h->found[i].rev;
	}
	return NULL;
}

static int bisect_range(struct search *h, const struct range *range, struct tk_error *err)
{
	struct tk_bisect_request q = {.series_id = range->series_id,
	        .good = range->good,
	        .bad = range->bad,
	        .hint = find_hint(h, range),
	        .budget_s = h->left_s};
	struct tk_bisect_report r;
	struct tk_error reason = {0};
	int status = tk_bisect_run_in_night(h->n, &q, &r, &reason);
	h->left_s -= r.wall_s;
	h->pairs += r.pairs;
	if (tk_night_is_fatal(status))
		return tk_fail(err, status, "%s", reason.message);
	if (status) {
		tk_log(TK_LOG_WARN, "bisect", NULL, "%s: bisection failed: %s", range->series,
		        reason.message);
		return TK_OK;
	}
	if (r.outcome == TK_BISECT_FOUND) {
		h->found[h->found_count].range = *range;
		memcpy(h->found[h->found_count].rev, r.first_bad.id, sizeof h->found->rev);
		h->found_count++;
		h->n->report->first_bad_commits++;
		tk_log(TK_LOG_INFO, "first_bad", NULL, "%s: first bad commit %.12s %s",
		        range->series, r.first_bad.id, r.first_bad.subject);
	}
	return TK_OK;
}

/* Inconclusive bisections of series whose alert is open, and which nobody has triaged. */
static int list_unfinished(struct search *h, struct tk_error *err)
{
	return tk_store_list(h->n->store, TK_TABLE_bisection,
	        "outcome='inconclusive' AND EXISTS (SELECT 1 FROM alert_v a"
	        " WHERE a.series_id=bisection.series_id AND a.status='open'"
	        " AND a.good_rev=bisection.good_rev AND a.bad_rev=bisection.bad_rev"
	        " AND a.decision IN ('', 'reopen'))",
	        TK_NO_ARGS, &h->unfinished, err);
}

/* A range that this night has bisected is not continued. */
static const struct tk_diff_row *find_row(const struct search *h, const struct tk_bisection_row *c)
{
	for (size_t i = 0; i < h->report.count; i++) {
		const struct tk_diff_row *r = &h->report.rows[i];
		if (r->series_id == c->series_id)
			return needs_bisection(r) && strcmp(r->good_rev, c->good_rev) == 0 &&
			                       strcmp(r->bad_rev, c->bad_rev) == 0
			               ? NULL
			               : r;
	}
	return NULL;
}

/* New regressions first, then unfinished bisections. */
static int bisect_all(struct search *h, struct tk_error *err)
{
	h->found = tk_calloc(h->report.count + h->unfinished.count + 1, sizeof *h->found);
	for (size_t i = 0; h->left_s > 0 && i < h->report.count; i++) {
		const struct range q = regressed_range(&h->report.rows[i]);
		bool decided = !needs_bisection(&h->report.rows[i]);
		if (!decided)
			TRY(is_decided(h, &q, &decided, err));
		if (!decided)
			TRY(bisect_range(h, &q, err));
	}
	for (size_t i = 0; h->left_s > 0 && i < h->unfinished.count; i++) {
		const struct tk_bisection_row *c =
		        TK_ROWS_AT(&h->unfinished, struct tk_bisection_row, i);
		const struct tk_diff_row *r = find_row(h, c);
		if (r)
			TRY(bisect_range(h,
			        &(struct range){r->series_id, r->series, r->upstream, c->good_rev,
			                c->bad_rev},
			        err));
	}
	return TK_OK;
}

int tk_night_bisect(struct tk_night *n, struct tk_error *err)
{
	struct search h = {.n = n, .left_s = tk_night_find_share_s(n, n->config->budgets.bisect_s)};
	struct tk_detect_policy policy;
	struct tk_error reason = {0};
	if (h.left_s <= 0 || n->options->backfill_revision || n->options->import_file)
		return TK_OK;
	/* Acknowledged regressions are not bisected. An error in the file was logged by the
	 * stage "detect". */
	if (tk_detect_policy_load(n->config, NULL, &policy, &reason))
		tk_log(TK_LOG_DEBUG, "acks", NULL, "%s", reason.message);
	int status = tk_detect_preview(n->store, n->night_id, &policy.options, &h.report, err);
	if (!status)
		status = list_unfinished(&h, err);
	if (!status)
		status = bisect_all(&h, err);
	tk_detect_policy_free(&policy);
	free(h.found);
	tk_rows_free(&h.unfinished);
	tk_diff_report_free(&h.report);
	if (status || !h.pairs)
		return status;
	/* The pairs are of the builds that the verdicts are about, which must show the same
	 * change. */
	status = tk_night_detect(n, err);
	return status ? tk_error_add_context(err,
	                        "the bisections and their A/B pairs are stored, but the verdicts "
	                        "of "
	                        "the night were not updated; run `tracker detect`")
	              : TK_OK;
}
