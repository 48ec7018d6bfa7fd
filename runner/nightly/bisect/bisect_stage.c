/* Stage "bisect": finds the first bad commit of each new regression that spans several commits,
 * within budgets.bisect. A bisection that runs out of budget continues in the next night, while
 * its alert is open and nobody has triaged it. Where several series regressed in the same range,
 * the commit found for one is tested first for the others. */
#include "base/base.h"
#include "nightly/bisect/bisect.h"
#include "nightly/night.h"

/* One series, one range. */
struct range {
	int64_t series_id;
	const char *series, *upstream, *good, *bad;
};

struct search {
	struct tk_night *n;
	double left_s;
	size_t pairs;
};

/* The first bad commit of the same range, found for another series; no rows: none. */
static int find_hint(
        struct tk_night *n, const struct range *q, struct tk_rows *out, struct tk_error *err)
{
	struct hint {
		const char *rev;
	};
	static const struct tk_db_column columns[] = {TK_MEMBER(struct hint, rev)};
	static const struct tk_row_type type = TK_ROW_TYPE(struct hint, columns);
	return tk_store_select(n->store,
	        "SELECT b.first_bad_rev AS rev FROM bisection b JOIN series_v s ON s.id=b.series_id"
	        " WHERE s.upstream=?1 AND b.good_rev=?2 AND b.bad_rev=?3 AND b.outcome='found'"
	        " ORDER BY b.finished_s DESC LIMIT 1",
	        TK_ARGS(q->upstream, q->good, q->bad), &type, out, err);
}

static int bisect_range(struct search *h, const struct range *range, struct tk_error *err)
{
	AUTO(tk_rows) hint = {0};
	struct tk_bisect_report r;
	struct tk_error reason = {0};
	TRY(find_hint(h->n, range, &hint, err));
	struct tk_bisect_request q = {.series_id = range->series_id,
	        .good = range->good,
	        .bad = range->bad,
	        .hint = hint.count ? *(const char **)hint.rows : NULL, /* the only member */
	        .budget_s = h->left_s};
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
		h->n->report->first_bad_commits++;
		tk_log(TK_LOG_INFO, "first_bad", NULL, "%s: first bad commit %.12s %s",
		        range->series, r.first_bad.id, r.first_bad.subject);
	}
	return TK_OK;
}

/* The regressions and build failures of this night that span several commits and are not bisected
 * yet, the most severe first; then unfinished bisections of other ranges whose alert is open, and
 * which nobody has triaged. */
static int list_ranges(struct tk_night *n, struct tk_rows *out, struct tk_error *err)
{
	static const struct tk_db_column columns[] = {TK_MEMBER(struct range, series_id),
	        TK_MEMBER(struct range, series), TK_MEMBER(struct range, upstream),
	        TK_MEMBER(struct range, good), TK_MEMBER(struct range, bad)};
	static const struct tk_row_type type = TK_ROW_TYPE(struct range, columns);
	return tk_store_select(n->store,
	        "WITH all_v AS (SELECT *, (SELECT outcome FROM run WHERE id=first_bad_run_id)"
	        " AS outcome FROM verdict_v WHERE night_id=?1),"
	        " lost AS (SELECT min(series_id) AS series_id FROM all_v WHERE "
	        "status='newly-failed'"
	        " AND outcome='build_failed' AND metric='time'"
	        " GROUP BY upstream_id, good_rev, bad_rev),"
	        " v AS (SELECT *, commits_between>1 AND (status='regressed' AND metric='time'"
	        " OR series_id IN (SELECT series_id FROM lost)) AS is_new FROM all_v)"
	        " SELECT series_id, series, upstream, good_rev AS good, bad_rev AS bad, 0 AS later,"
	        " severity FROM v WHERE is_new AND NOT EXISTS (SELECT 1 FROM bisection b"
	        " WHERE b.series_id=v.series_id AND b.good_rev=v.good_rev AND b.bad_rev=v.bad_rev"
	        " AND b.outcome<>'inconclusive')"
	        " UNION ALL"
	        " SELECT b.series_id, v.series, v.upstream, b.good_rev, b.bad_rev, 1, 0"
	        " FROM bisection b JOIN v ON v.series_id=b.series_id WHERE b.outcome='inconclusive'"
	        " AND NOT (v.is_new AND v.good_rev=b.good_rev AND v.bad_rev=b.bad_rev)"
	        " AND EXISTS (SELECT 1 FROM alert_v a WHERE a.series_id=b.series_id"
	        " AND a.status='open' AND a.good_rev=b.good_rev AND a.bad_rev=b.bad_rev"
	        " AND a.decision IN ('', 'reopen'))"
	        " ORDER BY later, severity DESC, series_id",
	        TK_ARGS(n->night_id), &type, out, err);
}

int tk_night_bisect(struct tk_night *n, struct tk_error *err)
{
	AUTO(tk_rows) ranges = {0};
	struct search h = {.n = n, .left_s = tk_night_find_share_s(n, n->config->budgets.bisect_s)};
	if (h.left_s <= 0 || n->options->backfill_revision || n->options->import_file)
		return TK_OK;
	TRY(list_ranges(n, &ranges, err));
	for (size_t i = 0; h.left_s > 0 && i < ranges.count; i++)
		TRY(bisect_range(&h, TK_ROWS_AT(&ranges, struct range, i), err));
	/* The pairs are of the builds that the verdicts are about, which must show the same
	 * change. */
	if (h.pairs && tk_night_detect(n, err))
		return tk_error_add_context(err,
		        "the bisections and their A/B pairs are stored, but the verdicts of the "
		        "night were not updated; run `tracker detect`");
	return TK_OK;
}
