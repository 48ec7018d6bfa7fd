/* index.html: the last night of each machine, what changed, and where to look next. */
#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/format.h"
#include "core/outcome.h"
#include "core/status.h"
#include "site_gen/pages/page.h"

#define STALE_S (36 * 3600)

static void set_verdict_counts(
        struct tk_site *site, struct tk_value *card, const struct tk_site_machine *machine)
{
	size_t counts[TK_VERDICT_STATUS_COUNT] = {0};
	struct tk_value *list = tk_value_set_list(site->arena, card, "counts");
	for (size_t i = 0; i < machine->verdicts.count; i++) {
		enum tk_verdict_status status =
		        TK_ROWS_AT(&machine->verdicts, struct tk_verdict_row, i)->status;
		if (status < TK_VERDICT_STATUS_COUNT)
			counts[status]++;
	}
	for (int i = 0; i < TK_VERDICT_STATUS_COUNT; i++) {
		enum tk_verdict_status status = (enum tk_verdict_status)i;
		if (!counts[i])
			continue;
		struct tk_value *o = tk_value_append_object(site->arena, list);
		tk_value_set_int(site->arena, o, "count", (int64_t)counts[i]);
		tk_value_set(site->arena, o, "word", tk_verdict_status_phrase(status));
		tk_page_set_tone(site, o, "tone", tk_verdict_tone(status));
	}
}

/* Failed runs are runs as well; only those with a timing are measurements. */
static int64_t count_timed(const struct tk_site_machine *machine, int64_t *unstable)
{
	int64_t timed = 0;
	*unstable = 0;
	for (size_t i = 0; i < machine->runs.count; i++) {
		enum tk_outcome o = TK_ROWS_AT(&machine->runs, struct tk_run_row, i)->outcome;
		timed += tk_outcome_has_timing(o);
		*unstable += o == TK_OUTCOME_UNSTABLE;
	}
	return timed;
}

/* skipped: counts the series for which there was no time, else those that failed. */
static size_t count_failures(
        const struct tk_model *m, const struct tk_site_machine *machine, bool skipped)
{
	size_t failures = 0;
	for (size_t i = 0; i < m->series_count; i++)
		failures += m->series[i].failure && m->series[i].device->machine == machine &&
		            !tk_series_is_unsupported(&m->series[i]) &&
		            tk_series_is_skipped(&m->series[i]) == skipped;
	return failures;
}

static struct tk_value *add_machine_card(
        struct tk_site *site, struct tk_value *list, const struct tk_site_machine *machine)
{
	struct tk_arena *a = site->arena;
	const struct tk_night_row *night = machine->last_night;
	struct tk_value *card = tk_value_append_object(a, list);
	char text[64];
	tk_page_set_clipped(site, card, "machine", machine->row->name, 60);
	tk_value_set_fmt(a, card, "machine_href", "machines/%s.html", machine->file);
	bool stale = night && site->options->now_s - night->as_of_s > STALE_S;
	const char *state = !night  ? "never"
	                    : stale ? "stale"
	                            : tk_night_status_name(night->status);
	tk_value_set(a, card, "state", state);
	tk_page_set_tone(site, card, "tone",
	        !night  ? TK_TONE_QUIET
	        : stale ? TK_TONE_BAD
	                : tk_night_tone(night->status));
	tk_value_set_flag(a, card, "stale", stale);
	tk_value_set_flag(a, card, "has_night", night != NULL);
	set_verdict_counts(site, card, machine);
	if (!night)
		return card;
	const struct tk_site_night *page = tk_model_find_night(&site->model, night->id);
	tk_value_set_fmt(a, card, "night_href",
	        page && page->file ? "nights/%s.html" : "nights/index.html",
	        page ? page->file : "");
	tk_page_set_time(site, card, "night", night->as_of_s);
	tk_value_set(a, card, "took",
	        night->finished_s
	                ? tk_duration_format(
	                          (double)(night->finished_s - night->started_s), text, sizeof text)
	                : "not finished");
	size_t failures = count_failures(&site->model, machine, false),
	       skipped = count_failures(&site->model, machine, true);
	int64_t unstable, timed = count_timed(machine, &unstable);
	tk_value_set_fmt(
	        a, card, "runs", "%lld measurement%s", (long long)timed, timed == 1 ? "" : "s");
	tk_value_set_int(a, card, "unstable", unstable);
	tk_value_set_flag(a, card, "mostly_unstable",
	        tk_outcome_is_night_unreliable((size_t)unstable, (size_t)timed));
	tk_value_set_fmt(a, card, "skipped", skipped ? "%zu" : "", skipped);
	tk_value_set_int(a, card, "failures", (int64_t)failures);
	tk_value_set_flag(a, card, "failed", failures > 0);
	return card;
}

