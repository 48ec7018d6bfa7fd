/* Stage "confirm": measures suspected changes again, the last good build against the new one,
 * until A/B pairs decide or the budget is spent. decide/rules/ab_result.h decides what the pairs
 * say. */
#include "base/base.h"
#include "base/process.h"
#include "core/verdict.h"
#include "decide/rules/ab_result.h"
#include "nightly/compare/ab_compare.h"
#include "nightly/compare/ab_test.h"
#include "nightly/night.h"
#include "nightly/stages/detect_policy.h"
#include <math.h>

/* Pairs per suspect: each gets the first number before any gets the next one. */
static const size_t rounds[] = {24, 64, 128, TK_AB_PAIRS_MAX};

struct suspect {
	const struct tk_diff_row *row;
	int priority; /* 0 is the highest */
	struct tk_ab_test test;
	struct tk_ab_result result;
	bool is_open; /* the test */
};

struct confirmation {
	struct tk_night *n;
	struct tk_detect_options options;
	struct tk_diff_report report;
	struct suspect *suspects;
	size_t count;
	double spent_s;
};

/* Alarms first, then possible alarms, then changes that the nights cannot exclude. -1: no
 * suspect. */
static int find_priority(const struct confirmation *d, const struct tk_diff_row *r)
{
	if (!r->new_code || r->newest_s != d->n->as_of_s)
		return -1;
	switch (r->verdict.status) {
	case TK_VERDICT_REGRESSED:
	case TK_VERDICT_ACKED:
		return 0;
	case TK_VERDICT_UNSURE:
	case TK_VERDICT_NOT_COMPARABLE:
	case TK_VERDICT_CHANGED:
	case TK_VERDICT_IMPROVED:
	case TK_VERDICT_ENVIRONMENT: /* a change of the machine hides that of the code */
		return 1;
	case TK_VERDICT_SAME:
		return fmax(fabs(r->verdict.change.lo), fabs(r->verdict.change.hi)) > r->min_effect
		               ? 2
		               : -1;
	default:
		return -1;
	}
}

static int compare_priority(const void *a, const void *b)
{
	const struct suspect *x = a, *y = b;
	if (x->priority != y->priority)
		return x->priority < y->priority ? -1 : 1;
	if (x->row->verdict.p != y->row->verdict.p)
		return x->row->verdict.p < y->row->verdict.p ? -1 : 1;
	return strcmp(x->row->series, y->row->series);
}

static int list_suspects(struct confirmation *d, struct tk_error *err)
{
	TRY(tk_detect_preview(d->n->store, d->n->night_id, &d->options, &d->report, err));
	d->suspects = tk_calloc(d->report.count + 1, sizeof *d->suspects);
	for (size_t i = 0; i < d->report.count; i++) {
		int priority = find_priority(d, &d->report.rows[i]);
		if (priority >= 0)
			d->suspects[d->count++] =
			        (struct suspect){.row = &d->report.rows[i], .priority = priority};
	}
	tk_sort(d->suspects, d->count, sizeof *d->suspects, compare_priority);
	return TK_OK;
}

/* A series that cannot be measured keeps the verdict of the nights. */
static int open_test(struct confirmation *d, struct suspect *s, struct tk_error *err)
{
	const struct tk_diff_row *r = s->row;
	const struct tk_ab_build builds[TK_AB_SIDES] = {
	        {r->good_build_id, r->verdict.last_good_run_id}, {r->new_build_id, r->new_run_id}};
	struct tk_error reason = {0};
	int status = tk_ab_test_open(d->n, d->n->night_id, r->series_id, builds, &s->test, &reason);
	s->is_open = !status;
	if (status == TK_ENOTFOUND) {
		tk_log(TK_LOG_DEBUG, "confirm", NULL, "%s cannot be confirmed: %s", r->series,
		        reason.message);
		return TK_OK;
	}
	return status ? tk_fail(err, status, "%s", reason.message) : TK_OK;
}

/* What is left of the budgets of the stage and of the night. */
static double time_left_s(const struct confirmation *d)
{
	const struct tk_budgets *b = &d->n->config->budgets;
	double left_s = b->confirm_s - d->spent_s;
	return b->night_s > 0 ? fmin(left_s, b->night_s - tk_night_elapsed_s(d->n)) : left_s;
}

static bool is_decided(const struct suspect *s)
{
	return s->result.decision != TK_AB_NONE && s->result.decision != TK_AB_INCONCLUSIVE;
}

