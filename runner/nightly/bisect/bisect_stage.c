/* Stage "bisect": finds the first bad commit of each new regression that spans several commits,
 * within budgets.bisect. A bisection that runs out of budget continues in the next night, while
 * its alert is open and nobody has triaged it. Where several series regressed in the same range,
 * the commit found for one is tested first for the others. */
#include "base/error.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/try.h"
#include "nightly/bisect/bisect.h"
#include "nightly/night.h"
#include <stdlib.h>
#include <string.h>

/* One series, one range. */
struct range {
	int64_t series_id;
	const char *series, *upstream, *good, *bad;
};

struct search {
	struct tk_night *n;
	double left_s;
	struct {
		struct range range;
		char rev[128];
	} * found;
	size_t found_count, pairs;
};

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

/* The regressions of this night that span several commits and are not bisected yet, the most severe
 * first; then unfinished bisections of other ranges whose alert is open, and which nobody has
 * triaged. */
static int list_ranges(struct tk_night *n, struct tk_rows *out, struct tk_error *err)
{
	static const struct tk_db_column columns[] = {TK_MEMBER(struct range, series_id),
	        TK_MEMBER(struct range, series), TK_MEMBER(struct range, upstream),
	        TK_MEMBER(struct range, good), TK_MEMBER(struct range, bad)};
	static const struct tk_row_type type = TK_ROW_TYPE(struct range, columns);
	return tk_store_select(n->store,
	        "WITH v AS (SELECT *, status='regressed' AND commits_between>1 AND metric='time'"
	        " AS is_new FROM verdict_v WHERE night_id=?1)"
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

static int bisect_ranges(struct search *h, struct tk_error *err)
{
	AUTO(tk_rows) ranges = {0};
	int status = TK_OK;
	TRY(list_ranges(h->n, &ranges, err));
	h->found = tk_calloc(ranges.count + 1, sizeof *h->found);
	for (size_t i = 0; !status && h->left_s > 0 && i < ranges.count; i++)
		status = bisect_range(h, TK_ROWS_AT(&ranges, struct range, i), err);
	free(h->found);
	return status;
}

int tk_night_bisect(struct tk_night *n, struct tk_error *err)
{
	struct search h = {.n = n, .left_s = tk_night_find_share_s(n, n->config->budgets.bisect_s)};
	if (h.left_s <= 0 || n->options->backfill_revision || n->options->import_file)
		return TK_OK;
	TRY(bisect_ranges(&h, err));
	/* The pairs are of the builds that the verdicts are about, which must show the same
	 * change. */
	if (h.pairs && tk_night_detect(n, err))
		return tk_error_add_context(err,
		        "the bisections and their A/B pairs are stored, but the verdicts of the "
		        "night were not updated; run `tracker detect`");
	return TK_OK;
}
