/* Stage "bisect": what got worse between two revisions that are not neighbours is asked about,
 * within budgets.bisect. What that was spent on is gone on with the next night, while its alert is
 * open and nobody said a word about it. Where several series moved in the same range, the commit
 * that was found for one is the first that is asked for the others. */
#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "nightly/bisect/bisect.h"
#include "nightly/night.h"
#include "nightly/stages/detect_policy.h"
#include <stdlib.h>
#include <string.h>

/* One series, one range. */
struct question {
	int64_t series_id;
	const char *series, *upstream, *good, *bad;
};

struct hunt {
	struct tk_night *n;
	struct tk_diff_report report; /* most severe first */
	struct tk_rows culprits;      /* of earlier nights, or of an earlier part of this one */
	struct tk_rows alerts, triage;
	double left_s;
	struct {
		struct question question;
		char rev[128];
	} * found;
	size_t found_count, pairs;
};

static struct question question_of(const struct tk_diff_row *r)
{
	return (struct question){r->series_id, r->series, r->upstream, r->good_rev, r->bad_rev};
}

static bool is_about(const struct tk_bisection_row *c, const struct question *q)
{
	return c->series_id == q->series_id && strcmp(c->good_rev, q->good) == 0 &&
	       strcmp(c->bad_rev, q->bad) == 0;
}

static bool is_open(const struct tk_bisection_row *c)
{
	return c->outcome == TK_BISECT_INCONCLUSIVE;
}

static bool is_known(const struct hunt *h, const struct question *q)
{
	for (size_t i = 0; i < h->culprits.count; i++) {
		const struct tk_bisection_row *c =
		        TK_ROWS_AT(&h->culprits, struct tk_bisection_row, i);
		if (is_about(c, q) && !is_open(c))
			return true;
	}
	return false;
}

static bool is_wanted(const struct hunt *h, const struct tk_diff_row *r)
{
	const struct question q = question_of(r);
	return r->verdict.status == TK_VERDICT_REGRESSED && r->commits_between > 1 &&
	       *r->good_rev && *r->bad_rev && strcmp(r->metric, "time") == 0 && !is_known(h, &q);
}

/* Its alert is open, and nobody has said that it is seen, wanted or of no interest. */
static bool is_unsettled(const struct hunt *h, const struct question *q)
{
	for (size_t i = 0; i < h->alerts.count; i++) {
		const struct tk_alert_row *a = TK_ROWS_AT(&h->alerts, struct tk_alert_row, i);
		if (a->series_id == q->series_id && a->status == TK_ALERT_OPEN &&
		        strcmp(a->good_rev, q->good) == 0 && strcmp(a->bad_rev, q->bad) == 0)
			return strcmp(tk_alert_state_compute(&h->triage, a->uid, a->group_uid).word,
			               TK_TRIAGE_NEW) == 0;
	}
	return false;
}

/* What an earlier night left open, and this one has not asked yet. */
static bool is_left(const struct hunt *h, const struct tk_bisection_row *c, struct question *q)
{
	for (size_t i = 0; is_open(c) && i < h->report.count; i++) {
		const struct tk_diff_row *r = &h->report.rows[i];
		const struct question asked = question_of(r);
		if (r->series_id != c->series_id)
			continue;
		*q = (struct question){
		        r->series_id, r->series, r->upstream, c->good_rev, c->bad_rev};
		return !(is_wanted(h, r) && is_about(c, &asked)) && is_unsettled(h, q);
	}
	return false;
}

/* What the same range of the same upstream was found to hide. */
static const char *hint_for(const struct hunt *h, const struct question *q)
{
	for (size_t i = 0; i < h->found_count; i++) {
		const struct question *o = &h->found[i].question;
		if (strcmp(o->upstream, q->upstream) == 0 && strcmp(o->good, q->good) == 0 &&
		        strcmp(o->bad, q->bad) == 0)
			return h->found[i].rev;
	}
	return NULL;
}