static int measure_suspect(
        struct confirmation *d, struct suspect *s, size_t target, struct tk_error *err)
{
	const struct tk_ab_goal goal = {.pairs_max = target,
	        .deadline_ns = tk_clock_monotonic_ns() + (int64_t)(time_left_s(d) * 1e9)};
	double before_s = s->test.wall_s;
	TRY(tk_ab_test_run(d->n, &s->test, &goal, &s->result, err));
	d->spent_s += s->test.wall_s - before_s;
	return TK_OK;
}

static int run_round(struct confirmation *d, size_t target, struct tk_error *err)
{
	for (size_t i = 0; i < d->count && time_left_s(d) > 0; i++) {
		struct suspect *s = &d->suspects[i];
		char what[300];
		if (!s->is_open || is_decided(s))
			continue;
		snprintf(what, sizeof what, "%zu of %zu: %s", i + 1, d->count, s->row->series);
		tk_night_announce_stage(d->n, "confirm", what);
		TRY(measure_suspect(d, s, target, err));
	}
	return TK_OK;
}

static void count_results(struct confirmation *d)
{
	struct tk_night_report *r = d->n->report;
	for (size_t i = 0; i < d->count; i++) {
		const struct suspect *s = &d->suspects[i];
		r->suspects += s->is_open;
		r->confirmed += tk_ab_result_is_changed(&s->result);
		r->refuted += s->result.decision == TK_AB_SAME;
		r->pairs += s->result.count + s->result.failed;
	}
}

/* Pairs of an earlier part of this night count for the budget and for the result. */
static int open_tests(struct confirmation *d, struct tk_error *err)
{
	TRY(list_suspects(d, err));
	for (size_t i = 0; i < d->count; i++) {
		struct suspect *s = &d->suspects[i];
		TRY(open_test(d, s, err));
		if (!s->is_open)
			continue;
		s->test.thresholds.min_effect = s->row->min_effect; /* that of this night */
		d->spent_s += s->test.wall_s;
		s->result = tk_ab_result_evaluate(s->test.rows, s->test.count, &s->test.thresholds);
	}
	return TK_OK;
}

static int confirm(struct confirmation *d, struct tk_error *err)
{
	TRY(open_tests(d, err));
	for (size_t i = 0; d->count && i < d->n->device_count; i++)
		tk_night_device_stop_workers(&d->n->devices[i]);
	for (size_t i = 0; i < sizeof rounds / sizeof *rounds; i++)
		TRY(run_round(d, rounds[i], err));
	count_results(d);
	return TK_OK;
}

int tk_night_confirm(struct tk_night *n, struct tk_error *err)
{
	struct confirmation d = {.n = n, .options = tk_detect_policy_thresholds(n->config)};
	if (n->config->budgets.confirm_s <= 0 || n->options->backfill_revision)
		return TK_OK;
	int status = confirm(&d, err);
	for (size_t i = 0; i < d.count; i++)
		tk_ab_test_close(&d.suspects[i].test);
	free(d.suspects);
	tk_diff_report_free(&d.report);
	return status;
}

/* ---- `tracker confirm`: an A/B test of one series on request ---- */

struct request {
	struct tk_night *n;
	struct tk_confirm_report *r;
	int64_t night_id, series_id, started_ns;
	struct tk_ab_build side[TK_AB_SIDES];
	double budget_s;
};

/* A run of a build, to measure it again. */
struct measured_run {
	int64_t build_id, run_id, night_id, night_s;
	const char *rev;
};

static const struct tk_db_column run_columns[] = {TK_MEMBER(struct measured_run, build_id),
        TK_MEMBER(struct measured_run, run_id), TK_MEMBER(struct measured_run, night_id),
        TK_MEMBER(struct measured_run, night_s), TK_MEMBER(struct measured_run, rev)};
static const struct tk_row_type run_type = TK_ROW_TYPE(struct measured_run, run_columns);

static int use_run(struct request *m, const struct measured_run *run, enum tk_ab_side_id side)
{
	m->side[side] = (struct tk_ab_build){run->build_id, run->run_id};
	snprintf(m->r->rev[side], sizeof m->r->rev[side], "%s", run->rev);
	if (!m->night_id) { /* the first one that is looked for is the newest of all */
		m->night_id = run->night_id;
		m->r->night_s = run->night_s;
	}
	return TK_OK;
}

