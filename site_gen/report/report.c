/* The sections of the report. */
#include "site_gen/report/report.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/format.h"
#include "base/memory.h"
#include "base/try.h"
#include "site_gen/model/ceilings.h"
#include "site_gen/model/links.h"
#include "site_gen/model/model.h"
#include "site_gen/model/standings.h"
#include "site_gen/render/escape.h"
#include "stats/summary/summary.h"

#define COLUMN_COUNT(heads) (sizeof(heads) / sizeof *(heads))

/* ---- what changed ---- */

static void add_commit_cell(struct tk_document *d, const struct tk_site_cause *cause)
{
	char rev[TK_LINK_SIZE];
	const struct tk_bisection_row *c = cause->first_bad;
	if (c)
		tk_document_add_cell(d, "%s %.*s (%.*s), first bad, %.1f\u00a0%% confidence",
		        tk_rev_abbreviate(c->first_bad_rev, rev),
		        (int)tk_utf8_clip_len(c->subject, 60), c->subject,
		        (int)tk_utf8_clip_len(c->author, 40), c->author, 100 * c->confidence);
	else if (cause->bad)
		tk_document_add_cell(d, "%s %.*s (%.*s)", tk_rev_abbreviate(cause->bad->rev, rev),
		        (int)tk_utf8_clip_len(cause->bad->subject, 60), cause->bad->subject,
		        (int)tk_utf8_clip_len(cause->bad->author, 40), cause->bad->author);
	else
		tk_document_add_cell(d, "%.*s",
		        (int)tk_utf8_clip_clauses_len(cause->events->reason, 80),
		        cause->events->reason);
}

static void add_event(
        struct tk_document *d, const struct tk_site_cause *cause, const struct tk_site_event *e)
{
	const struct tk_site_series *s = e->series;
	char text[TK_FORMAT_SIZE], range[TK_FORMAT_SIZE], day[TK_TIME_ISO_SIZE];
	tk_document_add_cell(d, "%s", tk_site_cause_word(cause->kind, 1));
	tk_document_add_cell(
	        d, "%.*s", (int)tk_utf8_clip_len(s->problem->title, 90), s->problem->title);
	tk_document_add_cell(d, "%.*s", (int)tk_utf8_clip_len(s->label, 50), s->label);
	tk_document_add_cell(
	        d, "%.*s", (int)tk_utf8_clip_len(s->device->name, 50), s->device->name);
	if (!isfinite(e->change))
		tk_document_add_cell(d, "–");
	else if (isfinite(e->change_lo) && isfinite(e->change_hi))
		tk_document_add_cell(d, "%s (%s)", tk_format_change(e->change, text),
		        tk_format_change_range(e->change, e->change_lo, e->change_hi, range));
	else
		tk_document_add_cell(d, "%s", tk_format_change(e->change, text));
	tk_document_add_cell(d, "%s", e->at_s ? tk_time_format_day(e->at_s, day) : "–");
	add_commit_cell(d, cause);
}

#define EVENTS_MAX 5 /* of a cause */

static void add_changes(struct tk_document *d, const struct tk_site_causes *causes)
{
	static const char *const heads[] = {
	        "Change", "Problem", "Backend", "Device", "Time", "Night", "Cause"};
	if (!causes->count)
		return;
	tk_document_add_heading(d, "What changed");
	tk_document_begin_table(d, heads, COLUMN_COUNT(heads), 1u << 4);
	for (size_t i = 0; i < causes->count; i++) {
		const struct tk_site_cause *cause = &causes->at[i];
		for (size_t k = 0; k < cause->count && k < EVENTS_MAX; k++)
			add_event(d, cause, &cause->events[k]);
		if (cause->count <= EVENTS_MAX)
			continue;
		tk_document_add_cell(d, "%s", tk_site_cause_word(cause->kind, 2));
		tk_document_add_cell(d, "and %zu more series", cause->count - EVENTS_MAX);
		for (int k = 0; k < 4; k++)
			tk_document_add_cell(d, "%s", "");
		add_commit_cell(d, cause);
	}
	tk_document_end_table(d);
}

/* ---- environment ---- */

static void add_environment(struct tk_document *d, const struct tk_model *m)
{
	static const char *const heads[] = {
	        "Machine", "Device", "Model", "Night (UTC)", "State", "Duration"};
	char text[64], minute[TK_FORMAT_SIZE];
	tk_document_add_heading(d, "Environment");
	tk_document_begin_table(d, heads, COLUMN_COUNT(heads), 1u << 5);
	for (size_t i = 0; i < m->device_count; i++) {
		const struct tk_site_device *device = tk_model_ordered_device(m, i);
		const struct tk_night_row *night = device->machine->last_night;
		const char *name = device->machine->row->name;
		tk_document_add_cell(d, "%.*s", (int)tk_utf8_clip_len(name, 50), name);
		tk_document_add_cell(
		        d, "%.*s", (int)tk_utf8_clip_len(device->row->slug, 40), device->row->slug);
		tk_document_add_cell(
		        d, "%.*s", (int)tk_utf8_clip_len(device->row->name, 60), device->row->name);
		tk_document_add_cell(
		        d, "%s", night ? tk_format_minute(night->as_of_s, minute) : "–");
		tk_document_add_cell(d, "%s", night ? tk_night_status_name(night->status) : "–");
		tk_document_add_cell(d, "%s",
		        night && night->finished_s
		                ? tk_duration_format((double)(night->finished_s - night->started_s),
		                          text, sizeof text)
		                : "–");
	}
	tk_document_end_table(d);
}

