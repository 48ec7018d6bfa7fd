/* Reports: cases -> rows, counted and sorted, and as the history stores them. */
#include <math.h>

#include "core/verdict.h"
#include "core/vocabulary.h"
#include "decide/internal.h"
#include "store/store.h"

/* ---- one row ---- */

void tk_text_copy_valid(char *to, size_t size, const char *from)
{
	const size_t len = from ? strnlen(from, size - 1) : 0;
	bool ascii = true;

	for (size_t i = 0; i < len; i++)
		ascii &= (unsigned char)from[i] < 0x80;
	memcpy(to, from ? from : "", len);
	to[len] = '\0';
	for (size_t n; !ascii && *to; to += n ? n : 1)
		if (!(n = tk_utf8_decode(to, SIZE_MAX, NULL)))
			*to = '?';
}

static void set_identity(const struct tk_series_case *k, int64_t newest_s, struct tk_diff_row *row)
{
	const char *title = k->problem->title;

	*row = (struct tk_diff_row){.series_id = k->series->id,
	        .better = k->series->better,
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
	TK_COPY(row->title, tk_text_or(title, k->problem->text));
}

static void set_evidence(
        const struct tk_series_case *k, const struct tk_evidence *e, struct tk_diff_row *row)
{
	const struct tk_step_evidence *s = tk_evidence_ab_step(e);

	row->ab = e->ab;
	row->min_effect = e->min_effect;
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

static void set_revisions(
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

static void add_text_fact(struct tk_diff_row *row, enum tk_fact_kind kind, const char *text)
{
	if (*text)
		tk_verdict_add_fact(&row->verdict, (struct tk_fact){.kind = kind}, text);
}

/* What the comparison of the two revisions found inside the kernel. */
static int add_regions(const struct tk_analysis *c, const struct tk_series_case *k,
        struct tk_diff_row *row, struct tk_error *err)
{
	char text[TK_KERNEL_CHANGE_SIZE];
	AUTO_TEXT result = NULL;

	if (!c->has_comparisons || !*row->good_rev || !*row->bad_rev ||
	        tk_metric_from_name(k->series->metric) != TK_METRIC_TIME)
		return TK_OK;
	TRY(tk_store_find_comparison(c->catalog.store, k->series, row->upstream, row->good_rev,
	        row->bad_rev, &result, err));
	if (result)
		add_text_fact(row, TK_FACT_REGIONS, tk_kernel_report_summarize(result, text));
	return TK_OK;
}

/* Before the alerts of the night are known. */
static enum tk_verdict_state state_of(enum tk_verdict_status status)
{
	switch (status) {
	case TK_VERDICT_REGRESSED:
	case TK_VERDICT_NEWLY_FAILED:
	case TK_VERDICT_MISSING:
	case TK_VERDICT_CHANGED:
	case TK_VERDICT_IMPROVED:
		return TK_STATE_NEW;
	case TK_VERDICT_RECOVERED:
	case TK_VERDICT_FIXED:
		return TK_STATE_RECOVERED;
	default:
		return TK_STATE_NONE;
	}
}

static void decide(
        const struct tk_analysis *c, const struct tk_series_case *k, struct tk_diff_row *row)
{
	const struct tk_history_window *w = k->window;
	struct tk_evidence e;

	tk_evidence_gather(c, k, &e);
	set_identity(
	        k, w->last_within.run_id ? w->last_within.as_of_s : w->last_before.as_of_s, row);
	tk_rules_decide(&e, &row->verdict);
	set_evidence(k, &e, row);
	set_revisions(c, row->verdict.good_build_id, row->verdict.bad_build_id, row);
}

/* The verdicts of all cases, by several threads. */
struct decisions {
	const struct tk_analysis *set;
	struct tk_diff_row *rows;
};

static void decide_part(void *arg, int64_t first, int64_t count)
{
	const struct decisions *d = arg;

	for (int64_t i = first; i < first + count; i++)
		decide(d->set, &d->set->at[i], &d->rows[i]);
}

/* A library that was built chooses its configuration itself: BLIS by the machine. */
static bool is_choice_of_build(const struct tk_series_case *k)
{
	enum tk_upstream_kind kind;

	return strcmp(k->series->config, TK_TUNE_CONFIG) != 0 &&
	       !tk_upstream_kind_parse(k->upstream->kind, &kind) && tk_upstream_kind_is_built(kind);
}

/* Adds what only the store knows about a step, and the acknowledgement. */
static int explain(struct tk_analysis *c, const struct tk_series_case *k, struct tk_diff_row *row,
        struct tk_error *err)
{
	char code[TK_CODE_CHANGE_SIZE], config[TK_CONFIG_CHANGE_SIZE];

	TRY(tk_code_change_describe(&c->catalog, k->series, &row->verdict, code, err));
	add_text_fact(row, TK_FACT_CODE_CHANGE, code);
	TRY(tk_config_change_describe(&c->catalog, k->series, &row->verdict, config, err));
	add_text_fact(row, TK_FACT_CONFIG_CHANGE, config);
	if (*config && is_choice_of_build(k) &&
	        (row->verdict.cause == TK_CAUSE_UNKNOWN || row->verdict.cause == TK_CAUSE_CODE))
		row->verdict.cause = TK_CAUSE_CONFIGURATION;
	TRY(add_regions(c, k, row, err));
	if (k->skipped && !k->earlier)
		tk_verdict_add_fact(
		        &row->verdict, (struct tk_fact){.kind = TK_FACT_NEW_VERSION}, NULL);
	set_first_bad_commit(c, row);
	row->state = state_of(row->verdict.status);
	tk_series_case_apply_ack(c, k, row);
	return TK_OK;
}

int tk_analysis_decide(struct tk_analysis *c, struct tk_diff_report *out, struct tk_error *err)
{
	*out = (struct tk_diff_report){.since_s = c->since_s,
	        .until_s = c->until_s,
	        .window = c->options.window,
	        .options = c->options,
	        .rows = tk_calloc(c->count + 1, sizeof *out->rows),
	        .count = c->count};
	struct decisions d = {.set = c, .rows = out->rows};

	tk_parallel_for((int64_t)c->count, TK_CASES_PER_PART, decide_part, &d);
	for (size_t i = 0; i < c->count; i++)
		TRY(explain(c, &c->at[i], &out->rows[i], err));
	return tk_renames_suggest(c, out, err);
}

/* ---- the report ---- */

/* ---- the mean change ---- */

/* The change of the code, as a logarithm; positive is worse. *nightly: known from nightly timings
 * alone. */
static double log_change(const struct tk_diff_row *r, bool *nightly)
{
	const double sign = r->better == TK_BETTER_HIGHER ? -1 : 1;

	*nightly = false;
	if (r->same_code || r->ab.decision == TK_AB_SAME)
		return 0;
	if (tk_diff_row_is_ab_confirmed(r))
		return sign * log1p(r->ab.change);
	if (r->verdict.decided_by == TK_RULE_CHANGED_BEFORE ||
	        r->verdict.decided_by == TK_RULE_BELOW_FLOOR)
		return 0;
	*nightly = true;
	return sign * log(r->verdict.after.value / r->verdict.before.value);
}

void tk_diff_mean_add(struct tk_diff_mean *m, const struct tk_diff_row *r)
{
	const enum tk_verdict_status status = r->verdict.status;
	bool nightly;

	if (!(r->verdict.before.value > 0 && r->verdict.after.value > 0) ||
	        r->better == TK_BETTER_UNKNOWN || status == TK_VERDICT_ENVIRONMENT ||
	        status == TK_VERDICT_NOT_COMPARABLE || status == TK_VERDICT_UNSURE ||
	        status == TK_VERDICT_STALE)
		return;
	m->rows++;
	m->sum += log_change(r, &nightly);
	m->nightly += nightly;
	m->unstable += nightly && r->unstable;
	m->change = expm1(m->sum / (double)m->rows);
}

bool tk_diff_mean_is_unstable(const struct tk_diff_mean *m)
{
	return tk_outcome_is_night_unreliable(m->unstable, m->nightly);
}

const char *tk_diff_mean_format(const struct tk_diff_mean *m, char out[TK_DIFF_MEAN_TEXT_SIZE])
{
	char caveat[80] = "";

	if (tk_diff_mean_is_unstable(m))
		snprintf(caveat, sizeof caveat, " (unreliable: %zu of %zu timings are unstable)",
		        m->unstable, m->nightly);
	if (isnan(m->change))
		snprintf(out, TK_DIFF_MEAN_TEXT_SIZE, "-%s", caveat);
	else
		snprintf(out, TK_DIFF_MEAN_TEXT_SIZE,
		        fabs(m->change) < 1e6 ? "%+.1f %%%s" : "%+.1e %%%s",
		        tk_percent_tenths(m->change), caveat);
	return out;
}

/* By status, in the order of their list, then by size. */
static int by_severity(const void *a, const void *b)
{
	const struct tk_diff_row *x = a, *y = b;
	const struct tk_verdict *v = &x->verdict, *w = &y->verdict;
	const double severity_v = isnan(v->severity) ? -1 : v->severity,
	             severity_w = isnan(w->severity) ? -1 : w->severity;

	if (v->status != w->status)
		return v->status < w->status ? -1 : 1;
	if (severity_v != severity_w)
		return severity_v > severity_w ? -1 : 1;
	return strcmp(x->series, y->series);
}

static size_t count_machines(const struct tk_diff_report *r)
{
	const char **names = tk_calloc(r->count + 1, sizeof *names);
	size_t count = 0;

	for (size_t i = 0; i < r->count; i++)
		names[i] = r->rows[i].machine;
	tk_names_sort(names, r->count);
	for (size_t i = 0; i < r->count; i++)
		count += i == 0 || strcmp(names[i], names[i - 1]) != 0;
	free(names);
	return count;
}

void tk_diff_report_count(struct tk_diff_report *r)
{
	memset(r->by_status, 0, sizeof r->by_status);
	for (size_t i = 0; i < r->count; i++)
		r->by_status[r->rows[i].verdict.status]++;
}

static void count_waiting(struct tk_diff_report *r)
{
	r->waiting = 0;
	r->waiting_nights = 0;
	for (size_t i = 0; i < r->count; i++) {
		const struct tk_fact *last =
		        tk_verdict_find_fact(&r->rows[i].verdict, TK_FACT_LAST_MEASURED);

		if (!last || !(last->number[0] > 0) || !(last->number[0] < last->number[1]))
			continue;
		r->waiting++;
		if (last->number[0] > r->waiting_nights)
			r->waiting_nights = (uint32_t)last->number[0];
	}
}

void tk_diff_report_finish(struct tk_diff_report *r)
{
	tk_diff_report_count(r);
	count_waiting(r);
	r->mean = (struct tk_diff_mean){.change = NAN};
	r->compared = 0;
	r->newest_s = 0;
	for (size_t i = 0; i < r->count; i++) {
		const struct tk_diff_row *row = &r->rows[i];

		if (row->newest_s > r->newest_s)
			r->newest_s = row->newest_s;
		r->compared += tk_diff_row_is_compared(row);
		tk_diff_mean_add(&r->mean, row);
	}
	r->machines = count_machines(r);
	tk_sort(r->rows, r->count, sizeof *r->rows, by_severity);
}

void tk_diff_report_free(struct tk_diff_report *r)
{
	free(r->rows);
	*r = (struct tk_diff_report){0};
}

/* ---- rows as the history stores them ---- */

/* Members with the same name in both. */
/* clang-format off */
#define SAME_MEMBERS(X) \
	X(series_id) X(state) X(samples_before) X(samples_after) X(same_code) X(new_code) \
	X(unstable) X(newest_s)
/* Member of the stored row, and of the row of a report. */
#define MEMBERS(X) \
	X(rule, verdict.decided_by) X(cause, verdict.cause) \
	X(before_value, verdict.before.value) X(before_lo, verdict.before.lo) \
	X(before_hi, verdict.before.hi) X(after_value, verdict.after.value) \
	X(after_lo, verdict.after.lo) X(after_hi, verdict.after.hi) \
	X(change, verdict.change.value) X(change_lo, verdict.change.lo) \
	X(change_hi, verdict.change.hi) X(threshold, verdict.threshold) \
	X(severity, verdict.severity) X(p, verdict.p) X(q, verdict.q) \
	X(good_build_id, verdict.good_build_id) X(bad_build_id, verdict.bad_build_id) \
	X(last_good_run_id, verdict.last_good_run_id) \
	X(first_bad_run_id, verdict.first_bad_run_id) X(base_build_id, good_build_id) \
	X(head_build_id, new_build_id) X(head_run_id, new_run_id) X(ab_decision, ab.decision) \
	X(ab_count, ab.count) X(ab_failed, ab.failed) X(ab_fastest, ab.fastest) \
	X(ab_change, ab.change) X(ab_lo, ab.lo) X(ab_hi, ab.hi)
/* What the view adds, by the same names or by others. */
#define READ_MEMBERS(X) \
	X(alert_opened_s) X(good_revision_id) X(bad_revision_id) X(commits_between) \
	X(first_bad_time_s) X(first_bad_change) X(first_bad_confidence)
#define READ_TEXTS(X) \
	X(alert_uid, alert_uid) X(good_rev, good_rev) X(bad_rev, bad_rev) \
	X(bad_subject, bad_subject) X(first_bad_rev, first_bad_commit) \
	X(first_bad_subject, first_bad_subject) X(first_bad_author, first_bad_author)
/* clang-format on */

/* Of an acceptance by triage, which may change, only the triage is stored. */
static char *write_facts(const struct tk_diff_row *row)
{
	struct tk_verdict v = row->verdict;
	const bool by_triage = v.status_before_ack != TK_VERDICT_MISSING;

	if (by_triage && v.fact_count && v.facts[v.fact_count - 1].kind == TK_FACT_ACKNOWLEDGED)
		v.fact_count--;
	return tk_verdict_facts_write(&v);
}

struct writing {
	const struct tk_diff_row *rows;
	struct tk_verdict_row *out;
	int64_t night_id;
};

static void write_part(void *arg, int64_t first, int64_t count)
{
	const struct writing *w = arg;

	for (int64_t i = first; i < first + count; i++) {
		const struct tk_diff_row *row = &w->rows[i];
		struct tk_verdict_row *out = &w->out[i];

		*out = (struct tk_verdict_row){.night_id = w->night_id,
		        .status = row->verdict.status_before_ack,
		        .accepted = row->verdict.status == TK_VERDICT_ACKED &&
		                    row->verdict.status_before_ack == TK_VERDICT_MISSING,
		        .alert_uid = row->alert_uid,
		        .facts = write_facts(row)};
#define WRITE_SAME(name) out->name = row->name;
#define WRITE(name, member) out->name = row->member;
		SAME_MEMBERS(WRITE_SAME)
		MEMBERS(WRITE)
	}
}

int tk_diff_report_store(
        const struct tk_diff_report *r, struct tk_store *s, int64_t night_id, struct tk_error *err)
{
	struct writing w = {r->rows, tk_calloc(r->count + 1, sizeof *w.out), night_id};

	tk_parallel_for((int64_t)r->count, TK_CASES_PER_PART, write_part, &w);
	const int status = tk_store_replace_verdicts(s, night_id, w.out, r->count, err);

	for (size_t i = 0; i < r->count; i++)
		free((void *)w.out[i].facts);
	free(w.out);
	return status;
}

bool tk_diff_row_read(
        const struct tk_catalog *c, const struct tk_verdict_row *stored, struct tk_diff_row *row)
{
	struct tk_series_case k = {0};

	if (!tk_series_case_find_names(c, stored->series_id, &k))
		return false;
	set_identity(&k, stored->newest_s, row);
	tk_verdict_init(&row->verdict);
#define READ_SAME(name) row->name = stored->name;
#define READ(name, member) row->member = stored->name;
#define READ_TEXT(name, member) TK_COPY(row->member, stored->name);
	SAME_MEMBERS(READ_SAME)
	MEMBERS(READ)
	READ_MEMBERS(READ_SAME)
	READ_TEXTS(READ_TEXT)
	tk_verdict_row_read_facts(stored, &row->verdict);
	return true;
}
