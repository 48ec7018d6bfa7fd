/* The sections of the report. */
#include "site_gen/report/report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/memory.h"
#include "base/present.h"
#include "base/try.h"
#include "site_gen/model/model.h"
#include "site_gen/render/escape.h"
#include "stats/summary.h"

#define BEGIN_TABLE(d, title, numeric, ...) \
	tk_document_begin_table(d, title, (const char *const[]){__VA_ARGS__}, \
	        sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *), numeric)

/* ---- what changed ---- */

static void add_commit(struct tk_document *d, const struct tk_site_cause *cause)
{
	char rev[TK_LINK_SIZE];
	const struct tk_verdict_row *v = cause->first_bad;
	const struct tk_revision_row *bad = cause->bad;
	if (v)
		tk_document_add_cell(d, "%s %.*s (%.*s), first bad, %.1f\u00a0%% confidence",
		        tk_rev_abbreviate(v->first_bad_rev, rev),
		        (int)tk_utf8_clip_len(v->first_bad_subject, 60), v->first_bad_subject,
		        (int)tk_utf8_clip_len(v->first_bad_author, 40), v->first_bad_author,
		        100 * v->first_bad_confidence);
	else if (bad)
		tk_document_add_cell(d, "%s %.*s (%.*s)", tk_rev_abbreviate(bad->rev, rev),
		        (int)tk_utf8_clip_len(bad->subject, 60), bad->subject,
		        (int)tk_utf8_clip_len(bad->author, 40), bad->author);
	else
		tk_document_add_text(d, cause->events->reason,
		        tk_utf8_clip_clauses_len(cause->events->reason, 80));
}

static void add_event(
        struct tk_document *d, const struct tk_site_cause *cause, const struct tk_site_event *e)
{
	const struct tk_site_series *s = e->series;
	char text[TK_FORMAT_SIZE], range[TK_FORMAT_SIZE], day[TK_TIME_ISO_SIZE];
	bool is_range = isfinite(e->change_lo) && isfinite(e->change_hi);
	tk_document_add_text(d, tk_site_cause_word(cause->kind, 1), 0);
	tk_document_add_text(d, s->problem->title, 90);
	tk_document_add_text(d, s->label, 50);
	tk_document_add_text(d, s->device->name, 50);
	if (isfinite(e->change) && is_range)
		tk_document_add_cell(d, "%s (%s)", tk_format_change(e->change, text),
		        tk_format_change_range(e->change, e->change_lo, e->change_hi, range));
	else
		tk_document_add_text(
		        d, isfinite(e->change) ? tk_format_change(e->change, text) : "–", 0);
	tk_document_add_text(d, e->at_s ? tk_time_format_day(e->at_s, day) : "–", 0);
	add_commit(d, cause);
}

#define EVENTS_MAX 5 /* of a cause */

static void add_changes(struct tk_document *d, const struct tk_site_causes *causes)
{
	BEGIN_TABLE(d, "What changed", 1u << 4, "Change", "Problem", "Backend", "Device", "Time",
	        "Night", "Cause");
	for (size_t i = 0; i < causes->count; i++) {
		const struct tk_site_cause *cause = &causes->at[i];
		for (size_t k = 0; k < cause->count && k < EVENTS_MAX; k++)
			add_event(d, cause, &cause->events[k]);
		if (cause->count <= EVENTS_MAX)
			continue;
		tk_document_add_text(d, tk_site_cause_word(cause->kind, 2), 0);
		tk_document_add_cell(d, "and %zu more series", cause->count - EVENTS_MAX);
		for (int k = 0; k < 4; k++)
			tk_document_add_text(d, "", 0);
		add_commit(d, cause);
	}
	tk_document_end_table(d);
}

static void add_alerts(struct tk_document *d, const struct tk_model *m)
{
	char day[TK_TIME_ISO_SIZE];
	BEGIN_TABLE(d, "Open alerts", 0, "Alert", "Since", "State", "Owner");
	for (size_t i = m->alert_rows.count; i-- > 0;) {
		const struct tk_alert_row *alert =
		        TK_ROWS_AT(&m->alert_rows, struct tk_alert_row, i);
		const struct tk_alert_triage triage =
		        tk_alert_compute_triage(&m->triage_rows, alert->uid, alert->group_uid);
		if (alert->status != TK_ALERT_OPEN)
			continue;
		tk_document_add_text(d, alert->title, 120);
		tk_document_add_text(d, tk_time_format_day(alert->opened_s, day), 0);
		tk_document_add_text(
		        d, tk_triage_state_name(tk_alert_compute_state(&m->triage_rows, alert)), 0);
		tk_document_add_text(d, triage.decision ? triage.decision->author : "", 40);
	}
	tk_document_end_table(d);
}