/* ---- statistics ---- */

/* One backend of a kernel on a device. */
struct backend_line {
	const struct tk_site_series *first;
	size_t problems;
	double best_rate, *efficiencies;
	size_t efficiency_count;
};

static void add_backend(struct tk_document *d, const struct backend_line *line)
{
	const struct tk_site_series *s = line->first;
	char text[TK_FORMAT_SIZE];
	tk_document_add_cell(
	        d, "%.*s", (int)tk_utf8_clip_len(s->device->name, 50), s->device->name);
	tk_document_add_cell(d, "%s", tk_op_title(s->problem->op));
	tk_document_add_cell(d, "%.*s", (int)tk_utf8_clip_len(s->variant, 50), s->variant);
	tk_document_add_cell(d, "%zu", line->problems);
	tk_document_add_cell(d, "%s",
	        line->best_rate > 0 ? tk_format_value(line->best_rate, "gflop_per_s", text) : "–");
	tk_document_add_cell(d, "%s",
	        line->efficiency_count
	                ? tk_format_percent(
	                          tk_median(line->efficiencies, line->efficiency_count), text)
	                : "–");
}

/* Series of a kernel on a device, by backend. */
static int compare_by_variant(const void *a, const void *b)
{
	const struct tk_site_series *x = *(const struct tk_site_series *const *)a,
	                            *y = *(const struct tk_site_series *const *)b;
	int d = strcmp(x->problem->op, y->problem->op);
	return d ? d : strcmp(x->variant, y->variant);
}

static void add_device_statistics(struct tk_document *d, const struct tk_model *m,
        const struct tk_site_device *device, const struct tk_site_series **series,
        double *efficiencies)
{
	struct tk_ceiling_set ceilings;
	size_t count = 0;
	tk_ceiling_set_load(m, device, &ceilings);
	for (size_t i = 0; i < m->series_count; i++)
		if (m->series[i].device == device && tk_series_is_ranked(&m->series[i]) &&
		        tk_series_newest_value(&m->series[i]) > 0)
			series[count++] = &m->series[i];
	if (count)
		qsort(series, count, sizeof *series, compare_by_variant);
	for (size_t first = 0, end; first < count; first = end) {
		struct backend_line line = {.first = series[first], .efficiencies = efficiencies};
		for (end = first; end < count && !compare_by_variant(&series[first], &series[end]);
		        end++) {
			const struct tk_site_series *s = series[end];
			const char *unit;
			double value = tk_series_newest_value(s),
			       rate = tk_series_rate(s, value, &unit),
			       share = tk_ceiling_set_efficiency(&ceilings, s, value);
			line.problems++;
			if (s->problem->flops > 0)
				line.best_rate = fmax(line.best_rate, rate);
			if (isfinite(share))
				efficiencies[line.efficiency_count++] = share;
		}
		add_backend(d, &line);
	}
}

static int add_statistics(struct tk_document *d, const struct tk_model *m, struct tk_error *err)
{
	static const char *const heads[] = {
	        "Device", "Kernel", "Backend", "Problems", "Best rate", "Median of roofline"};
	const struct tk_site_series **series = tk_malloc((m->series_count + 1) * sizeof *series);
	double *efficiencies = tk_malloc((m->series_count + 1) * sizeof *efficiencies);
	int status = 0;
	tk_document_add_heading(d, "Kernels and backends");
	tk_document_begin_table(d, heads, COLUMN_COUNT(heads), 7u << 3);
	for (size_t i = 0; !status && i < m->device_count; i++)
		add_device_statistics(d, m, tk_model_ordered_device(m, i), series, efficiencies);
	tk_document_end_table(d);
	free(series);
	free(efficiencies);
	return status;
}

/* ---- best configurations ---- */

