/* `tracker confirm`: an A/B test of one series on request. */
#include "base/clock.h"
#include "base/error.h"
#include "base/try.h"
#include "core/verdict_text.h"
#include "detect/rules/ab_result.h"
#include "nightly/compare/ab_compare.h"
#include "nightly/compare/ab_test.h"
#include "nightly/session.h"
#include "nightly/stages/detect_policy.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct confirmation {
	struct tk_night *n;
	struct tk_confirm_report *r;
	struct tk_detect_options thresholds;
	struct tk_rows builds, revisions, points;
	int64_t night_id, series_id, started_ns;
	struct tk_ab_build side[TK_AB_SIDES];
	double budget_s;
};

static const struct tk_build_row *find_build(const struct confirmation *m, int64_t id)
{
	for (size_t i = 0; i < m->builds.count; i++)
		if (TK_ROWS_AT(&m->builds, struct tk_build_row, i)->id == id)
			return TK_ROWS_AT(&m->builds, struct tk_build_row, i);
	return NULL;
}

static const char *revision_name(const struct confirmation *m, int64_t build_id)
{
	const struct tk_build_row *b = find_build(m, build_id);
	for (size_t i = 0; b && i < m->revisions.count; i++)
		if (TK_ROWS_AT(&m->revisions, struct tk_revision_row, i)->id == b->revision_id)
			return TK_ROWS_AT(&m->revisions, struct tk_revision_row, i)->rev;
	return "";
}

static const struct tk_point *newest(const struct confirmation *m)
{
	return TK_ROWS_AT(&m->points, struct tk_point, m->points.count - 1);
}

/* The build of the newest point that measured a revision. */
static int find_measured(const struct confirmation *m, const char *rev, struct tk_ab_build *out,
        struct tk_error *err)
{
	for (size_t i = m->points.count; i-- > 0;) {
		const struct tk_point *p = TK_ROWS_AT(&m->points, struct tk_point, i);
		if (strncmp(revision_name(m, p->build_id), rev, strlen(rev)) == 0) {
			*out = (struct tk_ab_build){p->build_id, p->run_id};
			return TK_OK;
		}
	}
	return tk_fail(err, TK_EUSAGE,
	        "no night has measured %s at %s: `tracker bisect` builds what it needs",
	        m->r->series, rev);
}

/* The last good build, which the verdict of the night compares the newest one with. */
static int find_last_good(struct confirmation *m, struct tk_ab_build *out, struct tk_error *err)
{
	struct tk_diff_report report = {0};
	int status = tk_detect_preview(m->n->store, m->night_id, &m->thresholds, &report, err);
	for (size_t i = 0; !status && i < report.count; i++) {
		const struct tk_diff_row *row = &report.rows[i];
		if (row->series_id == m->series_id && row->new_code)
			*out = (struct tk_ab_build){
			        row->good_build_id, row->verdict.last_good_run_id};
	}
	tk_diff_report_free(&report);
	if (!status && !out->build_id)
		status = tk_fail(err, TK_EUSAGE,
		        "no older build of %s with other machine code than the newest; choose one "
		        "with --good=REVISION",
		        m->r->series);
	return status;
}

static int choose_builds(
        struct confirmation *m, const struct tk_confirm_request *q, struct tk_error *err)
{
	struct tk_ab_build *base = &m->side[TK_AB_BASE], *head = &m->side[TK_AB_HEAD];
	m->night_id = newest(m)->night_id;
	m->r->night_s = newest(m)->as_of_s;
	*head = (struct tk_ab_build){newest(m)->build_id, newest(m)->run_id};
	if (q->rev[TK_AB_HEAD])
		TRY(find_measured(m, q->rev[TK_AB_HEAD], head, err));
	TRY(q->rev[TK_AB_BASE] ? find_measured(m, q->rev[TK_AB_BASE], base, err)
	                       : find_last_good(m, base, err));
	for (int k = 0; k < TK_AB_SIDES; k++)
		snprintf(m->r->rev[k], sizeof m->r->rev[k], "%s",
		        revision_name(m, m->side[k].build_id));
	return TK_OK;
}

