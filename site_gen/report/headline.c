/* The state of the last night in words. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/format.h"
#include "site_gen/model/links.h"
#include "site_gen/model/model.h"
#include "site_gen/render/escape.h"
#include "site_gen/report/report.h"

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
		add_revision(worst->first_bad->first_bad_rev, worst->first_bad->author, out);
		tk_buf_add_printf(
		        out, ", %.1f\u00a0%% confidence", 100 * worst->first_bad->confidence);
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