static void add_environment(struct tk_document *d, const struct tk_model *m)
{
	char text[64];
	BEGIN_TABLE(d, "Environment", 1u << 5, "Machine", "Device", "Model", "Night (UTC)", "State",
	        "Duration");
	for (size_t i = 0; i < m->device_count; i++) {
		const struct tk_site_device *device = tk_model_ordered_device(m, i);
		const struct tk_night_row *n = device->machine->last_night;
		tk_document_add_text(d, device->machine->row->name, 50);
		tk_document_add_text(d, device->row->slug, 40);
		tk_document_add_text(d, device->row->name, 60);
		tk_document_add_text(d, n ? tk_format_minute(n->as_of_s, text) : "–", 0);
		tk_document_add_text(d, n ? tk_night_status_name(n->status) : "–", 0);
		tk_document_add_text(d,
		        n && n->finished_s
		                ? tk_duration_format(
		                          (double)(n->finished_s - n->started_s), text, sizeof text)
		                : "–",
		        0);
	}
	tk_document_end_table(d);
}

/* ---- best configurations ---- */

static void add_standing(
        struct tk_document *d, const struct tk_model *m, const struct tk_standing *standing)
{
	const struct tk_site_series *s = standing->at[0], *next = standing->at[1];
	const struct tk_problem_row *p = s->problem;
	struct tk_ceiling_set ceilings;
	char text[TK_FORMAT_SIZE];
	const char *unit;
	double value = tk_series_newest_value(s), rate = tk_series_rate(s, value, &unit);
	tk_ceiling_set_load(m, s->device, &ceilings);
	tk_document_add_text(d, s->device->name, 50);
	tk_document_add_text(d, p->title, 90);
	tk_document_add_cell(d, "%.*s%s", (int)tk_utf8_clip_len(s->variant, 50), s->variant,
	        standing->first_count > 1 ? " (tie)" : "");
	tk_document_add_text(d, isfinite(rate) ? tk_format_value(rate, unit, text) : "–", 0);
	tk_document_add_text(d,
	        tk_format_percent(tk_ceiling_set_efficiency_by_source(
	                                  &ceilings, TK_CEILING_DATASHEET, s, value),
	                text),
	        0);
	tk_document_add_text(
	        d, tk_format_percent(tk_ceiling_set_efficiency(&ceilings, s, value), text), 0);
	tk_document_add_text(d,
	        p->flops > 0 && p->bytes > 0
	                ? tk_ceiling_set_limiting(&ceilings, p->dtype, p->flops / p->bytes)
	                : "–",
	        0);
	if (standing->count > 1)
		tk_document_add_cell(d, "%.2f× %.*s", tk_series_newest_value(next) / value,
		        (int)tk_utf8_clip_len(next->variant, 50), next->variant);
	else
		tk_document_add_text(d, "alone", 0);
}

static void add_standings(struct tk_document *d, const struct tk_model *m, double tie)
{
	struct tk_standings standings;
	tk_standings_load(m, tie, &standings);
	BEGIN_TABLE(d, "Best configurations and roofline", 7u << 3, "Device", "Problem", "Fastest",
	        "Rate", "Of datasheet peak", "Of measured ceiling", "Limited by", "Next");
	for (size_t i = 0; i < standings.count; i++)
		add_standing(d, m, &standings.at[i]);
	tk_document_end_table(d);
	free(standings.at);
}

/* ---- statistics ---- */

/* Series of a kernel on a device, by backend. */
static int compare_by_variant(const void *a, const void *b)
{
	const struct tk_site_series *x = *(const struct tk_site_series *const *)a,
	                            *y = *(const struct tk_site_series *const *)b;
	int d = strcmp(x->problem->op, y->problem->op);
	return d ? d : strcmp(x->variant, y->variant);
}