static int measure(struct confirmation *m, struct tk_error *err)
{
	const struct tk_ab_goal goal = {.thresholds = &m->thresholds,
	        .pairs_max = TK_AB_PAIRS_MAX,
	        .deadline_ns = m->budget_s > 0 ? m->started_ns + (int64_t)(m->budget_s * 1e9) : 0};
	struct tk_ab_test t;
	int status = tk_ab_test_open(m->n, m->night_id, m->series_id, m->side, &t, err);
	tk_night_announce_stage(m->n, "confirm", m->r->series);
	if (!status)
		status = tk_ab_test_run(m->n, &t, &goal, &m->r->pairs, err);
	m->r->worse = m->r->pairs.decision ==
	              (t.series.better == TK_BETTER_HIGHER ? TK_AB_LOWER : TK_AB_HIGHER);
	tk_ab_test_close(&t);
	return status;
}

static void rerun_detection(struct confirmation *m)
{
	struct tk_diff_report report = {0};
	int status = tk_night_rerun_detection(m->n, m->night_id, &report, &m->r->detection_error);
	for (size_t i = 0; !status && i < report.count; i++)
		if (report.rows[i].series_id == m->series_id) {
			m->r->status = report.rows[i].verdict.status;
			tk_verdict_format_reason(&report.rows[i].verdict, m->r->reason);
		}
	tk_diff_report_free(&report);
}

static int read_history(struct confirmation *m, struct tk_error *err)
{
	AUTO(tk_rows) series = {0};
	TRY(tk_store_list(m->n->store, TK_TABLE_build, NULL, TK_NO_ARGS, &m->builds, err));
	TRY(tk_store_list(m->n->store, TK_TABLE_revision, NULL, TK_NO_ARGS, &m->revisions, err));
	TRY(tk_store_list_points(m->n->store, m->series_id, INT64_MIN, 0, &m->points, err));
	TRY(tk_store_list(m->n->store, TK_TABLE_series, NULL, TK_NO_ARGS, &series, err));
	for (size_t i = 0; i < series.count; i++)
		if (TK_ROWS_AT(&series, struct tk_series_row, i)->id == m->series_id)
			snprintf(m->r->series, sizeof m->r->series, "%s",
			        TK_ROWS_AT(&series, struct tk_series_row, i)->slug);
	return m->points.count ? TK_OK : tk_fail(err, TK_EUSAGE, "this series has no measurements");
}

static int confirm(struct confirmation *m, const struct tk_confirm_request *q, struct tk_error *err)
{
	TRY(read_history(m, err));
	TRY(choose_builds(m, q, err));
	TRY(measure(m, err));
	rerun_detection(m);
	return TK_OK;
}

int tk_confirm_run(const struct tk_config *config, struct tk_store *store,
        const struct tk_night_options *options, const struct tk_confirm_request *q,
        struct tk_confirm_report *out, struct tk_error *err)
{
	struct tk_session s;
	struct confirmation m = {.n = &s.night,
	        .r = out,
	        .thresholds = tk_detect_policy_thresholds(config),
	        .series_id = q->series_id,
	        .started_ns = tk_clock_monotonic_ns(),
	        .budget_s = q->budget_s};
	*out = (struct tk_confirm_report){.status = TK_VERDICT_STATUS_COUNT};
	int status = tk_session_open(config, store, options, &s, err);
	if (!status)
		status = confirm(&m, q, err);
	out->wall_s = (double)(tk_clock_monotonic_ns() - m.started_ns) / 1e9;
	tk_rows_free(&m.builds);
	tk_rows_free(&m.revisions);
	tk_rows_free(&m.points);
	tk_session_close(&s);
	return status;
}
