/* The machines of the overview: a line each with the state of its last nights. */
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/format.h"
#include "core/outcome.h"
#include "core/status.h"
#include "site_gen/pages/overview.h"
#include "site_gen/charts/bars.h"

#define STALE_S (36 * 3600)

static void set_verdict_counts(
        struct tk_site *site, struct tk_value *card, const struct tk_site_machine *machine)
{
	size_t counts[TK_VERDICT_STATUS_COUNT] = {0}, unplanned = 0;
	struct tk_value *list = tk_value_add_list(card, "counts");
	for (size_t i = 0; i < machine->verdicts.count; i++) {
		enum tk_verdict_status status =
		        TK_ROWS_AT(&machine->verdicts, struct tk_verdict_row, i)->status;
		const struct tk_site_series *s = tk_model_find_series(&site->model,
		        TK_ROWS_AT(&machine->verdicts, struct tk_verdict_row, i)->series_id);
		unplanned += s && s->is_unplanned;
		/* the line of the night counts skipped series */
		bool elsewhere = s && (s->is_unplanned || tk_series_is_skipped(s));
		if (status < TK_VERDICT_STATUS_COUNT && !elsewhere)
			counts[status]++;
	}
	for (int i = 0; i < TK_VERDICT_STATUS_COUNT; i++) {
		enum tk_verdict_status status = (enum tk_verdict_status)i;
		if (!counts[i])
			continue;
		struct tk_value *o = tk_value_append(list);
		tk_value_set_int(o, "count", counts[i]);
		tk_value_set(o, "word", tk_verdict_status_phrase(status));
		tk_tone_set(o, "tone", tk_verdict_tone(status));
	}
	tk_value_set_fmt(card, "unplanned", unplanned ? "%zu" : "", unplanned);
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

/* Why a night did not complete: its first stage that failed. */
static int set_reason(struct tk_site *site, struct tk_value *o, const struct tk_night_row *night,
        struct tk_error *err)
{
	struct tk_rows stages = {0};
	tk_value_set(o, "reason", "");
	if (night->status == TK_NIGHT_COMPLETE)
		return 0;
	int status = tk_store_list(
	        site->model.store, TK_TABLE_stage, "night_id=?1", TK_ARGS(night->id), &stages, err);
	for (size_t i = stages.count; !status && i-- > 0;) {
		const struct tk_stage_row *stage = TK_ROWS_AT(&stages, struct tk_stage_row, i);
		char text[400];
		if (stage->status != TK_STAGE_FAILED && stage->status != TK_STAGE_RUNNING)
			continue;
		snprintf(text, sizeof text, "%.40s %s%s%.300s", stage->name,
		        tk_stage_status_name(stage->status), *stage->detail ? ": " : "",
		        stage->detail);
		tk_value_set_clip(o, "reason", text, 200);
	}
	tk_rows_free(&stages);
	return status;
}

/* The names of its devices, equal ones once. */
static void set_devices(
        struct tk_site *site, struct tk_value *o, const struct tk_site_machine *machine)
{
	struct tk_buf names = TK_BUF_INIT;
	for (size_t i = 0; i < site->model.device_count; i++) {
		const struct tk_site_device *device = &site->model.devices[i];
		const char *name = device->row->name;
		if (device->machine != machine || (names.len && strstr(tk_buf_cstr(&names), name)))
			continue;
		tk_buf_add_printf(&names, "%s%s", names.len ? ", " : "", name);
	}
	tk_value_set_clip(o, "cards", tk_buf_cstr(&names), 120);
	tk_buf_free(&names);
}

static struct tk_value *add_machine(
        struct tk_site *site, struct tk_value *list, const struct tk_site_machine *machine)
{
	const struct tk_night_row *night = machine->last_night;
	struct tk_value *card = tk_value_append(list);
	char text[64];
	tk_value_set_clip(card, "machine", machine->row->name, 60);
	tk_value_set_fmt(card, "machine_href", "machines/%s.html", machine->file);
	bool stale = night && site->options->now_s - night->as_of_s > STALE_S;
	const char *state = !night  ? "never"
	                    : stale ? "stale"
	                            : tk_night_status_name(night->status);
	tk_value_set(card, "state", state);
	tk_tone_set(card, "tone",
	        !night  ? TK_TONE_QUIET
	        : stale ? TK_TONE_BAD
	                : tk_night_tone(night->status));
	tk_value_set_flag(card, "stale", stale);
	tk_value_set_flag(card, "has_night", night != NULL);
	set_devices(site, card, machine);
	tk_svg_draw_nights(&site->markup, &site->model, machine);
	tk_page_set_markup(site, card, "squares_markup");
	set_verdict_counts(site, card, machine);
	if (!night)
		return card;
	const struct tk_site_night *page = tk_model_find_night(&site->model, night->id);
	tk_value_set_fmt(card, "night_href",
	        page && page->file ? "nights/%s.html" : "nights/index.html",
	        page ? page->file : "");
	tk_value_set_time(card, "night", night->as_of_s);
	tk_value_set(card, "took",
	        night->finished_s
	                ? tk_duration_format(
	                          (double)(night->finished_s - night->started_s), text, sizeof text)
	                : "not finished");
	size_t failures = count_failures(&site->model, machine, false),
	       skipped = count_failures(&site->model, machine, true);
	int64_t unstable, timed = count_timed(machine, &unstable);
	tk_value_set_fmt(
	        card, "runs", "%lld measurement%s", (long long)timed, timed == 1 ? "" : "s");
	tk_value_set_int(card, "unstable", unstable);
	tk_value_set_flag(card, "mostly_unstable",
	        tk_outcome_is_night_unreliable((size_t)unstable, (size_t)timed));
	tk_value_set_fmt(card, "skipped", skipped ? "%zu" : "", skipped);
	tk_value_set_int(card, "failures", failures);
	tk_value_set_flag(card, "failed", failures > 0);
	return card;
}

int tk_overview_set_machines(struct tk_site *site, struct tk_value *page, struct tk_error *err)
{
	const struct tk_model *m = &site->model;
	struct tk_value *list = tk_value_add_list(page, "machines");
	bool analysed = false;
	int status = 0;
	for (size_t i = 0; i < m->machine_count; i++)
		analysed = analysed || m->machines[i].analysed_night;
	for (size_t i = 0; !status && i < m->machine_count; i++) {
		const struct tk_site_machine *machine = &m->machines[i];
		struct tk_value *o = add_machine(site, list, machine);
		tk_value_set_flag(o, "unanalysed",
		        analysed && machine->last_night && !machine->analysed_night);
		if (machine->last_night)
			status = set_reason(site, o, machine->last_night, err);
	}
	return status;
}
