/* `tracker confirm`: an A/B test of one series on request. */
#include "base/clock.h"
#include "base/error.h"
#include "detect/report/reason.h"
#include "detect/rules/ab_result.h"
#include "nightly/bisect/bisect.h"
#include "nightly/confirm/ab_test.h"
#include "nightly/session.h"
#include "nightly/stages/detect_policy.h"
#include "nightly/stages/recipe.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct confirmation {
	struct tk_night *n;
	struct tk_confirm_report *r;
	struct tk_detect_options thresholds;
	struct tk_rows builds, revisions, points;
	struct tk_ab_test_spec spec;
	int64_t started_ns;
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
static int find_measured(const struct confirmation *m, const char *rev, int64_t *build_id,
        int64_t *run_id, struct tk_error *err)
{
	*build_id = 0;
	for (size_t i = m->points.count; i-- > 0 && !*build_id;) {
		const struct tk_point *p = TK_ROWS_AT(&m->points, struct tk_point, i);
		if (strncmp(revision_name(m, p->build_id), rev, strlen(rev)) == 0) {
			*build_id = p->build_id;
			*run_id = p->run_id;
		}
	}
	return *build_id ? TK_OK
	                 : tk_fail(err, TK_EUSAGE,
	                           "no night has measured %s at %s: `tracker bisect` builds what "
	                           "it needs",
	                           m->r->series, rev);
}

/* The last good build, which the verdict of the night compares the newest one with. */
static int find_last_good(
        struct confirmation *m, int64_t series_id, int64_t *good_run, struct tk_error *err)
{
	struct tk_diff_report report = {0};
	int status = tk_detect_preview(m->n->store, m->spec.night_id, &m->thresholds, &report, err);
	for (size_t i = 0; !status && i < report.count; i++) {
		const struct tk_diff_row *row = &report.rows[i];
		if (row->series_id != series_id || !row->new_code)
			continue;
		m->spec.good_build_id = row->good_build_id;
		*good_run = row->verdict.last_good_run_id;
	}
	tk_diff_report_free(&report);
	if (!status && !m->spec.good_build_id)
		status = tk_fail(err, TK_EUSAGE,
		        "no older build of %s with other machine code than the newest; choose one "
		        "with --good=REVISION",
		        m->r->series);
	return status;
}

static int choose_builds(
        struct confirmation *m, const struct tk_bisect_request *q, struct tk_error *err)
{
	int64_t good_run = 0, new_run = newest(m)->run_id;
	int status = TK_OK;
	m->spec.night_id = newest(m)->night_id;
	m->r->night_s = newest(m)->as_of_s;
	m->spec.series_id = q->series_id;
	m->spec.bad_build_id = newest(m)->build_id;
	if (q->bad)
		status = find_measured(m, q->bad, &m->spec.bad_build_id, &new_run, err);
	if (!status && q->good)
		status = find_measured(m, q->good, &m->spec.good_build_id, &good_run, err);
	else if (!status)
		status = find_last_good(m, q->series_id, &good_run, err);
	if (!status)
		status = tk_job_setup_load(m->n, q->series_id, good_run, &m->spec.good, err);
	if (!status)
		status = tk_job_setup_load(m->n, q->series_id, new_run, &m->spec.bad, err);
	snprintf(m->r->good, sizeof m->r->good, "%s", revision_name(m, m->spec.good_build_id));
	snprintf(m->r->bad, sizeof m->r->bad, "%s", revision_name(m, m->spec.bad_build_id));
	return status;
}

static int measure(struct confirmation *m, struct tk_error *err)
{
	struct tk_ab_test t;
	int status = tk_ab_test_open(m->n, &m->spec, &t, err);
	tk_night_announce_stage(m->n, "confirm", m->r->series);
	while (!status) {
		double spent_s = (double)(tk_clock_monotonic_ns() - m->started_ns) / 1e9;
		if (tk_ab_result_evaluate(t.rows, t.count, &m->thresholds, &m->r->pairs)) {
			status = tk_fail(err, TK_ENOMEM, "out of memory");
			break;
		}
		if (m->r->pairs.decision > TK_AB_INCONCLUSIVE || t.timed >= TK_AB_PAIRS_MAX ||
		        t.failed_in_a_row >= TK_AB_FAILURES_MAX ||
		        (m->budget_s > 0 && spent_s > m->budget_s))
			break;
		status = tk_ab_test_run_pair(m->n, &t, err);
	}
	m->r->worse = m->r->pairs.decision ==
	              (t.series.better == TK_BETTER_HIGHER ? TK_AB_LOWER : TK_AB_HIGHER);
	tk_ab_test_close(&t);
	return status;
}

static void rerun_detection(struct confirmation *m, int64_t series_id)
{
	struct tk_diff_report report = {0};
	int status =
	        tk_night_rerun_detection(m->n, m->spec.night_id, &report, &m->r->detection_error);
	for (size_t i = 0; !status && i < report.count; i++)
		if (report.rows[i].series_id == series_id) {
			m->r->status = report.rows[i].verdict.status;
			tk_verdict_format_reason(&report.rows[i].verdict, m->r->reason);
		}
	tk_diff_report_free(&report);
}

static int read_history(struct confirmation *m, int64_t series_id, struct tk_error *err)
{
	struct tk_rows series = {0};
	int status = tk_store_list_builds(m->n->store, &m->builds, err);
	if (!status)
		status = tk_store_list_revisions(m->n->store, &m->revisions, err);
	if (!status)
		status =
		        tk_store_list_points(m->n->store, series_id, INT64_MIN, 0, &m->points, err);
	if (!status)
		status = tk_store_list_series(m->n->store, &series, err);
	for (size_t i = 0; i < series.count; i++)
		if (TK_ROWS_AT(&series, struct tk_series_row, i)->id == series_id)
			snprintf(m->r->series, sizeof m->r->series, "%s",
			        TK_ROWS_AT(&series, struct tk_series_row, i)->slug);
	tk_rows_free(&series);
	if (!status && !m->points.count)
		status = tk_fail(err, TK_EUSAGE, "this series has no measurements");
	return status;
}

int tk_confirm_run(const struct tk_config *config, struct tk_store *store,
        const struct tk_night_options *options, const struct tk_bisect_request *q,
        struct tk_confirm_report *out, struct tk_error *err)
{
	struct tk_session s;
	struct confirmation m = {.n = &s.night,
	        .r = out,
	        .thresholds = tk_detect_policy_thresholds(config),
	        .started_ns = tk_clock_monotonic_ns(),
	        .budget_s = q->budget_s};
	*out = (struct tk_confirm_report){.status = TK_VERDICT_STATUS_COUNT};
	int status = tk_session_open(config, store, options, &s, err);
	if (!status)
		status = read_history(&m, q->series_id, err);
	if (!status)
		status = choose_builds(&m, q, err);
	if (!status)
		status = measure(&m, err);
	if (!status)
		rerun_detection(&m, q->series_id);
	out->wall_s = (double)(tk_clock_monotonic_ns() - m.started_ns) / 1e9;
	tk_job_setup_free(&m.spec.good);
	tk_job_setup_free(&m.spec.bad);
	tk_rows_free(&m.builds);
	tk_rows_free(&m.revisions);
	tk_rows_free(&m.points);
	tk_session_close(&s);
	return status;
}
