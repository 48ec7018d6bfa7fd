/* The verdicts of a night between reports and the history: see verdict_rows.h. */
#include "decide/verdict_rows.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/parallel.h"
#include "core/verdict_text.h"
#include "decide/history/analysis.h"
#include "decide/report/diff_row.h"

/* Of an acceptance by triage, which may change, only the triage is stored. */
static char *write_facts(const struct tk_diff_row *row)
{
	struct tk_verdict v = row->verdict;
	const bool by_triage = v.status_before_ack != TK_VERDICT_MISSING;

	if (by_triage && v.fact_count && v.facts[v.fact_count - 1].kind == TK_FACT_ACKNOWLEDGED)
		v.fact_count--;
	return tk_verdict_facts_write(&v);
}

static struct tk_verdict_row verdict_row(int64_t night_id, const struct tk_diff_row *row)
{
	const struct tk_verdict *v = &row->verdict;

	return (struct tk_verdict_row){.night_id = night_id,
	        .series_id = row->series_id,
	        .status = v->status_before_ack,
	        .state = row->state,
	        .rule = v->decided_by,
	        .cause = v->cause,
	        .before_value = v->before.value,
	        .before_lo = v->before.lo,
	        .before_hi = v->before.hi,
	        .after_value = v->after.value,
	        .after_lo = v->after.lo,
	        .after_hi = v->after.hi,
	        .change = v->change.value,
	        .change_lo = v->change.lo,
	        .change_hi = v->change.hi,
	        .threshold = v->threshold,
	        .severity = v->severity,
	        .p = v->p,
	        .q = v->q,
	        .good_build_id = v->good_build_id,
	        .bad_build_id = v->bad_build_id,
	        .last_good_run_id = v->last_good_run_id,
	        .first_bad_run_id = v->first_bad_run_id,
	        .base_build_id = row->good_build_id,
	        .head_build_id = row->new_build_id,
	        .head_run_id = row->new_run_id,
	        .samples_before = row->samples_before,
	        .samples_after = row->samples_after,
	        .same_code = row->same_code,
	        .new_code = row->new_code,
	        .unstable = row->unstable,
	        .ab_decision = row->ab.decision,
	        .ab_count = row->ab.count,
	        .ab_failed = row->ab.failed,
	        .ab_fastest = row->ab.fastest,
	        .ab_change = row->ab.change,
	        .ab_lo = row->ab.lo,
	        .ab_hi = row->ab.hi,
	        .newest_s = row->newest_s,
	        .accepted =
	                v->status == TK_VERDICT_ACKED && v->status_before_ack == TK_VERDICT_MISSING,
	        .alert_uid = row->alert_uid};
}

/* ---- writing ---- */

struct writing {
	const struct tk_diff_report *report;
	struct tk_verdict_rows *out;
};

static void write_part(void *arg, int64_t first, int64_t count)
{
	const struct writing *w = arg;

	for (int64_t i = first; i < first + count; i++) {
		w->out->at[i] = verdict_row(w->out->night_id, &w->report->rows[i]);
		w->out->at[i].facts = w->out->facts[i] = write_facts(&w->report->rows[i]);
	}
}

void tk_verdict_rows_make(
        int64_t night_id, const struct tk_diff_report *report, struct tk_verdict_rows *out)
{
	struct writing w = {.report = report, .out = out};

	*out = (struct tk_verdict_rows){.night_id = night_id,
	        .at = tk_calloc(report->count + 1, sizeof *out->at),
	        .facts = tk_calloc(report->count + 1, sizeof(*out->facts)),
	        .count = report->count};
	tk_parallel_for((int64_t)report->count, TK_CASES_PER_PART, write_part, &w);
}

int tk_verdict_rows_store(
        const struct tk_verdict_rows *rows, struct tk_store *s, struct tk_error *err)
{
	return tk_store_replace_verdicts(s, rows->night_id, rows->at, rows->count, err);
}

void tk_verdict_rows_free(struct tk_verdict_rows *rows)
{
	for (size_t i = 0; i < rows->count; i++)
		free(rows->facts[i]);
	free(rows->facts);
	free(rows->at);
	*rows = (struct tk_verdict_rows){0};
}

/* ---- reading ---- */

static void read_verdict(const struct tk_verdict_row *stored, struct tk_verdict *v)
{
	tk_verdict_init(v);
	v->cause = stored->cause;
	v->decided_by = stored->rule;
	v->before =
	        (struct tk_estimate){stored->before_value, stored->before_lo, stored->before_hi};
	v->after = (struct tk_estimate){stored->after_value, stored->after_lo, stored->after_hi};
	v->change = (struct tk_estimate){stored->change, stored->change_lo, stored->change_hi};
	v->threshold = stored->threshold;
	v->severity = stored->severity;
	v->p = stored->p;
	v->q = stored->q;
	v->good_build_id = stored->good_build_id;
	v->bad_build_id = stored->bad_build_id;
	v->last_good_run_id = stored->last_good_run_id;
	v->first_bad_run_id = stored->first_bad_run_id;
	tk_verdict_row_read_facts(stored, v);
}

bool tk_diff_row_read(
        const struct tk_catalog *c, const struct tk_verdict_row *stored, struct tk_diff_row *row)
{
	struct tk_series_case k = {0};

	if (!tk_series_case_find_names(c, stored->series_id, &k))
		return false;
	tk_diff_row_set_identity(&k, stored->newest_s, row);
	read_verdict(stored, &row->verdict);
	row->state = stored->state;
	row->alert_opened_s = stored->alert_opened_s;
	row->samples_before = stored->samples_before;
	row->samples_after = stored->samples_after;
	row->same_code = stored->same_code;
	row->new_code = stored->new_code;
	row->unstable = stored->unstable;
	row->good_build_id = stored->base_build_id;
	row->new_build_id = stored->head_build_id;
	row->new_run_id = stored->head_run_id;
	row->ab = (struct tk_ab_result){.decision = stored->ab_decision,
	        .count = stored->ab_count,
	        .failed = stored->ab_failed,
	        .fastest = stored->ab_fastest,
	        .change = stored->ab_change,
	        .lo = stored->ab_lo,
	        .hi = stored->ab_hi};
	row->good_revision_id = stored->good_revision_id;
	row->bad_revision_id = stored->bad_revision_id;
	row->commits_between = stored->commits_between;
	row->first_bad_time_s = stored->first_bad_time_s;
	row->first_bad_change = stored->first_bad_change;
	row->first_bad_confidence = stored->first_bad_confidence;
	TK_COPY(row->alert_uid, stored->alert_uid);
	TK_COPY(row->good_rev, stored->good_rev);
	TK_COPY(row->bad_rev, stored->bad_rev);
	TK_COPY(row->bad_subject, stored->bad_subject);
	TK_COPY(row->first_bad_commit, stored->first_bad_rev);
	TK_COPY(row->first_bad_subject, stored->first_bad_subject);
	TK_COPY(row->first_bad_author, stored->first_bad_author);
	return true;
}
