/* Cases -> rows: names, verdict, revisions. See diff_row.h. */
#include "decide/report/diff_row.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/text.h"
#include "base/try.h"
#include "core/metric.h"
#include "core/mode.h"
#include "decide/history/code_change.h"
#include "decide/history/gather.h"
#include "decide/rules/evidence.h"
#include "decide/rules/rules.h"
#include "decide/triage/triage.h"
#include "store/kernel_report.h"

static void replace_invalid_utf8(char *s)
{
	while (*s) {
		const size_t len = tk_utf8_decode(s, SIZE_MAX, NULL);

		if (!len)
			*s = '?';
		s += len ? len : 1;
	}
}

void tk_text_copy_valid(char *to, size_t size, const char *from)
{
	const size_t len = from ? strnlen(from, size - 1) : 0;
	bool ascii = true;

	for (size_t i = 0; i < len; i++)
		ascii &= (unsigned char)from[i] < 0x80;
	memcpy(to, from ? from : "", len);
	to[len] = '\0';
	if (!ascii)
		replace_invalid_utf8(to);
}

void tk_diff_row_set_identity(
        const struct tk_series_case *k, int64_t newest_s, struct tk_diff_row *row)
{
	const char *title = k->problem->title;

	*row = (struct tk_diff_row){.series_id = k->series->id,
	        .lower_is_better = k->series->better != TK_BETTER_HIGHER,
	        .flops = k->problem->flops,
	        .newest_s = newest_s,
	        .commits_between = -1,
	        .first_bad_change = NAN,
	        .first_bad_confidence = NAN};
	TK_COPY(row->series, k->series->slug);
	TK_COPY(row->device, k->device->slug);
	TK_COPY(row->machine, k->machine->name);
	TK_COPY(row->upstream, k->upstream->name);
	TK_COPY(row->backend, k->series->backend);
	if (strcmp(k->series->mode, tk_mode_name(tk_mode_default(k->device->kind))) != 0)
		TK_COPY(row->mode, k->series->mode);
	TK_COPY(row->problem, k->problem->text);
	TK_COPY(row->device_name, k->device->name);
	TK_COPY(row->op, k->problem->op);
	TK_COPY(row->metric, k->series->metric);
	TK_COPY(row->unit, k->series->unit);
	TK_COPY(row->title, title && *title ? title : k->problem->text);
}

static void set_evidence(
        const struct tk_series_case *k, const struct tk_evidence *e, struct tk_diff_row *row)
{
	const struct tk_step_evidence *s = tk_evidence_ab_step(e);

	row->ab = e->ab;
	if (row->verdict.decided_by == TK_RULE_FIRST_TIMING ||
	        row->verdict.decided_by == TK_RULE_FIRST_TIMING_AFTER_FAILURE)
		row->samples_after = e->last_point_samples;
	if (!s->nights) /* nothing was compared */
		return;
	row->samples_before = s->samples_before;
	row->samples_after = s->samples_after;
	row->same_code = s->same_code;
	row->new_code = s->new_code;
	row->unstable = s->is_unstable;
	row->good_build_id = s->good_build_id;
	row->new_build_id = k->points[k->count - 1].build_id;
	row->new_run_id = k->points[k->count - 1].run_id;
}

void tk_diff_row_set_revisions(
        const struct tk_analysis *c, int64_t good_build, int64_t bad_build, struct tk_diff_row *row)
{
	const struct tk_revision_row *good = tk_catalog_find_revision(&c->catalog, good_build),
	                             *bad = tk_catalog_find_revision(&c->catalog, bad_build);

	row->commits_between = -1;
	row->good_revision_id = good ? good->id : 0;
	row->bad_revision_id = bad ? bad->id : 0;
	TK_COPY(row->good_rev, good ? good->rev : "");
	TK_COPY(row->bad_rev, bad ? bad->rev : "");
	TK_COPY(row->bad_subject, bad ? bad->subject : "");
	if (good && bad && good->position > 0 && bad->position >= good->position)
		row->commits_between = bad->position - good->position;
}