/* The newest run with a timing, of a revision; NULL: of any. */
static int find_measured(
        struct request *m, const char *rev, enum tk_ab_side_id side, struct tk_error *err)
{
	AUTO(tk_rows) rows = {0};
	TRY(tk_store_select(m->n->store,
	        "SELECT build_id, id AS run_id, night_id, as_of_s AS night_s, rev FROM run_v"
	        " WHERE series_id=?1 AND value IS NOT NULL AND substr(rev, 1, length(?2))=?2"
	        " ORDER BY as_of_s DESC, id DESC LIMIT 1",
	        TK_ARGS(m->series_id, rev ? rev : ""), &run_type, &rows, err));
	if (!rows.count && rev)
		return tk_fail(err, TK_EUSAGE,
		        "no night has measured %s at %s: `tracker bisect` builds what it needs",
		        m->r->series, rev);
	if (!rows.count)
		return tk_fail(err, TK_EUSAGE, "this series has no measurements");
	return use_run(m, TK_ROWS_AT(&rows, struct measured_run, 0), side);
}

/* The last good build, which the verdict of the night compares the newest one with. */
static int find_last_good(struct request *m, struct tk_error *err)
{
	AUTO(tk_rows) rows = {0};
	TRY(tk_store_select(m->n->store,
	        "SELECT v.base_build_id AS build_id, v.last_good_run_id AS run_id, v.night_id,"
	        " 0 AS night_s, r.rev FROM verdict v JOIN build b ON b.id=v.base_build_id"
	        " JOIN revision r ON r.id=b.revision_id"
	        " WHERE v.night_id=?1 AND v.series_id=?2 AND v.new_code",
	        TK_ARGS(m->night_id, m->series_id), &run_type, &rows, err));
	if (!rows.count)
		return tk_fail(err, TK_EUSAGE,
		        "no older build of %s with other machine code than the newest; choose one "
		        "with --good=REVISION",
		        m->r->series);
	return use_run(m, TK_ROWS_AT(&rows, struct measured_run, 0), TK_AB_BASE);
}

/* The newest run says which night's verdict is updated. */
static int choose_builds(
        struct request *m, const struct tk_confirm_request *q, struct tk_error *err)
{
	const char *const *rev = q->rev;
	TRY(find_measured(m, NULL, TK_AB_HEAD, err));
	if (rev[TK_AB_HEAD])
		TRY(find_measured(m, rev[TK_AB_HEAD], TK_AB_HEAD, err));
	return rev[TK_AB_BASE] ? find_measured(m, rev[TK_AB_BASE], TK_AB_BASE, err)
	                       : find_last_good(m, err);
}

static int measure_series(struct request *m, struct tk_error *err)
{
	const struct tk_ab_goal goal = {.pairs_max = TK_AB_PAIRS_MAX,
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

static void rerun_detection(struct request *m)
{
	AUTO(tk_diff_report) report = {0};
	if (tk_night_rerun_detection(m->n, m->night_id, &report, &m->r->detection_error))
		return;
	for (size_t i = 0; i < report.count; i++)
		if (report.rows[i].series_id == m->series_id) {
			m->r->status = report.rows[i].verdict.status;
			tk_verdict_format_reason(&report.rows[i].verdict, m->r->reason);
		}
}

static int confirm_series(
        struct request *m, const struct tk_confirm_request *q, struct tk_error *err)
{
	struct tk_series_row series;
	TRY(tk_store_get(m->n->store, TK_TABLE_series, m->series_id, &series, err));
	snprintf(m->r->series, sizeof m->r->series, "%s", series.slug);
	TRY(choose_builds(m, q, err));
	TRY(measure_series(m, err));
	rerun_detection(m);
	return TK_OK;
}

int tk_confirm_run(const struct tk_config *config, struct tk_store *store,
        const struct tk_night_options *options, const struct tk_confirm_request *q,
        struct tk_confirm_report *out, struct tk_error *err)
{
	struct tk_session s;
	struct request m = {.n = &s.night,
	        .r = out,
	        .series_id = q->series_id,
	        .started_ns = tk_clock_monotonic_ns(),
	        .budget_s = q->budget_s};
	*out = (struct tk_confirm_report){.status = TK_VERDICT_STATUS_COUNT};
	int status = tk_session_open(config, store, options, &s, err);
	if (!status)
		status = confirm_series(&m, q, err);
	out->wall_s = (double)(tk_clock_monotonic_ns() - m.started_ns) / 1e9;
	tk_session_close(&s);
	return status;
}