/* One backend of a kernel on a device. */
static void add_backend(struct tk_document *d, const struct tk_ceiling_set *ceilings,
        const struct tk_site_series *const *series, size_t count, double *efficiencies)
{
	const struct tk_site_series *first = series[0];
	double best_rate = 0;
	size_t known = 0;
	char text[TK_FORMAT_SIZE];
	for (size_t i = 0; i < count; i++) {
		const char *unit;
		double value = tk_series_newest_value(series[i]),
		       rate = tk_series_rate(series[i], value, &unit),
		       share = tk_ceiling_set_efficiency(ceilings, series[i], value);
		if (series[i]->problem->flops > 0)
			best_rate = fmax(best_rate, rate);
		if (isfinite(share))
			efficiencies[known++] = share;
	}
	tk_document_add_text(d, first->device->name, 50);
	tk_document_add_text(d, tk_op_title(first->problem->op), 0);
	tk_document_add_text(d, first->variant, 50);
	tk_document_add_cell(d, "%zu", count);
	tk_document_add_text(
	        d, best_rate > 0 ? tk_format_value(best_rate, "gflop_per_s", text) : "–", 0);
	tk_document_add_text(
	        d, known ? tk_format_percent(tk_median(efficiencies, known), text) : "–", 0);
}

static void add_statistics(struct tk_document *d, const struct tk_model *m)
{
	const struct tk_site_series **series = tk_malloc((m->series_count + 1) * sizeof *series);
	double *efficiencies = tk_malloc((m->series_count + 1) * sizeof *efficiencies);
	BEGIN_TABLE(d, "Kernels and backends", 7u << 3, "Device", "Kernel", "Backend", "Problems",
	        "Best rate", "Median of roofline");
	for (size_t k = 0; k < m->device_count; k++) {
		const struct tk_site_device *device = tk_model_ordered_device(m, k);
		struct tk_ceiling_set ceilings;
		size_t count = 0;
		tk_ceiling_set_load(m, device, &ceilings);
		for (size_t i = 0; i < m->series_count; i++)
			if (m->series[i].device == device && tk_series_is_ranked(&m->series[i]) &&
			        tk_series_newest_value(&m->series[i]) > 0)
				series[count++] = &m->series[i];
		qsort(series, count, sizeof *series, compare_by_variant);
		for (size_t first = 0, end; first < count; first = end) {
			for (end = first + 1;
			        end < count && !compare_by_variant(&series[first], &series[end]);
			        end++)
				;
			add_backend(d, &ceilings, series + first, end - first, efficiencies);
		}
	}
	tk_document_end_table(d);
	free(series);
	free(efficiencies);
}

/* ---- the whole ---- */

int tk_report_add(const struct tk_model *m, const struct tk_report_options *options,
        struct tk_buf *out, struct tk_error *err)
{
	AUTO(tk_site_causes) causes = {0};
	AUTO(tk_buf) headline = TK_BUF_INIT;
	struct tk_document d;
	TRY(tk_site_causes_load(m, &options->period, &causes, err));
	tk_document_begin(&d, out, options->format, options->title);
	tk_report_add_headline(m, options, &causes, &headline);
	tk_document_add_paragraph(&d, tk_buf_cstr(&headline));
	add_changes(&d, &causes);
	add_alerts(&d, m);
	if (!options->brief) {
		add_environment(&d, m);
		add_standings(&d, m, options->tie);
		add_statistics(&d, m);
		tk_document_add_paragraph(&d,
		        "Medians of the newest night; 95\u00a0% confidence intervals in brackets. "
		        "A measured ceiling is a lower bound.");
	}
	tk_document_end(&d);
	return 0;
}

int tk_report_write(struct tk_store *store, const struct tk_report_options *options,
        struct tk_buf *out, struct tk_error *err)
{
	AUTO(tk_model) model = {0};
	TRY(tk_store_begin_read(store, err));
	int status = tk_model_load(store, &model, err);
	if (!status)
		status = tk_report_add(&model, options, out, err);
	tk_store_end_read(store);
	return status;
}

/* ---- headline ---- */

#define LATE_S (36 * 3600) /* a machine that measures every night is late by then */

enum machine_state { WELL, LATE, FAILED, INCOMPLETE };

static enum machine_state state_of(const struct tk_site_machine *machine, int64_t now_s)
{
	const struct tk_night_row *night = machine->last_night;
	if (!night)
		return WELL;
	if (now_s - night->as_of_s > LATE_S)
		return LATE;
	if (night->status == TK_NIGHT_FAILED || night->status == TK_NIGHT_STOPPED)
		return FAILED;
	return night->status == TK_NIGHT_INCOMPLETE ? INCOMPLETE : WELL;
}