/* The commit that a bisection of this range found. */
static void set_first_bad_commit(const struct tk_analysis *c, struct tk_diff_row *row)
{
	for (size_t i = 0; *row->bad_rev && i < c->bisections.count; i++) {
		const struct tk_bisection_row *b =
		        TK_ROWS_AT(&c->bisections, struct tk_bisection_row, i);

		if (b->series_id != row->series_id || b->outcome != TK_BISECT_FOUND ||
		        strcmp(b->good_rev, row->good_rev) != 0 ||
		        strcmp(b->bad_rev, row->bad_rev) != 0)
			continue;
		TK_COPY(row->first_bad_commit, b->first_bad_rev);
		TK_COPY(row->first_bad_subject, b->subject);
		TK_COPY(row->first_bad_author, b->author);
		row->first_bad_time_s = b->author_time_s;
		row->first_bad_change = b->change;
		row->first_bad_confidence = b->confidence;
	}
}

void tk_diff_row_set_status(struct tk_diff_row *row, enum tk_verdict_status status)
{
	row->verdict.status = row->verdict.status_before_ack = status;
	tk_verdict_clear_facts(&row->verdict);
}

static int add_code_change(struct tk_analysis *c, const struct tk_series_case *k,
        struct tk_diff_row *row, struct tk_error *err)
{
	char text[TK_CODE_CHANGE_SIZE];
	int status = tk_code_change_describe(&c->catalog, k->series, &row->verdict, text, err);

	if (!status && *text)
		tk_verdict_add_fact(
		        &row->verdict, (struct tk_fact){.kind = TK_FACT_CODE_CHANGE}, text);
	return status;
}

static int add_config_change(struct tk_analysis *c, const struct tk_series_case *k,
        struct tk_diff_row *row, struct tk_error *err)
{
	char text[TK_CONFIG_CHANGE_SIZE];
	int status = tk_config_change_describe(&c->catalog, k->series, &row->verdict, text, err);

	if (!status && *text)
		tk_verdict_add_fact(
		        &row->verdict, (struct tk_fact){.kind = TK_FACT_CONFIG_CHANGE}, text);
	return status;
}

/* What the comparison of the two revisions found inside the kernel. */
static int add_regions(const struct tk_analysis *c, const struct tk_series_case *k,
        struct tk_diff_row *row, struct tk_error *err)
{
	char text[TK_KERNEL_CHANGE_SIZE], *result = NULL;
	if (!c->has_comparisons || !*row->good_rev || !*row->bad_rev ||
	        tk_metric_from_name(k->series->metric) != TK_METRIC_TIME)
		return TK_OK;
	int status = tk_store_find_comparison(c->catalog.store, k->series, row->upstream,
	        row->good_rev, row->bad_rev, &result, err);
	if (!status && result && *tk_kernel_report_summarize(result, text))
		tk_verdict_add_fact(&row->verdict, (struct tk_fact){.kind = TK_FACT_REGIONS}, text);
	free(result);
	return status;
}

int tk_series_case_decide(struct tk_analysis *c, const struct tk_series_case *k,
        struct tk_diff_row *row, struct tk_error *err)
{
	const struct tk_history_window *w = k->window;
	struct tk_evidence e;
	TRY(tk_evidence_gather(c, k, &e, err));
	tk_diff_row_set_identity(
	        k, w->last_within.run_id ? w->last_within.as_of_s : w->last_before.as_of_s, row);
	tk_rules_decide(&e, &row->verdict);
	set_evidence(k, &e, row);
	tk_diff_row_set_revisions(c, row->verdict.good_build_id, row->verdict.bad_build_id, row);
	return TK_OK;
}

/* Before the alerts of the night are known. */
static enum tk_verdict_state state_of(enum tk_verdict_status status)
{
	switch (status) {
	case TK_VERDICT_REGRESSED:
	case TK_VERDICT_NEWLY_FAILED:
	case TK_VERDICT_MISSING:
	case TK_VERDICT_IMPROVED:
		return TK_STATE_NEW;
	case TK_VERDICT_RECOVERED:
	case TK_VERDICT_FIXED:
		return TK_STATE_RECOVERED;
	default:
		return TK_STATE_NONE;
	}
}

int tk_series_case_explain(struct tk_analysis *c, const struct tk_series_case *k,
        struct tk_diff_row *row, struct tk_error *err)
{
	int status = add_code_change(c, k, row, err);

	if (!status)
		status = add_config_change(c, k, row, err);
	if (!status)
		status = add_regions(c, k, row, err);
	if (status)
		return status;
	set_first_bad_commit(c, row);
	row->state = state_of(row->verdict.status);
	tk_series_case_apply_ack(c, k, row);
	return TK_OK;
}