static void add_standing(
        struct tk_document *d, const struct tk_model *m, const struct tk_standing *standing)
{
	const struct tk_site_series *s = standing->at[0];
	struct tk_ceiling_set ceilings;
	char text[TK_FORMAT_SIZE];
	const char *unit;
	double value = tk_series_newest_value(s), rate = tk_series_rate(s, value, &unit);
	tk_ceiling_set_load(m, s->device, &ceilings);
	double peak = tk_ceiling_set_efficiency_by_source(
	               &ceilings, TK_CEILING_DATASHEET, s, value),
	       measured = tk_ceiling_set_efficiency(&ceilings, s, value);
	tk_document_add_cell(
	        d, "%.*s", (int)tk_utf8_clip_len(s->device->name, 50), s->device->name);
	tk_document_add_cell(
	        d, "%.*s", (int)tk_utf8_clip_len(s->problem->title, 90), s->problem->title);
	tk_document_add_cell(d, "%.*s%s", (int)tk_utf8_clip_len(s->variant, 50), s->variant,
	        standing->first_count > 1 ? " (tie)" : "");
	tk_document_add_cell(d, "%s", isfinite(rate) ? tk_format_value(rate, unit, text) : "–");
	tk_document_add_cell(d, "%s", tk_format_percent(peak, text));
	tk_document_add_cell(d, "%s", tk_format_percent(measured, text));
	tk_document_add_cell(d, "%s",
	        s->problem->flops > 0 && s->problem->bytes > 0
	                ? tk_ceiling_set_limiting(&ceilings, s->problem->dtype,
	                          s->problem->flops / s->problem->bytes)
	                : "–");
	if (standing->count > 1)
		tk_document_add_cell(d, "%.2f× %.*s",
		        tk_series_newest_value(standing->at[1]) / value,
		        (int)tk_utf8_clip_len(standing->at[1]->variant, 50),
		        standing->at[1]->variant);
	else
		tk_document_add_cell(d, "alone");
}

static void add_standings(
        struct tk_document *d, const struct tk_model *m, double tie)
{
	static const char *const heads[] = {"Device", "Problem", "Fastest", "Rate",
	        "Of datasheet peak", "Of measured ceiling", "Limited by", "Next"};
	struct tk_standings standings;
	tk_standings_load(m, tie, &standings);
	tk_document_add_heading(d, "Best configurations and roofline");
	tk_document_begin_table(d, heads, COLUMN_COUNT(heads), 7u << 3);
	for (size_t i = 0; i < standings.count; i++)
		add_standing(d, m, &standings.at[i]);
	tk_document_end_table(d);
	free(standings.at);
}

/* ---- alerts ---- */

static void add_alerts(struct tk_document *d, const struct tk_model *m)
{
	static const char *const heads[] = {"Alert", "Since", "State", "Owner"};
	char day[TK_TIME_ISO_SIZE];
	bool any = false;
	for (size_t i = m->alert_rows.count; i-- > 0;) {
		const struct tk_alert_row *alert =
		        TK_ROWS_AT(&m->alert_rows, struct tk_alert_row, i);
		const struct tk_alert_triage triage =
		        tk_alert_compute_triage(&m->triage_rows, alert->uid, alert->group_uid);
		const char *owner = triage.decision ? triage.decision->author : "";
		if (alert->status != TK_ALERT_OPEN)
			continue;
		if (!any) {
			tk_document_add_heading(d, "Open alerts");
			tk_document_begin_table(d, heads, COLUMN_COUNT(heads), 0);
		}
		any = true;
		tk_document_add_cell(
		        d, "%.*s", (int)tk_utf8_clip_len(alert->title, 120), alert->title);
		tk_document_add_cell(d, "%s", tk_time_format_day(alert->opened_s, day));
		tk_document_add_cell(d, "%s",
		        tk_triage_state_name(tk_alert_compute_state(&m->triage_rows, alert)));
		tk_document_add_cell(d, "%.*s", (int)tk_utf8_clip_len(owner, 40), owner);
	}
	if (any)
		tk_document_end_table(d);
}

static int add_tables(
        struct tk_document *d, const struct tk_model *m, double tie, struct tk_error *err)
{
	add_environment(d, m);
	add_standings(d, m, tie);
	TRY(add_statistics(d, m, err));
	tk_document_add_paragraph(d, "Medians of the newest night; 95\u00a0% confidence intervals "
	                             "in brackets. A measured "
	                             "ceiling is a lower bound.");
	return TK_OK;
}

int tk_report_add(const struct tk_model *m, const struct tk_report_options *options,
        struct tk_buf *out, struct tk_error *err)
{
	struct tk_site_causes causes;
	struct tk_document d;
	struct tk_buf headline = TK_BUF_INIT;
	int status = tk_site_causes_load(m, &options->period, &causes, err);
	if (status) {
		tk_site_causes_free(&causes);
		return status;
	}
	tk_document_begin(&d, out, options->format, options->title);
	tk_report_add_headline(m, options, &causes, &headline);
	tk_document_add_paragraph(&d, tk_buf_cstr(&headline));
	tk_buf_free(&headline);
	add_changes(&d, &causes);
	add_alerts(&d, m);
	if (!options->brief)
		status = add_tables(&d, m, options->tie, err);
	tk_document_end(&d);
	tk_site_causes_free(&causes);
	return status;
}

int tk_report_write(struct tk_store *store, const struct tk_report_options *options,
        struct tk_buf *out, struct tk_error *err)
{
	AUTO(tk_model) model = {0};
	int status = tk_store_begin_read(store, err);
	if (status)
		return status;
	status = tk_model_load(store, &model, err);
	if (!status)
		status = tk_report_add(&model, options, out, err);
	tk_store_end_read(store);
	return status;
}