/* " h200-node-1: the night failed." */
static void add_failed_machines(const struct tk_model *m, int64_t now_s, struct tk_buf *out)
{
	for (size_t i = 0; i < m->machine_count; i++) {
		const struct tk_site_machine *machine = &m->machines[i];
		if (state_of(machine, now_s) == FAILED)
			tk_buf_add_printf(out, " %.*s: the night %s.",
			        (int)tk_utf8_clip_len(machine->row->name, 60), machine->row->name,
			        tk_night_status_name(machine->last_night->status));
	}
}

/* " bench: no night for 3 d. Incomplete nights: epyc-lab, h200-node-1." */
static void add_other_machines(const struct tk_model *m, int64_t now_s, struct tk_buf *out)
{
	char text[64];
	size_t incomplete = 0, named = 0;
	for (size_t i = 0; i < m->machine_count; i++) {
		const struct tk_site_machine *machine = &m->machines[i];
		enum machine_state state = state_of(machine, now_s);
		incomplete += state == INCOMPLETE;
		if (state != LATE)
			continue;
		double age_s = (double)(now_s - machine->last_night->as_of_s);
		tk_buf_add_printf(out, " %.*s: no night for %s.",
		        (int)tk_utf8_clip_len(machine->row->name, 60), machine->row->name,
		        tk_duration_format(age_s, text, sizeof text));
	}
	for (size_t i = 0; i < m->machine_count && named < incomplete; i++) {
		const char *name = m->machines[i].row->name;
		if (state_of(&m->machines[i], now_s) != INCOMPLETE)
			continue;
		tk_buf_add_str(out, named             ? ", "
		                    : incomplete == 1 ? " Incomplete night: "
		                                      : " Incomplete nights: ");
		tk_buf_add_printf(out, "%.*s", (int)tk_utf8_clip_len(name, 60), name);
		if (++named == incomplete)
			tk_buf_add_char(out, '.');
	}
}

/* " (1 other series: +6.0 %)", of the same commit or environment. */
static void add_others(const struct tk_site_cause *cause, struct tk_buf *out)
{
	char text[2][TK_FORMAT_SIZE];
	size_t others = cause->count - 1;
	if (!others)
		return;
	const char *largest = tk_format_change(cause->events[1].change, text[0]);
	const char *smallest = tk_format_change(cause->events[others].change, text[1]);
	tk_buf_add_printf(out, " (%zu other series: %s", others, largest);
	if (strcmp(largest, smallest))
		tk_buf_add_printf(out, " to %s", smallest);
	tk_buf_add_char(out, ')');
}

/* " 5eed5eed5eed (author)", of an import without the author. */
static void add_revision(const char *rev, const char *author, struct tk_buf *out)
{
	char text[TK_LINK_SIZE];
	tk_buf_add_printf(out, " %s", tk_rev_abbreviate(rev, text));
	if (*author)
		tk_buf_add_printf(out, " (%.*s)", (int)tk_utf8_clip_len(author, 60), author);
}

/* "Worst: gemm f32 ... openblas +9.5 % on epyc-lab (1 other series: +6.0 %), first bad commit
 * 5eed5eed5eed (author), 99.7 % confidence." */
static void add_worst_change(const struct tk_site_causes *causes, struct tk_buf *out)
{
	const struct tk_site_cause *worst = &causes->at[0];
	const struct tk_site_event *e = worst->events;
	const struct tk_site_series *s = e->series;
	char text[TK_FORMAT_SIZE];
	bool is_change = worst->kind == TK_SITE_CAUSE_WORSE || worst->kind == TK_SITE_CAUSE_BETTER;
	tk_buf_add_printf(out, " %s: %.*s, %.*s%s%s on %.*s",
	        worst->kind == TK_SITE_CAUSE_BETTER || worst->kind == TK_SITE_CAUSE_FIXED ? "Best"
	                                                                                  : "Worst",
	        (int)tk_utf8_clip_len(s->problem->title, 110), s->problem->title,
	        (int)tk_utf8_clip_len(s->label, 60), s->label, is_change ? " " : "",
	        is_change ? tk_format_change(e->change, text) : "",
	        (int)tk_utf8_clip_len(s->device->machine->row->name, 60),
	        s->device->machine->row->name);
	if (is_change)
		add_others(worst, out);
	if (worst->first_bad) {
		tk_buf_add_str(out, ", first bad commit");
		add_revision(
		        worst->first_bad->first_bad_rev, worst->first_bad->first_bad_author, out);
		tk_buf_add_printf(out, ", %.1f\u00a0%% confidence",
		        100 * worst->first_bad->first_bad_confidence);
	} else if (worst->bad) {
		tk_buf_add_str(out, ", since");
		add_revision(worst->bad->rev, worst->bad->author, out);
	} else if (!is_change && *e->reason) {
		tk_buf_add_printf(
		        out, ": %.*s", (int)tk_utf8_clip_clauses_len(e->reason, 120), e->reason);
	}
	tk_buf_add_char(out, '.');
}