/* Counts of open alerts, new ones and the date of the oldest. */
static void set_open(struct tk_site *site, struct tk_value *page)
{
	const struct tk_model *m = &site->model;
	size_t open = 0, is_new = 0;
	int64_t oldest_s = INT64_MAX;
	char day[TK_TIME_ISO_SIZE];
	for (size_t i = 0; i < m->alert_rows.count; i++) {
		const struct tk_alert_row *alert =
		        TK_ROWS_AT(&m->alert_rows, struct tk_alert_row, i);
		enum tk_triage_state state = tk_alert_compute_state(&m->triage_rows, alert);
		if (alert->status != TK_ALERT_OPEN ||
		        (state != TK_TRIAGE_NEW && state != TK_TRIAGE_ACKED))
			continue;
		open++;
		is_new += state == TK_TRIAGE_NEW;
		oldest_s = alert->opened_s < oldest_s ? alert->opened_s : oldest_s;
	}
	tk_value_set_fmt(site->arena, page, "open_alerts", open ? "%zu open alert%s" : "", open,
	        open == 1 ? "" : "s");
	tk_value_set_fmt(
	        site->arena, page, "new_alerts", is_new < open ? "%zu of them new, " : "", is_new);
	tk_value_set(
	        site->arena, page, "oldest_alert", open ? tk_time_format_day(oldest_s, day) : "");
}

int tk_page_write_overview(struct tk_site *site, struct tk_error *err)
{
	const struct tk_model *m = &site->model;
	struct tk_value *page = tk_page_begin(site, "index.html", "Overview", TK_SECTION_OVERVIEW);
	struct tk_arena *a = site->arena;
	char text[TK_FORMAT_SIZE];
	tk_page_set_time(site, page, "made", site->options->now_s);
	struct tk_value *cards = tk_value_set_list(a, page, "machines");
	bool analysed = false, compared = false;
	for (size_t i = 0; i < m->series_count; i++)
		compared = compared ||
		           (m->series[i].verdict && isfinite(m->series[i].verdict->before_value));
	for (size_t i = 0; i < m->machine_count; i++)
		analysed = analysed || m->machines[i].analysed_night;
	for (size_t i = 0; i < m->machine_count; i++) {
		struct tk_value *card = add_machine_card(site, cards, &m->machines[i]);
		tk_value_set_flag(a, card, "unanalysed",
		        analysed && m->machines[i].last_night && !m->machines[i].analysed_night);
	}
	tk_value_set_flag(a, page, "analysed", analysed && compared);
	bool past = !analysed && m->night_count > 1;
	tk_value_set_flag(a, page, "nothing_analysed", m->series_count && past);
	tk_value_set_flag(
	        a, page, "nothing_compared", m->series_count && !past && !(analysed && compared));
	tk_value_set(a, page, "series_count", tk_format_count((int64_t)m->series_count, text));
	set_open(site, page);
	int status = tk_page_set_changed_series(site, page, err);
	if (!status)
		status = tk_page_set_matrix(site, page, NULL, "", err);
	return status ? status : tk_page_finish(site, "overview", "index.html", err);
}
