/* Stage "bisect": what got worse between two revisions that are not neighbours is asked about, within budgets.bisect.
 * Where several series moved in the same range, the commit that was found for one is the first that is asked for the
 * others. */
#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "nightly/bisect.h"
#include "nightly/judging.h"
#include "nightly/night.h"
#include <stdlib.h>
#include <string.h>

struct hunt {
	struct tk_night *n;
	struct tk_diff_report report; /* most severe first */
	struct tk_rows culprits;      /* of earlier nights, or of an earlier part of this one */
	double left_s;
	struct {
		const struct tk_diff_row *row;
		char rev[128];
	} * found;
	size_t found_count;
};

static bool is_known(const struct hunt *h, const struct tk_diff_row *r)
{
	for (size_t i = 0; i < h->culprits.count; i++) {
		const struct tk_culprit_row *c = TK_ROWS_AT(&h->culprits, struct tk_culprit_row, i);
		if (c->series_id == r->series_id && strcmp(c->good_rev, r->good_rev) == 0 &&
		        strcmp(c->bad_rev, r->bad_rev) == 0 && strcmp(c->word, "open") != 0)
			return true;
	}
	return false;
}

static bool is_wanted(const struct hunt *h, const struct tk_diff_row *r)
{
	return r->status == TK_DIFF_REGRESSED && r->commits_between > 1 && *r->good_rev && *r->bad_rev &&
	       strcmp(r->metric, "time") == 0 && !is_known(h, r);
}

/* What the same range of the same upstream was found to hide. */
static const char *hint_for(const struct hunt *h, const struct tk_diff_row *r)
{
	for (size_t i = 0; i < h->found_count; i++) {
		const struct tk_diff_row *o = h->found[i].row;
		if (strcmp(o->upstream, r->upstream) == 0 && strcmp(o->good_rev, r->good_rev) == 0 &&
		        strcmp(o->bad_rev, r->bad_rev) == 0)
			return h->found[i].rev;
	}
	return NULL;
}

static int pursue(struct hunt *h, const struct tk_diff_row *row, struct tk_error *err)
{
	struct tk_bisect_request q = {.series_id = row->series_id,
	        .good = row->good_rev,
	        .bad = row->bad_rev,
	        .hint = hint_for(h, row),
	        .budget_s = h->left_s};
	struct tk_bisect_report r;
	struct tk_error why = {0};
	int status = tk_bisect_in(h->n, &q, &r, &why);
	h->left_s -= r.wall_s;
	if (status == TK_ECANCELED || status == TK_ENOMEM || status == TK_ENOSPC)
		return tk_fail(err, status, "%s", why.message);
	if (status != TK_OK) {
		tk_log(TK_LOG_WARN, "bisect", NULL, "%s: no culprit was looked for: %s", row->series, why.message);
		return TK_OK;
	}
	if (r.word == TK_BISECT_FOUND) {
		h->found[h->found_count].row = row;
		memcpy(h->found[h->found_count].rev, r.first_bad.id, sizeof h->found->rev);
		h->found_count++;
		h->n->report->culprits++;
		tk_log(TK_LOG_INFO, "culprit", NULL, "%s: %.12s %s", row->series, r.first_bad.id, r.first_bad.subject);
	}
	return TK_OK;
}

static double budget_of(const struct tk_night *n)
{
	double night_s = n->config->budgets.night_s, left_s = n->config->budgets.bisect_s;
	double spent_s = (double)(tk_clock_mono_ns() - n->started_mono_ns) / 1e9;
	return night_s > 0 && night_s - spent_s < left_s ? night_s - spent_s : left_s;
}

int tk_night_bisect(struct tk_night *n, struct tk_error *err)
{
	struct hunt h = {.n = n, .left_s = budget_of(n)};
	struct tk_detect_options options = tk_night_thresholds(n->config);
	if (h.left_s <= 0 || n->options->past_revision || n->options->import_file)
		return TK_OK;
	int status = tk_detect_preview(n->store, n->night_id, &options, &h.report, err);
	if (status == TK_OK)
		status = tk_store_culprits(n->store, &h.culprits, err);
	h.found = calloc(h.report.count + 1, sizeof *h.found);
	if (status == TK_OK && !h.found)
		status = tk_fail(err, TK_ENOMEM, "out of memory");
	for (size_t i = 0; status == TK_OK && h.left_s > 0 && i < h.report.count; i++)
		if (is_wanted(&h, &h.report.rows[i]))
			status = pursue(&h, &h.report.rows[i], err);
	free(h.found);
	tk_rows_free(&h.culprits);
	tk_diff_report_free(&h.report);
	return status;
}
