/* `tracker confirm`: an A/B test of one series on request. */
#include "base/clock.h"
#include "base/error.h"
#include "base/try.h"
#include "core/verdict_text.h"
#include "decide/rules/ab_result.h"
#include "nightly/compare/ab_compare.h"
#include "nightly/compare/ab_test.h"
#include "nightly/session.h"
#include "nightly/stages/detect_policy.h"
#include <stdio.h>
#include <stdlib.h>

struct confirmation {
	struct tk_night *n;
	struct tk_confirm_report *r;
	struct tk_detect_options thresholds;
	int64_t night_id, series_id, started_ns;
	struct tk_ab_build side[TK_AB_SIDES];
	double budget_s;
};

static int read_revision(
        const struct confirmation *m, int64_t build_id, char out[128], struct tk_error *err)
{
	struct tk_build_row build;
	struct tk_revision_row revision;
	TRY(tk_store_get(m->n->store, TK_TABLE_build, build_id, &build, err));
	TRY(tk_store_get(m->n->store, TK_TABLE_revision, build.revision_id, &revision, err));
	snprintf(out, 128, "%s", revision.rev);
	return TK_OK;
}

struct measured_run {
	int64_t build_id, run_id, night_id, night_s;
};

/* The newest run with a timing, of a revision; NULL: of any. */
static int find_measured(const struct confirmation *m, const char *rev, struct measured_run *out,
        struct tk_error *err)
{
	static const struct tk_db_column columns[] = {TK_MEMBER(struct measured_run, build_id),
	        TK_MEMBER(struct measured_run, run_id), TK_MEMBER(struct measured_run, night_id),
	        TK_MEMBER(struct measured_run, night_s)};
	static const struct tk_row_type type = TK_ROW_TYPE(struct measured_run, columns);
	AUTO(tk_rows) rows = {0};
	TRY(tk_store_select(m->n->store,
	        "SELECT build_id, id AS run_id, night_id, as_of_s AS night_s FROM run_v"
	        " WHERE series_id=?1 AND value IS NOT NULL AND substr(rev, 1, length(?2))=?2"
	        " ORDER BY as_of_s DESC, id DESC LIMIT 1",
	        TK_ARGS(m->series_id, rev ? rev : ""), &type, &rows, err));
	if (!rows.count && rev)
		return tk_fail(err, TK_EUSAGE,
		        "no night has measured %s at %s: `tracker bisect` builds what it needs",
		        m->r->series, rev);
	if (!rows.count)
		return tk_fail(err, TK_EUSAGE, "this series has no measurements");
	*out = *TK_ROWS_AT(&rows, struct measured_run, 0);
	return TK_OK;
}

/* The last good build, which the verdict of the night compares the newest one with. */
static int find_last_good(struct confirmation *m, struct tk_ab_build *out, struct tk_error *err)
{
	static const struct tk_db_column columns[] = {
	        TK_MEMBER(struct tk_ab_build, build_id), TK_MEMBER(struct tk_ab_build, run_id)};
	static const struct tk_row_type type = TK_ROW_TYPE(struct tk_ab_build, columns);
	AUTO(tk_rows) rows = {0};
	TRY(tk_store_select(m->n->store,
	        "SELECT base_build_id AS build_id, last_good_run_id AS run_id FROM verdict"
	        " WHERE night_id=?1 AND series_id=?2 AND new_code AND base_build_id IS NOT NULL",
	        TK_ARGS(m->night_id, m->series_id), &type, &rows, err));
	if (!rows.count)
		return tk_fail(err, TK_EUSAGE,
		        "no older build of %s with other machine code than the newest; choose one "
		        "with --good=REVISION",
		        m->r->series);
	*out = *TK_ROWS_AT(&rows, struct tk_ab_build, 0);
	return TK_OK;
}

static int choose_builds(
        struct confirmation *m, const struct tk_confirm_request *q, struct tk_error *err)
{
	struct tk_ab_build *base = &m->side[TK_AB_BASE], *head = &m->side[TK_AB_HEAD];
	struct measured_run newest, run;
	TRY(find_measured(m, NULL, &newest, err));
	m->night_id = newest.night_id;
	m->r->night_s = newest.night_s;
	run = newest;
	if (q->rev[TK_AB_HEAD])
		TRY(find_measured(m, q->rev[TK_AB_HEAD], &run, err));
	*head = (struct tk_ab_build){run.build_id, run.run_id};
	if (q->rev[TK_AB_BASE]) {
		TRY(find_measured(m, q->rev[TK_AB_BASE], &run, err));
		*base = (struct tk_ab_build){run.build_id, run.run_id};
	} else {
		TRY(find_last_good(m, base, err));
	}
	for (int k = 0; k < TK_AB_SIDES; k++)
		TRY(read_revision(m, m->side[k].build_id, m->r->rev[k], err));
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

static int confirm(struct confirmation *m, const struct tk_confirm_request *q, struct tk_error *err)
{
	struct tk_series_row series;
	TRY(tk_store_get(m->n->store, TK_TABLE_series, m->series_id, &series, err));
	snprintf(m->r->series, sizeof m->r->series, "%s", series.slug);
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
	tk_session_close(&s);
	return status;
}