/* "Worst: 30 series on h200-node-1: crashed: the device is lost." */
static void add_worst(const struct tk_site_causes *causes, struct tk_buf *out)
{
	const struct tk_site_cause *worst = &causes->at[0];
	const struct tk_site_event *e = worst->events;
	const char *machine = e->series->device->machine->row->name;
	if (worst->kind != TK_SITE_CAUSE_FAILED || worst->count < 2 || worst->bad || !*e->reason) {
		add_worst_change(causes, out);
		return;
	}
	tk_buf_add_printf(out, " Worst: %zu series on %.*s: %.*s.", worst->count,
	        (int)tk_utf8_clip_len(machine, 60), machine,
	        (int)tk_utf8_clip_clauses_len(e->reason, 120), e->reason);
}

static void add_quiet(
        const struct tk_model *m, const struct tk_site_causes *causes, struct tk_buf *out)
{
	char text[TK_FORMAT_SIZE];
	size_t nights = tk_model_count_nights_since_regression(m);
	tk_buf_add_printf(
	        out, "No change in %s series", tk_format_count((int64_t)causes->compared, text));
	if (nights != SIZE_MAX)
		tk_buf_add_printf(
		        out, "; last regression %zu night%s ago", nights, nights == 1 ? "" : "s");
	tk_buf_add_char(out, '.');
}

static void add_first_night(const struct tk_model *m, struct tk_buf *out)
{
	char text[2][TK_FORMAT_SIZE];
	size_t measured = 0, all = 0;
	if (m->night_count > 1 && !tk_model_has_verdicts(m)) {
		tk_buf_add_printf(out, "%s series in %s nights, not analysed yet.",
		        tk_format_count((int64_t)m->series_count, text[0]),
		        tk_format_count((int64_t)m->night_count, text[1]));
		return;
	}
	for (size_t i = 0; i < m->series_count; i++) {
		measured += m->series[i].newest_count > 0;
		all += tk_series_has_result(&m->series[i]);
	}
	tk_buf_add_printf(out,
	        "First night: %s of %s series measured. Comparisons start with the "
	        "next one.",
	        tk_format_count((int64_t)measured, text[0]),
	        tk_format_count((int64_t)all, text[1]));
}

void tk_report_add_headline(const struct tk_model *m, const struct tk_report_options *options,
        const struct tk_site_causes *causes, struct tk_buf *out)
{
	char count[TK_FORMAT_SIZE];
	const char *separator = "";
	if (!m->series_count) {
		tk_buf_add_str(out, "Nothing has been measured yet.");
		return;
	}
	for (int i = 0; i < TK_SITE_CAUSE_KINDS; i++) {
		if (!causes->of_kind[i])
			continue;
		tk_buf_add_printf(out, "%s%s %s", separator,
		        tk_format_count((int64_t)causes->of_kind[i], count),
		        tk_site_cause_word((enum tk_site_cause_kind)i, causes->of_kind[i]));
		separator = ", ";
	}
	if (causes->count) {
		tk_buf_add_str(out, options->period.since_s    ? " in this period."
		                    : options->period.night_id ? " in this night."
		                                               : " last night.");
	} else if (causes->compared) {
		add_quiet(m, causes, out);
	} else {
		add_first_night(m, out);
	}
	if (!options->period.night_id)
		add_failed_machines(m, options->now_s, out);
	if (causes->count)
		add_worst(causes, out);
	if (!options->period.night_id)
		add_other_machines(m, options->now_s, out);
}