static int pursue(struct hunt *h, const struct question *question, struct tk_error *err)
{
	struct tk_bisect_request q = {.series_id = question->series_id,
	        .good = question->good,
	        .bad = question->bad,
	        .hint = hint_for(h, question),
	        .budget_s = h->left_s};
	struct tk_bisect_report r;
	struct tk_error reason = {0};
	int status = tk_bisect_run_in_night(h->n, &q, &r, &reason);
	h->left_s -= r.wall_s;
	h->pairs += r.pairs;
	if (status == TK_ECANCELED || status == TK_ENOMEM || status == TK_ENOSPC)
		return tk_fail(err, status, "%s", reason.message);
	if (status) {
		tk_log(TK_LOG_WARN, "bisect", NULL, "%s: no culprit was looked for: %s",
		        question->series, reason.message);
		return TK_OK;
	}
	if (r.word == TK_BISECT_FOUND) {
		h->found[h->found_count].question = *question;
		memcpy(h->found[h->found_count].rev, r.first_bad.id, sizeof h->found->rev);
		h->found_count++;
		h->n->report->first_bad_commits++;
		tk_log(TK_LOG_INFO, "culprit", NULL, "%s: %.12s %s", question->series,
		        r.first_bad.id, r.first_bad.subject);
	}
	return TK_OK;
}

static int read_history(struct hunt *h, struct tk_error *err)
{
	int status = tk_store_list_bisections(h->n->store, &h->culprits, err);
	if (!status)
		status = tk_store_list_alerts(h->n->store, &h->alerts, err);
	if (!status)
		status = tk_store_list_triage(h->n->store, &h->triage, err);
	h->found = calloc(h->report.count + h->culprits.count + 1, sizeof *h->found);
	if (!status && !h->found)
		status = tk_fail(err, TK_ENOMEM, "out of memory");
	return status;
}

/* What is new first, then what is left. */
static int pursue_all(struct hunt *h, struct tk_error *err)
{
	struct question q;
	int status = TK_OK;
	for (size_t i = 0; !status && h->left_s > 0 && i < h->report.count; i++) {
		q = question_of(&h->report.rows[i]);
		if (is_wanted(h, &h->report.rows[i]))
			status = pursue(h, &q, err);
	}
	for (size_t i = 0; !status && h->left_s > 0 && i < h->culprits.count; i++)
		if (is_left(h, TK_ROWS_AT(&h->culprits, struct tk_bisection_row, i), &q))
			status = pursue(h, &q, err);
	return status;
}

static double budget_of(const struct tk_night *n)
{
	double night_s = n->config->budgets.night_s, left_s = n->config->budgets.bisect_s;
	double spent_s = (double)(tk_clock_monotonic_ns() - n->started_mono_ns) / 1e9;
	return night_s > 0 && night_s - spent_s < left_s ? night_s - spent_s : left_s;
}

int tk_night_bisect(struct tk_night *n, struct tk_error *err)
{
	struct hunt h = {.n = n, .left_s = budget_of(n)};
	struct tk_detect_policy judging;
	struct tk_error reason = {0};
	if (h.left_s <= 0 || n->options->backfill_revision || n->options->import_file)
		return TK_OK;
	/* what is accepted is not looked for; that the file is wrong has been said when the night
	 * was judged */
	if (tk_detect_policy_load(n->config, NULL, &judging, &reason) != TK_OK)
		tk_log(TK_LOG_DEBUG, "acks", NULL, "%s", reason.message);
	int status = tk_detect_preview(n->store, n->night_id, &judging.options, &h.report, err);
	if (!status)
		status = read_history(&h, err);
	if (!status)
		status = pursue_all(&h, err);
	tk_detect_policy_free(&judging);
	free(h.found);
	tk_rows_free(&h.culprits);
	tk_rows_free(&h.alerts);
	tk_rows_free(&h.triage);
	tk_diff_report_free(&h.report);
	/* its pairs are of the builds that were judged: one size for all who ask for it */
	if (status != TK_OK || !h.pairs || (status = tk_night_detect(n, err)) == TK_OK)
		return status;
	return tk_error_add_context(err, "what was found and its pairs are stored, the verdicts of "
	                                 "the night are still those of before them "
	                                 "(`tracker detect` judges again)");
}
